"""Who may have what a job made: a gateway all contents, a member the last one. Each checks its receipt against the chain."""

from collections.abc import Sequence

from swarm_chain.client.escrow import Escrow
from swarm_chain.client.gateway import Gateway
from swarm_chain.client.model import ChainJob
from swarm_chain.client.peer import HttpPeer
from swarm_chain.client.results import Source, check_countersigned, check_receipt, mismatch
from swarm_chain.client.visits import Visits
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, MAX_CHECKPOINTS
from swarm_chain.core.model import Receipt


def gateway_source(escrow: Escrow, job: ChainJob, gateway: Gateway, visits: Visits) -> Source:
    """All contents, as a gateway gives them to the customer."""

    def receipt() -> Receipt:
        word = gateway.word(job.job_id)
        found = check_receipt(job, word.receipt, escrow.domain)
        if found.exit_code == 0:  # a failed job needs nobody's signature
            check_countersigned(job, word, gateway.info(escrow.deployment.chain_id).address)
        return found

    def indices(found: Receipt) -> Sequence[int]:
        if not 2 <= found.checkpoint_count <= MAX_CHECKPOINTS:
            raise mismatch(job, f"the receipt names {found.checkpoint_count} contents")
        return range(found.checkpoint_count)

    def content(index: int) -> bytes:
        return gateway.content(job.job_id, index, visits.headers())

    return Source(name=f"gateway {gateway.name}", receipt=receipt, indices=indices, content=content)


def member_source(escrow: Escrow, job: ChainJob, member: HttpPeer) -> Source:
    """The last content, as an oracle member gives it to anybody."""
    path = f"/v1/jobs/{job.job_id}"
    return Source(
        name=f"oracle {member.name}",
        receipt=lambda: check_receipt(job, member.get(path).get("receipt"), escrow.domain),
        indices=lambda found: (found.checkpoint_count - 1,),
        content=lambda _: member.get_bytes(f"{path}/result", MAX_CHECKPOINT_BYTES),
    )
