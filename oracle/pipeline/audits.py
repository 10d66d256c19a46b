"""Audits: this member asks one device alone, right after a window closed, when all devices are asked at once.

    take_request --nonce, clock--> take_answer --draw--> take_openings --> judge_category --> audit_measurements

A device that proves memory or storage for two nodes would have to do so in the same seconds; what it proved counts as the
least of all windows of the epoch, so that it has to have it all the time. Source: docs/spec/audits.md.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from oracle.consensus.facts import drawn_in_time
from oracle.model import Measurement, Network
from oracle.pipeline.desk import Desk, require_node, require_window, wrong_state
from oracle.store import audits as store
from oracle.store.audits import Audit, AuditFinding
from oracle.store.evidence import Instant
from swarm_chain.core.audits import (
    DRAW_BYTES,
    AuditAnswer,
    AuditRequest,
    answer_digest,
    audit_id,
    first_window,
    is_audited,
    nonce_of,
    request_digest,
)
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.kinds import Category, Outcome, WindowState
from swarm_chain.core.model import ChainState
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature, WindowId

log = structlog.get_logger()

JUDGED_AT_ONCE = 64
_AFTER_CLOSE = (WindowState.CLOSED, WindowState.DRAWN)
CRASHED = "judge_crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditor:
    """How one category is audited.

    `ask_for` is for how many seconds after a window's close a device may ask. With a `slot_ms` all that asked are then
    given their nonces in one moment, another one by each member, that many ms after the member's before it: a device that
    stands for several has to do the work of all of them in the time of one. `limit_ms` is how long it may take for a claim,
    or InvalidInputError if nobody may claim so much; `has_openings` says whether the member draws from an answer; `judge`
    is pure and gives a finding on each of up to `together` audits, whatever devices sent: one at a time where each takes
    seconds, so that what is found is kept before the next; `admit` refuses a signed request whose claim is not what this
    member knows of the node.
    """

    ask_for: int
    limit_ms: Callable[[int], int]
    has_openings: bool
    judge: Callable[[Sequence[Audit]], tuple[AuditFinding, ...]]
    together: int = JUDGED_AT_ONCE
    slot_ms: int = 0
    admit: Callable[[AuditRequest], None] = lambda _request: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Auditing:
    """What auditing needs: where messages arrive, who audits, unpredictable bytes, and the categories it knows."""

    desk: Desk
    member: Address | None
    entropy: Callable[[int], bytes]
    auditors: Mapping[Category, Auditor]


def take_request(auditing: Auditing, request: AuditRequest, signature: Signature) -> Audit:
    """Begins an audit, or gives back the one that began before: its moment stays.

    Raises:
        InvalidInputError: not a live node's, of another member, an unknown category, a claim that is impossible or
            not what is known here, not signed by the node, or the window is not in the time after its close.
        RejectedError: the device claimed something else before (code "other_claim").
        UnavailableError: the window is not closed here yet.
    """
    desk, auditor = auditing.desk, _auditor(auditing, request.category)
    require_node(desk.sight(), request.node)
    if request.member != auditing.member:
        raise InvalidInputError(
            f"the request is for member {request.member}, this is {auditing.member or 'a dry run'}",
            code="other_member",
            fix="ask the member that /v1/status names",
        )
    if request.claim < 1:
        raise InvalidInputError("nothing is claimed", code="bad_claim", fix="claim at least one unit")
    auditor.limit_ms(request.claim)
    require_signed_by(request.node, request_digest(desk.domain, request), signature)
    require_time(desk, request.window_id, auditor.ask_for + _wait_ms(auditing, auditor) // 1000)
    auditor.admit(request)
    draw = Hash32(auditing.entropy(DRAW_BYTES))
    begun = store.start_audit(desk.engine, _begin(request, draw, _moment(auditing, auditor, request)))
    if begun.claim != request.claim:
        raise RejectedError(
            f"the device claimed {begun.claim} in this window before",
            code="other_claim",
            fix="claim as much in every request for a window",
            values={"claim": begun.claim},
        )
    return begun


def asked_in_ms(auditing: Auditing, audit: Audit) -> int:
    """Milliseconds until the moment in which an audit's nonce may be told and its clock starts; 0 from then on."""
    now = auditing.desk.instant
    return max(audit.started.ms - now.ms, 0) if audit.started.boot == now.boot else 0


