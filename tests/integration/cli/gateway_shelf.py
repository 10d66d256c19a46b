"""A small gateway over HTTP that does what docs/spec/jobs.md says; what it holds, and how it lies, is up to the test."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.gateway import JobAccess, access_digest
from swarm_chain.core.jobs import spec_hash
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, Hash32, JobId, Signature, Timestamp
from tests.chain_fixtures import ChainTools

MAX_SKEW_FOR = 30


@dataclass(slots=True, kw_only=True)
class GatewayShelf:
    """A gateway; `log` gives one entry a request, and ends after the last if `log_ends`."""

    tools: ChainTools
    key: KeySigner
    domain: Hash32
    url: str = ""
    price_wei: int = 5 * 10**18
    seconds: int = 40
    missing: list[str] = field(default_factory=list)
    plan_needs_inputs: bool = False
    lies: dict[str, dict[str, Any]] = field(default_factory=dict)  # route -> what replaces the truth in its answer
    specs: dict[str, Any] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    words: dict[int, dict[str, Any]] = field(default_factory=dict)
    contents: dict[int, list[bytes]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    log_ends: bool = True
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes, headers: Any) -> tuple[int, Any]:
        """Status and document, or bytes, of a request."""
        route = f"{method} {path.partition('?')[0]}"
        self.asked.append(route)
        status, document = self._truth(method, route, path, body, headers)
        return status, document | self.lies[route] if route in self.lies else document

    def _truth(self, method: str, route: str, path: str, body: bytes, headers: Any) -> tuple[int, Any]:
        if route == "GET /v1/gateway":
            return 200, {
                "address": self.key.address,
                "chainId": self.tools.net.deployment.chain_id,
                "rayAddress": "127.0.0.1:6379",
                "feeBps": 100,
                "minPriceWei": "1",
            }
        if route == "POST /v1/plans":
            return self._plan(json.loads(body)["spec"])
        if route == "POST /v1/specs":
            spec = json.loads(body)["spec"]
            self.specs[to_hex(spec_hash(spec))] = spec
            return 201, {"specHash": to_hex(spec_hash(spec))}
        if method == "PUT":
            return self._keep(path.rpartition("/")[2], body)
        return self._of_job(path, headers)

    def _plan(self, spec: dict[str, Any]) -> tuple[int, Any]:
        if self.plan_needs_inputs and any(name not in self.blobs for name in spec["inputs"]):
            return 422, {"error": "unknown_input", "message": "an input is not here", "fix": "send it first"}
        node = {"node": self.key.address, "provider": 1, "priceWei": str(self.price_wei)}
        return 200, {
            "specHash": to_hex(keccak(canonical_json(spec))),
            "spec": spec,
            "nodes": [] if self.missing else [node],
            "priceWei": str(self.price_wei),
            "seconds": self.seconds,
            "missing": self.missing,
            "refunds": [],
        }

    def _keep(self, name: str, body: bytes) -> tuple[int, Any]:
        if to_hex(keccak(body)) != name:
            return 422, {"error": "wrong_blob", "message": "these are not the bytes of the hash"}
        self.blobs[name] = body
        return 201, {}

    def _of_job(self, path: str, headers: Any) -> tuple[int, Any]:
        found = re.fullmatch(r"/v1/jobs/(\d+)(?:/contents/(\d+)|/(log)\?offset=(\d+))?", path)
        if found is None:
            return 404, {"error": "unknown", "message": "no such route"}
        job_id = int(found.group(1))
        if found.group(2) is None and found.group(3) is None:
            word = self.words.get(job_id)
            return (200, word) if word else (404, {"error": "unknown_job", "message": f"job {job_id} is unknown here"})
        try:
            self._require_customer(job_id, headers)
        except InvalidInputError as error:
            return 422, error.as_dict()
        if found.group(3):
            return 200, self._piece(int(found.group(4)))
        index, held = int(found.group(2)), self.contents.get(job_id, [])
        return (200, held[index]) if index < len(held) else (404, {"error": "unknown_content", "message": "not here"})

    def _require_customer(self, job_id: int, headers: Any) -> None:
        issued_at = Timestamp(int(headers["X-Swarm-Issued-At"]))
        customer: Any = self.tools.call("JobEscrow", "job", job_id)
        reader = Address(headers["X-Swarm-Customer"])
        digest = access_digest(self.domain, JobAccess(job_id=JobId(job_id), customer=reader, issued_at=issued_at))
        signature = Signature(bytes.fromhex(headers["X-Swarm-Signature"][2:]))
        require_signed_by(customer["customer"], digest, signature)
        if abs(self.tools.reader.block("latest").timestamp - issued_at) > MAX_SKEW_FOR:
            raise InvalidInputError("too old", code="stale")

    def _piece(self, offset: int) -> dict[str, Any]:
        starts = [len("".join(self.log[:count]).encode()) for count in range(len(self.log) + 1)]
        text = self.log[starts.index(offset)] if offset < starts[-1] else ""
        ended = self.log_ends and offset + len(text.encode()) == starts[-1]
        return {"offset": offset, "next": offset + len(text.encode()), "text": text, "ended": ended}


@contextmanager
def serving(shelf: GatewayShelf) -> Iterator[GatewayShelf]:
    """The gateway behind a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_PUT(self) -> None:
            self._answer("PUT")

        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, document = shelf.answer(method, self.path, body, self.headers)
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Keeps stderr clean: the test looks at it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    shelf.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield shelf
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
