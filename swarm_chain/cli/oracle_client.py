"""An oracle member by its URL, for commands that need one."""

from typing import Any

from swarm_chain.client.peer import MAX_ANSWER_BYTES, ORACLE, HttpPeer
from swarm_chain.core.errors import InvalidInputError


class OracleClient:
    """Calls of one oracle member, as HttpPeer makes them.

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
        self._peer = HttpPeer(url, ORACLE)

    @property
    def name(self) -> str:
        """Scheme, host and port of the member."""
        return self._peer.name

    def get(self, path: str) -> dict[str, Any]:
        """JSON object at a path such as "/v1/status"."""
        return self._peer.get(path)

    def get_bytes(self, path: str, most: int = MAX_ANSWER_BYTES) -> bytes:
        """Raw bytes at a path, at most so many."""
        return self._peer.get_bytes(path, most)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer to a JSON body."""
        return self._peer.post(path, body)
