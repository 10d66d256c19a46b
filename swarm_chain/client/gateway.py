"""The routes of a gateway that customers use. It is asked, never believed: callers check what it gives."""

from collections.abc import Mapping
from typing import Any

from swarm_chain.client.model import GatewayInfo, GatewayWord, LogPiece, Plan
from swarm_chain.client.peer import GATEWAY, HttpPeer
from swarm_chain.client.wire import read_gateway, read_log, read_plan, read_spec_hash, read_word
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32, JobId


class Gateway:
    """One gateway. Every method raises UnavailableError where it is away or answers nonsense.

    Args:
        url: base URL.
    """

    def __init__(self, url: str) -> None:
        self._peer = HttpPeer(url, GATEWAY)

    @property
    def name(self) -> str:
        """Scheme, host and port."""
        return self._peer.name

    def info(self, chain_id: int) -> GatewayInfo:
        """Who it is.

        Raises:
            InvalidInputError: it serves another chain (exit 3).
        """
        info = read_gateway(self._peer.get("/v1/gateway"))
        if info.chain_id != chain_id:
            raise InvalidInputError(
                f"gateway {self.name} serves chain {info.chain_id}, the deployment is on {chain_id}",
                fix="choose the --gateway-url of that chain",
                code="wrong_chain",
                exit_code=3,
            )
        return info

    def plan(self, spec: Mapping[str, Any]) -> Plan:
        """Where a spec would run, and what that costs; nothing is kept there."""
        return read_plan(self._peer.post("/v1/plans", {"spec": dict(spec)}))

    def keep_spec(self, spec: Mapping[str, Any]) -> Hash32:
        """Leaves a spec there; gives the hash it was kept under."""
        return read_spec_hash(self._peer.post("/v1/specs", {"spec": dict(spec)}))

    def keep_blob(self, content_hash: Hash32, content: bytes) -> None:
        """Leaves bytes of an input there, under their hash; again is harmless."""
        self._peer.put_bytes(f"/v1/blobs/{to_hex(content_hash)}", content)

    def word(self, job_id: JobId) -> GatewayWord:
        """What it says of a job."""
        return read_word(self._peer.get(f"/v1/jobs/{job_id}"))

    def content(self, job_id: JobId, index: int, headers: Mapping[str, str]) -> bytes:
        """Bytes it gives for a content, to whom the headers show to be the customer (JobAccess)."""
        return self._peer.get_bytes(f"/v1/jobs/{job_id}/contents/{index}", MAX_CHECKPOINT_BYTES, headers)

    def log(self, job_id: JobId, offset: int, headers: Mapping[str, str]) -> LogPiece:
        """The log from a byte on, to whom the headers show to be the customer (JobAccess)."""
        return read_log(self._peer.get(f"/v1/jobs/{job_id}/log?offset={offset}", headers), offset)
