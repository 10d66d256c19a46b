"""A node that offers inference and has no model: a tiny HTTP server that gives every request the same answer at once."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from swarm_chain.core.units import Hash32

CANNED_TOKENS = list(range(8))


class CannedEndpoint:
    """Takes the place of `node.serving.endpoint.RayEndpoint`: listens on loopback until it is closed.

    Args:
        port: 0 takes a free one.
    """

    def __init__(self, port: int = 0) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _Canned)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port it listens on."""
        return self._server.server_port

    def serve_model(self, seed: Hash32) -> None:
        """Any model is as good as none."""

    def close(self) -> None:
        """Stops answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Canned(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        event = json.dumps({"choices": [{"index": 0, "token_ids": CANNED_TOKENS}]})
        body = f"data: {event}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        """Says nothing."""
