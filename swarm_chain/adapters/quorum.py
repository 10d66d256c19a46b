"""Reads that k of n endpoints must agree on: one that lies, lags, hangs or serves another chain is out-voted and reported."""

from collections.abc import Mapping

from swarm_chain.adapters.panel import Panel, Quorum
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.ports import ChainReader

MOVING_TAGS = ("latest", "finalized")


class QuorumReader:
    """ChainReader over several endpoints.

    Every method raises UnavailableError where fewer than k endpoints answer, and InconsistentError (code "rpc_disagree")
    where k answer but no k of them alike. An endpoint in the middle of a reorganisation counts as not answering.

    Args:
        endpoints: one reader per endpoint, by its redacted name.
        quorum: how many must agree; a majority if not said.

    Raises:
        InvalidInputError: no endpoint, or not as many as must agree (exit 3).
    """

    def __init__(self, endpoints: Mapping[str, ChainReader], quorum: Quorum | None = None) -> None:
        self._panel = Panel(endpoints, quorum or Quorum())

    def chain_id(self) -> int:
        """Chain id that k endpoints serve."""
        return self._panel.agreed("chain_id", lambda reader: reader.chain_id())

    def block(self, which: "int | str | Hash32") -> BlockRef:
        """Block k endpoints agree on; for "latest" and "finalized" the highest one that k of them have reached."""
        if which in MOVING_TAGS:
            heads = self._panel.several(f"block {which}", lambda reader: reader.block(which).number)
            which = sorted(heads)[-self._panel.agree]
        shown = to_hex(which) if isinstance(which, bytes) else which
        return self._panel.agreed(f"block {shown}", lambda reader: reader.block(which))

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        """All events of the deployment's contracts in blocks [first, last], in chain order."""
        return self._panel.agreed(f"events {first} to {last}", lambda reader: reader.events(first, last))

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        """Result of a view function, pinned to a block: the agreed latest one if none is given."""
        pinned = self.block("latest") if at is None else at
        return self._panel.agreed(f"call {call.contract}.{call.function}", lambda reader: reader.call(call, pinned))

    def balance(self, address: Address) -> Wei:
        """Native balance at the latest block, wei: the k-th lowest, so that fewer than k liars cannot raise it."""
        found = self._panel.several(f"balance {address}", lambda reader: reader.balance(address))
        return sorted(found)[self._panel.agree - 1]
