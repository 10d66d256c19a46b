"""Reads of a chain through JSON-RPC endpoints, tried in order, each asked once which chain it serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from swarm_chain.adapters.contracts import decode_result, decode_revert, encode_call
from swarm_chain.adapters.events import BlockRange, LogDecoder, read_logs
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall, Deployment
from swarm_chain.core.units import Address, BlockNumber, Hash32, Timestamp, Wei
from swarm_chain.recursion import recursion_limit_kept

TAGS = ("latest", "finalized", "earliest")
# Code of EIP-1474 for a reverted call, and the words of nodes that use another one.
_REVERT_CODE = 3
_REVERT_WORDS = ("revert", "invalid opcode", "out of gas")


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcFault:
    """A JSON-RPC error object: an endpoint that works said no. `data` are the bytes a revert returned."""

    method: str
    code: int
    message: str
    data: bytes = b""

    def as_error(self) -> SwarmError:
        """RejectedError if the EVM reverted, else UnavailableError: the endpoint cannot serve the request now."""
        if self.code == _REVERT_CODE or self.data or any(word in self.message.lower() for word in _REVERT_WORDS):
            return decode_revert(self.data)
        return UnavailableError(
            f"the RPC endpoint refused {self.method}: {self.message}", fix="try again, or use another --rpc-url"
        )


class RpcPool:
    """JSON-RPC endpoints of one chain; the first that answers is asked first next time.

    Args:
        urls: endpoints, best first.
        chain_id: chain all of them must serve; None accepts any (before a deployment exists).
        timeout_s: seconds to wait for an answer.
    """

    def __init__(self, urls: Sequence[str], *, chain_id: int | None = None, timeout_s: int = 10) -> None:
        with recursion_limit_kept():
            from web3 import HTTPProvider

        if not urls:
            raise InvalidInputError("no RPC endpoint given", fix="give --rpc-url or set SWARM_RPC_URL", exit_code=3)
        options = {"timeout": timeout_s}
        self._providers = [
            HTTPProvider(url, options, exception_retry_configuration=None) for url in map(_checked, urls)
        ]
        self._chain_id = chain_id
        self._verified: set[str] = set()

    @property
    def endpoints(self) -> tuple[str, ...]:
        """URLs in the order they are tried; they may hold keys, so show them through `redacted`."""
        return tuple(str(provider.endpoint_uri) for provider in self._providers)

    def ask(self, method: str, params: Sequence[object] = ()) -> "object | RpcFault":
        """Result of a method, or the endpoint's error object.

        Raises:
            UnavailableError: no endpoint answers.
            InvalidInputError: an endpoint serves another chain (code "wrong_chain", exit 3).
        """
        reasons = []
        for provider in tuple(self._providers):
            answer = self._ask_one(provider, method, params)
            if isinstance(answer, str):
                reasons.append(answer)
                continue
            self._prefer(provider)
            return _unpack(method, answer)
        raise UnavailableError(
            f"no RPC endpoint answers: {'; '.join(reasons)}",
            code="rpc_unavailable",
            fix="start the node or `swarm dev up`, or give another --rpc-url",
        )

    def request(self, method: str, params: Sequence[object] = ()) -> Any:
        """Like `ask`, but an error object is raised: RejectedError if the EVM reverted, else UnavailableError."""
        answer = self.ask(method, params)
        if isinstance(answer, RpcFault):
            raise answer.as_error()
        return answer

    def _ask_one(self, provider: Any, method: str, params: Sequence[object]) -> "Mapping[str, Any] | str":
        """The endpoint's answer, or in words why there is none."""
        import requests

        place = redacted(provider.endpoint_uri)
        try:
            if self._chain_id is not None and provider.endpoint_uri not in self._verified:
                self._check_chain(place, int(provider.make_request("eth_chainId", [])["result"], 16))
                self._verified.add(provider.endpoint_uri)
            answer: Any = provider.make_request(method, list(params))
        except requests.RequestException as error:
            return f"{place} ({_in_words(error)})"
        except (KeyError, TypeError, ValueError):
            return f"{place} (its answer is no JSON-RPC)"
        is_answer = isinstance(answer, Mapping) and ("result" in answer or "error" in answer)
        return answer if is_answer else f"{place} (its answer is no JSON-RPC)"

    def _check_chain(self, place: str, have: int) -> None:
        if have != self._chain_id:
            raise InvalidInputError(
                f"{place} serves chain {have}, the deployment is on chain {self._chain_id}",
                code="wrong_chain",
                fix="give the --rpc-url of that chain, or the --deployment of this one",
                values={"have": have, "want": self._chain_id},
                exit_code=3,
            )

    def _prefer(self, provider: Any) -> None:
        if self._providers[0] is not provider:
            self._providers = [provider, *(other for other in self._providers if other is not provider)]


