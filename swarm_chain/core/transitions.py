"""What each event changes: one function an event, over a ChainState opened up for one run of `state.advance`.

Amounts that leave or enter a stake are in the events themselves, so no share arithmetic is repeated here:

    Staked a       +stake +active         UnbondRequested a   active -> thawing
    Withdrawn a    -stake -thawing        UnbondCancelled a   thawing -> active
    Slashed, PenaltyTaken a    -stake; `fromThawing` of it from thawing, the rest from active
    ThawPoolReset d            the dust d returns from thawing to active
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import JobKind, JobState, WindowState
from swarm_chain.core.model import (
    Announcement,
    ChainEvent,
    JobRecord,
    KeyRemoval,
    ProviderRecord,
    RootRecord,
    WindowRecord,
)
from swarm_chain.core.units import Address, ProviderId, Timestamp, Wei

_NO_TIME, _NO_WEI = Timestamp(0), Wei(0)


@dataclass(slots=True)
class Draft:
    """A ChainState opened up; tables are keyed by id."""

    providers: dict[int, ProviderRecord]
    windows: dict[int, WindowRecord]
    jobs: dict[int, JobRecord]
    roots: dict[int, RootRecord]
    members: list[Address]
    quorum: int
    announcements: dict[Address, tuple[Announcement, ...]]


Step = Callable[[Draft, ChainEvent], None]


def payout_in_force(provider: ProviderRecord, at: Timestamp) -> ProviderRecord:
    """The record with a queued payout address taken over if its time has come."""
    if provider.pending_payout is None or at < provider.pending_payout_at:
        return provider
    return replace(provider, payout=provider.pending_payout, pending_payout=None, pending_payout_at=_NO_TIME)


def _known(table: dict[int, Any], key: object, event: ChainEvent) -> Any:
    if key not in table:
        raise InconsistentError(
            f"{event.contract}.{event.name} in block {event.block} is about {key}, which no event created",
            fix="read the events from the deployment's first block on",
        )
    return table[key]


def _change_provider(draft: Draft, event: ChainEvent, **changes: Any) -> None:
    provider = _known(draft.providers, event.args["providerId"], event)
    draft.providers[provider.provider_id] = replace(provider, **changes)


def _registered(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    if a["providerId"] != len(draft.providers) + 1:
        raise InconsistentError(
            f"provider {a['providerId']} registered after {len(draft.providers)} others: ids have a gap"
        )
    draft.providers[a["providerId"]] = ProviderRecord(
        provider_id=ProviderId(a["providerId"]),
        owner=a["owner"],
        operator=a["operator"],
        payout=a["payout"],
        hardware_class=a["hardwareClass"],
        region=a["region"],
        registered_at=event.timestamp,
        suspended_until=_NO_TIME,
        retired=False,
        nodes=(),
        stake_wei=_NO_WEI,
        active_stake_wei=_NO_WEI,
    )


def _node_added(draft: Draft, event: ChainEvent) -> None:
    provider = _known(draft.providers, event.args["providerId"], event)
    _change_provider(draft, event, nodes=(*provider.nodes, event.args["node"]))


def _node_removed(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    provider, node = _known(draft.providers, a["providerId"], event), a["node"]
    left = tuple(other for other in provider.nodes if other != node)
    # Where the provider has retired, the node is among the past ones already.
    past = tuple(other for other in provider.past_nodes if other != node)
    removals = (*provider.removals, KeyRemoval(node=node, removed_at=event.timestamp))
    _change_provider(draft, event, nodes=left, past_nodes=(*past, node), removals=removals)


def _operator_changed(draft: Draft, event: ChainEvent) -> None:
    _change_provider(draft, event, operator=event.args["operator"])


def _payout_queued(draft: Draft, event: ChainEvent) -> None:
    # A change that is already in force must not be lost with the queue it sits in.
    provider = payout_in_force(_known(draft.providers, event.args["providerId"], event), event.timestamp)
    draft.providers[provider.provider_id] = provider
    queued = {"pending_payout": event.args["payout"], "pending_payout_at": event.args["effectiveAt"]}
    _change_provider(draft, event, **queued)


def _retired(draft: Draft, event: ChainEvent) -> None:
    provider = _known(draft.providers, event.args["providerId"], event)
    _change_provider(draft, event, retired=True, nodes=(), past_nodes=(*provider.past_nodes, *provider.nodes))


def _suspended(draft: Draft, event: ChainEvent) -> None:
    _change_provider(draft, event, suspended_until=event.args["suspendedUntil"])


def _maintenance_announced(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    said = Announcement(node=a["node"], starts_at=a["startsAt"], ends_at=a["endsAt"], announced_at=event.timestamp)
    draft.announcements[said.node] = (*draft.announcements.get(said.node, ()), said)


def _maintenance_withdrawn(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    said = draft.announcements.get(a["node"], ())
    # A node announces one absence at a time, so what lies ahead is its last one.
    if not said or said[-1].starts_at <= event.timestamp:
        raise InconsistentError(f"{a['node']} withdrew maintenance in block {event.block} that no event announced")
    draft.announcements[a["node"]] = said[:-1]


def _move_stake(draft: Draft, event: ChainEvent, stake: int, active: int) -> None:
    """Adds to a provider's stake and to the active part of it, wei."""
    provider = _known(draft.providers, event.args["providerId"], event)
    stake, active = provider.stake_wei + stake, provider.active_stake_wei + active
    if not 0 <= active <= stake:
        raise InconsistentError(f"{event.name} in block {event.block} leaves {active} of {stake} wei active")
    _change_provider(draft, event, stake_wei=Wei(stake), active_stake_wei=Wei(active))


