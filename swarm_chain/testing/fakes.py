"""Clock and signer that do what a test says."""

from eth_keys.datatypes import PrivateKey

from swarm_chain.core.encoding import checksum_address, keccak
from swarm_chain.core.signing import text_preimage, typed_digest
from swarm_chain.core.units import Address, Hash32, Signature, Timestamp
from swarm_chain.recursion import recursion_limit_kept

START = Timestamp(1_700_000_000)


class FakeClock:
    """Clock that moves only when told; `sleep` tells it."""

    def __init__(self, now: Timestamp = START) -> None:
        self._ms = now * 1000

    def now(self) -> Timestamp:
        """Unix time, whole seconds."""
        return Timestamp(self._ms // 1000)

    def monotonic_ms(self) -> int:
        """Milliseconds; starts at the unix time it was given."""
        return self._ms

    def sleep(self, seconds: float) -> None:
        """Moves on at once."""
        self._ms += int(seconds * 1000)

    def advance(self, seconds: int) -> None:
        """Moves the clock forward."""
        self._ms += seconds * 1000


class FakeSigner:
    """Signer whose key follows from a name: the same name is the same key everywhere, and real signatures come out.

    Args:
        label: any text; the key is keccak256 of it.
    """

    def __init__(self, label: str = "alice") -> None:
        self._key = PrivateKey(keccak(label.encode()))
        self._address = checksum_address(self._key.public_key.to_canonical_address())

    @property
    def address(self) -> Address:
        """Checksummed address of the key."""
        return self._address

    @property
    def private_key(self) -> bytes:
        """The 32 bytes of the key, for tests that hand it on."""
        return self._key.to_bytes()

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """65 bytes r || s || v, low s, v 27 or 28, over keccak256(0x1901 || domain || struct hash) (EIP-712)."""
        return self._sign(typed_digest(domain, struct_hash))

    def sign_text(self, text: bytes) -> Signature:
        """The same form over a text with the prefix of EIP-191, as `personal_sign` does."""
        return self._sign(keccak(text_preimage(text)))

    def sign_transaction(self, fields: dict[str, object]) -> bytes:
        """Raw signed EIP-1559 transaction."""
        with recursion_limit_kept():
            from eth_account import Account

        return bytes(Account.sign_transaction(fields, self.private_key).raw_transaction)

    def _sign(self, digest: Hash32) -> Signature:
        signature = self._key.sign_msg_hash(digest)
        return Signature(signature.to_bytes()[:64] + bytes([27 + signature.v]))
