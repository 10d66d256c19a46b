"""Logs of the deployment's contracts: read in chunks of blocks, decoded into ChainEvents in chain order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from swarm_chain.adapters.contracts import decode_log
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import ChainEvent, Deployment
from swarm_chain.core.units import Address, BlockNumber, Hash32, Timestamp

CHUNK_BLOCKS = 5_000


class BlockRange(NamedTuple):
    """Blocks first to last, both included."""

    first: int
    last: int


class LogDecoder:
    """Decodes raw logs of one deployment."""

    def __init__(self, deployment: Deployment) -> None:
        self._names = {address.lower(): name for name, address in deployment.contracts.items()}

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Addresses whose logs can be decoded."""
        return tuple(Address(address) for address in self._names)

    def decode(
        self, logs: Iterable[Mapping[str, Any]], timestamp_of: Callable[[int], Timestamp]
    ) -> tuple[ChainEvent, ...]:
        """Events in chain order; logs of other contracts and of events their ABI does not declare are left out.

        Args:
            logs: log objects of JSON-RPC.
            timestamp_of: timestamp of a block by number, asked once a block and only if the log does not carry it.
        """
        timestamps: dict[int, Timestamp] = {}
        found: list[ChainEvent] = []
        for log in logs:
            number = int(log["blockNumber"], 16)
            if number not in timestamps:
                noted = log.get("blockTimestamp")
                timestamps[number] = Timestamp(int(noted, 16)) if noted else timestamp_of(number)
            event = self._event(log, timestamps[number])
            if event is not None:
                found.append(event)
        return tuple(sorted(found, key=lambda event: (event.block, event.log_index)))

    def _event(self, log: Mapping[str, Any], timestamp: Timestamp) -> ChainEvent | None:
        contract = self._names.get(log["address"].lower())
        if contract is None:
            return None
        topics = [bytes.fromhex(topic[2:]) for topic in log["topics"]]
        decoded = decode_log(contract, topics, bytes.fromhex(log["data"][2:]))
        if decoded is None:
            return None
        return ChainEvent(
            contract=contract,
            name=decoded[0],
            args=decoded[1],
            block=BlockNumber(int(log["blockNumber"], 16)),
            log_index=int(log["logIndex"], 16),
            tx_hash=Hash32(bytes.fromhex(log["transactionHash"][2:])),
            timestamp=timestamp,
        )


def read_logs(
    ask: Callable[[str, Sequence[object]], object], addresses: Sequence[Address], blocks: BlockRange
) -> list[Mapping[str, Any]]:
    """Raw logs of the addresses, chunk by chunk; a chunk the endpoint refuses is halved until it fits.

    Args:
        ask: JSON-RPC request that returns a list, or anything else when the endpoint refuses the range.
        addresses: contracts to read.
        blocks: range of blocks.

    Raises:
        UnavailableError: the endpoint refuses even a single block.
    """
    logs: list[Mapping[str, Any]] = []
    waiting = [BlockRange(*blocks)]
    while waiting:
        first, last = waiting.pop()
        middle = min((first + last) // 2, first + CHUNK_BLOCKS - 1)
        if last - first < CHUNK_BLOCKS:
            query = {"address": list(addresses), "fromBlock": hex(first), "toBlock": hex(last)}
            answer = ask("eth_getLogs", [query])
            if isinstance(answer, list):
                logs.extend(answer)
                continue
            if first == last:
                raise UnavailableError(f"the RPC endpoint refuses the logs of block {first}: {answer}")
        waiting += [BlockRange(middle + 1, last), BlockRange(first, middle)]
    return logs
