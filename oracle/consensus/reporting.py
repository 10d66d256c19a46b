"""The part of the cycle that turns an ended epoch into a report on chain."""

from oracle.consensus.leading import leads_report
from oracle.consensus.views import (
    Action,
    AssembleBundle,
    BuildReport,
    CastVote,
    CycleView,
    Observe,
    OwnReport,
    OwnView,
    Publish,
    SubmitReport,
    Wait,
)
from swarm_chain.core.units import EpochNumber, Hash32


def epoch_to_report(view: CycleView) -> EpochNumber | None:
    """Give the oldest ended epoch that can still be reported, or None.

    An epoch whose deadline passed is left out: the next report covers it.
    """
    network, now = view.network, view.state.block.timestamp
    running = network.epoch_at(now)
    window_for, epoch_for = network.params.epoch.report_window_for, network.params.epoch.epoch_for
    oldest = max(view.processed_epochs, running - 1 - window_for // epoch_for, 0)
    return next((EpochNumber(epoch) for epoch in range(oldest, running) if now < network.deadline(epoch)), None)


def report_action(view: CycleView, own: OwnView) -> Action | None:
    """Give the next step towards the report of the epoch that ended, if there is one to report.

    Args:
        view: the chain at its latest block.
        own: how far this member is.
    """
    epoch = epoch_to_report(view)
    if epoch is None:
        return None
    report = next((one for one in own.reports if one.epoch == epoch), OwnReport(epoch=epoch))
    if own.member not in report.observers:
        return Observe(epoch=epoch)
    if view.finalized.timestamp < view.network.epoch_end(epoch):
        return Wait(reason="finality")
    if not report.has_bundle:
        return _bundle_action(view, own, report)
    if report.report_hash is None:
        return BuildReport(epoch=epoch)
    if not report.published:
        return Publish(epoch=epoch, report_hash=report.report_hash)
    return _vote_action(view, own, epoch, report.report_hash)


def _bundle_action(view: CycleView, own: OwnView, report: OwnReport) -> Action:
    if not leads_report(view, own.member, report.epoch):
        return AssembleBundle(epoch=report.epoch, leading=False)
    if len(report.observers.intersection(view.state.members)) < view.state.quorum:
        return Wait(reason="observations")
    return AssembleBundle(epoch=report.epoch, leading=True)


def _vote_action(view: CycleView, own: OwnView, epoch: EpochNumber, report_hash: Hash32) -> Action:
    votes = {vote.member: vote.report_hash for vote in view.votes if vote.epoch == epoch}
    if own.member not in votes:
        return CastVote(epoch=epoch, report_hash=report_hash)
    # A vote is cast once. With another one on chain this member lost its evidence; it waits for the others' report.
    if votes[own.member] != report_hash:
        return Wait(reason="voted_otherwise", until=view.network.deadline(epoch))
    support = sum(votes.get(member) == report_hash for member in view.state.members)
    if support < view.state.quorum:
        return Wait(reason="quorum", until=view.network.deadline(epoch))
    if not leads_report(view, own.member, epoch):
        return Wait(reason="submission", until=view.network.deadline(epoch))
    return SubmitReport(epoch=epoch, report_hash=report_hash)
