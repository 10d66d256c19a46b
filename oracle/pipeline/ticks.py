"""What a member does at each tick of its clock: follow the chain, work on the cycle, judge jobs, call the roll."""

from itertools import islice

import structlog

from oracle.consensus.cycle import next_action
from oracle.consensus.reporting import epoch_to_report, is_settled
from oracle.consensus.views import Action, Wait
from oracle.consensus.windows import takes_evidence
from oracle.judge.liveness import is_present
from oracle.pipeline.actions import perform
from oracle.pipeline.audits import CRASHED, judge_category
from oracle.pipeline.backlog import bring_forward
from oracle.pipeline.catch_up import fetch, lacking
from oracle.pipeline.exchange import Wanted
from oracle.pipeline.links import ping_due
from oracle.pipeline.member import Member
from oracle.pipeline.own import cycle_view, own_view
from oracle.pipeline.peers import Peer
from oracle.pipeline.probes import probe_due
from oracle.pipeline.replayer import judge_completed
from oracle.pipeline.sight import Sight
from oracle.store import documents, evidence, liveness
from oracle.store.outbox import was_signed
from swarm_chain.core.encoding import sha256_digest
from swarm_chain.core.kinds import Category, WindowState

log = structlog.get_logger()

FETCHED_AT_ONCE = 8  # reports; some that nobody has now keep no older one from being fetched


def keep_lease(member: Member) -> None:
    """Renews this process' right to act, or takes it once no other process has it."""
    try:
        member.keeper.keep()
    finally:
        member.metrics.holds_lease(member.keeper.holds)


def follow(member: Member) -> None:
    """Looks at the chain; the process that acts starts the clock of every window it sees open."""
    sight = member.follower.poll()
    if member.keeper.holds:
        _mark_windows(member, sight)
    member.metrics.saw(sight, member.network.epoch_at(sight.now))
    member.metrics.cycle.saw(sight, member.network, member.address)
    _compare_last(member, sight)


def work(member: Member) -> None:
    """Brings transactions on their way forward and performs the next action of the cycle, unless another process acts."""
    if not member.keeper.holds:
        return
    if member.sender is not None:
        bring_forward(member.sender)
    sight, action = member.follower.sight, choose_action(member)
    _warn_of_replica(member, sight)
    member.metrics.cycle.chose(type(action).__name__)
    if isinstance(action, Wait):
        return
    name = type(action).__name__
    log.info("action", action=name, chain_time=sight.now)
    perform(member, sight, action)
    member.metrics.acted(name)
    follow(member)


def choose_action(member: Member) -> Action:
    """What the cycle asks for at the latest sight."""
    sight = member.follower.sight
    return next_action(cycle_view(member, sight), own_view(member, sight))


def ask_peer(peer: Peer, member: Member) -> None:
    """Asks one other member for evidence, observations and its bundle."""
    if not member.keeper.holds:
        return
    member.exchange.ask(member.desk, peer)


def plan_exchange(member: Member) -> None:
    """Decides what the other members are asked for until the next look, and counts the copies of the last report."""
    member.exchange.wanted = what_is_wanted(member)
    roots = member.follower.sight.state.roots
    if roots:
        member.metrics.cycle.replicas(1 + member.exchange.replicas(roots[-1]))


def what_is_wanted(member: Member) -> Wanted:
    """Evidence while windows of the running epoch are open to it, and of the ended one until there is a bundle; bundles
    until this member stands behind the report that most votes are for; and who publishes the last report.
    """
    sight = member.follower.sight
    view = cycle_view(member, sight)
    running, ended = member.network.epoch_at(sight.now), epoch_to_report(view)
    evidence = (running,) if takes_evidence(view, running) else ()
    last = sight.state.roots[-1] if sight.state.roots else None
    if ended is None:
        return Wanted(evidence=evidence, root=last)
    own = next(report for report in own_view(member, sight).reports if report.epoch == ended)
    return Wanted(
        evidence=evidence if own.bundle_hash else (*evidence, ended),
        bundle=None if is_settled(view, own) else ended,
        root=last,
    )


