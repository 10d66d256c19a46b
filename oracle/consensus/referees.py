"""Who confirms that a node lied about a job: three members drawn once their observations are signed, two of whom must agree.

    members --draw_referees(reference block, receipt)--> three --find_forgery--> two computed the same, and not what is signed

What is paid follows from the majority of all members; guilt needs this on top. A member alone, two members that compute
different things, or a committee below three find none.

Source: jobs.md, row "train": slash only on a mismatch confirmed by 2 of 3 referees.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from oracle.model import ForgedWork, Mismatch, Observation, SignedReceipt
from swarm_chain.core.draws import draw_distinct
from swarm_chain.core.encoding import address_bytes, keccak, words
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Address, Hash32

REFEREES: Final = 3
CONFIRM: Final = 2
_LABEL: Final = keccak(b"swarm/referees/v1")


def draw_referees(members: Iterable[Address], block_hash: Hash32, job: JobRecord) -> tuple[Address, ...]:
    """Draw the referees of a job.

    Every member judges every job, so nobody has to know beforehand; neither can the node, since the block comes after its
    receipt and after the members judged.

    Args:
        members: of the committee, in any order.
        block_hash: of the epoch's reference block.
        job: completed on chain.

    Returns:
        Three distinct members in draw order; none if the committee has fewer.
    """
    seats = sorted(set(members), key=address_bytes)
    if len(seats) < REFEREES:
        return ()
    prefix = words(_LABEL, block_hash, job.receipt_digest, job.job_id)
    return tuple(seats[seat] for seat in draw_distinct("referees", prefix, REFEREES, len(seats)))


def find_forgery(
    job: JobRecord, signed: SignedReceipt, observations: Iterable[Observation], referees: Sequence[Address]
) -> ForgedWork | None:
    """Find a content that at least two referees computed alike and otherwise than the node signed.

    Args:
        job: completed on chain.
        signed: its receipt, which `judge.training.check_receipt` accepted.
        observations: one a member.
        referees: what `draw_referees` gave.

    Returns:
        None where they do not confirm each other; the content with the lowest number where they do.
    """
    said: defaultdict[tuple[int, Hash32], list[Address]] = defaultdict(list)
    for observation in observations:
        for other in _mismatches(observation, job) if observation.member in referees else ():
            if other.content < len(signed.checkpoints) and signed.checkpoints[other.content] != other.computed:
                said[other.content, other.computed].append(observation.member)
    confirmed = sorted(claim for claim, by in said.items() if len(by) >= CONFIRM)
    if job.node is None or not confirmed:
        return None
    content, computed = confirmed[0]
    return ForgedWork(
        provider_id=job.provider_id,
        node=job.node,
        receipt_digest=job.receipt_digest,
        content=content,
        committed=signed.checkpoints[content],
        computed=computed,
        referees=tuple(sorted(said[content, computed], key=address_bytes)),
    )


def _mismatches(observation: Observation, job: JobRecord) -> Iterable[Mismatch]:
    for finding in observation.jobs:
        if finding.job_id == job.job_id and finding.outcome is Outcome.FAILED and finding.mismatch is not None:
            yield finding.mismatch
