"""From announcements on chain to the penalty: an announced absence costs nothing; what would stretch it is paid for."""

from dataclasses import replace

import pytest

from oracle.maintenance import maintenance_bps
from oracle.model import EpochFacts, EpochState, PreviousEpoch, Settlement
from oracle.settle import settle_epoch
from swarm_chain.core.model import ChainEvent, SettlementLeaf
from swarm_chain.core.state import fold
from swarm_chain.core.units import ZERO_HASH, BlockNumber, Bps, EpochNumber, Hash32, ProviderId, Timestamp, Wei
from tests.oracle_world import NETWORK, PARAMS, address, provider, ref_block

EPOCH = EpochNumber(40)
START, LENGTH = NETWORK.epoch_start(EPOCH), PARAMS.epoch.epoch_for
NOTICE, BUDGET = PARAMS.maintenance.notice_for, PARAMS.maintenance.budget_for
NODE = address("a")


def said(name: str, at: int, **times: int) -> ChainEvent:
    """What the registry writes at a second from the epoch's start on; times are counted from there as well."""
    args = {arg: START + value for arg, value in times.items()}
    return ChainEvent(
        contract="ProviderRegistry",
        name=name,
        args={"providerId": 1, "node": NODE, **args},
        block=BlockNumber(START + at),
        log_index=0,
        tx_hash=ZERO_HASH,
        timestamp=Timestamp(START + at),
    )


def announced(at: int, starts: int, ends: int) -> ChainEvent:
    """An announcement."""
    return said("MaintenanceAnnounced", at, startsAt=starts, endsAt=ends)


def settled(*events: ChainEvent, present: int = 0, epoch: int = EPOCH) -> Settlement:
    """The epoch settled for a provider whose only node was there for `present` bps of it."""
    end = NETWORK.epoch_end(epoch)
    state = fold(events, replace(ref_block(epoch), number=BlockNumber(end), timestamp=Timestamp(end)))
    state = replace(state, providers=(provider(1, "a"),))
    away = maintenance_bps(state.announcements, EpochNumber(epoch), NETWORK)
    facts = EpochFacts(epoch=EpochNumber(epoch), availability={NODE: Bps(present)}, maintenance=away)
    return settle_epoch(state, facts, _previous(epoch), NETWORK)


def _previous(epoch: int) -> PreviousEpoch:
    gross = ((ProviderId(1), Wei(10**18)),)
    leaf = SettlementLeaf(provider_id=ProviderId(1), cum_reward_wei=Wei(10**20), cum_penalty_wei=Wei(0))
    before = EpochState(epoch=EpochNumber(epoch - 1), carry_wei=Wei(0), gross_wei=gross)
    return PreviousEpoch(manifest_hash=Hash32(b"\1" * 32), leaves=(leaf,), state=before)


def is_unharmed(settlement: Settlement) -> bool:
    """No penalty and no violation."""
    return settlement.total_penalty_wei == 0 and settlement.found == ()


def test_absence_when_announced_in_time_a_hundred_times_over_then_never_costs_anything() -> None:
    for number in range(100):
        starts = number % LENGTH
        ends = starts + 1 + number % (LENGTH - starts)
        present = 10_000 - (ends - starts) * 10_000 // LENGTH
        notice = announced(starts - NOTICE - number, starts, ends)
        assert is_unharmed(settled(notice, present=present)), number
        if present < PARAMS.penalties.availability_target_bps:
            assert not is_unharmed(settled(present=present)), "the same absence without a word"


@pytest.mark.parametrize(
    "events",
    [
        pytest.param((), id="unannounced"),
        pytest.param((announced(0, 1, LENGTH),), id="announced as it begins"),
        pytest.param((announced(LENGTH - 1, LENGTH, 2 * LENGTH),), id="announced for another epoch"),
        pytest.param((announced(-100, 0, LENGTH), said("MaintenanceWithdrawn", -50)), id="withdrawn"),
        pytest.param((announced(-BUDGET - 100, -BUDGET - 10, -10), announced(-5, 5, LENGTH)), id="over the budget"),
        pytest.param((announced(-3000, -2990, LENGTH),), id="one announcement longer than the budget"),
        pytest.param(
            tuple(announced(-LENGTH * n, -LENGTH * n + NOTICE, -LENGTH * n + LENGTH // 2) for n in range(28, -1, -1)),
            id="a little every epoch",
        ),
    ],
)
def test_absence_when_not_covered_by_an_announcement_then_paid_for(events: tuple[ChainEvent, ...]) -> None:
    assert not is_unharmed(settled(*events))


def test_absence_when_announced_again_and_again_then_thirty_epochs_excuse_no_more_than_the_budget() -> None:
    events, granted = [], []
    for number in range(60):  # as much as the registry takes: the next one as soon as the last is over
        events.append(announced(LENGTH * number - NOTICE, LENGTH * number, LENGTH * (number + 1) - NOTICE))
    for number in range(60):
        epoch = EpochNumber(EPOCH + number)
        end = NETWORK.epoch_end(epoch)
        made = [one for one in events if one.timestamp < end]
        state = fold(made, replace(ref_block(epoch), number=BlockNumber(end), timestamp=Timestamp(end)))
        share = maintenance_bps(state.announcements, epoch, NETWORK).get(NODE, 0)
        granted.append(share * LENGTH // 10_000)

    assert max(sum(granted[first : first + 30]) for first in range(31)) == BUDGET
