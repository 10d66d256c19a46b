"""Fields, replacement fees and refusals of EIP-1559 transactions. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarm_chain.core.encoding import checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address, Signature, Wei
from swarm_chain.recursion import recursion_limit_kept

_TYPE = 2  # EIP-2718 type of an EIP-1559 transaction
MAX_FEE, PRIORITY = Wei(500 * 10**9), Wei(10**9)
# What a node may answer to eth_sendRawTransaction, in its own words, and our code for it.
_REFUSALS = {
    "already known": "already_known",
    "already imported": "already_known",
    "nonce too low": "nonce_used",
    "underpriced": "underpriced",
    "less than block base fee": "underpriced",
    "insufficient funds": "insufficient_funds",
}
REFUSAL_FIXES = {
    "nonce_used": "another transaction of this key was mined first: look at it before sending again",
    "underpriced": "raise the fee by at least 12.5 %, or wait for the transaction that is already there",
    "insufficient_funds": "send the account more of the native coin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FeePolicy:
    """Limits of what a transaction may cost. `max_fee_wei` per gas is a hard cap that no bump passes."""

    max_fee_wei: Wei = MAX_FEE
    priority_wei: Wei = PRIORITY
    max_gas: int = 16_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TxFields:
    """What a signature of an EIP-1559 transaction covers; `to` is None for a creation, fees are wei per gas."""

    chain_id: int
    nonce: int
    gas: int
    max_fee_wei: Wei
    priority_wei: Wei
    to: Address | None
    data: bytes

    def as_dict(self) -> dict[str, object]:
        """The form signers take."""
        fields: dict[str, object] = {
            "type": 2,
            "chainId": self.chain_id,
            "nonce": self.nonce,
            "gas": self.gas,
            "maxFeePerGas": self.max_fee_wei,
            "maxPriorityFeePerGas": self.priority_wei,
            "value": 0,
            "data": self.data,
        }
        return fields if self.to is None else fields | {"to": self.to}


def parse_fields(raw: bytes) -> TxFields:
    """Fields of a signed transaction, so that a writer can replace what an earlier process signed."""
    with recursion_limit_kept():
        from eth_account.typed_transactions.typed_transaction import TypedTransaction
    from hexbytes import HexBytes

    fields: dict[str, Any] = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
    return TxFields(
        chain_id=fields["chainId"],
        nonce=fields["nonce"],
        gas=fields["gas"],
        max_fee_wei=Wei(fields["maxFeePerGas"]),
        priority_wei=Wei(fields["maxPriorityFeePerGas"]),
        to=checksum_address(bytes(fields["to"])) if fields["to"] else None,
        data=bytes(fields["data"]),
    )


def unsigned_payload(fields: Mapping[str, object]) -> bytes:
    """What is hashed and signed of an EIP-1559 transaction: 0x02 || rlp of its nine fields.

    Args:
        fields: as `TxFields.as_dict` gives them; `data` may be 0x-hex too.

    Raises:
        InvalidInputError: a field is missing or has another type, or the transaction is of another type.
    """
    return _typed_rlp(_items(fields))


def assembled(fields: Mapping[str, object], signature: Signature) -> bytes:
    """Raw transaction of fields and a checked signature over their `unsigned_payload`."""
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:64]))
    return _typed_rlp([*_items(fields), signature[64] - 27, r, s])


def raised(fee: int) -> Wei:
    """A replacement's fee: 12.5 % more, rounded up. Nodes want 10 %; the rest is room for their rounding."""
    return Wei((fee * 9 + 7) // 8)


def _items(fields: Mapping[str, object]) -> list[object]:
    names = ("chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas")
    numbers = [fields.get(name) for name in (*names, "value")]
    if fields.get("type") != _TYPE or not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise InvalidInputError("that is no EIP-1559 transaction", fix="sign what --unsigned wrote", code="bad_file")
    to, data = (_bytes(fields.get(name) or b"") for name in ("to", "data"))
    return [*numbers[:-1], to, numbers[-1], data, []]


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else bytes.fromhex(str(value).removeprefix("0x"))


def _typed_rlp(items: list[object]) -> bytes:
    import rlp

    return bytes([_TYPE]) + bytes(rlp.encode(items))


def refusal_code(message: str) -> str | None:
    """Our code for a node's refusal to take a transaction; None if it is none of the known ones."""
    lowered = message.lower()
    return next((code for words, code in _REFUSALS.items() if words in lowered), None)
