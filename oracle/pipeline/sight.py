"""What a member sees of the chain at one block: the folded state, and the facts only the cycle needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import cast

from oracle.consensus.views import CaseRecord, CaseState
from swarm_chain.core.model import BlockRef, ChainEvent, ChainState, ProviderRecord
from swarm_chain.core.state import advance
from swarm_chain.core.units import Address, BlockNumber, EpochNumber, Hash32, JobId, Timestamp, WindowId


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleFacts:
    """Facts of the logs that settlement does not need but the cycle does; every mapping is keyed by id."""

    processed_epochs: int = 0
    secret_blocks: Mapping[WindowId, BlockNumber] = field(default_factory=dict)
    votes: Mapping[tuple[EpochNumber, Address], Hash32] = field(default_factory=dict)
    cases: Mapping[Hash32, CaseRecord] = field(default_factory=dict)
    completed_blocks: Mapping[JobId, BlockNumber] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One consistent view: everything in it holds at `latest`."""

    latest: BlockRef
    finalized: BlockRef
    state: ChainState
    facts: CycleFacts
    nodes: Mapping[Address, ProviderRecord]

    @property
    def now(self) -> Timestamp:
        """Chain time."""
        return self.latest.timestamp


def advance_facts(facts: CycleFacts, events: Iterable[ChainEvent]) -> CycleFacts:
    """Facts after some more events.

    Args:
        facts: before.
        events: later ones, in chain order.
    """
    for event in events:
        step = _STEPS.get((event.contract, event.name))
        if step is not None:
            facts = step(facts, event)
    return facts


def see(state: ChainState, facts: CycleFacts, latest: BlockRef, finalized: BlockRef) -> Sight:
    """Sight of a folded state.

    Args:
        state: folded up to `latest`.
        facts: folded up to `latest`.
        latest: the block.
        finalized: the latest final block.
    """
    nodes = {node: provider for provider in state.providers for node in provider.nodes}
    return Sight(latest=latest, finalized=finalized, state=state, facts=facts, nodes=MappingProxyType(nodes))


def advance_sight(
    state: ChainState, facts: CycleFacts, events: tuple[ChainEvent, ...], at: BlockRef
) -> tuple[ChainState, CycleFacts]:
    """State and facts after the events of some more blocks, ending with `at`."""
    return advance(state, events, at), advance_facts(facts, events)


def _secret_committed(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    window = WindowId(cast(int, event.args["windowId"]))
    return replace(facts, secret_blocks={**facts.secret_blocks, window: event.block})


def _voted(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    return replace(facts, votes={**facts.votes, _ballot(event): Hash32(cast(bytes, event.args["reportHash"]))})


def _vote_withdrawn(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    return replace(facts, votes={key: value for key, value in facts.votes.items() if key != _ballot(event)})


def _member_removed(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    left = event.args["member"]
    return replace(facts, votes={key: value for key, value in facts.votes.items() if key[1] != left})


def _submitted(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    processed = cast(int, event.args["epoch"]) + 1
    live = {key: value for key, value in facts.votes.items() if key[0] >= processed}
    return replace(facts, processed_epochs=processed, votes=live)


def _case_opened(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    case_id = Hash32(cast(bytes, event.args["caseId"]))
    case = CaseRecord(
        case_id=case_id,
        state=CaseState.OPEN,
        executable_at=Timestamp(cast(int, event.args["executableAt"])),
        expires_at=Timestamp(cast(int, event.args["expiresAt"])),
    )
    return replace(facts, cases={**facts.cases, case_id: case})


def _case_moved(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    case_id = Hash32(cast(bytes, event.args["caseId"]))
    moved = replace(facts.cases[case_id], state=_CASE_STATES[event.name])
    return replace(facts, cases={**facts.cases, case_id: moved})


def _job_completed(facts: CycleFacts, event: ChainEvent) -> CycleFacts:
    job_id = JobId(cast(int, event.args["jobId"]))
    return replace(facts, completed_blocks={**facts.completed_blocks, job_id: event.block})


def _ballot(event: ChainEvent) -> tuple[EpochNumber, Address]:
    return EpochNumber(cast(int, event.args["epoch"])), Address(cast(str, event.args["member"]))


_CASE_STATES = {
    "CaseAnswered": CaseState.ANSWERED,
    "CaseVetoed": CaseState.VETOED,
    "CaseExecuted": CaseState.EXECUTED,
    "CaseExpired": CaseState.EXPIRED,
}
_STEPS = {
    ("ChallengeBeacon", "SecretCommitted"): _secret_committed,
    ("EpochOracle", "Voted"): _voted,
    ("EpochOracle", "VoteWithdrawn"): _vote_withdrawn,
    ("EpochOracle", "MemberRemoved"): _member_removed,
    ("EpochOracle", "ReportSubmitted"): _submitted,
    ("SlashingCourt", "CaseOpened"): _case_opened,
    **{("SlashingCourt", name): _case_moved for name in _CASE_STATES},
    ("JobEscrow", "JobCompleted"): _job_completed,
}
