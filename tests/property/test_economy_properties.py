"""The numbers of economics.md over arbitrary networks: monotone, bounded, free of order (invariants 39 to 42)."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.economy import Service, Supply
from oracle.maintenance import maintenance_bps
from oracle.model import EpochFacts, EpochState, PastViolation, PreviousEpoch, RewardLine
from oracle.publish.state import parse_state, state_bytes
from oracle.restoration import outstanding, restored
from oracle.rewards.cover import best_first, covered_units, needed_wei, unit_price_wei
from oracle.rewards.multiplier import Multipliers, Past, scarcities
from oracle.rewards.quality import service_bps
from oracle.sanctions import escalated, slash_wei, suspension_for
from oracle.settle import settle_epoch
from oracle.violations import next_history
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category, Outcome, Severity, ViolationClass
from swarm_chain.core.model import Announcement, ChainState, ProviderRecord, Verdict
from swarm_chain.core.tables import interpolate
from swarm_chain.core.units import (
    BPS,
    UINT64_MAX,
    UINT128_MAX,
    WEI_PER_SWM,
    Address,
    Bps,
    EpochNumber,
    Hash32,
    Mtops,
    ProviderId,
    Timestamp,
    Wei,
    window_id,
)
from tests.oracle_world import GENESIS_AT, NETWORK, PARAMS, address, provider, ref_block

REWARDS, LIMITS = PARAMS.rewards, PARAMS.maintenance
EPOCH = EpochNumber(40)
WINDOW = window_id(EPOCH, 0)
NODES = tuple(address(name) for name in ("a0", "a1", "b0", "c0"))
PRICES = {category: unit_price_wei(category, PARAMS.stake) for category in Category}
CATEGORIES = st.sampled_from(list(Category))
RATES = st.integers(1, 10**6)
SHARES = st.integers(0, BPS)


@st.composite
def networks(draw: st.DrawFn) -> tuple[ProviderRecord, ...]:
    """Three providers, the first with two nodes, rich and poor."""
    stakes = st.integers(1000, 10**5).map(lambda swm: Wei(swm * WEI_PER_SWM))
    regions = st.sampled_from((b"eu-west\0", b"us-east\0"))
    return tuple(
        replace(
            provider(number),
            nodes=nodes,
            region=draw(regions),
            hardware_class=draw(st.integers(1, 3)),
            active_stake_wei=draw(stakes),
        )
        for number, nodes in ((1, NODES[:2]), (2, NODES[2:3]), (3, NODES[3:]))
    )


def _lines(
    providers: tuple[ProviderRecord, ...],
    rates: tuple[int, ...],
    shares: tuple[int, ...],
    maintenance: Mapping[Address, Bps] = MappingProxyType({}),
) -> tuple[RewardLine, ...]:
    verdicts = tuple(
        Verdict(window_id=WINDOW, node=node, device=0, outcome=Outcome.PASSED, mtops=Mtops(rate))
        for node, rate in zip(NODES, rates, strict=True)
    )
    availability = {node: Bps(share) for node, share in zip(NODES, shares, strict=True)}
    facts = EpochFacts(
        epoch=EPOCH, windows=(WINDOW,), verdicts=verdicts, availability=availability, maintenance=maintenance
    )
    state = ChainState(block=ref_block(EPOCH), providers=providers)
    return settle_epoch(state, facts, None, NETWORK).lines


FOUR_RATES, FOUR_SHARES = st.tuples(RATES, RATES, RATES, RATES), st.tuples(SHARES, SHARES, SHARES, SHARES)


@given(networks(), FOUR_RATES, FOUR_SHARES, st.integers(0, 3), RATES)
@settings(max_examples=100, deadline=None)
def test_reward_when_more_work_is_proven_then_never_less(
    providers: tuple[ProviderRecord, ...], rates: tuple[int, ...], shares: tuple[int, ...], place: int, more: int
) -> None:
    grown = tuple(rate + more * (index == place) for index, rate in enumerate(rates))
    owner = max(place - 1, 0)

    assert _lines(providers, grown, shares)[owner].reward_wei >= _lines(providers, rates, shares)[owner].reward_wei


@given(networks(), FOUR_RATES, FOUR_SHARES, st.integers(0, 3), SHARES)
@settings(max_examples=100, deadline=None)
def test_reward_when_availability_is_lower_then_never_more_and_never_a_smaller_shortfall(
    providers: tuple[ProviderRecord, ...], rates: tuple[int, ...], shares: tuple[int, ...], place: int, less: int
) -> None:
    fallen = tuple(max(share - less * (index == place), 0) for index, share in enumerate(shares))
    owner = max(place - 1, 0)
    before, after = _lines(providers, rates, shares)[owner], _lines(providers, rates, fallen)[owner]

    assert after.reward_wei <= before.reward_wei
    assert after.shortfall_bps >= before.shortfall_bps
    assert after.reward_wei - after.penalty_wei <= before.reward_wei - before.penalty_wei + 1, "but for one rounding"


@given(networks(), FOUR_RATES, FOUR_SHARES, st.dictionaries(st.sampled_from(NODES), SHARES.map(Bps)))
@settings(max_examples=60, deadline=None)
def test_maintenance_when_announced_then_never_less_reward_nor_more_penalty_for_its_provider(
    providers: tuple[ProviderRecord, ...],
    rates: tuple[int, ...],
    shares: tuple[int, ...],
    excused: dict[Address, Bps],
) -> None:
    own = {node: Bps(min(share, BPS - 1)) for node, share in excused.items() if node in NODES[:2]}
    judged, forgiven = _lines(providers, rates, shares)[0], _lines(providers, rates, shares, maintenance=own)[0]

    assert forgiven.reward_wei >= judged.reward_wei
    assert forgiven.shortfall_bps <= judged.shortfall_bps


@given(networks(), FOUR_RATES, FOUR_SHARES, st.permutations((0, 1, 2)))
@settings(max_examples=60, deadline=None)
def test_reward_when_providers_stand_in_another_order_then_each_gets_the_same(
    providers: tuple[ProviderRecord, ...], rates: tuple[int, ...], shares: tuple[int, ...], order: list[int]
) -> None:
    moved = tuple(
        replace(providers[source], provider_id=ProviderId(place), nodes=providers[source].nodes[::-1])
        for place, source in enumerate(order, start=1)
    )
    before, after = _lines(providers, rates, shares), _lines(moved, rates, shares)

    for place, source in enumerate(order):
        assert (after[place].reward_wei, after[place].penalty_wei) == (
            before[source].reward_wei,
            before[source].penalty_wei,
        )


@given(st.dictionaries(CATEGORIES, st.integers(0, 10**12)), st.integers(-(10**24), 10**26), CATEGORIES, RATES)
def test_cover_when_units_are_any_then_within_stake_and_monotone(
    units: dict[Category, int], above: int, category: Category, more: int
) -> None:
    def covered(proven: dict[Category, int]) -> dict[Category, int]:
        needed = needed_wei(proven.items(), PRICES)
        return {name: covered_units(count, PRICES[name], needed, above) for name, count in proven.items()}

    counted = covered(units)

    assert all(0 <= counted[name] <= units[name] for name in units)
    assert needed_wei(counted.items(), PRICES) <= max(above, 0)
    assert covered({**units, category: units.get(category, 0) + more})[category] >= counted.get(category, 0)


GRADED = st.lists(st.tuples(st.integers(0, 11_000), st.integers(0, 10**9)), max_size=6)


@given(GRADED, st.integers(0, 10**10), st.randoms(use_true_random=False))
def test_best_first_when_filled_then_order_free_bounded_and_monotone(
    graded: list[tuple[int, int]], covered: int, shuffler: Random
) -> None:
    covered = min(covered, sum(units for _, units in graded))
    counted, mixed = best_first(graded, covered), graded[:]
    shuffler.shuffle(mixed)

    assert best_first(mixed, covered) == counted <= covered * 11_000
    assert best_first([*graded, (0, 7)], covered) == counted
    if covered:
        assert best_first(graded, covered - 1) <= counted


@given(
    st.integers(0, BPS).map(Bps),
    st.integers(0, 10**8),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(0, BPS),
)
def test_quality_when_service_is_worse_then_never_better_and_always_bounded(
    errors: Bps, response: int, rating: int, median: int, worse: int
) -> None:
    level = ServiceLevel(error_bps=Bps(10), response_us=100_000)
    served = Service(error_bps=errors, response_us=response, rating=rating)
    quality = service_bps(served, level, median, REWARDS)

    assert 0 <= quality <= 11_000
    assert service_bps(replace(served, error_bps=Bps(errors + worse)), level, median, REWARDS) <= quality
    assert service_bps(replace(served, response_us=response + worse), level, median, REWARDS) <= quality
    assert service_bps(replace(served, rating=rating + worse), level, median, REWARDS) >= (quality if median else 0)


SUPPLY = st.dictionaries(
    st.tuples(st.just(Category.COMPUTE), st.sampled_from((b"eu-west\0", b"us-east\0")), st.integers(1, 3)),
    st.integers(0, 10**12),
)


@given(SUPPLY, st.integers(0, 10**4), st.dictionaries(st.integers(1, 3), st.integers(0, 40)), st.integers(1, 3))
def test_multiplier_when_the_past_is_any_then_bounded_and_tenure_never_lowers_it(
    known: dict[tuple[Category, bytes, int], int], clean: int, classes: dict[int, int], hardware_class: int
) -> None:
    supply = tuple(Supply(category=c, region=r, hardware_class=k, units=u) for (c, r, k), u in known.items())
    first = {kind: EpochNumber(epoch) for kind, epoch in classes.items()}

    def product(epochs: int) -> Bps:
        past = Past(clean_epochs={ProviderId(1): epochs}, supply=supply, classes=first)
        return (
            Multipliers(past, EPOCH, REWARDS)
            .of(ProviderId(1), Category.COMPUTE, b"eu-west\0", hardware_class)
            .product_bps
        )

    assert BPS <= product(clean) <= product(clean + 30) <= REWARDS.multiplier_cap_bps
    assert all(BPS <= factor <= 13_000 for factor in scarcities(supply, REWARDS)[0].values())
    assert scarcities(supply[::-1], REWARDS) == scarcities(supply, REWARDS)


@st.composite
def announcements(draw: st.DrawFn) -> list[Announcement]:
    """Up to twenty announcements of two nodes over an hour, early, late, overlapping, backwards and absurd."""
    instants = st.integers(-300, 3900) | st.just(2**40)
    return [
        Announcement(
            node=draw(st.sampled_from(NODES[:2])),
            starts_at=Timestamp(GENESIS_AT + draw(instants)),
            ends_at=Timestamp(GENESIS_AT + draw(instants)),
            announced_at=Timestamp(GENESIS_AT + draw(st.integers(-300, 3900))),
        )
        for _ in range(draw(st.integers(0, 20)))
    ]


@given(announcements(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_maintenance_when_announcements_are_any_then_within_budget_order_free_and_never_backdated(
    said: list[Announcement], shuffler: Random
) -> None:
    length, granted = PARAMS.epoch.epoch_for, {node: [0] * 65 for node in NODES[:2]}
    mixed = [*said, *said[:3]]
    shuffler.shuffle(mixed)
    for epoch in range(65):
        excused = maintenance_bps(said, EpochNumber(epoch), NETWORK)
        assert maintenance_bps(mixed, EpochNumber(epoch), NETWORK) == excused, "order and repetition change nothing"
        known = [one for one in said if one.announced_at + LIMITS.notice_for < NETWORK.epoch_end(epoch)]
        assert maintenance_bps(known, EpochNumber(epoch), NETWORK) == excused, "what came later cannot excuse"
        for node, share in excused.items():
            assert 0 < share <= BPS
            granted[node][epoch] = share * length // BPS
    for seconds in granted.values():
        windows = (seconds[start : start + LIMITS.budget_epochs] for start in range(65 - LIMITS.budget_epochs + 1))
        assert all(sum(window) <= LIMITS.budget_for for window in windows)


@st.composite
def histories(draw: st.DrawFn) -> tuple[PastViolation, ...]:
    """Violations of three providers in the last forty epochs."""
    keys = st.tuples(st.integers(1, 3), st.sampled_from(list(ViolationClass)), st.integers(0, EPOCH - 1))
    drawn = draw(st.dictionaries(keys, st.sampled_from(list(Severity)), max_size=8))
    return tuple(
        PastViolation(provider_id=ProviderId(number), violation_class=row, severity=severity, epoch=EpochNumber(epoch))
        for (number, row, epoch), severity in sorted(drawn.items())
    )


@given(networks(), histories(), st.dictionaries(st.integers(1, 3), st.integers(1, 20)), st.integers(0, 20))
def test_restoration_when_more_epochs_are_clean_then_never_undone(
    providers: tuple[ProviderRecord, ...], history: tuple[PastViolation, ...], clean: dict[int, int], more: int
) -> None:
    counts = tuple((ProviderId(number), clean[number]) for number in sorted(clean))
    state = EpochState(epoch=EpochNumber(EPOCH - 1), carry_wei=Wei(0), violations=history, clean_epochs=counts)
    waiting = outstanding(state, providers, NETWORK, NETWORK.epoch_start(EPOCH))

    assert waiting <= set(history)
    assert (
        outstanding(replace(state, violations=history[::-1]), providers, NETWORK, NETWORK.epoch_start(EPOCH)) == waiting
    )
    for violation in set(history) - waiting:
        record = providers[violation.provider_id - 1]
        epochs = clean.get(violation.provider_id, 0) + more
        assert restored(violation, record, epochs, PARAMS, NETWORK.epoch_start(EPOCH))


@given(histories(), st.randoms(use_true_random=False))
def test_history_when_carried_on_then_order_free_idempotent_and_keeps_what_is_outstanding(
    history: tuple[PastViolation, ...], shuffler: Random
) -> None:
    waiting, mixed = frozenset(history[::2]), list(history)
    shuffler.shuffle(mixed)
    kept = next_history(history, (), EPOCH, PARAMS.penalties, waiting)

    assert next_history(mixed, (), EPOCH, PARAMS.penalties, waiting) == kept
    assert next_history(kept, (), EPOCH, PARAMS.penalties, waiting) == kept
    oldest = EPOCH + 1 - PARAMS.penalties.escalation_epochs
    assert set(kept) == {v for v in history if v.epoch > oldest or v in waiting}


@given(
    st.integers(0, UINT128_MAX),
    st.integers(0, UINT128_MAX),
    st.sampled_from(list(ViolationClass)),
    st.sampled_from(list(Severity)),
    st.integers(0, 40),
)
def test_sanctions_when_graver_richer_or_repeated_then_never_less_and_never_more_than_all(
    stake: int, more: int, row: ViolationClass, least: Severity, earlier: int
) -> None:
    graver = escalated(least, earlier)

    assert least <= graver <= Severity.SEVERE
    assert escalated(least, earlier + 1) >= graver
    prices = [slash_wei(Wei(stake), row, severity, PARAMS.penalties) for severity in Severity]
    assert [0, *prices[1:]] == sorted(prices)
    assert prices[-1] <= stake
    assert slash_wei(Wei(stake + more), row, graver, PARAMS.penalties) >= slash_wei(
        Wei(stake), row, graver, PARAMS.penalties
    )
    suspensions = [suspension_for(row, severity, PARAMS) for severity in Severity]
    assert [0, *suspensions[1:]] == sorted(suspensions)
    assert suspensions[-1] <= UINT64_MAX


@given(st.integers(0, BPS), st.integers(0, BPS))
def test_availability_when_higher_then_quality_is_no_lower(one: int, other: int) -> None:
    low, high = sorted((one, other))

    assert 0 <= interpolate(REWARDS.availability_table, low) <= interpolate(REWARDS.availability_table, high) <= BPS


@given(st.integers(2**100, 2**126), st.integers(2**60, UINT64_MAX), st.integers(1, 2**40))
@settings(max_examples=40, deadline=None)
def test_settlement_when_numbers_are_as_large_as_they_get_then_inside_uint128_and_idempotent(
    stake: int, rate: int, epochs: int
) -> None:
    rich = replace(provider(1, "a0"), stake_wei=Wei(stake), active_stake_wei=Wei(stake), nodes=NODES[:1])
    verdict = Verdict(window_id=WINDOW, node=NODES[0], device=0, outcome=Outcome.PASSED, mtops=Mtops(rate))
    facts = EpochFacts(
        epoch=EPOCH,
        windows=(WINDOW,),
        verdicts=(verdict,),
        availability={NODES[0]: Bps(0)},
        proven={Category.STORAGE: {NODES[0]: rate}},
    )
    state = ChainState(block=ref_block(EPOCH), providers=(rich,))
    carried = EpochState(
        epoch=EpochNumber(EPOCH - 1),
        carry_wei=Wei(0),
        gross_wei=((ProviderId(1), Wei(stake)),),
        clean_epochs=((ProviderId(1), epochs),),
    )
    before = PreviousEpoch(manifest_hash=Hash32(b"\1" * 32), leaves=(), state=carried)
    settled = settle_epoch(state, facts, before, NETWORK)

    assert settle_epoch(state, facts, before, NETWORK) == settled
    assert 0 <= settled.result.leaves[0].cum_penalty_wei <= REWARDS.max_penalty_per_epoch_wei
    assert parse_state(state_bytes(settled.next_state)) == settled.next_state
