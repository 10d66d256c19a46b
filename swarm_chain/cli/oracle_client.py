"""HTTP client of an oracle member: bounded answers, one clear error each; what matters is verified by the caller."""

import json
from typing import Any

import httpx2

from swarm_chain.adapters.rpc import redacted
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, SwarmError, UnavailableError

TIMEOUT_S = 20
MAX_ANSWER_BYTES = 64 * 2**20


class OracleClient:
    """Calls of one oracle member.

    Args:
        url: base URL, without a path.

    Raises:
        InvalidInputError: no URL (exit 3).
    """

    def __init__(self, url: str | None) -> None:
        if url is None:
            raise InvalidInputError(
                "no oracle is named", fix="give --oracle-url or set SWARM_ORACLE_URL", code="no_oracle", exit_code=3
            )
        self._url = url.rstrip("/")

    @property
    def name(self) -> str:
        """Scheme, host and port of the member: user, path and query may hold a key."""
        return redacted(self._url)

    def get(self, path: str) -> dict[str, Any]:
        """JSON object at a path such as "/v1/status".

        Raises:
            UnavailableError: no answer, or none that an oracle would give.
            InvalidInputError: the member knows no such thing.
        """
        return self._object(self._request("GET", path))

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES) -> bytes:
        """Raw bytes at a path, at most so many.

        Raises:
            UnavailableError: no answer, or a longer one.
            InvalidInputError: the member knows no such thing.
        """
        return self._request("GET", path, most=most)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer to a JSON body.

        Raises:
            SwarmError: of the family the member answered with.
        """
        return self._object(self._request("POST", path, body))

    def _request(
        self, method: str, path: str, body: dict[str, Any] | None = None, most: int = MAX_ANSWER_BYTES
    ) -> bytes:
        try:
            with httpx2.stream(method, self._url + path, json=body, timeout=TIMEOUT_S) as response:
                content = _read(response, most)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UnavailableError(
                f"oracle {self.name} does not answer ({type(error).__name__})",
                fix="check --oracle-url, or try again later",
                code="oracle_unreachable",
            ) from error
        if response.status_code >= 300:
            raise _refusal(self.name, response.status_code, content)
        return content

    def _object(self, content: bytes) -> dict[str, Any]:
        document = _parse(content)
        if document is None:
            raise UnavailableError(
                f"{self.name} does not answer like an oracle", fix="check --oracle-url", code="not_an_oracle"
            )
        return document


def _read(response: httpx2.Response, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        # An error may be longer than the document that was asked for.
        if size > (most if response.status_code < 300 else MAX_ANSWER_BYTES):
            raise UnavailableError(f"the oracle's answer exceeds {most} bytes", code="answer_too_large")
        parts.append(part)
    return b"".join(parts)


def _parse(content: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _refusal(url: str, status: int, content: bytes) -> SwarmError:
    document = _parse(content) or {}
    message = f"oracle: {str(document.get('message') or f'{url} answered {status}')[:500]}"
    fix, code = str(document.get("fix") or "")[:500], str(document.get("error") or f"http_{status}")[:64]
    if status in {429, 502, 503, 504}:
        return UnavailableError(message, fix=fix or "try again in a moment", code=code)
    if status == 409:
        return RejectedError(message, fix=fix, code=code)
    if status == 500:
        return InconsistentError(message, fix=fix or "tell the member's operator", code=code)
    return InvalidInputError(message, fix=fix, code=code)
