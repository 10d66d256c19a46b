"""What the routes answer, for the OpenAPI document and for checking what leaves."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Json = dict[str, object]
Responses = dict[int | str, dict[str, Any]]

# Bounds of what the store can hold: a larger number is the caller's mistake, not a crash of ours.
EpochPath = Annotated[int, Path(ge=0, lt=2**31, description="Epoch number.")]
ProviderPath = Annotated[int, Path(ge=1, lt=2**31, description="Provider id.")]
ShardPath = Annotated[int, Path(ge=0, lt=2**31, description="Number of a shard of 16,384 leaves.")]
JobPath = Annotated[int, Path(ge=0, lt=2**53, description="Job id of JobEscrow.")]


class Answer(BaseModel):
    """Base of all answers; names in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ErrorAnswer(Answer):
    """An error of any family."""

    error: str = Field(description="Stable code, snake_case.")
    message: str
    fix: str = Field(description="What to do next; may be empty.")
    values: dict[str, Any]


class HealthAnswer(Answer):
    """GET /healthz."""

    ok: bool


class ReadyAnswer(HealthAnswer):
    """GET /readyz."""

    block: int = Field(description="Latest block this member has seen.")


class StatusAnswer(Answer):
    """GET /v1/status."""

    chain_id: int
    deployment: dict[str, str]
    params: str
    params_version: int
    epoch: int
    chain_time: int
    block: int
    finalized: int = Field(description="Latest final block this member has seen.")
    version: str = Field(description="Version of the program.")
    member: str | None = Field(description="Address this member signs with; null in a dry run.")
    state: str = Field(description='"ready", "standby" or "dry-run".')


class AcceptedAnswer(Answer):
    """A node message was taken in."""

    duplicate: bool = Field(description="The same or a newer message was there.")


class CommitmentAnswer(AcceptedAnswer):
    """POST /v1/commitments."""

    elapsed_ms: int | None = Field(
        description="From this member's sight of the window to the commitment's arrival; null if it came through another "
        "member before this one could measure it."
    )


class AuditBegun(Answer):
    """POST /v1/audits."""

    audit_id: str
    asked_in_ms: int = Field(description="When the nonce will be told and the clock starts; 0: now.")
    nonce: str | None = Field(
        description="32 bytes nobody could know before; what the device has to answer depends on them. Null: not yet, ask for it."
    )
    limit_ms: int = Field(description="How long the device may take from that moment to the arrival of its answer.")


class AuditNonce(Answer):
    """GET /v1/audits/{auditId}/nonce."""

    nonce: str


class AuditAnswered(Answer):
    """POST /v1/audits/answers."""

    elapsed_ms: int | None = Field(description="What this member measured; null if it was restarted in between.")
    draw: str = Field(description="32 bytes that say what to open; their keccak256 is the nonce.")


class AuditAnswer(Answer):
    """An audit as it stands; `outcome` is null until it is judged."""

    window_id: int
    device: int
    category: str
    claim: int
    elapsed_ms: int | None
    outcome: str | None
    reason: str
    units: int = Field(description="What was proven, in units of the category.")


class AuditsAnswer(Answer):
    """GET /v1/audits/{node}."""

    audits: list[AuditAnswer]


class CallbackAnswer(Answer):
    """POST /v1/callbacks."""

    host: str = Field(description="Address the request came from, and that was called.")
    reached: bool
    elapsed_ms: int = Field(description="Until connected; 0 if not.")
    problem: str = Field(description="Why not; empty if reached.")


class VolumeAnswer(Answer):
    """POST /v1/volumes: a volume as it stands."""

    volume_id: str
    member: str
    node: str
    epoch: int = Field(description="In which it was opened.")
    index: int
    key_hash: str = Field(description="What its key opens once it is retired.")
    confirmed: int = Field(description="Blocks the node has confirmed; audits cover them.")
    sent: int
    left: int = Field(description="Blocks that may still be sent in this epoch.")
    retired: bool
    key: str | None = Field(description="Shown once it is retired; null if it is not, or the secret was lost.")


