"""A JSON-RPC endpoint in front of another one that misbehaves on command: the rules and the faults of real nodes."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

from swarm_chain.adapters.transaction import parse_fields
from swarm_chain.core.encoding import keccak, to_hex


@dataclass(slots=True)
class Proxy:
    """Forwards to anvil, but wants +10 % for a replacement, as geth does, and obeys the switches below."""

    target: str
    url: str = ""
    refuse: dict[str, dict[str, Any]] = field(default_factory=dict)
    swallow: set[str] = field(default_factory=set)
    edit: dict[str, Any] = field(default_factory=dict)
    twist: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    stall: threading.Event | None = None
    status: int = 200
    body: bytes | None = None
    max_log_blocks: int = 10**9
    without_log_timestamps: bool = False
    after_logs: Callable[[], None] | None = None
    calls: list[str] = field(default_factory=list)
    _taken: dict[int, tuple[str, int]] = field(default_factory=dict)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The JSON-RPC answer to one request."""
        method = request["method"]
        self.calls.append(method)
        if self.stall is not None:
            self.stall.wait(30)
        frame = {"jsonrpc": "2.0", "id": request["id"]}
        if method in self.refuse:
            return frame | {"error": self.refuse[method]}
        if method == "eth_sendRawTransaction":
            refusal = self._refusal(bytes.fromhex(request["params"][0][2:]))
            if refusal:
                return frame | {"error": {"code": -32000, "message": refusal}}
        answer = forward(self.target, request)
        if method == "eth_getLogs":
            answer = self._logs(request, answer)
        if method in self.swallow:
            # The node took it, but the line broke before its answer.
            raise ConnectionAbortedError
        if method in self.twist and answer.get("result") is not None:
            return answer | {"result": self.twist[method](answer["result"])}
        return answer | {"result": self.edit[method]} if method in self.edit else answer

    def _logs(self, request: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        query = request["params"][0]
        if int(query["toBlock"], 16) - int(query["fromBlock"], 16) >= self.max_log_blocks:
            return answer | {"result": None, "error": {"code": -32005, "message": "query returned too many results"}}
        if self.without_log_timestamps:
            for log in answer["result"]:
                del log["blockTimestamp"]
        if self.after_logs is not None:
            self.after_logs()
        return answer

    def _refusal(self, raw: bytes) -> str:
        fields, tx_hash = parse_fields(raw), to_hex(keccak(raw))
        if self._waits(tx_hash):
            return "already known"
        waiting, fee = self._taken.get(fields.nonce, ("", 0))
        if waiting and self._waits(waiting) and fields.max_fee_wei * 10 < fee * 11:
            return "replacement transaction underpriced"
        self._taken[fields.nonce] = (tx_hash, fields.max_fee_wei)
        return ""

    def _waits(self, tx_hash: str) -> bool:
        """Whether a transaction is in the pool of the node behind."""
        request = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionByHash", "params": [tx_hash]}
        found = forward(self.target, request)["result"]
        return found is not None and found["blockNumber"] is None


def forward(target: str, request: dict[str, Any]) -> dict[str, Any]:
    """Answer of the endpoint behind."""
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(target, json.dumps(request).encode(), headers), timeout=10) as response:  # noqa: S310 - loopback
        answer: dict[str, Any] = json.load(response)
    return answer


@contextmanager
def running_proxy(target: str) -> Iterator[Proxy]:
    """A proxy on a free loopback port, stopped at the end."""
    proxy = Proxy(target)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                answer = json.dumps(proxy.answer(json.loads(body))).encode()
            except ConnectionAbortedError:
                self.close_connection = True
                return
            answer = answer if proxy.body is None else proxy.body
            self.send_response(proxy.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Stays silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
