"""ABI encoding of calls and decoding of results, logs and reverts, by the contracts' names. No I/O.

ContractCall --encode_call--> calldata        return data --decode_result--> int | str | bytes | dict by Solidity names
topics, data --decode_log--> (event, args)    revert data --decode_revert--> RejectedError(name, values, fix)
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError, EncodingError
from eth_utils.abi import collapse_if_tuple

from swarm_chain.abi import load_artifact, load_errors
from swarm_chain.core.encoding import checksum_address, keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError
from swarm_chain.core.model import ContractCall

CONSTRUCTOR = "constructor"

Item = Mapping[str, Any]

_ERROR_STRING = bytes.fromhex("08c379a0")  # Error(string)
_PANIC = bytes.fromhex("4e487b71")  # Panic(uint256)


def encode_call(call: ContractCall) -> bytes:
    """Calldata of a call; for the function "constructor" the creation code with its arguments.

    Args:
        call: contract, function and arguments; structs as mappings by Solidity names or as sequences.

    Raises:
        InvalidInputError: unknown contract or function, or arguments that do not fit its types.
    """
    item = _function(call)
    inputs = item.get("inputs", ())
    if len(inputs) != len(call.args):
        raise InvalidInputError(f"{call.contract}.{call.function} takes {len(inputs)} arguments, got {len(call.args)}")
    try:
        values = [_to_abi(spec, value) for spec, value in zip(inputs, call.args, strict=True)]
        encoded = encode([collapse_if_tuple(spec) for spec in inputs], values)
    except (EncodingError, TypeError, ValueError) as error:
        raise InvalidInputError(f"{call.contract}.{call.function}: arguments do not fit: {error}") from error
    if call.function == CONSTRUCTOR:
        return load_artifact(call.contract).creation_code + encoded
    return function_selector(call.contract, call.function) + encoded


def decode_result(call: ContractCall, data: bytes) -> object:
    """Value a view function returned: one value as it is, a struct or several values as a dict by Solidity names.

    Raises:
        InconsistentError: the data are not what the ABI promises, so another contract lives at the address.
    """
    outputs = _function(call)["outputs"]
    try:
        values = decode([collapse_if_tuple(spec) for spec in outputs], data)
    except DecodingError as error:
        raise InconsistentError(
            f"{call.contract}.{call.function} answered {len(data)} bytes that do not fit its ABI",
            fix="check that the deployment file belongs to this chain",
        ) from error
    decoded = [_from_abi(spec, value) for spec, value in zip(outputs, values, strict=True)]
    if len(decoded) == 1:
        return decoded[0]
    return {spec["name"]: value for spec, value in zip(outputs, decoded, strict=True)}


def decode_log(contract: str, topics: Sequence[bytes], data: bytes) -> tuple[str, dict[str, object]] | None:
    """Name and arguments of a log of a contract; None if its ABI does not declare it.

    Indexed dynamic values cannot be recovered: they come as the 32-byte hash that stands in the topic.
    """
    item = _events(contract).get(bytes(topics[0])) if topics else None
    if item is None:
        return None
    indexed = [spec for spec in item["inputs"] if spec["indexed"]]
    plain = [spec for spec in item["inputs"] if not spec["indexed"]]
    args: dict[str, object] = {}
    for spec, topic in zip(indexed, topics[1:], strict=True):
        (value,) = decode([_topic_type(spec)], topic)
        args[spec["name"]] = _from_abi(spec, value)
    for spec, value in zip(plain, decode([collapse_if_tuple(spec) for spec in plain], data), strict=True):
        args[spec["name"]] = _from_abi(spec, value)
    return item["name"], args


def decode_revert(data: bytes) -> RejectedError:
    """The chain's no as an error with name, values and what to do; unknown data are shown as hex.

    Args:
        data: what the reverting call returned: selector and arguments, or nothing.
    """
    try:
        return _known_revert(data) or _unknown_revert(data)
    except DecodingError:
        return _unknown_revert(data)


def error_selector(item: Item) -> bytes:
    """First 4 bytes of the hash of a custom error's signature, from its JSON ABI."""
    return _selector(item)


