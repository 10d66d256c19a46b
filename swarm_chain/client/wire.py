"""A gateway's JSON, read strictly: what is not as docs/spec/jobs.md says is no gateway's answer. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from swarm_chain.client.model import GatewayInfo, GatewayWord, LogPiece, Plan, PlannedNode
from swarm_chain.core.encoding import address_bytes, checksum_address, hash_from_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.model import Receipt
from swarm_chain.core.units import (
    UINT64_MAX,
    UINT128_MAX,
    Address,
    Hash32,
    JobId,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
)

MAX_TEXT: Final = 2000  # characters of a text that is shown to a person
MAX_LOG_TEXT: Final = 4_000_000  # characters of one piece of log
MAX_WEI_DIGITS: Final = 39
_BROKEN = (AttributeError, KeyError, TypeError, ValueError, InvalidInputError)

Json = Mapping[str, Any]
T = TypeVar("T")


def read_gateway(document: Json) -> GatewayInfo:
    """Answer of GET /v1/gateway; UnavailableError (not_a_gateway) if it is none."""
    return _read(
        lambda: GatewayInfo(
            address=_address(document["address"]),
            chain_id=_number(document["chainId"]),
            fee_bps=_number(document["feeBps"]),
            min_price_wei=_wei(document["minPriceWei"]),
        )
    )


def read_plan(document: Json) -> Plan:
    """Answer of POST /v1/plans; UnavailableError (not_a_gateway) if it is none."""
    return _read(
        lambda: Plan(
            spec_hash=hash_from_hex(_text(document["specHash"])),
            nodes=tuple(map(_planned, _list(document["nodes"]))),
            price_wei=_wei(document["priceWei"]),
            seconds=_number(document["seconds"]),
            missing=tuple(map(_text, _list(document["missing"]))),
        )
    )


def read_spec_hash(document: Json) -> Hash32:
    """Answer of POST /v1/specs, and of the members' POST /v1/jobs/specs."""
    return _read(lambda: hash_from_hex(_text(document["specHash"])))


def read_word(document: Json) -> GatewayWord:
    """Answer of GET /v1/jobs/{id}; UnavailableError (not_a_gateway) if it is none."""
    return _read(lambda: _word(document))


def read_log(document: Json, offset: int) -> LogPiece:
    """Answer of GET /v1/jobs/{id}/log: a piece that starts where it was asked to and is as long as it says.

    Args:
        document: JSON.
        offset: byte that was asked for.
    """

    def read() -> LogPiece:
        piece = LogPiece(
            offset=_number(document["offset"]),
            next=_number(document["next"]),
            text=_text(document["text"], MAX_LOG_TEXT),
            ended=document["ended"],
        )
        if piece.offset != offset or piece.next != offset + len(piece.text.encode()) or type(piece.ended) is not bool:
            raise ValueError("the piece of log is not the one asked for")
        return piece

    return _read(read)


def read_receipt(document: Any) -> Receipt:
    """A receipt, which the caller compares with the chain.

    Raises:
        InvalidInputError: it is none.
    """
    try:
        return _receipt(document)
    except _BROKEN as error:
        raise InvalidInputError(f"the receipt is malformed ({error})", code="bad_receipt") from error


def _word(document: Json) -> GatewayWord:
    signature, receipt, node = document["gatewaySignature"], document["receipt"], document["node"]
    return GatewayWord(
        state=_text(document["state"]),
        node=None if node is None else _address(node),
        units=None if document["units"] is None else _number(document["units"]),
        units_done=None if document["unitsDone"] is None else _number(document["unitsDone"]),
        why=None if document["why"] is None else _text(document["why"]),
        receipt=None if receipt is None else dict(receipt),
        gateway_signature=None if signature is None else Signature(_bytes(signature)),
    )


def _planned(document: Json) -> PlannedNode:
    return PlannedNode(
        node=_address(document["node"]),
        provider_id=ProviderId(_number(document["provider"])),
        price_wei=_wei(document["priceWei"]),
    )


def _receipt(document: Json) -> Receipt:
    return Receipt(
        job_id=JobId(_number(document["jobId"])),
        kind=JobKind(_number(document["kind"])),
        node=_address(document["node"]),
        spec_hash=hash_from_hex(_text(document["specHash"])),
        input_digest=hash_from_hex(_text(document["inputDigest"])),
        output_digest=hash_from_hex(_text(document["outputDigest"])),
        checkpoint_root=hash_from_hex(_text(document["checkpointRoot"])),
        checkpoint_count=_number(document["checkpointCount"]),
        device_seconds=_number(document["deviceSeconds"]),
        started_at=Timestamp(_number(document["startedAt"])),
        finished_at=Timestamp(_number(document["finishedAt"])),
        exit_code=_number(document["exitCode"]),
    )


def _read(read: Callable[[], T]) -> T:
    try:
        return read()
    except _BROKEN as error:
        raise UnavailableError(
            f"the answer is not one of a gateway ({type(error).__name__}: {str(error)[:200]})",
            fix="check --gateway-url: docs/spec/jobs.md says what it must answer",
            code="not_a_gateway",
        ) from error


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= UINT64_MAX:
        raise ValueError("a whole number of at least 0 belongs there")
    return value


def _wei(value: Any) -> Wei:
    plain = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= MAX_WEI_DIGITS
    if not plain or int(value) > UINT128_MAX:
        raise ValueError("wei belong there, as decimal text")
    return Wei(int(value))


def _text(value: Any, most: int = MAX_TEXT) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"a text of at most {most} characters belongs there")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list belongs there")
    return value


def _address(value: Any) -> Address:
    return checksum_address(address_bytes(Address(_text(value))))


def _bytes(value: Any) -> bytes:
    text = _text(value)
    if not text.startswith("0x"):
        raise ValueError("0x-hex belongs there")
    return bytes.fromhex(text[2:])
