"""Folding of events: stakes, payouts, windows, committees, and events that cannot be."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import Announcement, BlockRef, ChainEvent, ChainState, KeyRemoval, ProviderRecord
from swarm_chain.core.state import DRAW_WINDOW, advance, fold
from swarm_chain.core.units import ZERO_HASH, BlockNumber, Timestamp
from swarm_chain.core.windows import ANNOUNCED_FOR
from swarm_chain.testing import FakeSigner

ALICE, BOB, CAROL = (FakeSigner(name).address for name in ("alice", "bob", "carol"))
START = 1_700_000_000


def block(number: int) -> BlockRef:
    """Block of a chain that mines one a second."""
    return BlockRef(number=BlockNumber(number), hash=keccak(str(number).encode()), timestamp=Timestamp(START + number))


def at(number: int, contract: str, name: str, **args: object) -> ChainEvent:
    """An event in a block."""
    return ChainEvent(
        contract=contract,
        name=name,
        args=args,
        block=BlockNumber(number),
        log_index=0,
        tx_hash=ZERO_HASH,
        timestamp=Timestamp(START + number),
    )


def registered(number: int, provider: int = 1) -> ChainEvent:
    names = {"owner": ALICE, "operator": BOB, "payout": ALICE, "hardwareClass": 1, "region": b"eu-west\0"}
    return at(number, "ProviderRegistry", "ProviderRegistered", providerId=provider, **names)


def vault(number: int, name: str, **args: object) -> ChainEvent:
    return at(number, "StakeVault", name, providerId=1, **args)


def provider_after(events: Sequence[ChainEvent], number: int = 1000) -> ProviderRecord:
    """The only provider once the events happened."""
    (provider,) = fold(events, block(number)).providers
    return provider


def test_nothing_happened_gives_an_empty_state() -> None:
    assert fold([], block(5)) == ChainState(block=block(5))


def test_stake_moves_between_active_and_thawing_as_the_events_say() -> None:
    events = [
        registered(1),
        vault(2, "Staked", amount=100),
        vault(3, "UnbondRequested", amount=40),
        vault(4, "Slashed", amount=50, fromThawing=20),
        vault(5, "UnbondCancelled", amount=5),
        vault(6, "Withdrawn", amount=10),
        vault(7, "PenaltyTaken", amount=4, fromThawing=1),
        vault(8, "ThawPoolReset", dust=2),
    ]

    stakes = [(p.stake_wei, p.active_stake_wei) for i in range(2, 9) for p in [provider_after(events[:i])]]

    assert stakes == [(100, 100), (100, 60), (50, 30), (50, 35), (40, 35), (36, 32), (36, 34)]


@pytest.mark.parametrize(
    "impossible",
    [
        vault(3, "UnbondRequested", amount=101),
        vault(3, "Withdrawn", amount=1),
        vault(3, "Slashed", amount=101, fromThawing=0),
        vault(3, "UnbondCancelled", amount=1),
    ],
)
def test_stake_that_would_become_negative_is_inconsistent(impossible: ChainEvent) -> None:
    with pytest.raises(InconsistentError):
        fold([registered(1), vault(2, "Staked", amount=100), impossible], block(9))


def test_payout_changes_when_the_blocks_time_reaches_the_queued_second() -> None:
    events = [registered(1), _payout(2, BOB, START + 60)]

    before, after = provider_after(events, 59), provider_after(events, 60)

    assert (before.payout, before.pending_payout, before.pending_payout_at) == (ALICE, BOB, START + 60)
    assert (after.payout, after.pending_payout, after.pending_payout_at) == (BOB, None, 0)


def test_payout_in_force_survives_the_next_change_and_one_not_in_force_does_not() -> None:
    in_force = [registered(1), _payout(2, BOB, START + 60), _payout(70, CAROL, START + 130)]
    too_early = [registered(1), _payout(2, BOB, START + 60), _payout(50, CAROL, START + 110)]

    assert provider_after(in_force, 71).payout == BOB
    assert provider_after(too_early, 51).payout == ALICE
    assert provider_after(too_early, 110).payout == CAROL


def test_removed_and_retired_nodes_are_remembered() -> None:
    events = [registered(1)]
    events += [at(i, "ProviderRegistry", "NodeAdded", providerId=1, node=node) for i, node in [(2, ALICE), (3, BOB)]]
    events.append(at(4, "ProviderRegistry", "NodeRemoved", providerId=1, node=ALICE))

    live = provider_after(events)
    retired = provider_after([*events, at(5, "ProviderRegistry", "ProviderRetired", providerId=1)])

    assert (live.nodes, live.past_nodes) == ((BOB,), (ALICE,))
    assert (retired.nodes, retired.past_nodes, retired.retired) == ((), (ALICE, BOB), True)
    assert live.removals == retired.removals == (KeyRemoval(node=ALICE, removed_at=Timestamp(START + 4)),)


def test_a_key_removed_after_retirement_is_remembered_once_and_with_its_time() -> None:
    events = [registered(1), at(2, "ProviderRegistry", "NodeAdded", providerId=1, node=ALICE)]
    events.append(at(3, "ProviderRegistry", "ProviderRetired", providerId=1))

    kept = provider_after(events)
    given_up = provider_after([*events, at(4, "ProviderRegistry", "NodeRemoved", providerId=1, node=ALICE)])

    assert (kept.past_nodes, kept.removals) == ((ALICE,), ()), "retirement alone gives up no key"
    assert given_up.past_nodes == (ALICE,)
    assert given_up.removals == (KeyRemoval(node=ALICE, removed_at=Timestamp(START + 4)),)


def test_window_is_void_only_when_its_draw_was_missed() -> None:
    closed = [
        at(1, "ChallengeBeacon", "SecretCommitted", windowId=7, secretHash=ZERO_HASH),
        at(2, "ChallengeBeacon", "WindowOpened", windowId=7, windowSeed=keccak(b"seed")),
        at(3, "ChallengeBeacon", "WindowClosed", windowId=7, commitmentsRoot=keccak(b"root"), commitmentCount=2),
    ]
    drawn = [*closed, at(9, "ChallengeBeacon", "WindowDrawn", windowId=7, drawSeed=keccak(b"draw"))]

    assert fold(closed, block(3 + DRAW_WINDOW)).windows[0].state is WindowState.CLOSED
    assert fold(closed, block(4 + DRAW_WINDOW)).windows[0].state is WindowState.VOID
    assert fold(drawn, block(1000)).windows[0].state is WindowState.DRAWN
    assert fold(drawn, block(1000)).windows[0].opened_at == START + 2


def test_last_member_takes_the_seat_that_became_free() -> None:
    added = [
        at(i, "EpochOracle", "MemberAdded", member=member, members=i, quorum=i // 2 + 1)
        for i, member in enumerate((ALICE, BOB, CAROL), 1)
    ]

    first = fold([*added, at(4, "EpochOracle", "MemberRemoved", member=ALICE, members=2, quorum=2)], block(9))
    last = fold([*added, at(4, "EpochOracle", "MemberRemoved", member=CAROL, members=2, quorum=2)], block(9))

    assert (first.members, first.quorum) == ((CAROL, BOB), 2)
    assert last.members == (ALICE, BOB)


@pytest.mark.parametrize(
    "events",
    [
        [vault(2, "Staked", amount=1)],
        [registered(1, provider=2)],
        [registered(1), registered(2, provider=3)],
        [at(1, "ChallengeBeacon", "WindowOpened", windowId=7, windowSeed=ZERO_HASH)],
        [at(1, "JobEscrow", "JobCompleted", jobId=1, receiptDigest=ZERO_HASH, judgeBy=1)],
        [at(1, "RewardSettlement", "RootDisabled", rootIndex=0)],
        [at(1, "EpochOracle", "MemberRemoved", member=ALICE, members=0, quorum=1)],
        [registered(3), vault(2, "Staked", amount=1)],
        [registered(3), registered(3)],
        [registered(11)],
    ],
)
def test_events_with_a_gap_out_of_order_or_from_the_future_are_inconsistent(events: list[ChainEvent]) -> None:
    with pytest.raises(InconsistentError):
        fold(events, block(10))


def test_state_never_goes_back() -> None:
    with pytest.raises(InconsistentError):
        advance(fold([], block(5)), [], block(4))


def test_event_of_a_block_that_is_already_in_the_state_is_refused() -> None:
    with pytest.raises(InconsistentError):
        advance(fold([registered(5)], block(5)), [vault(5, "Staked", amount=1)], block(6))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 100)), max_size=30), st.integers(0, 40))
def test_folding_in_two_portions_is_folding_at_once(moves: list[tuple[int, int]], cut: int) -> None:
    events = [registered(1), vault(2, "Staked", amount=10**6)]
    for number, (kind, amount) in enumerate(moves, 3):
        name = ("Staked", "UnbondRequested", "PenaltyTaken")[kind - 1]
        events.append(vault(number, name, amount=amount, fromThawing=0))
    early = fold([event for event in events if event.block <= cut], block(cut))

    assert advance(early, [event for event in events if event.block > cut], block(50)) == fold(events, block(50))


def test_state_given_to_advance_stays_as_it_was() -> None:
    state = fold([registered(1)], block(5))
    copy = replace(state)

    advance(state, [vault(6, "Staked", amount=1)], block(6))

    assert state == copy
    assert state.providers[0].stake_wei == 0


def _payout(number: int, payout: str, effective_at: int) -> ChainEvent:
    return at(number, "ProviderRegistry", "PayoutChangeQueued", providerId=1, payout=payout, effectiveAt=effective_at)


def _announced(number: int, starts_in: int, lasts: int, node: str = ALICE) -> ChainEvent:
    times = {"startsAt": START + number + starts_in, "endsAt": START + number + starts_in + lasts}
    return at(number, "ProviderRegistry", "MaintenanceAnnounced", providerId=1, node=node, **times)


def _withdrawn(number: int) -> ChainEvent:
    return at(number, "ProviderRegistry", "MaintenanceWithdrawn", providerId=1, node=ALICE)


def test_announcements_when_made_then_kept_by_node_and_start_with_the_second_they_were_made_at() -> None:
    first, second = sorted((ALICE, BOB))
    events = [_announced(1, 10, 5, second), _announced(2, 10, 5, first), _announced(40, 10, 5, first)]

    found = fold(events, block(50)).announcements

    assert [one.node for one in found] == [first, first, second]
    assert found[0] == Announcement(
        node=first,
        starts_at=Timestamp(START + 12),
        ends_at=Timestamp(START + 17),
        announced_at=Timestamp(START + 2),
    )


def test_announcements_when_withdrawn_then_only_the_one_ahead_is_gone() -> None:
    events = [_announced(1, 10, 5), _announced(20, 30, 5), _withdrawn(30)]

    (left,) = fold(events, block(50)).announcements
    assert left.starts_at == START + 11


@pytest.mark.parametrize("events", [[_withdrawn(1)], [_announced(1, 5, 5), _withdrawn(6)]])
def test_announcements_when_withdrawn_though_none_lies_ahead_then_inconsistent(events: list[ChainEvent]) -> None:
    with pytest.raises(InconsistentError):
        fold(events, block(50))


@given(st.lists(st.integers(0, 3 * ANNOUNCED_FOR), min_size=1, max_size=6), st.integers(0, ANNOUNCED_FOR))
def test_announcements_when_old_then_dropped_in_whatever_portions_the_events_come(gaps: list[int], rest: int) -> None:
    events, number = [], 1
    for gap in gaps:
        events.append(_announced(number, 1, 1))
        number += gap + 2
    head = block(number + rest)

    state = fold(events, head)
    portions = ChainState(block=block(0))
    for event in events:
        portions = advance(portions, [event], block(event.block))

    assert advance(portions, [], head) == state
    assert all(one.ends_at + ANNOUNCED_FOR > head.timestamp for one in state.announcements)
    kept = {one.starts_at for one in state.announcements}
    young = {one.args["startsAt"] for one in events if one.args["endsAt"] + ANNOUNCED_FOR > head.timestamp}  # type: ignore[operator]  # args hold ints
    assert kept == young
