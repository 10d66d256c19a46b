"""Audits in threads of their own, one a lane, so that no tick waits for them."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from node.audits.exchange import run_audit
from node.model import AuditKey, ClaimKey, Lane, PrepareClaim, StartAudit, lane_of
from node.ports import Auditee, FinishedAudit, OracleAudits
from swarm_chain.core.errors import InconsistentError, SwarmError
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Hash32, epoch_of
from swarm_chain.ports import Signer

MAX_LANES = 64


class AuditRunner:
    """Prepares claims and has them audited.

    Args:
        auditees: what this node claims, by category.
        members: who audits, by name.
        signer: the node's key.
        domain: EIP-712 domain of node messages.
    """

    def __init__(
        self,
        auditees: Mapping[Category, Auditee],
        members: Mapping[str, OracleAudits],
        signer: Signer,
        domain: Hash32,
    ) -> None:
        self._auditees = dict(auditees)
        self._members = dict(members)
        self._signer = signer
        self._domain = domain
        self._threads = ThreadPoolExecutor(max_workers=MAX_LANES, thread_name_prefix="audit")
        self._running: dict[ClaimKey | AuditKey, tuple[PrepareClaim | StartAudit, Future[None]]] = {}

    @property
    def claims(self) -> tuple[Category, ...]:
        """Categories this node is audited in."""
        return tuple(self._auditees)

    @property
    def busy(self) -> frozenset[Lane]:
        """What something is under way on."""
        return frozenset(lane_of(key) for key in self._running)

    def start(self, action: PrepareClaim | StartAudit) -> None:
        """Begins and returns at once."""
        work = self._preparation(action) if isinstance(action, PrepareClaim) else self._audit(action)
        self._running[action.key] = (action, self._threads.submit(work))

    def finished(self) -> tuple[FinishedAudit, ...]:
        """What ended since the last call."""
        ended = [(key, action, future) for key, (action, future) in self._running.items() if future.done()]
        for key, _, _ in ended:
            del self._running[key]
        return tuple(FinishedAudit(action=action, error=_error(future)) for _, action, future in ended)

    def close(self) -> None:
        """Begins nothing more and gives back what was prepared; an audit under way ends with the process."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for auditee in self._auditees.values():
            auditee.release()

    def _preparation(self, action: PrepareClaim) -> Callable[[], None]:
        auditee = self._auditees[action.key.category]
        return lambda: auditee.prepare(epoch_of(action.key.window_id), action.epoch_seed, action.key.device)

    def _audit(self, action: StartAudit) -> Callable[[], None]:
        member, auditee = self._members[action.key.member], self._auditees[action.key.category]
        return lambda: run_audit(action.key, member, auditee, self._signer, self._domain)


def _error(future: Future[None]) -> SwarmError | None:
    raised = future.exception()
    if raised is None or isinstance(raised, SwarmError):
        return raised
    return InconsistentError(f"an audit crashed: {raised!r}", code="audit_crashed", fix="run `swarm node doctor`")