def _staked(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, a["amount"], a["amount"])


def _unbond_requested(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, 0, -a["amount"])


def _unbond_cancelled(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, 0, a["amount"])


def _withdrawn(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, -a["amount"], 0)


def _taken(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, -a["amount"], a["fromThawing"] - a["amount"])


def _thaw_reset(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    _move_stake(draft, event, 0, a["dust"])


def _secret_committed(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    draft.windows[a["windowId"]] = WindowRecord(window_id=a["windowId"], state=WindowState.COMMITTED)


def _window_opened(draft: Draft, event: ChainEvent) -> None:
    window = _known(draft.windows, event.args["windowId"], event)
    draft.windows[window.window_id] = replace(
        window,
        state=WindowState.OPEN,
        window_seed=event.args["windowSeed"],
        opened_at=event.timestamp,
        opened_block=event.block,
    )


def _window_closed(draft: Draft, event: ChainEvent) -> None:
    window = _known(draft.windows, event.args["windowId"], event)
    draft.windows[window.window_id] = replace(
        window,
        state=WindowState.CLOSED,
        commitments_root=event.args["commitmentsRoot"],
        commitment_count=event.args["commitmentCount"],
        closed_at=event.timestamp,
        closed_block=event.block,
    )


def _window_drawn(draft: Draft, event: ChainEvent) -> None:
    window = _known(draft.windows, event.args["windowId"], event)
    draft.windows[window.window_id] = replace(window, state=WindowState.DRAWN, draw_seed=event.args["drawSeed"])


def _job_posted(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    draft.jobs[a["jobId"]] = JobRecord(
        job_id=a["jobId"],
        state=JobState.POSTED,
        kind=JobKind(a["kind"]),
        customer=a["customer"],
        spec_hash=a["specHash"],
        budget_wei=a["budget"],
        posted_at=event.timestamp,
    )


def _change_job(draft: Draft, event: ChainEvent, state: JobState, **changes: Any) -> None:
    job = _known(draft.jobs, event.args["jobId"], event)
    draft.jobs[job.job_id] = replace(job, state=state, **changes)


def _job_accepted(draft: Draft, event: ChainEvent) -> None:
    a = event.args
    _change_job(draft, event, JobState.ACCEPTED, provider_id=a["providerId"], node=a["node"])


def _job_completed(draft: Draft, event: ChainEvent) -> None:
    digest = event.args["receiptDigest"]
    _change_job(draft, event, JobState.COMPLETED, receipt_digest=digest, completed_at=event.timestamp)


def _job_ends(state: JobState) -> Step:
    def step(draft: Draft, event: ChainEvent) -> None:
        _change_job(draft, event, state)

    return step


def _report_accepted(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    draft.roots[a["rootIndex"]] = RootRecord(
        index=a["rootIndex"],
        epoch=a["epoch"],
        root=a["root"],
        outcomes_root=a["outcomesRoot"],
        manifest_hash=a["manifestHash"],
        leaf_count=a["leafCount"],
        total_reward_wei=a["totalReward"],
        total_penalty_wei=a["totalPenalty"],
        activates_at=a["activatesAt"],
    )


def _root_disabled(draft: Draft, event: ChainEvent) -> None:
    root = _known(draft.roots, event.args["rootIndex"], event)
    draft.roots[root.index] = replace(root, disabled=True)


def _member_added(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    draft.members.append(a["member"])
    draft.quorum = a["quorum"]


def _member_removed(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    if a["member"] not in draft.members:
        raise InconsistentError(f"{a['member']} was removed in block {event.block} but never added")
    # The last member takes the seat that became free, as in EpochOracle.
    seat, last = draft.members.index(a["member"]), draft.members.pop()
    if seat < len(draft.members):
        draft.members[seat] = last
    draft.quorum = a["quorum"]


def _quorum_changed(draft: Draft, event: ChainEvent) -> None:
    a: Any = event.args
    draft.quorum = a["quorum"]


STEPS: dict[tuple[str, str], Step] = {
    ("ProviderRegistry", "ProviderRegistered"): _registered,
    ("ProviderRegistry", "NodeAdded"): _node_added,
    ("ProviderRegistry", "NodeRemoved"): _node_removed,
    ("ProviderRegistry", "OperatorChanged"): _operator_changed,
    ("ProviderRegistry", "PayoutChangeQueued"): _payout_queued,
    ("ProviderRegistry", "ProviderRetired"): _retired,
    ("ProviderRegistry", "ProviderSuspended"): _suspended,
    ("ProviderRegistry", "MaintenanceAnnounced"): _maintenance_announced,
    ("ProviderRegistry", "MaintenanceWithdrawn"): _maintenance_withdrawn,
    ("StakeVault", "Staked"): _staked,
    ("StakeVault", "UnbondRequested"): _unbond_requested,
    ("StakeVault", "UnbondCancelled"): _unbond_cancelled,
    ("StakeVault", "Withdrawn"): _withdrawn,
    ("StakeVault", "PenaltyTaken"): _taken,
    ("StakeVault", "Slashed"): _taken,
    ("StakeVault", "ThawPoolReset"): _thaw_reset,
    ("ChallengeBeacon", "SecretCommitted"): _secret_committed,
    ("ChallengeBeacon", "WindowOpened"): _window_opened,
    ("ChallengeBeacon", "WindowClosed"): _window_closed,
    ("ChallengeBeacon", "WindowDrawn"): _window_drawn,
    ("JobEscrow", "JobPosted"): _job_posted,
    ("JobEscrow", "JobAccepted"): _job_accepted,
    ("JobEscrow", "JobCompleted"): _job_completed,
    ("JobEscrow", "JobPaid"): _job_ends(JobState.PAID),
    ("JobEscrow", "JobRefunded"): _job_ends(JobState.REFUNDED),
    ("JobEscrow", "JobCancelled"): _job_ends(JobState.CANCELLED),
    ("RewardSettlement", "ReportAccepted"): _report_accepted,
    ("RewardSettlement", "RootDisabled"): _root_disabled,
    ("EpochOracle", "MemberAdded"): _member_added,
    ("EpochOracle", "MemberRemoved"): _member_removed,
    ("EpochOracle", "QuorumChanged"): _quorum_changed,
}
