"""How a member audits device memory: the shape of a claim, and what opened lanes are worth (docs/spec/memory.md)."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from oracle.judge.memory import MemoryCase, MemoryVerdict, judge_memory
from oracle.model import Network
from oracle.pipeline.sight import Sight
from oracle.publish import fields as f
from oracle.store.audits import Audit, AuditFinding
from swarm_chain.core.audits import first_window
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import (
    RESULT_BYTES,
    LaneOpening,
    MemoryChallenge,
    MemoryCommitment,
    MemoryEpoch,
    MemoryProof,
    MemoryShape,
)
from swarm_chain.core.memory_plan import planned_shape
from swarm_chain.core.memoryset import MemoryCache, build_cache
from swarm_chain.core.units import Hash32, WindowId, epoch_of

MAX_PATH = 32
OTHER_CLOCK = "other_clock"


class MemoryAuditor:
    """Audits device memory (docs/spec/memory.md)."""

    def __init__(self, network: Network, sight: Callable[[], Sight]) -> None:
        self._network = network
        self._sight = sight

    def limit_ms(self, claim: int) -> int:
        """How long a device may take.

        Raises:
            InvalidInputError: nobody can claim so few or so many MiB.
        """
        planned_shape(self._network.params.memory, claim)
        return self._network.params.memory.answer_ms

    def judge(self, audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        """What answered and opened audits are worth, in MiB; lanes of one epoch walk side by side.

        Raises:
            UnavailableError: the first window of an epoch is not known here.
        """
        found: dict[Hash32, AuditFinding] = {}
        cases: dict[MemoryEpoch, dict[Hash32, MemoryCase]] = {}
        for audit in audits:
            made = self._case(audit)
            if isinstance(made, MemoryCase):
                cases.setdefault(made.challenge.epoch, {})[audit.audit_id] = made
            else:
                found[audit.audit_id] = made
        memory = self._network.params.memory
        for epoch, asked in cases.items():
            cache = _cache(epoch, planned_shape(memory, memory.least_mib))  # the cache is the same for every claim
            found |= zip(asked, map(_finding, judge_memory(cache, list(asked.values()))), strict=True)
        return tuple(found[audit.audit_id] for audit in audits)

    def _case(self, audit: Audit) -> MemoryCase | AuditFinding:
        if audit.root is None or audit.openings is None:
            return AuditFinding(outcome=Outcome.MISSING, reason="no_proof")
        if audit.elapsed_ms is None:
            return AuditFinding(outcome=Outcome.MISSING, reason=OTHER_CLOCK)
        challenge = self._challenge(audit)
        try:
            openings = read_openings(audit.openings)
        except InvalidInputError:
            return AuditFinding(outcome=Outcome.FAILED, reason="malformed")
        memory = self._network.params.memory
        return MemoryCase(
            challenge=challenge,
            draw_seed=audit.draw,
            draws=memory.draws,
            answer_ms=memory.answer_ms,
            elapsed_ms=audit.elapsed_ms,
            commitment=MemoryCommitment(challenge=challenge, root=audit.root),
            proof=MemoryProof(challenge=challenge, root=audit.root, openings=openings),
        )

    def _challenge(self, audit: Audit) -> MemoryChallenge:
        return MemoryChallenge(
            epoch=self._epoch(audit.window_id),
            node=audit.node,
            device=audit.device,
            shape=planned_shape(self._network.params.memory, audit.claim),
            nonce=audit.nonce,
        )

    def _epoch(self, window: WindowId) -> MemoryEpoch:
        epoch = epoch_of(window)
        first = next((w for w in self._sight().state.windows if w.window_id == first_window(window)), None)
        if first is None:
            raise UnavailableError(f"epoch {epoch} has no first window here", code="no_epoch_seed")
        return MemoryEpoch(
            chain_id=self._network.chain_id, beacon=self._network.beacon, epoch=epoch, epoch_seed=first.window_seed
        )


def read_openings(document: bytes) -> tuple[LaneOpening, ...]:
    """Read the openings of an audit of memory: [{lane, result, path}], in draw order.

    Raises:
        InvalidInputError: they are anything else.
    """
    return f.rows(f.load_canonical(document, "openings"), "openings", _read_opening)


def _read_opening(value: object, where: str) -> LaneOpening:
    o = f.fields(value, where, "lane", "result", "path")
    return LaneOpening(
        lane=f.integer(o["lane"], f"{where}.lane"),
        result=f.raw(o["result"], f"{where}.result", RESULT_BYTES),
        path=f.rows(o["path"], f"{where}.path", f.hash32, MAX_PATH),
    )


@lru_cache(maxsize=1)  # 256 MiB on mainnet, and the audits of one epoch come after those of the other
def _cache(epoch: MemoryEpoch, shape: MemoryShape) -> MemoryCache:
    return build_cache(epoch, shape)


def _finding(verdict: MemoryVerdict) -> AuditFinding:
    return AuditFinding(outcome=verdict.outcome, reason=verdict.reason, units=verdict.proven_mib)