def asked_audit(auditing: Auditing, wanted: Hash32) -> Audit:
    """An audit this member began.

    Raises:
        InvalidInputError: no such audit.
    """
    return _known(auditing, wanted)


def take_answer(auditing: Auditing, answer: AuditAnswer, signature: Signature, at: Instant) -> Audit:
    """Stops the clock of an audit, whose draw may be shown from now on; a repeated answer changes nothing.

    Args:
        auditing: the member.
        answer: of an audit this member began.
        signature: the node's.
        at: when its last byte came in.

    Raises:
        InvalidInputError: no such audit, or not signed by its node.
        RejectedError: another answer came before (code "other_answer").
    """
    desk = auditing.desk
    audit = _known(auditing, answer.audit_id)
    require_signed_by(audit.node, answer_digest(desk.domain, answer), signature)
    if audit.root is None:
        comparable = audit.started.boot == at.boot and at.ms >= audit.started.ms
        elapsed_ms = max(at.ms - audit.started.ms, 1) if comparable else None
        store.keep_answer(desk.engine, answer.audit_id, answer.root, elapsed_ms)
        audit = _known(auditing, answer.audit_id)
    if audit.root != answer.root:
        raise RejectedError("another answer came before", code="other_answer", fix="nothing: the first one counts")
    return audit


def take_openings(auditing: Auditing, wanted: Hash32, openings: bytes) -> None:
    """Keeps what a device opens of its answer, for the judge.

    Args:
        auditing: the member.
        wanted: id of the audit.
        openings: canonical JSON, as long as a body may be.

    Raises:
        InvalidInputError: no such audit, none that is opened, not answered yet, or the time after the close is over.
    """
    audit = _known(auditing, wanted)
    if not _auditor(auditing, audit.category).has_openings or audit.root is None:
        raise InvalidInputError("this audit has nothing to open now", code="no_draw", fix="answer it first")
    require_time(auditing.desk, audit.window_id, auditing.desk.network.params.compute.open_for)
    store.keep_openings(auditing.desk.engine, wanted, openings)


def judge_audits(auditing: Auditing) -> tuple[tuple[Audit, AuditFinding], ...]:
    """Judges one category after the other; a running member gives each a thread of its own.

    Returns:
        What was judged now.
    """
    return tuple(judged for category in auditing.auditors for judged in judge_category(auditing, category))


def judge_category(auditing: Auditing, category: Category) -> Iterator[tuple[Audit, AuditFinding]]:
    """Judges what was answered and, where something was drawn, opened; a judge that stumbles over an answer fails it.

    Args:
        auditing: the member.
        category: one that it audits.

    Yields:
        What was judged now, each finding once it is kept: what was found survives whatever comes next.
    """
    engine, auditor = auditing.desk.engine, auditing.auditors[category]
    waiting = store.unjudged(engine, category, JUDGED_AT_ONCE, opened=auditor.has_openings)
    for first in range(0, len(waiting), auditor.together):
        for audit, found in _judged(auditor, waiting[first : first + auditor.together]):
            store.keep_finding(engine, audit.audit_id, found)
            yield audit, found


def audit_measurements(
    network: Network, state: ChainState, auditing: Auditing, epoch: EpochNumber
) -> tuple[Measurement, ...]:
    """What this member's audits of an epoch come to: by node and category, over its devices, the least of all windows.

    Args:
        network: ends of epochs and windows.
        state: the chain; windows that were not drawn, or closed too late, count for nobody.
        auditing: the member.
        epoch: an ended epoch.

    Returns:
        One measurement for every node that asked to be audited, also where it proved nothing.
    """
    windows = [one.window_id for one in drawn_in_time(state, epoch, network) if is_audited(one.window_id)]
    proven: defaultdict[tuple[Address, Category], defaultdict[int, dict[WindowId, int]]]
    proven = defaultdict(lambda: defaultdict(dict))
    for audit in store.audits_in(auditing.desk.engine, windows):
        units = audit.units if audit.outcome is Outcome.PASSED else 0
        proven[audit.node, audit.category][audit.device][audit.window_id] = units
    return tuple(
        Measurement(node=node, category=category, units=sum(_least(units, windows) for units in devices.values()))
        for (node, category), devices in proven.items()
    )


