"""What the client answers: what the chain says, what a gateway says, and what was checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import Receipt, TxOutcome
from swarm_chain.core.units import Address, Hash32, JobId, ProviderId, Signature, Timestamp, Wei

FINAL = frozenset({JobState.PAID, JobState.REFUNDED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainJob:
    """A job as JobEscrow has it; times are chain time, `receipt_digest` is zero before completion."""

    job_id: JobId
    state: JobState
    kind: JobKind
    customer: Address
    provider_id: ProviderId
    node: Address
    budget_wei: Wei
    accept_by: Timestamp
    complete_by: Timestamp
    judge_by: Timestamp
    spec_hash: Hash32
    receipt_digest: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayInfo:
    """GET /v1/gateway; `min_price_wei` is the least price of a job there."""

    address: Address
    chain_id: int
    fee_bps: int
    min_price_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A node that can run a spec, and what the whole job costs there."""

    node: Address
    provider_id: ProviderId
    price_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """POST /v1/plans: nodes in the order they would be asked, the budget they need, and device-seconds it may take.

    `missing` says what no node has; there is a node where it is empty.
    """

    spec_hash: Hash32
    nodes: tuple[PlannedNode, ...]
    price_wei: Wei
    seconds: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A way a job can end: how long after what, and what comes back to the customer."""

    case: str
    when: str
    returned_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a customer offers: kind, budget and the node's times, seconds."""

    kind: JobKind
    budget_wei: Wei
    accept_for: int
    run_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A submitted job; `posted` is False, and nothing was paid, if the same spec was posted before."""

    job_id: JobId
    posted: bool
    spec_hash: Hash32
    budget_wei: Wei
    gateway: Address | None = None
    plan: Plan | None = None
    outcome: TxOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayWord:
    """GET /v1/jobs/{id} of a gateway: hearsay until checked. `why` says what the job waits for."""

    state: str
    node: str | None
    units: int | None
    units_done: int | None
    why: str | None
    receipt: dict[str, Any] | None
    gateway_signature: Signature | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """The chain's word, and those of a gateway and a member where they have one; else why there is none."""

    job: ChainJob
    gateway: GatewayWord | None
    gateway_silent: str | None
    judgement: dict[str, Any] | None
    judgement_silent: str | None

    @property
    def paid(self) -> bool:
        """Whether the work was found right and paid."""
        return self.job.state is JobState.PAID


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPiece:
    """Bytes [offset, next) of a job's log as text; `ended`: there will be no more."""

    offset: int
    next: int
    text: str
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Files of a job whose bytes are those the receipt on chain names.

    `contents` is how many of the receipt's contents are there: all of them from a gateway, the last one from a member.
    `refused` says of each source that was asked in vain why.
    """

    job_id: JobId
    folder: Path
    last: Path
    contents: int
    of: int
    size: int
    source: str
    receipt: Receipt
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a job is where it is: reasons, most certain first, and what to do about it."""

    job_id: JobId
    state: JobState
    reasons: tuple[str, ...]
    fix: str
