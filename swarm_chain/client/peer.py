"""HTTP to an oracle member or a gateway: bounded answers, one clear error each; what matters is verified by the caller."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from swarm_chain.adapters.rpc import redacted
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, SwarmError, UnavailableError

TIMEOUT_S: Final = 20
MAX_ANSWER_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What a server is to its clients: its name in errors, the same with an article, and the option that names it."""

    name: str
    article: str
    option: str


ORACLE: Final = Role(name="oracle", article="an oracle", option="--oracle-url")
GATEWAY: Final = Role(name="gateway", article="a gateway", option="--gateway-url")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    method: str
    path: str
    body: dict[str, Any] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    most: int = MAX_ANSWER_BYTES


class HttpPeer:
    """Calls of one server; no redirect is followed.

    Args:
        url: base URL, without a path.
        role: what it is.
    """

    def __init__(self, url: str, role: Role = ORACLE) -> None:
        self._url, self._role = url.rstrip("/"), role

    @property
    def name(self) -> str:
        """Scheme, host and port: user, path and query may hold a key."""
        return redacted(self._url)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """JSON object at a path such as "/v1/status".

        Raises:
            UnavailableError: no answer, or none that such a server would give.
            InvalidInputError: it knows no such thing.
        """
        return self._object(self._request(_Ask(method="GET", path=path, headers=headers or {})))

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES, headers: Mapping[str, str] | None = None) -> bytes:
        """Raw bytes at a path, at most so many.

        Raises:
            UnavailableError: no answer, or a longer one.
            InvalidInputError: the server knows no such thing.
        """
        return self._request(_Ask(method="GET", path=path, headers=headers or {}, most=most))

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer to a JSON body.

        Raises:
            SwarmError: of the family the server answered with.
        """
        return self._object(self._request(_Ask(method="POST", path=path, body=body)))

    def put_bytes(self, path: str, content: bytes) -> None:
        """Leaves bytes at a path.

        Raises:
            SwarmError: of the family the server answered with.
        """
        self._request(_Ask(method="PUT", path=path, content=content))

    def _request(self, ask: _Ask) -> bytes:
        url, headers = self._url + ask.path, dict(ask.headers)
        try:
            with httpx2.stream(
                ask.method, url, json=ask.body, content=ask.content, headers=headers, timeout=TIMEOUT_S
            ) as response:
                content = self._read(response, ask.most)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UnavailableError(
                f"{self._role.name} {self.name} does not answer ({type(error).__name__})",
                fix=f"check {self._role.option}, or try again later",
                code=f"{self._role.name}_unreachable",
            ) from error
        if response.status_code >= 300:
            raise _refusal(f"{self._role.name}: ", self.name, response.status_code, content)
        return content

    def _object(self, content: bytes) -> dict[str, Any]:
        document = _parse(content)
        if document is None:
            raise UnavailableError(
                f"{self.name} does not answer like {self._role.article}",
                fix=f"check {self._role.option}",
                code=f"not_{self._role.article.replace(' ', '_')}",
            )
        return document

    def _read(self, response: httpx2.Response, most: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.iter_bytes():
            size += len(part)
            # An error may be longer than the document that was asked for.
            if size > (most if response.status_code < 300 else MAX_ANSWER_BYTES):
                raise UnavailableError(f"the {self._role.name}'s answer exceeds {most} bytes", code="answer_too_large")
            parts.append(part)
        return b"".join(parts)


def _parse(content: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _refusal(prefix: str, name: str, status: int, content: bytes) -> SwarmError:
    document = _parse(content) or {}
    message = f"{prefix}{str(document.get('message') or f'{name} answered {status}')[:500]}"
    fix, code = str(document.get("fix") or "")[:500], str(document.get("error") or f"http_{status}")[:64]
    if status in {429, 502, 503, 504}:
        return UnavailableError(message, fix=fix or "try again in a moment", code=code)
    if status == 409:
        return RejectedError(message, fix=fix, code=code)
    if status == 500:
        return InconsistentError(message, fix=fix or "tell its operator", code=code)
    return InvalidInputError(message, fix=fix, code=code)
