"""Settlement of an epoch: facts in, cumulative leaves, outcomes and the state of the next epoch out.

    facts --reward_epoch--> reward lines --+--> leaves (previous + reward, previous + penalty)
      |                                    +--> violations (availability, excuses, history)
      +--> job outcomes                    +--> next state (carry, gross rewards, history, plans)

Pure: the same facts, chain state, previous epoch and params give the same bytes everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence

from oracle.model import (
    EpochFacts,
    EpochState,
    FoundViolation,
    Network,
    PastViolation,
    Plan,
    PreviousEpoch,
    RewardLine,
    Settlement,
)
from oracle.restoration import outstanding, unrestored
from oracle.rewards.lines import RewardInputs, reward_epoch
from oracle.rewards.memory import next_classes, next_clean_epochs, next_supply
from oracle.rewards.multiplier import Past
from oracle.rewards.plans import next_plans
from oracle.rewards.weights import Device, device_capacities
from oracle.violations import ViolationInputs, find_violations, next_history
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import JobState, Outcome
from swarm_chain.core.model import ChainState, EpochResult, JobOutcome, JobRecord, ProviderRecord, SettlementLeaf
from swarm_chain.core.units import EpochNumber, JobId, Mtops, ProviderId, Wei


def settle_epoch(state: ChainState, facts: EpochFacts, previous: PreviousEpoch | None, network: Network) -> Settlement:
    """Settle an epoch.

    Args:
        state: the chain, folded up to the reference block of the epoch.
        facts: the judged evidence of the epoch.
        previous: the last report that was not disabled; None before the first one.
        network: contracts, genesis and params.

    Returns:
        Leaves for every registered provider, outcomes in tree order, totals since genesis and the next state.

    Raises:
        InconsistentError: provider ids are not dense, or the previous report is not older or knows more providers.

    Source: economics.md; invariants 18, 23.
    """
    _require_dense(state.providers, facts.epoch, previous)
    carried = previous.state if previous else EpochState(epoch=EpochNumber(0), carry_wei=Wei(0))
    waiting = outstanding(carried, state.providers, network, network.epoch_start(facts.epoch))
    inputs = _reward_inputs(state, facts, carried, waiting, network, covered_epochs(facts.epoch, previous))
    pools, lines = reward_epoch(inputs)
    found = _found(state, facts, lines, carried, network)
    leaves, jobs = _leaves(lines, previous), _job_outcomes(state, facts, previous)
    supply = next_supply(state.providers, lines)
    return Settlement(
        result=EpochResult(
            epoch=facts.epoch,
            leaves=leaves,
            violations=tuple(f.violation for f in found),
            jobs=jobs,
            carry_wei=pools.carry_out_wei,
        ),
        total_reward_wei=Wei(sum(leaf.cum_reward_wei for leaf in leaves)),
        total_penalty_wei=Wei(sum(leaf.cum_penalty_wei for leaf in leaves)),
        pools=pools,
        lines=lines,
        found=found,
        next_state=EpochState(
            epoch=facts.epoch,
            carry_wei=pools.carry_out_wei,
            gross_wei=_next_gross(state.providers, lines, carried, inputs.covered),
            clean_epochs=_next_clean(state.providers, lines, inputs, found),
            supply=supply,
            classes=next_classes(carried.classes, supply, facts.epoch),
            violations=next_history(carried.violations, found, facts.epoch, network.params.penalties, waiting),
            plans=_next_plans(state, inputs.capacities, carried, network),
            plans_before=carried.plans,
            jobs=_unsettled_jobs(state, jobs, carried),
        ),
    )


def covered_epochs(epoch: EpochNumber, previous: PreviousEpoch | None) -> int:
    """Count the epochs a report pays for: those since the previous report, so that a missed one is not lost.

    The first report pays for its own epoch alone: before it nobody could have proved anything.
    """
    return epoch - previous.epoch if previous else 1


def _require_dense(providers: Sequence[ProviderRecord], epoch: EpochNumber, previous: PreviousEpoch | None) -> None:
    if any(provider.provider_id != index for index, provider in enumerate(providers, start=1)):
        raise InconsistentError(
            "provider ids are not 1, 2, 3, …", fix="fold the events again from the deployment block"
        )
    if previous and (previous.epoch >= epoch or len(previous.leaves) > len(providers)):
        raise InconsistentError(
            f"epoch {epoch} with {len(providers)} providers cannot follow epoch {previous.epoch}"
            f" with {len(previous.leaves)}",
            fix="take the last report that was accepted and not disabled before the reference block",
        )


def _leaves(lines: Sequence[RewardLine], previous: PreviousEpoch | None) -> tuple[SettlementLeaf, ...]:
    before = previous.leaves if previous else ()
    grown = (
        SettlementLeaf(
            provider_id=line.provider_id,
            cum_reward_wei=Wei(leaf.cum_reward_wei + line.reward_wei),
            cum_penalty_wei=Wei(leaf.cum_penalty_wei + line.penalty_wei),
        )
        for leaf, line in zip(before, lines, strict=False)
    )
    fresh = (
        SettlementLeaf(provider_id=line.provider_id, cum_reward_wei=line.reward_wei, cum_penalty_wei=line.penalty_wei)
        for line in lines[len(before) :]
    )
    return (*grown, *fresh)


def open_jobs(state: ChainState, previous: PreviousEpoch | None) -> tuple[JobRecord, ...]:
    """Give the jobs a report may judge: completed on chain and not judged by a report before."""
    judged = frozenset(previous.state.jobs) if previous else frozenset()
    return tuple(job for job in state.jobs if job.state is JobState.COMPLETED and job.job_id not in judged)


def _reward_inputs(
    state: ChainState,
    facts: EpochFacts,
    carried: EpochState,
    waiting: Iterable[PastViolation],
    network: Network,
    covered: int,
) -> RewardInputs:
    return RewardInputs(
        network=network,
        providers=state.providers,
        facts=facts,
        capacities=device_capacities(facts.verdicts, len(facts.windows)),
        carry_wei=carried.carry_wei,
        gross_wei=dict(carried.gross_wei),
        covered=covered,
        past=Past(
            clean_epochs=dict(carried.clean_epochs),
            supply=carried.supply,
            classes=dict(carried.classes),
            unrestored=unrestored(waiting),
        ),
    )


def _found(
    state: ChainState, facts: EpochFacts, lines: tuple[RewardLine, ...], carried: EpochState, network: Network
) -> tuple[FoundViolation, ...]:
    return find_violations(
        ViolationInputs(
            network=network,
            providers=state.providers,
            facts=facts,
            lines=lines,
            history=carried.violations,
            ref_at=state.block.timestamp,
        )
    )


def _job_outcomes(state: ChainState, facts: EpochFacts, previous: PreviousEpoch | None) -> tuple[JobOutcome, ...]:
    judged = {job.job_id: job.outcome for job in facts.jobs if job.outcome is not Outcome.MISSING}
    return tuple(
        JobOutcome(
            job_id=job.job_id,
            receipt_digest=job.receipt_digest,
            pay_wei=job.budget_wei if judged[job.job_id] is Outcome.PASSED else Wei(0),
        )
        for job in open_jobs(state, previous)
        if job.job_id in judged
    )


def _next_gross(
    providers: Sequence[ProviderRecord], lines: Sequence[RewardLine], carried: EpochState, covered: int
) -> tuple[tuple[ProviderId, Wei], ...]:
    gross = dict(carried.gross_wei)
    gross.update((line.provider_id, Wei(line.reward_wei // covered)) for line in lines if line.reward_wei >= covered)
    return tuple(
        (provider.provider_id, gross[provider.provider_id])
        for provider in providers
        if provider.provider_id in gross and not provider.retired
    )


def _next_clean(
    providers: Sequence[ProviderRecord],
    lines: Sequence[RewardLine],
    inputs: RewardInputs,
    found: Iterable[FoundViolation],
) -> tuple[tuple[ProviderId, int], ...]:
    violated = frozenset(f.violation.provider_id for f in found)
    return next_clean_epochs(inputs.past.clean_epochs, providers, lines, violated)


def _next_plans(
    state: ChainState, capacities: Mapping[Device, Mtops], carried: EpochState, network: Network
) -> tuple[Plan, ...]:
    nodes = (node for provider in state.providers for node in provider.nodes)
    return next_plans(carried.plans, capacities, nodes, network.params.compute)


def _unsettled_jobs(state: ChainState, judged: Sequence[JobOutcome], carried: EpochState) -> tuple[JobId, ...]:
    completed = {job.job_id for job in state.jobs if job.state is JobState.COMPLETED}
    return tuple(sorted(completed & {*carried.jobs, *(outcome.job_id for outcome in judged)}))
