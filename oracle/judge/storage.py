"""Judges answers to storage audits exactly: the member generates the blocks the chain of reads leads to, and compares.

    StorageCase --screen--> names this audit? in time? --walk--> same digest? --> StorageVerdict with MB, reads/s, us

What a node sent is only ever compared with what the judge derives itself.
"""

from dataclasses import dataclass
from functools import partial

from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import (
    StorageAnswer,
    StorageAudit,
    StorageParams,
    VolumeKey,
    block,
    mean_read_us,
    proven_mb,
    reads_per_second,
    walk,
)

# What malformed values can raise while they are compared. A node that makes the judge stumble has failed, nobody else.
_STUMBLES = (SwarmError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageCase:
    """One audit: what was asked, with which key the blocks were made, what came back and when.

    `uploaded` is the number of blocks the node has confirmed; `elapsed_ms` runs on the member's own clock from sending the
    audit to having the whole answer, > 0 where there is one.
    """

    key: VolumeKey
    audit: StorageAudit
    uploaded: int
    params: StorageParams
    elapsed_ms: int = 0
    answer: StorageAnswer | None = None

    def __post_init__(self) -> None:
        # What the member itself says must be right, or a node would be blamed for it.
        if self.audit.volume != self.key.volume or self.audit.reads != self.params.reads:
            raise InvalidInputError("the audit is of another volume or length", fix="audit the volume of the key")
        if self.audit.blocks > self.uploaded:
            raise InvalidInputError(
                f"an audit of {self.audit.blocks} blocks where {self.uploaded} were confirmed",
                fix="audit what the node has confirmed",
            )
        if self.answer is not None and self.elapsed_ms < 1:
            raise InvalidInputError("an answer arrived in no time", fix="count a begun millisecond as a whole one")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageVerdict:
    """The judge's finding; the measured integers are zero unless it passed.

    Attributes:
        mb: whole MB (10^6 bytes) the node holds, rounded down.
        iops: dependent reads of 4 KiB a second, that is at queue depth 1, rounded down.
        read_us: mean time of such a read, rounded up. Both contain the network's part: they bound the disk's own figures.
    """

    audit: StorageAudit
    outcome: Outcome
    reason: str = ""
    elapsed_ms: int = 0
    mb: int = 0
    iops: int = 0
    read_us: int = 0


def judge_storage(case: StorageCase) -> StorageVerdict:
    """Judge one audit.

    Args:
        case: what was asked and answered.

    Returns:
        The verdict. `reason` is no_answer (missing); malformed, wrong_node, wrong_volume, wrong_blocks, wrong_nonce, late,
        wrong_digest (failed); empty (passed).

    Source: docs/spec/storage.md "The verdict".
    """
    audit, answer = case.audit, case.answer
    if answer is None:
        return StorageVerdict(audit=audit, outcome=Outcome.MISSING, reason="no_answer")
    try:
        reason = _fault(case, answer)
    except _STUMBLES:
        reason = "malformed"
    if reason:
        return StorageVerdict(audit=audit, outcome=Outcome.FAILED, reason=reason, elapsed_ms=case.elapsed_ms)
    return StorageVerdict(
        audit=audit,
        outcome=Outcome.PASSED,
        elapsed_ms=case.elapsed_ms,
        mb=proven_mb(audit.blocks),
        iops=reads_per_second(audit.reads, case.elapsed_ms),
        read_us=mean_read_us(audit.reads, case.elapsed_ms),
    )


def _fault(case: StorageCase, answer: StorageAnswer) -> str:
    audit = case.audit
    if type(answer.digest) is not bytes or len(answer.digest) != 32:
        return "malformed"
    named = {
        "wrong_node": answer.volume.node == audit.volume.node,
        "wrong_volume": answer.volume == audit.volume,
        "wrong_blocks": answer.blocks == audit.blocks,
        "wrong_nonce": answer.nonce == audit.nonce,
        "late": case.elapsed_ms <= case.params.limit_ms,
    }
    wrong = next((reason for reason, holds in named.items() if not holds), "")
    if wrong:
        return wrong
    return "" if answer.digest == walk(audit, partial(block, case.key)) else "wrong_digest"
