"""Audits in threads of their own, so that no tick waits for them; work is done by one at a time a lane."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from node.audits.exchange import run_audit
from node.model import AuditKey, ClaimKey, Lane, PrepareClaim, StartAudit, lane_of
from node.ports import Auditee, AuditQuestion, FinishedAudit, OracleAudits
from swarm_chain.core.errors import InconsistentError, SwarmError
from swarm_chain.core.kinds import Category
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32, epoch_of
from swarm_chain.ports import Signer

MAX_THREADS = 512  # nearly all of them wait for a member's moment


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
        self._threads = ThreadPoolExecutor(max_workers=MAX_THREADS, thread_name_prefix="audit")
        self._lanes: defaultdict[Lane, Lock] = defaultdict(Lock)
        self._running: dict[ClaimKey | AuditKey, tuple[PrepareClaim | StartAudit, Future[None]]] = {}

    @property
    def claims(self) -> tuple[Category, ...]:
        """Categories this node is audited in."""
        return tuple(self._auditees)

    @property
    def busy(self) -> frozenset[ClaimKey | AuditKey]:
        """What is under way."""
        return frozenset(self._running)

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
        auditee, lane = self._auditees[action.key.category], self._lanes[lane_of(action.key)]

        def prepare() -> None:
            with lane:
                auditee.prepare(epoch_of(action.key.window_id), action.epoch_seed, action.key.device)

        return prepare

    def _audit(self, action: StartAudit) -> Callable[[], None]:
        member = self._members[action.key.member]
        auditee = OneAtATime(self._auditees[action.key.category], self._lanes[lane_of(action.key)])
        return lambda: run_audit(action.key, member, auditee, self._signer, self._domain)


class OneAtATime:
    """An auditee whose work waits until its lane is free; asking what it claims does not wait.

    Args:
        auditee: what is claimed.
        lane: held while it works, from the question to its openings apart: another question may come between them.
    """

    def __init__(self, auditee: Auditee, lane: Lock) -> None:
        self._auditee = auditee
        self._lane = lane

    def claim(self, member: Address) -> int:
        """Units a device claims before a member."""
        return self._auditee.claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Makes ready what an epoch's questions are about."""
        with self._lane:
            self._auditee.prepare(epoch, epoch_seed, device)

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root or digest of the work a question asks for."""
        with self._lane:
            return self._auditee.answer(question)

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """What a draw asks for of the answer to a question."""
        with self._lane:
            return self._auditee.openings(question, draw)

    def release(self) -> None:
        """Gives back what was prepared."""
        self._auditee.release()


def _error(future: Future[None]) -> SwarmError | None:
    raised = future.exception()
    if raised is None or isinstance(raised, SwarmError):
        return raised
    return InconsistentError(f"an audit crashed: {raised!r}", code="audit_crashed", fix="run `swarm node doctor`")