class Web3Reader:
    """ChainReader over JSON-RPC.

    Args:
        rpc_url: one endpoint, or several that are tried in order.
        deployment: where the contracts are; every endpoint must serve its chain.
        timeout_s: seconds to wait for an answer.
    """

    def __init__(self, rpc_url: str | Sequence[str], deployment: Deployment, *, timeout_s: int = 10) -> None:
        urls = [rpc_url] if isinstance(rpc_url, str) else list(rpc_url)
        self.deployment = deployment
        self.rpc = RpcPool(urls, chain_id=deployment.chain_id, timeout_s=timeout_s)
        self.decoder = LogDecoder(deployment)

    def chain_id(self) -> int:
        """Chain id of the endpoint."""
        return int(self.rpc.request("eth_chainId"), 16)

    def block(self, which: "int | str | Hash32") -> BlockRef:
        """Block by number, hash or tag; InvalidInputError if the chain does not have it."""
        if isinstance(which, bytes):
            header = self.rpc.request("eth_getBlockByHash", [to_hex(which), False])
        elif isinstance(which, int) or which in TAGS:
            tag = hex(which) if isinstance(which, int) else which
            header = self.rpc.request("eth_getBlockByNumber", [tag, False])
        else:
            raise InvalidInputError(
                f"{which!r} names no block", fix=f"use a number, a hash or one of {', '.join(TAGS)}"
            )
        if header is None:
            shown = to_hex(which) if isinstance(which, bytes) else which
            raise InvalidInputError(f"the chain has no block {shown}", code="unknown_block")
        return _block_ref(header)

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        """All events of the deployment's contracts in blocks [first, last], in chain order.

        Raises:
            InvalidInputError: `last` is not on the chain yet.
            UnavailableError: the chain was reorganised while it was read (code "reorganised"); read again.
        """
        if last < first:
            return ()
        pinned = self.block(last)
        logs = read_logs(self.rpc.ask, self.decoder.addresses, BlockRange(max(first, 0), last))
        found = self.decoder.decode(logs, lambda number: self.block(number).timestamp)
        if self.block(last).hash != pinned.hash:
            raise UnavailableError(f"block {last} was replaced while it was read", code="reorganised", retry_after=1)
        return found

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        """Result of a view function, pinned to a block by its hash; RejectedError on revert."""
        transaction = {"to": self.address_of(call.contract), "data": to_hex(encode_call(call))}
        block: object = "latest" if at is None else {"blockHash": to_hex(at.hash), "requireCanonical": True}
        return decode_result(call, bytes_of(self.rpc.request("eth_call", [transaction, block])))

    def balance(self, address: Address) -> Wei:
        """Native balance at the latest block, wei."""
        return Wei(int(self.rpc.request("eth_getBalance", [address, "latest"]), 16))

    def address_of(self, contract: str) -> Address:
        """Address of a contract of the deployment; InvalidInputError if it has none."""
        if contract not in self.deployment.contracts:
            raise InvalidInputError(f"the deployment has no contract {contract!r}", fix="check the deployment file")
        return self.deployment.contracts[contract]


def bytes_of(text: str) -> bytes:
    """Bytes of 0x-hex as JSON-RPC writes them."""
    return bytes.fromhex(text.removeprefix("0x"))


def redacted(url: str) -> str:
    """Scheme, host and port of an endpoint: user, path and query often hold a key."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInputError(
            f"{url[:80]!r} is no RPC endpoint", fix="give http://host:port or https://…", exit_code=3
        )
    return url


def _unpack(method: str, answer: Mapping[str, Any]) -> "object | RpcFault":
    if answer.get("error") is None:
        return answer.get("result")
    error = answer["error"]
    if not isinstance(error, Mapping):
        return RpcFault(method=method, code=0, message=str(error))
    return RpcFault(
        method=method, code=int(error.get("code", 0)), message=str(error.get("message", "")), data=_revert_data(error)
    )


def _revert_data(error: Mapping[str, Any]) -> bytes:
    # geth and anvil put the bytes into `data`; others wrap them once more.
    data = error.get("data")
    if isinstance(data, Mapping):
        data = data.get("data") or data.get("result")
    if isinstance(data, str) and data.startswith("0x"):
        return bytes_of(data)
    return b""


def _in_words(error: Exception) -> str:
    import requests

    kinds: tuple[tuple[type[Exception], str], ...] = (
        (requests.Timeout, "no answer in time"),
        (requests.ConnectionError, "connection refused or lost"),
    )
    for kind, text in kinds:
        if isinstance(error, kind):
            return text
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"HTTP status {status}" if status else type(error).__name__


def _block_ref(header: Mapping[str, Any]) -> BlockRef:
    return BlockRef(
        number=BlockNumber(int(header["number"], 16)),
        hash=Hash32(bytes_of(header["hash"])),
        timestamp=Timestamp(int(header["timestamp"], 16)),
    )
