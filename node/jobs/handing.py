"""What a member is handed for judging a job: inputs first, since they may say how many units there are, then contents.

<folder of the job>/inputs/0x…    what the runner was given, by content hash
"""

from collections.abc import Mapping
from pathlib import Path

import structlog

from node.ports import CheckpointUpload, InputUpload
from node.state import add_delivery, deliveries
from node.tools import Tools
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.jobs import JobSpec
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()


def kept_inputs(folder: Path, spec: JobSpec) -> dict[Hash32, bytes]:
    """Inputs of a job as they lie in its folder.

    Args:
        folder: of the job.
        spec: names them.

    Raises:
        InconsistentError: one is gone, or not what it was.
    """
    return {content: _kept(folder / "inputs" / to_hex(content), content) for content in spec.input_hashes}


def hand_in(tools: Tools, member: str, upload: CheckpointUpload | InputUpload) -> None:
    """Hands something to a member that does not have it yet; what it took is not sent again after a later one failed.

    Args:
        tools: members and records.
        member: its URL.
        upload: a content or an input.

    Raises:
        SwarmError: the member does not take it.
    """
    kind, name = f"job {upload.job_id}", _name(upload)
    if member in deliveries(tools.state, kind).get(name, frozenset()):
        return
    tools.members[member].inbox.checkpoint(upload)
    add_delivery(tools.state, kind, name, member)
    log.info("job_evidence_delivered", job_id=upload.job_id, what=name, member=member)


def hand_in_inputs(tools: Tools, member: str, job_id: JobId, inputs: Mapping[Hash32, bytes]) -> None:
    """Hands all inputs of a job to a member; errors as `hand_in`."""
    for content in inputs.values():
        hand_in(tools, member, InputUpload(job_id=job_id, node=tools.node, content=content))


def _name(upload: CheckpointUpload | InputUpload) -> str:
    return to_hex(content_hash(upload.content)) if isinstance(upload, InputUpload) else str(upload.index)


def _kept(path: Path, content: Hash32) -> bytes:
    found = path.read_bytes() if path.exists() else b""
    if content_hash(found) != content:
        raise InconsistentError(f"input {to_hex(content)} is gone", values={"path": str(path)})
    return found
