"""A remote signer as Web3Signer is one: real HTTP on loopback, keys in memory, and faults on command."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from eth_keys.datatypes import PrivateKey

from swarm_chain.core.encoding import keccak, to_hex

SIGN = "/api/v1/eth1/sign/"


@dataclass(slots=True)
class SignerServer:
    """Signs keccak256 of the data it is given with the key named in the path; `change` is what a broken one makes of it."""

    keys: list[PrivateKey]
    url: str = ""
    password: str | None = None
    status: int = 200
    body: bytes | None = None
    change: Callable[[bytes], bytes] = bytes
    use_key: PrivateKey | None = None
    stall: threading.Event | None = None
    signed: list[bytes] = field(default_factory=list)

    def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body for one request."""
        if self.stall is not None:
            self.stall.wait(30)
        if self.body is not None or self.status != 200:
            return self.status, self.body or b""
        if path == "/upcheck":
            return 200, b"OK"
        known = {to_hex(key.public_key.to_bytes()): key for key in self.keys}
        if path == "/api/v1/eth1/publicKeys":
            return 200, json.dumps([*known]).encode()
        key = known.get(path.removeprefix(SIGN))
        if not path.startswith(SIGN) or key is None:
            return 404, b""
        data = bytes.fromhex(json.loads(body)["data"][2:])
        self.signed.append(data)
        signature = (self.use_key or key).sign_msg_hash(keccak(data))
        made = signature.to_bytes()[:64] + bytes([27 + signature.v])
        return 200, to_hex(self.change(made)).encode()

    def admits(self, header: str | None) -> bool:
        """Whether the sender of a request gave the password, if one is needed."""
        return (
            self.password is None or header == "Basic " + base64.b64encode(f"swarm:{self.password}".encode()).decode()
        )


@contextmanager
def running_signer(*private_keys: bytes) -> Iterator[SignerServer]:
    """A signer on a free loopback port, stopped at the end."""
    signer = SignerServer([PrivateKey(key) for key in private_keys])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = 401, b""
            if signer.admits(self.headers.get("Authorization")):
                status, content = signer.answer(self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Stays silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    signer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield signer
    finally:
        if signer.stall is not None:
            signer.stall.set()
        server.shutdown()
        server.server_close()
        thread.join()
