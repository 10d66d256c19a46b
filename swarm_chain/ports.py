"""What the protocol needs from the outside; adapters and shipped fakes implement it and pass one contract suite."""

from typing import Protocol

from swarm_chain.core.errors import RejectedError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import Address, Hash32, Signature, Timestamp, Wei


class ChainReader(Protocol):
    """Reads of one chain. Every method raises UnavailableError when no endpoint answers."""

    def chain_id(self) -> int:
        """Chain id of the endpoint."""
        ...

    def block(self, which: "int | str | Hash32") -> BlockRef:
        """Block by number, by hash, or by tag "latest" | "finalized" | "earliest"; InvalidInputError if unknown."""
        ...

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        """All events of the deployment's contracts in blocks [first, last], in chain order."""
        ...

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        """Result of a view at a block (latest if None), structs as dicts by Solidity names; RejectedError on revert."""
        ...

    def balance(self, address: Address) -> Wei:
        """Native balance at the latest block, wei."""
        ...


class ChainWriter(Protocol):
    """Transactions of one key. `prepare`, store, `broadcast`, `outcome`: nothing is sent that was not stored."""

    def prepare(self, call: ContractCall) -> SignedTx:
        """Simulates, estimates, takes the next nonce and signs; RejectedError (decoded) if the call would revert."""
        ...

    def broadcast(self, tx: SignedTx) -> None:
        """Sends a signed transaction; one that is already known counts as sent."""
        ...

    def bump(self, tx: SignedTx) -> SignedTx:
        """Same nonce and call with both fees raised by at least 12.5 %; InvalidInputError at the fee cap."""
        ...

    def outcome(self, tx_hash: Hash32) -> TxOutcome | None:
        """Outcome once mined, None while unknown; never guesses failure."""
        ...

    def why_reverted(self, tx: SignedTx, outcome: TxOutcome) -> RejectedError:
        """Decoded reason of a transaction whose outcome did not succeed, from a replay on the block before its own."""
        ...


class Signer(Protocol):
    """A key that signs; only its address may ever be shown."""

    @property
    def address(self) -> Address:
        """Checksummed address of the key."""
        ...

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """65 bytes r || s || v, low s, v 27 or 28, over keccak256(0x1901 || domain || struct hash) (EIP-712)."""
        ...

    def sign_text(self, text: bytes) -> Signature:
        """The same form over a text with the prefix of EIP-191, as `personal_sign` does."""
        ...

    def sign_transaction(self, fields: dict[str, object]) -> bytes:
        """Raw signed EIP-1559 transaction."""
        ...


class Clock(Protocol):
    """Time as an argument."""

    def now(self) -> Timestamp:
        """Unix time, whole seconds."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds since an arbitrary start; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits."""
        ...
