"""What a member is handed for judging a job: inputs first, since they may say how many units there are, then contents."""

from collections.abc import Mapping

import structlog

from node.ports import CheckpointUpload, InputUpload
from node.state import add_delivery, deliveries
from node.tools import Tools
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.units import Hash32, JobId

log = structlog.get_logger()


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