class VolumesAnswer(Answer):
    """GET /v1/volumes/{node}."""

    volumes: list[VolumeAnswer]


class SpreadAnswer(Answer):
    """What the nodes of a class proved in one category."""

    category: str
    nodes: int = Field(description="That proved something.")
    deciles: list[int] = Field(description="Eleven: the least, nine between, the most; in units of the category.")


class ClassAnswer(Answer):
    """GET /v1/classes/{hardwareClass}."""

    epoch: int = Field(description="Of the newest accepted report.")
    hardware_class: str
    categories: list[SpreadAnswer]


class NothingAnswer(Answer):
    """It was taken in; there is nothing to tell."""


class WindowAnswer(Answer):
    """A window of the running epoch."""

    window_id: int
    state: str
    committed: int
    proven: int
    window_seed: str
    draw_seed: str
    commitments_root: str
    opened_at: int
    opened_block: int
    commit_until: int
    open_until: int


class WindowsAnswer(Answer):
    """GET /v1/windows/current."""

    windows: list[WindowAnswer]


class PlanAnswer(Answer):
    """The run one device owes."""

    device: int
    m: int
    n: int
    steps: int


class PlansAnswer(Answer):
    """GET /v1/plans/{node}."""

    epoch: int
    plans: list[PlanAnswer]


class SpecAnswer(Answer):
    """POST /v1/jobs/specs."""

    spec_hash: str


class HandedInAnswer(Answer):
    """Something a job's judges need: a content by its number or an input by its hash, and whether it is here."""

    what: int | str
    here: bool


class MismatchAnswer(Answer):
    """A content this member computed otherwise than the receipt commits to."""

    content: int
    computed: str


class JobAnswer(Answer):
    """GET /v1/jobs/{id}; `why` says in words what the reason means, or what the job waits for."""

    job_id: int
    state: str
    kind: str
    program: str | None
    spec_hash: str
    receipt: dict[str, Any] | None
    receipt_digest: str
    drawn_units: list[int]
    inputs: list[HandedInAnswer]
    contents: list[HandedInAnswer]
    verdict: str | None
    reason: str | None
    mismatch: MismatchAnswer | None
    why: str


class EpochAnswer(Answer):
    """A report on chain."""

    epoch: int
    root_index: int
    root: str
    report_hash: str | None
    manifest_hash: str
    leaf_count: int
    activates_at: int
    state: str


class EpochsAnswer(Answer):
    """GET /v1/epochs."""

    epochs: list[EpochAnswer]


class LeafAnswer(Answer):
    """A settlement leaf."""

    provider_id: int
    cum_reward_wei: str
    cum_penalty_wei: str


class ProofAnswer(Answer):
    """GET /v1/epochs/{e}/proofs/{provider}."""

    epoch: int
    root_index: int
    root: str
    leaf: LeafAnswer
    path: list[str]


def errors(*statuses: int) -> Responses:
    """Documented error answers of a route.

    Args:
        statuses: besides 422 and 500, which every route may give.
    """
    return {status: {"model": ErrorAnswer, "description": _REASONS[status]} for status in (*statuses, 422, 500)}


def raw(media_type: str, description: str) -> Responses:
    """A documented answer that is bytes of a media type."""
    schema = {"type": "string", "format": "binary"} if media_type == "application/octet-stream" else {}
    return {200: {"description": description, "content": {media_type: {"schema": schema}}}}


_REASONS = {
    400: "The body cannot be parsed.",
    404: "No such thing here.",
    408: "The body came too slowly.",
    409: "It contradicts what this node signed before; both signatures are kept as evidence.",
    413: "The body is too large.",
    415: "The body is not plain JSON.",
    422: "The request is malformed, or what it says cannot be taken; no retry helps.",
    429: "Too many requests from this address.",
    500: "Two facts disagree, or this member failed.",
    503: "Not now: try again after `Retry-After` seconds.",
}
POSTED = (400, 408, 413, 415, 429, 503)