def _least(units: Mapping[WindowId, int], windows: Sequence[WindowId]) -> int:
    return min(units.get(window, 0) for window in windows)


def _judged(auditor: Auditor, audits: Sequence[Audit]) -> Iterator[tuple[Audit, AuditFinding]]:
    """Findings on audits of one category; where the judge stumbles over all of them together, over each alone."""
    try:
        found = auditor.judge(audits)
    except UnavailableError as error:
        log.warning("audits_not_judged", audits=len(audits), code=error.code, reason=error.message)
        return  # this member's own trouble is nobody's failure; it judges them when that is over
    except Exception as error:  # a judge that crashes must not pass anybody, nor keep the others waiting
        if len(audits) > 1:
            for audit in audits:
                yield from _judged(auditor, [audit])
            return
        log.error("audit_judge_crashed", node=audits[0].node, category=audits[0].category, exc_info=error)
        found = (AuditFinding(outcome=Outcome.FAILED, reason=CRASHED),)
    for audit, one in zip(audits, found, strict=True):
        yield audit, replace(one, units=min(one.units, audit.claim) if one.outcome is Outcome.PASSED else 0)


def _begin(request: AuditRequest, draw: Hash32, now: Instant) -> Audit:
    nonce = nonce_of(draw)
    return Audit(
        window_id=request.window_id,
        node=request.node,
        device=request.device,
        category=request.category,
        audit_id=audit_id(request, nonce),
        claim=request.claim,
        nonce=nonce,
        draw=draw,
        started=now,
    )


def _wait_ms(auditing: Auditing, auditor: Auditor) -> int:
    """How much later than the first member this one asks: they take turns, or a device would have to answer all at once."""
    members = auditing.desk.sight().state.members
    place = members.index(auditing.member) if auditing.member in members else 0
    return place * auditor.slot_ms


def _moment(auditing: Auditing, auditor: Auditor, request: AuditRequest) -> Instant:
    now = auditing.desk.instant
    if not auditor.slot_ms:
        return now
    # The first request after a close fixes the moment for all: it comes as soon as this member sees the close.
    fixed = store.first_start(auditing.desk.engine, request.window_id, request.category)
    if fixed is not None and fixed.boot == now.boot:
        return fixed
    return replace(now, ms=now.ms + 1000 * auditor.ask_for + _wait_ms(auditing, auditor))


def _auditor(auditing: Auditing, category: Category) -> Auditor:
    auditor = auditing.auditors.get(category)
    if auditor is None:
        known = ", ".join(sorted(auditing.auditors)) or "nothing"
        raise InvalidInputError(
            f"{category} is not audited here", code="not_audited", fix=f"this member audits {known}"
        )
    return auditor


def _known(auditing: Auditing, wanted: Hash32) -> Audit:
    audit = store.audit_of(auditing.desk.engine, wanted)
    if audit is None:
        raise InvalidInputError("no such audit", code="unknown_audit", fix="ask for one after a window closed")
    return audit


def require_time(desk: Desk, window_id: WindowId, lasts_for: int) -> None:
    """Refuses what does not come within so many seconds after the close of a window that is audited.

    Raises:
        InvalidInputError: too late, or nobody is audited after this window.
        UnavailableError: the window is not closed here yet.
    """
    if not is_audited(window_id):
        raise InvalidInputError(
            "nobody is audited after the first window of an epoch",
            code="no_audit",
            fix="prepare with its seed, ask after the windows that follow",
        )
    # Without it nobody could have prepared, and nobody could judge.
    require_window(desk.sight(), first_window(window_id), WindowState.OPEN, *_AFTER_CLOSE)
    window = require_window(desk.sight(), window_id, *_AFTER_CLOSE)
    if desk.sight().now >= window.closed_at + lasts_for:
        raise wrong_state(window, "closed to audits", "closed")