def catch_up(member: Member) -> None:
    """Fetches the newest accepted reports this member has no documents of, so that it can go on from there."""
    if not member.keeper.holds:
        return
    missing = lacking(member.engine, member.follower.sight.state.roots, member.kept_roots)
    for root in list(islice(missing, FETCHED_AT_ONCE)):
        fetch(member.engine, member.reader, member.exchange.peers, root)


def judge_jobs(member: Member) -> None:
    """Judges completed jobs; slow, so it has an entry of its own."""
    if not member.keeper.holds:
        return
    judged = judge_completed(member.desk, member.replays.compute)
    member.metrics.intake.stuck_with(len(judged.stuck))
    for finding in judged.findings:
        member.metrics.judged(finding.outcome.value, finding.reason)


def judge_answers(category: Category, member: Member) -> None:
    """Judges what devices answered to audits of a category; each has an entry of its own, for training takes minutes."""
    if not member.keeper.holds:
        return
    for audit, found in judge_category(member.auditing, category):
        if found.reason == CRASHED:
            member.metrics.intake.stumbled(category)
        log.info(
            "audit_judged",
            node=audit.node,
            device=audit.device,
            category=audit.category,
            window=audit.window_id,
            outcome=found.outcome,
            reason=found.reason,
            units=found.units,
        )


def probe_nodes(member: Member) -> None:
    """Probes serving endpoints whose turn it is; takes as long as a ladder."""
    if not member.keeper.holds:
        return
    for probe in probe_due(member.probing):
        found = probe.finding
        log.info(
            "node_probed",
            node=probe.node,
            epoch=probe.epoch,
            claim=probe.claim,
            outcome=found.outcome,
            reason=found.reason,
            units=found.units,
            p95_us=found.p95_us,
        )


def ping_nodes(member: Member) -> None:
    """Measures this member's own way to nodes that peers ping."""
    if not member.keeper.holds:
        return
    for node, rtt_us in ping_due(member.linking).items():
        log.info("node_pinged", node=node, rtt_us=rtt_us)


def roll_call(member: Member) -> None:
    """Notes which live nodes gave a sign of life lately, for the epoch of the latest block.

    A node that was never heard of has not begun to serve: it earns nothing, and nobody misses it.
    """
    if not member.keeper.holds:
        return
    sight, now = member.follower.sight, member.desk.instant
    liveness.adopt_heartbeats(member.engine, now)
    last = liveness.last_heartbeats(member.engine, now.boot)
    params = member.network.params.liveness
    present = {node: is_present(now.ms - last[node], params) for node in sight.nodes if node in last}
    if member.address is not None:
        member.metrics.cycle.balance(member.reader.balance(member.address))
    liveness.save_roll_call(member.engine, member.network.epoch_at(sight.now), present)
    if member.address is not None:
        member.metrics.cycle.balance(member.reader.balance(member.address))


def _mark_windows(member: Member, sight: Sight) -> None:
    seen = member.desk.instant
    for window in sight.state.windows:
        if window.state is WindowState.OPEN and evidence.first_sight(member.engine, window.window_id) is None:
            evidence.mark_seen(member.engine, window.window_id, seen)
            log.info("window_seen", window=window.window_id, block=window.opened_block)


def _warn_of_replica(member: Member, sight: Sight) -> None:
    for epoch, by in sight.facts.votes:
        if by != member.address or epoch in member.foreign_votes or was_signed(member.engine, f"epoch:{epoch}:vote"):
            continue
        member.foreign_votes.add(epoch)
        member.metrics.voted_elsewhere()
        log.error(
            "second_replica",
            epoch=epoch,
            member=by,
            fix="this key voted without this database: stop the other process that has it, unless the database was lost",
        )


def _compare_last(member: Member, sight: Sight) -> None:
    """Notes whether the chain's last report is this member's own; without one of its own there is nothing to compare."""
    if not sight.state.roots:
        return
    root = sight.state.roots[-1]
    manifest = documents.document(member.engine, root.epoch, "manifest")
    if manifest is not None:
        member.metrics.cycle.compared(sha256_digest(manifest) == root.manifest_hash)
