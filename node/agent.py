"""The loop of a node: look, decide, do; nothing one answer says can end it.

chain, members --look--> View ─┐
state file, runs -------> Own ─┴─next_steps--> actions --perform--> chain, members, devices, Ray
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import structlog

from node import duties
from node.audits import duties as audit_duties
from node.chain_watch import ChainWatch
from node.court import duties as court_duties
from node.gateway_model import AnnounceNode, AskAssignments, Countersign, FetchInputs, HandInJob
from node.gateways import duties as gateway_duties
from node.jobs import duties as job_duties
from node.links import duties as link_duties
from node.memory import ChainSight, Memory
from node.model import (
    AcceptJob,
    Action,
    CheckReserve,
    CloseJob,
    CompleteJob,
    Defend,
    DiscardRun,
    FetchPlans,
    ForgetHeads,
    KeepEpochProof,
    MeasureLinks,
    OfferServing,
    Own,
    PrepareClaim,
    RunJob,
    SendCheckpoints,
    SendCommitment,
    SendHeartbeat,
    SendProof,
    SendReceipt,
    SignRun,
    StartAudit,
    StartRun,
    TraceRow,
    View,
)
from node.pace import Pace
from node.ports import OracleReader
from node.records import oldest_heads, own_commitments, own_jobs
from node.serving import duties as serving_duties
from node.standing import NodeState
from node.state import note_draining
from node.steps import is_idle, next_steps
from node.tools import Tools
from node.transactions import pending_purposes
from node.windows import owed_windows
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.units import EpochNumber

log = structlog.get_logger()

ERRANDS = (AnnounceNode, AskAssignments, FetchInputs, HandInJob, Countersign)
ROUNDS = 4  # a finished run is signed, stored and delivered within one tick
AWAITED_MS = 100  # pause between two looks while an answer is on its way

PERFORM: Mapping[type, Callable[[Tools, Memory, View, Any], None]] = {
    SendHeartbeat: duties.send_heartbeat,
    FetchPlans: duties.fetch_plans,
    StartRun: duties.start_run,
    SignRun: duties.sign_run,
    DiscardRun: duties.discard_run,
    SendCommitment: duties.send_commitment,
    SendProof: duties.send_proof,
    ForgetHeads: duties.forget_old_heads,
    KeepEpochProof: duties.keep_epoch_proof,
    PrepareClaim: audit_duties.start_audit,
    StartAudit: audit_duties.start_audit,
    OfferServing: serving_duties.offer_serving,
    MeasureLinks: link_duties.measure_links,
    **dict.fromkeys(ERRANDS, gateway_duties.start_errand),
    AcceptJob: job_duties.accept_job,
    RunJob: job_duties.run_job,
    CompleteJob: job_duties.complete_job,
    SendReceipt: job_duties.send_receipt,
    SendCheckpoints: job_duties.send_checkpoints,
    CloseJob: job_duties.close_job,
    TraceRow: court_duties.trace_row,
    Defend: court_duties.defend,
    CheckReserve: court_duties.check_reserve,
}


class Agent:
    """One node at work.

    Args:
        tools: ports, records and settings.
        first_block: block from which the chain's events matter.
        poll_ms: pause between two looks.
    """

    def __init__(self, tools: Tools, *, first_block: int, poll_ms: int = 500) -> None:
        self._tools = tools
        self._watch = ChainWatch(tools.chain, tools.node, first_block)
        self._memory = Memory(kept_epochs=_kept_epochs(tools))
        self._pace = Pace(tools.clock)
        self._poll_ms = poll_ms
        self._drain_until_ms: int | None = None
        self._state: NodeState | None = None

    def drain(self) -> None:
        """Asks the loop to take nothing new, to finish what runs, and to end."""
        self._memory.draining = True

    def run(self) -> None:
        """Works until drained."""
        note_draining(self._tools.state, False)
        log.info("agent_started", node=self._tools.node, members=sorted(self._tools.members))
        while not self._may_stop():
            self.tick()
            self._tools.clock.sleep(self._pause_ms() / 1000)
        self._tools.devices.close()
        self._tools.tracer.close()
        self._tools.audits.close()
        if self._tools.gateways is not None:
            self._tools.gateways.courier.close()
        if self._tools.runner is not None:
            self._tools.runner.close()
        log.info("agent_stopped", node=self._tools.node)

    def tick(self) -> None:
        """One look and all it asks for; errors of the four families are logged and tried again later."""
        self._attempt("transactions", self._tools.outbox.settle)
        sight = self._look()
        if sight is None:
            return
        announced = self._announced()
        for _ in range(ROUNDS):
            self._collect(sight)
            view = self._memory.view = _view(self._tools, sight, announced)
            audit_duties.forget_old_audits(self._memory, view)
            actions = [action for action in next_steps(view, self._own(), self._tools.params) if self._pace.due(action)]
            if not actions:
                return
            for action in actions:
                self._perform(view, action)

    def _pause_ms(self) -> int:
        """Shorter while an answer is on its way that the next step of a job waits for: its customer waits too."""
        busy = frozenset() if self._tools.gateways is None else self._tools.gateways.courier.busy
        awaited = any(isinstance(errand, HandInJob | Countersign) for errand in busy)
        return min(self._poll_ms, AWAITED_MS) if awaited or pending_purposes(self._tools.state) else self._poll_ms

    def _look(self) -> ChainSight | None:
        found: list[ChainSight] = []
        self._attempt("chain", lambda: found.append(self._watch.look()))
        for sight in found:
            court_duties.tell_accusations(self._memory, sight.court, self._tools.node)
            state = _state(sight)
            if state is not self._state:
                self._state = state
                _tell_state(state, self._tools, sight)
        return found[0] if found else None

    def _announced(self) -> tuple[WindowRecord, ...]:
        found: list[WindowRecord] = []
        for name, member in self._tools.members.items():
            self._attempt(f"windows of {name}", partial(_extend, found, member.reader))
        return tuple(found)

    def _collect(self, sight: ChainSight) -> None:
        memory = self._memory
        for run in self._tools.devices.finished():
            key = (run.challenge.window.window_id, run.challenge.device)
            memory.running.discard(key)
            if run.error:
                log.error("run_failed", window_id=key[0], device=key[1], reason=run.error)
            else:
                memory.heads[key] = run
        for traced in self._tools.tracer.finished():
            court_duties.collect_row(memory, traced)
            if traced.error:
                failed = UnavailableError(f"the accused row could not be computed: {traced.error}")
                self._pace.failed(TraceRow(accusation_id=traced.accusation_id), failed)
                log.error("trace_failed", reason=traced.error)
        for done in self._tools.audits.finished():
            audit_duties.collect_audit(memory, done)
            if done.error is not None:
                self._pace.failed(done.action, done.error)
        self._collect_errands()
        for job in self._tools.runner.finished() if self._tools.runner is not None else ():
            memory.active_jobs.discard(job.job_id)
            job_duties.collect_job(self._tools, job, sight.block.timestamp)

    def _collect_errands(self) -> None:
        for done in () if self._tools.gateways is None else self._tools.gateways.courier.finished():
            gateway_duties.collect_errand(self._tools, self._memory, done)
            if done.error is None:
                self._pace.worked(done.errand)
            else:
                self._pace.failed(done.errand, done.error)

    def _own(self) -> Own:
        tools, memory, jobs = self._tools, self._memory, own_jobs(self._tools.state)
        return Own(
            now_ms=tools.clock.monotonic_ms(),
            heartbeat_ms=memory.heartbeat_ms,
            members=tuple(tools.members),
            devices=tools.devices.indices(),
            plans=memory.plans,
            plans_for=memory.plans_for,
            running=frozenset(memory.running),
            ready=memory.ready,
            commitments=own_commitments(tools.state, tools.node),
            jobs=jobs,
            active_jobs=frozenset(memory.active_jobs),
            gateways=gateway_duties.sights(tools, memory),
            errands=frozenset() if tools.gateways is None else tools.gateways.courier.busy,
            handed_ms=memory.handed_ms,
            lacking=gateway_duties.lacking_inputs(tools, memory, jobs),
            kept_epochs=frozenset(memory.kept_epochs),
            oldest_heads=oldest_heads(tools.state),
            sending=pending_purposes(tools.state),
            tracing=frozenset(memory.tracing),
            traced=frozenset(memory.evidence),
            given_up=frozenset(memory.given_up),
            reserve_ms=memory.reserve_ms,
            takes_jobs=tools.runner is not None,
            claims=tools.audits.claims,
            prepared=frozenset(memory.prepared),
            audited=frozenset(memory.audited),
            auditing=tools.audits.busy,
            serves=tools.serving is not None,
            offered=frozenset(memory.offered),
            links=tools.links is not None,
            linking=tools.links is not None and tools.links.busy,
            linked=frozenset() if tools.links is None else tools.links.finished(),
            draining=memory.draining,
        )

    def _perform(self, view: View, action: Action) -> None:
        self._attempt(action, lambda: PERFORM[type(action)](self._tools, self._memory, view, action))

    def _attempt(self, subject: object, work: Callable[[], None]) -> bool:
        if not self._pace.due(subject):
            return False
        try:
            work()
        except SwarmError as error:
            wait_ms = self._pace.failed(subject, error)
            name = subject if isinstance(subject, str) else type(subject).__name__
            log.warning("step_failed", step=name, code=error.code, reason=error.message, fix=error.fix, wait_ms=wait_ms)
            return False
        if type(subject) not in ERRANDS:  # one that is only begun has not worked yet
            self._pace.worked(subject)
        return True

    def _may_stop(self) -> bool:
        if not self._memory.draining:
            return False
        now_ms, own = self._tools.clock.monotonic_ms(), self._own()
        if self._drain_until_ms is None:
            # A window stays open that long: what cannot be handed in by then is worth nothing.
            self._drain_until_ms = now_ms + self._tools.params.compute.commit_for * 1000
            note_draining(self._tools.state, True)
            log.info("agent_draining", node=self._tools.node)
        if is_idle(self._memory.view, own):
            return True
        if now_ms < self._drain_until_ms:
            return False
        owed = () if self._memory.view is None else owed_windows(self._memory.view, own)
        log.warning("drain_given_up", runs=len(own.running) + len(own.ready), owed_windows=owed)
        return True


def _extend(found: list[WindowRecord], reader: OracleReader) -> None:
    found.extend(reader.windows())


def _view(tools: Tools, sight: ChainSight, announced: tuple[WindowRecord, ...]) -> View:
    return View(
        block=sight.block,
        node=tools.node,
        provider_id=sight.provider_id,
        windows=tuple(sight.windows.values()),
        announced=announced,
        jobs=tuple(sight.jobs.values()),
        roots=tuple(sight.roots.values()),
        court=sight.court,
        absence=sight.absence,
    )


def _state(sight: ChainSight) -> NodeState:
    """What the agent acts by; suspension and the like change nothing in what it does."""
    if not sight.provider_id:
        return NodeState.NEW
    return NodeState.MAINTENANCE if sight.absence.covers(sight.block.timestamp) else NodeState.ACTIVE


def _tell_state(state: NodeState, tools: Tools, sight: ChainSight) -> None:
    if state is NodeState.ACTIVE:
        log.info("node_active", node=tools.node, provider_id=sight.provider_id)
    elif state is NodeState.MAINTENANCE:
        log.info("node_in_maintenance", node=tools.node, until=sight.absence.ends_at, see="swarm node maintenance list")
    else:
        log.warning("node_unregistered", node=tools.node, fix="add it to a provider: swarm node register")


def _kept_epochs(tools: Tools) -> set[EpochNumber]:
    names = (path.stem for path in (tools.home / "proofs").glob("*.json"))
    return {EpochNumber(int(name)) for name in names if name.isdecimal()}
