"""The two arguments of `next_action`: the chain as the cycle sees it, and what this member's store holds."""

from collections.abc import Iterator

from oracle.consensus.views import (
    CycleView,
    OpenOutcome,
    OwnReport,
    OwnView,
    OwnWindow,
    Vote,
)
from oracle.consensus.windows import expected_devices
from oracle.pipeline.member import Member
from oracle.pipeline.names import BUNDLE_HASH, PUBLISHED, REPORT_HASH, SECOND_OBSERVATION, observer_of
from oracle.pipeline.sight import Sight
from oracle.store import documents, evidence
from swarm_chain.core.encoding import case_id
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Severity
from swarm_chain.core.model import EpochResult, RootRecord
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Address, EpochNumber, Hash32, WindowId, window_id

OUTCOME_ROOTS = 16  # roots whose outcomes may still need a keeper; older cases have expired


def cycle_view(member: Member, sight: Sight) -> CycleView:
    """The chain at its latest block, as far as the cycle needs it."""
    votes = sight.facts.votes
    return CycleView(
        network=member.network,
        state=sight.state,
        finalized=sight.finalized,
        processed_epochs=sight.facts.processed_epochs,
        secret_blocks=sight.facts.secret_blocks,
        votes=tuple(Vote(epoch=epoch, member=by, report_hash=votes[epoch, by]) for epoch, by in votes),
        cases=tuple(sight.facts.cases.values()),
    )


def own_view(member: Member, sight: Sight) -> OwnView:
    """What the store holds of the running epoch, of the ones before it, and of outcomes not carried out yet."""
    epoch = member.network.epoch_at(sight.now)
    numbers = range(1 + member.network.params.compute.confirmations)
    return OwnView(
        member=member.address or ZERO_ADDRESS,
        expected=expected_devices(sight.state, member.desk.plans(), member.network),
        windows=tuple(_window(member, sight, window_id(epoch, number)) for number in numbers),
        reports=tuple(_report(member, EpochNumber(e)) for e in range(max(epoch - 2, 0), epoch)),
        outcomes=tuple(
            outcome for root in sight.state.roots[-OUTCOME_ROOTS:] for outcome in _kept_outcomes(member, root)
        ),
        refused=frozenset(action for action, until in member.refused.items() if sight.now < until),
    )


def observers(member: Member, epoch: EpochNumber) -> frozenset[Address]:
    """Members whose signed observations of an epoch are kept; one that signed two has no say."""
    names = documents.names(member.engine, epoch)
    found = (observer_of(name) for name in names)
    return frozenset(one for one in found if one is not None and SECOND_OBSERVATION + one not in names)


def _window(member: Member, sight: Sight, window: WindowId) -> OwnWindow:
    secret = evidence.secret_of(member.engine, window)
    opened = (record for record in sight.state.windows if record.window_id == window)
    return OwnWindow(
        window_id=window,
        secret=None if secret is None else Hash32(secret),
        committed=frozenset().union(*(evidence.committed_devices(member.engine, record) for record in opened)),
        proven=evidence.proven_devices(member.engine, window),
        judged=evidence.is_judged(member.engine, window),
    )


def _report(member: Member, epoch: EpochNumber) -> OwnReport:
    kept = documents.names(member.engine, epoch)
    report_hash = documents.document(member.engine, epoch, REPORT_HASH)
    bundle_hash = documents.document(member.engine, epoch, BUNDLE_HASH)
    return OwnReport(
        epoch=epoch,
        observers=observers(member, epoch),
        signed=member.address is not None and member.sign_log.signed(member.address, epoch) is not None,
        bundle_hash=None if bundle_hash is None else Hash32(bundle_hash),
        report_hash=None if report_hash is None else Hash32(report_hash),
        published=PUBLISHED in kept,
        offers=member.exchange.offers(epoch),
    )


def _kept_outcomes(member: Member, root: RootRecord) -> tuple[OpenOutcome, ...]:
    """Outcomes of an accepted root, which never change: the epoch is built at most once for them."""
    if root.outcomes_root == ZERO_HASH or root.disabled:
        return ()
    if root.manifest_hash not in member.outcomes:
        try:
            result = member.archive.published(root.epoch).settlement.result
        except InvalidInputError:
            return ()  # not fetched yet; another member's keeper carries it out
        member.outcomes[root.manifest_hash] = tuple(_outcomes(root, result))
    return member.outcomes[root.manifest_hash]


def _outcomes(root: RootRecord, result: EpochResult) -> Iterator[OpenOutcome]:
    for position, violation in enumerate(result.violations):
        if violation.severity is not Severity.WARNING:
            yield OpenOutcome(root_index=root.index, position=position, violation=violation, case_id=case_id(violation))
    for position, job in enumerate(result.jobs, start=len(result.violations)):
        yield OpenOutcome(root_index=root.index, position=position, job=job)
