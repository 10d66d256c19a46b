"""How a member audits training: the shape of a claim, and drawn segments replayed bit for bit (docs/spec/training.md).

    openings --read--> checkpoints --check_openings--> --Replays, in another process--> end of each --judge_trained-->

A member on another kind of machine cannot replay: it says so and proves nothing, and no node is failed for it.
"""

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from oracle.judge.trained import OpenedSegment, TrainingCase, check_openings, judge_trained
from oracle.model import Network
from oracle.publish import fields as f
from oracle.store.audits import Audit, AuditFinding
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.training import TrainingParams, planned_work
from swarm_chain.core.units import Hash32
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.checkpoint import Checkpoint, first_checkpoint, parse_checkpoint
from swarm_chain.reference.spec import TrainSpec

log = structlog.get_logger()

Replay = Callable[[bytes, bytes, int], Hash32]
MAX_PATH = 32
TRIES = 2  # a replay that is lost may be this machine's fault; twice in a row it no longer keeps the others waiting
OTHER_MACHINE, LOST = "other_machine", "replay_lost"
NO_CHECKPOINT = "invalid_checkpoint"


class TrainingAuditor:
    """Audits training.

    Args:
        network: params, and with them the runs that are asked for.
        replay: runs one segment again, as `oracle.pipeline.member.Replays` does.
    """

    def __init__(self, network: Network, replay: Replay) -> None:
        self._params = network.params.training
        self._replay = replay

    def limit_ms(self, claim: int) -> int:
        """How long a device may take, whatever it claims.

        Raises:
            InvalidInputError: nobody can claim so few or so many samples/s.
        """
        planned_work(self._params, claim)
        return self._params.limit_ms

    def judge(self, audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        """What answered and opened audits are worth, in samples/s, one after the other.

        Raises:
            UnavailableError: this member is stopping.
        """
        return tuple(map(self._judge, audits))

    def _judge(self, audit: Audit) -> AuditFinding:
        if audit.root is None or audit.openings is None:
            return AuditFinding(outcome=Outcome.MISSING, reason="no_proof")
        if audit.elapsed_ms is None:
            return AuditFinding(outcome=Outcome.MISSING, reason="other_clock")
        if audit.elapsed_ms > self._params.limit_ms:
            return AuditFinding(outcome=Outcome.MISSING, reason="too_late")
        try:
            opened = read_openings(self._params, audit)
        except InvalidInputError as error:
            reason = error.code if error.code == NO_CHECKPOINT else "malformed"
            return AuditFinding(outcome=Outcome.FAILED, reason=reason)
        case = TrainingCase(
            params=self._params,
            claim=audit.claim,
            draw=audit.draw,
            root=audit.root,
            elapsed_ms=audit.elapsed_ms,
            opened=tuple(one for one, _ in opened),
        )
        fault = check_openings(case)
        if fault:
            return AuditFinding(outcome=Outcome.FAILED, reason=fault)
        return self._replayed(audit, case, [content for _, content in opened])

    def _replayed(self, audit: Audit, case: TrainingCase, starts: Sequence[bytes]) -> AuditFinding:
        ends: dict[int, Hash32] = {}
        for one, start in zip(case.opened, starts, strict=True):
            run, number = divmod(one.segment, self._params.segments)
            spec = canonical_json(_spec(self._params, audit, run).document())
            try:
                ends[one.segment] = self._patiently(partial(self._replay, spec, start, number))
            except InvalidInputError as error:
                log.warning("replay_refused", node=audit.node, code=error.code, reason=error.message)
                return AuditFinding(outcome=Outcome.FAILED, reason="false_segment")
            except UnavailableError as error:
                if error.code not in (OTHER_MACHINE, LOST):
                    raise
                log.warning("audit_not_replayed", node=audit.node, code=error.code, reason=error.message)
                return AuditFinding(outcome=Outcome.MISSING, reason=error.code)
        verdict = judge_trained(case, ends)
        return AuditFinding(outcome=verdict.outcome, reason=verdict.reason, units=verdict.rate)

    def _patiently(self, replay: Callable[[], Hash32]) -> Hash32:
        for _ in range(TRIES - 1):
            try:
                return replay()
            except UnavailableError as error:
                if error.code != LOST:
                    raise
        return replay()


def read_openings(params: TrainingParams, audit: Audit) -> tuple[tuple[OpenedSegment, bytes], ...]:
    """Read the openings of an audit of training: drawn segments, each with the content of the checkpoint it starts from.

    Args:
        params: sizes of what was asked for.
        audit: the audit; `openings` is [{segment, start, end, firstPath, previousPath, startPath, endPath}], in draw order,
            `start` in base64.

    Raises:
        InvalidInputError: they are anything else (code "bad_document"), or a start is no checkpoint of this audit, also one
            with numbers that are not finite (code "invalid_checkpoint").
    """

    def read(value: object, where: str) -> tuple[OpenedSegment, bytes]:
        o = f.fields(value, where, "segment", "start", "end", "firstPath", "previousPath", "startPath", "endPath")
        most = planned_work(params, audit.claim).drawable - 1
        segment = f.integer(o["segment"], f"{where}.segment", most)
        run, number = divmod(segment, params.segments)
        spec = _spec(params, audit, run)
        content = _content(o["start"], f"{where}.start")
        start = _checkpoint(spec, content, number)
        paths = {
            name: f.rows(o[key], f"{where}.{key}", f.hash32, MAX_PATH)
            for name, key in (
                ("first_path", "firstPath"),
                ("previous_path", "previousPath"),
                ("start_path", "startPath"),
                ("end_path", "endPath"),
            )
        }
        opened = OpenedSegment(
            segment=segment,
            first=content_hash(first_checkpoint(spec, start.platform)),
            previous=start.previous,
            start=content_hash(content),
            end=f.hash32(o["end"], f"{where}.end"),
            **paths,
        )
        return opened, content

    return f.rows(f.load_canonical(audit.openings or b"", "openings"), "openings", read, params.draws)


def _spec(params: TrainingParams, audit: Audit, run: int) -> TrainSpec:
    return audited_spec(params, TrainingQuestion(node=audit.node, device=audit.device, nonce=audit.nonce), run)


def _content(value: object, where: str) -> bytes:
    try:
        content = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except (binascii.Error, ValueError):
        content = b""
    if not content or base64.b64encode(content).decode("ascii") != value:
        raise InvalidInputError(f"{where}: no base64", code="bad_document", fix="send standard base64 with padding")
    return content


def _checkpoint(spec: TrainSpec, content: bytes, number: int) -> Checkpoint:
    start = parse_checkpoint(spec, content)
    if start.index != number:
        raise InvalidInputError(f"checkpoint {start.index} does not start segment {number}", code=NO_CHECKPOINT)
    return start
