"""The part of the cycle that turns an ended epoch into a report on chain.

    observe -> gather -> bundle (the leader's, or an offered one) -> build -> publish -> vote -> submit
                                        ^----------- adopt <--------------|  another report has more votes

Votes gather on one report: whoever sees one with more votes than its own checks it and votes for it too, and of two with
equal support the one with the lower hash wins. Support only grows that way, so members that followed different leaders
end up together; no member ever votes for a report it has not built itself.
"""

from collections import Counter
from collections.abc import Iterable

from oracle.consensus.leading import in_first_half, leader_at, leads_report
from oracle.consensus.views import (
    Action,
    AdoptReport,
    AssembleBundle,
    BuildReport,
    CastVote,
    CycleView,
    Observe,
    Offer,
    OwnReport,
    OwnView,
    Publish,
    SubmitReport,
    TakeBundle,
    Wait,
)
from swarm_chain.core.units import Address, EpochNumber, Hash32


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
    if own.member not in report.observers and not report.signed:
        return Observe(epoch=epoch)
    if view.finalized.timestamp < view.network.epoch_end(epoch):
        return Wait(reason="finality")
    if report.bundle_hash is None:
        return _bundle_action(view, own, report)
    if report.report_hash is None:
        return BuildReport(epoch=epoch)
    if not report.published:
        return Publish(epoch=epoch, report_hash=report.report_hash)
    return _adoption(view, own, report, report.report_hash) or _vote_action(view, own, epoch, report.report_hash)


def is_settled(view: CycleView, report: OwnReport) -> bool:
    """Tell whether this member has published the report that most votes are for, so that no other bundle matters.

    Args:
        view: the chain at its latest block.
        report: how far this member is with the epoch.
    """
    own_hash = report.report_hash
    return own_hash is not None and report.published and _best(view, report.epoch, own_hash) == own_hash


def _bundle_action(view: CycleView, own: OwnView, report: OwnReport) -> Action:
    offered = (TakeBundle(epoch=report.epoch, bundle_hash=o.bundle_hash) for o in _ranked(view, report))
    wanted = next((action for action in offered if action not in own.refused), None)
    if wanted is not None:
        return wanted
    if not leads_report(view, own.member, report.epoch):
        return Wait(reason="bundle")
    heard = report.observers.intersection(view.state.members)
    if len(heard) < view.state.quorum:
        return Wait(reason="observations")
    if len(heard) < len(view.state.members) and in_first_half(view, report.epoch):
        return Wait(reason="observations")  # a member whose observation is left out cannot vote
    return AssembleBundle(epoch=report.epoch)


def _ranked(view: CycleView, report: OwnReport) -> list[Offer]:
    """Offers in the order they are tried: those with votes behind them, then by whose turn came first."""
    support, votes = _support(view, report.epoch), _votes(view, report.epoch)
    period_for, count = view.network.params.epoch.report_window_for, len(view.state.members)
    slots = range(0, period_for, max(period_for // count, 1))
    turns = [leader_at(view.state.members, report.epoch, elapsed_for, period_for) for elapsed_for in slots[:count]]

    def rank(offer: Offer) -> tuple[int, int, bytes]:
        backing = support[votes[offer.member]] if offer.member in votes else 0
        return -backing, turns.index(offer.member) if offer.member in turns else count, offer.bundle_hash

    return sorted(report.offers, key=rank)


def _adoption(view: CycleView, own: OwnView, report: OwnReport, report_hash: Hash32) -> Action | None:
    """The report with the most votes, if it is another one and one of its voters offers its bundle."""
    best = _best(view, report.epoch, report_hash)
    if best == report_hash:
        return None
    votes = _votes(view, report.epoch)
    behind = (o for o in report.offers if votes.get(o.member) == best and o.bundle_hash != report.bundle_hash)
    actions = (AdoptReport(epoch=report.epoch, report_hash=best, bundle_hash=o.bundle_hash) for o in behind)
    return next((action for action in actions if action not in own.refused), None)


def _vote_action(view: CycleView, own: OwnView, epoch: EpochNumber, report_hash: Hash32) -> Action:
    voted = _votes(view, epoch).get(own.member)
    if voted is not None and report_hash not in (voted, _best(view, epoch, report_hash)):
        # This member lost what its vote was for. A vote is changed only towards more votes.
        return Wait(reason="voted_otherwise", until=view.network.deadline(epoch))
    if voted != report_hash:
        return CastVote(epoch=epoch, report_hash=report_hash)
    if _support(view, epoch)[report_hash] < view.state.quorum:
        return Wait(reason="quorum", until=view.network.deadline(epoch))
    if not leads_report(view, own.member, epoch):
        return Wait(reason="submission", until=view.network.deadline(epoch))
    return SubmitReport(epoch=epoch, report_hash=report_hash)


def _best(view: CycleView, epoch: EpochNumber, own_hash: Hash32) -> Hash32:
    """The report to end up with: most votes, of equals the lower hash; this member's own counts without any, too."""
    support = _support(view, epoch)
    return min((own_hash, *support), key=lambda one: (-support[one], one))


def _votes(view: CycleView, epoch: EpochNumber) -> dict[Address, Hash32]:
    """Live votes of current members."""
    of_epoch: Iterable[tuple[Address, Hash32]] = ((v.member, v.report_hash) for v in view.votes if v.epoch == epoch)
    return {member: report_hash for member, report_hash in of_epoch if member in view.state.members}


def _support(view: CycleView, epoch: EpochNumber) -> Counter[Hash32]:
    return Counter(_votes(view, epoch).values())