@cache
def function_selector(contract: str, function: str) -> bytes:
    """First 4 bytes of the hash of a function's signature."""
    return _selector(_functions(contract)[function])


def _known_revert(data: bytes) -> RejectedError | None:
    selector, rest = data[:4], data[4:]
    if selector == _ERROR_STRING:
        (reason,) = decode(["string"], rest)
        return RejectedError(f"the contract reverted: {reason}", code="reverted", values={"reason": reason})
    if selector == _PANIC:
        (panic,) = decode(["uint256"], rest)
        message = f"the contract hit an internal fault (panic {panic:#04x})"
        return RejectedError(message, code="panic", fix="report this, it must not happen", values={"panic": panic})
    entry = load_errors().get(selector)
    if entry is None:
        return None
    values = decode([kind for _, kind in entry.inputs], rest)
    named = {name: _json_ready(kind, value) for (name, kind), value in zip(entry.inputs, values, strict=True)}
    shown = ", ".join(f"{name} = {value}" for name, value in named.items())
    return RejectedError(f"{entry.name}({shown})", code=entry.name, fix=entry.fix, values=named)


def _unknown_revert(data: bytes) -> RejectedError:
    fix = "check that the deployment file belongs to this chain" if data else "check contract, arguments and gas"
    message = f"the contract reverted with 0x{data[:68].hex()}" if data else "the contract reverted without a reason"
    return RejectedError(message, code="reverted", fix=fix, values={"data": "0x" + data.hex()})


def _selector(item: Item) -> bytes:
    return keccak(_signature(item))[:4]


def _signature(item: Item) -> bytes:
    arguments = ",".join(collapse_if_tuple(dict(spec)) for spec in item["inputs"])
    return f"{item['name']}({arguments})".encode()


@cache
def _functions(contract: str) -> Mapping[str, Item]:
    items = {item["name"]: item for item in load_artifact(contract).abi if item["type"] == "function"}
    creation = [item for item in load_artifact(contract).abi if item["type"] == CONSTRUCTOR]
    return MappingProxyType(items | {CONSTRUCTOR: creation[0] if creation else {"inputs": (), "outputs": ()}})


@cache
def _events(contract: str) -> Mapping[bytes, Item]:
    items = [item for item in load_artifact(contract).abi if item["type"] == "event"]
    return MappingProxyType({bytes(keccak(_signature(item))): item for item in items})


def _function(call: ContractCall) -> Item:
    item = _functions(call.contract).get(call.function)
    if item is None:
        raise InvalidInputError(f"{call.contract} has no function {call.function!r}")
    return item


def _topic_type(spec: Item) -> str:
    dynamic = spec["type"] in {"string", "bytes"} or spec["type"].endswith("]") or spec["type"] == "tuple"
    return "bytes32" if dynamic else str(spec["type"])


def _to_abi(spec: Item, value: Any) -> Any:
    kind = spec["type"]
    if kind.endswith("]"):
        element = {**spec, "type": kind[: kind.rindex("[")]}
        return [_to_abi(element, item) for item in value]
    if kind == "tuple":
        parts = spec["components"]
        if isinstance(value, Mapping):
            if value.keys() != {part["name"] for part in parts}:
                raise ValueError(f"{spec['name']} needs exactly {[part['name'] for part in parts]}")
            value = [value[part["name"]] for part in parts]
        return tuple(_to_abi(part, item) for part, item in zip(parts, value, strict=True))
    return value


def _from_abi(spec: Item, value: Any) -> Any:
    kind = spec["type"]
    if kind.endswith("]"):
        element = {**spec, "type": kind[: kind.rindex("[")]}
        return tuple(_from_abi(element, item) for item in value)
    if kind == "tuple":
        return {part["name"]: _from_abi(part, item) for part, item in zip(spec["components"], value, strict=True)}
    return checksum_address(bytes.fromhex(value[2:])) if kind == "address" else value


def _json_ready(kind: str, value: Any) -> object:
    if kind == "address":
        return checksum_address(bytes.fromhex(value[2:]))
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 2**53 else value
