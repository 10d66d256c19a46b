"""Another member over HTTP: bounded answers and short waits, since nothing of what it says is believed unchecked."""

import json
from typing import Protocol

import httpx2

from swarm_chain.adapters.rpc import redacted
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError

MAX_ANSWER_BYTES = 64 * 2**20
CONNECT_S, ANSWER_S = 1.0, 5.0


class Peer(Protocol):
    """Another member of the committee."""

    @property
    def name(self) -> str:
        """Where it is, without user, path and query: what logs may say."""
        ...

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES) -> bytes:
        """Content at a path of its API; UnavailableError if it is silent, InvalidInputError if it has none."""
        ...

    def post_bytes(self, path: str, body: dict[str, object]) -> bytes:
        """Answer to a JSON body."""
        ...


class HttpPeer:
    """Peer over HTTP with connections that are kept.

    Args:
        url: base of its API; may hold a user and a password, which no log and no error repeats.
    """

    def __init__(self, url: str) -> None:
        self.name = redacted(url)
        self._url = url.rstrip("/")
        self._client = httpx2.Client(timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S))

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES) -> bytes:
        """Content at a path, at most so many bytes.

        Raises:
            UnavailableError: silent, or busy.
            InvalidInputError: it has nothing there (code "unknown_document"), or refuses.
        """
        return self._send("GET", path, None, most)

    def post_bytes(self, path: str, body: dict[str, object]) -> bytes:
        """Answer to a JSON body; raises like `get_bytes`."""
        return self._send("POST", path, canonical_json(body), MAX_ANSWER_BYTES)

    def close(self) -> None:
        """Ends its connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: bytes | None, most: int) -> bytes:
        headers = {} if body is None else {"content-type": "application/json"}
        try:
            with self._client.stream(method, self._url + path, content=body, headers=headers) as response:
                content = self._read(response, most)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UnavailableError(
                f"member {self.name} does not answer ({type(error).__name__})", code="peer_silent", retry_after=1
            ) from error
        if response.status_code >= 500 or response.status_code == 429:
            raise UnavailableError(f"member {self.name} answered {response.status_code}", code="peer_busy")
        if response.status_code >= 300:
            code = "unknown_document" if response.status_code == 404 else "peer_refused"
            raise InvalidInputError(f"member {self.name} answered {response.status_code} to {path}", code=code)
        return content

    def _read(self, response: httpx2.Response, most: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.iter_bytes():
            size += len(part)
            if size > most:
                raise UnavailableError(f"member {self.name} answers without end", code="peer_garbage")
            parts.append(part)
        return b"".join(parts)


def object_of(content: bytes) -> dict[str, object]:
    """JSON object another member answered.

    Raises:
        InvalidInputError: it is none (code "peer_garbage").
    """
    try:
        document = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidInputError("a member's answer is no JSON object", code="peer_garbage")
    return document
