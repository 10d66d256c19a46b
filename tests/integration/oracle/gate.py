"""A JSON-RPC endpoint between a member and anvil that loses chosen transactions, or only the answers to them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from swarm_chain.adapters.contracts import encode_call
from swarm_chain.adapters.transaction import parse_fields
from swarm_chain.core.model import ContractCall
from tests.integration.proxy import forward


class Fault(Enum):
    """What happens to a transaction at the gate."""

    LOST = "never reached the chain"
    UNANSWERED = "reached the chain, but the line broke before the answer"


@dataclass(slots=True)
class Gate:
    """Forwards everything but the transactions named in `faults`, by the first four bytes of their calldata."""

    target: str
    url: str = ""
    faults: dict[bytes, Fault] = field(default_factory=dict)
    met: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to one request, None where the line breaks."""
        fault = None
        if request["method"] == "eth_sendRawTransaction":
            selector = parse_fields(bytes.fromhex(request["params"][0][2:])).data[:4]
            fault = self.faults.get(selector)
        answer = None if fault is Fault.LOST else forward(self.target, request)
        if fault is not None:
            self.met.set()
            return None
        return answer


def selector(contract: str, function: str, *args: object) -> bytes:
    """First four bytes of the calldata of a call."""
    return encode_call(ContractCall(contract=contract, function=function, args=args))[:4]


@contextmanager
def running_gate(target: str) -> Iterator[Gate]:
    """A gate on a free loopback port, closed at the end."""
    gate = Gate(target)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            document = gate.answer(json.loads(body))
            if document is None:
                self.close_connection = True
                return
            content = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Stays silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    gate.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield gate
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
