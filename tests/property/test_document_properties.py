"""Published documents: every value reads back, and damaged bytes are refused with InvalidInputError and nothing else."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.economy import Service, Supply
from oracle.model import (
    Arrival,
    EpochState,
    JobFinding,
    Measurement,
    Mismatch,
    Observation,
    PastViolation,
    Plan,
    RollCall,
)
from oracle.publish.bundle import bundle_bytes, parse_bundle
from oracle.publish.fields import MAX_SAFE
from oracle.publish.manifest import manifest_bytes, parse_manifest
from oracle.publish.observation import observation_bytes, ordered_observation, parse_observation
from oracle.publish.report import build_report
from oracle.publish.shards import parse_shards, shard_bytes
from oracle.publish.state import parse_state, state_bytes
from swarm_chain.core.encoding import address_bytes, canonical_json, checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, Outcome, Severity, ViolationClass
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import BPS, UINT128_MAX, EpochNumber, Hash32, JobId, ProviderId, Wei, WindowId
from tests.oracle_world import NETWORK, Device, provider, scene

PLAYED = scene((provider(1, "a"), provider(2, "b")), (Device(node="a"), Device(node="b", garbage_from=9)))
PUBLISHED = build_report(PLAYED.state, PLAYED.bundle(), None, NETWORK)
PARSERS: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
    "bundle": (PUBLISHED.bundle, lambda data: bundle_bytes(parse_bundle(data))),
    "state": (PUBLISHED.state, lambda data: state_bytes(parse_state(data))),
    "manifest": (PUBLISHED.manifest, lambda data: manifest_bytes(parse_manifest(data))),
}

addresses = st.binary(min_size=20, max_size=20).map(checksum_address)
safe = st.integers(0, MAX_SAFE)
uint32 = st.integers(0, 2**32 - 1)
wei = st.integers(0, UINT128_MAX).map(Wei)
reasons = st.text(st.characters(codec="utf-8"), max_size=20)


maybe = st.none() | safe
shares_or_none = st.none() | st.integers(0, BPS)
services = st.builds(
    Service,
    error_bps=shares_or_none,
    response_us=maybe,
    rating=maybe,
    far_response_us=maybe,
    jitter_us=maybe,
    rate=maybe,
    utilisation_bps=shares_or_none,
)
measured = st.dictionaries(
    st.tuples(addresses, st.sampled_from(list(Category))), st.tuples(maybe, services), max_size=4
)


mismatches = st.builds(
    lambda content, computed: Mismatch(content=content, computed=Hash32(computed)),
    st.integers(1, 4095),
    st.binary(min_size=32, max_size=32),
)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """An observation with whatever a member may have seen."""
    arrivals = draw(st.dictionaries(st.tuples(safe, addresses, st.integers(0, 63)), safe, max_size=4))
    calls = draw(st.dictionaries(addresses, uint32, max_size=4))
    jobs = draw(st.dictionaries(safe, st.tuples(st.sampled_from(list(Outcome)), reasons), max_size=4))
    return Observation(
        epoch=EpochNumber(draw(uint32)),
        member=draw(addresses),
        arrivals=tuple(
            Arrival(window_id=WindowId(window), node=node, device=device, elapsed_ms=elapsed)
            for (window, node, device), elapsed in arrivals.items()
        ),
        roll_calls=tuple(
            RollCall(node=node, present=draw(st.integers(0, total)), total=total) for node, total in calls.items()
        ),
        jobs=tuple(
            JobFinding(
                job_id=JobId(i),
                outcome=outcome,
                reason=why,
                mismatch=draw(st.none() | mismatches) if outcome is Outcome.FAILED else None,
            )
            for i, (outcome, why) in jobs.items()
        ),
        measurements=tuple(
            Measurement(
                node=node, category=category, units=units if category is not Category.COMPUTE else None, service=one
            )
            for (node, category), (units, one) in draw(measured).items()
        ),
    )


@st.composite
def states(draw: st.DrawFn) -> EpochState:
    """A state with any amounts, violations and plans, in order."""
    gross = draw(st.dictionaries(safe, wei, max_size=4))
    past = draw(
        st.dictionaries(
            st.tuples(safe, st.sampled_from(list(ViolationClass)), uint32), st.sampled_from(list(Severity)), max_size=4
        )
    )
    cells = st.tuples(st.integers(0, 4), st.binary(min_size=8, max_size=8), st.integers(0, 255))
    supply = draw(st.dictionaries(cells, wei, max_size=4))
    clean = draw(st.dictionaries(safe, st.integers(1, 2**32 - 1), max_size=4))
    classes = draw(st.dictionaries(st.integers(0, 255), uint32, max_size=3))
    plans = draw(st.dictionaries(st.tuples(addresses, st.integers(0, 63)), st.integers(1, 1024), max_size=4))
    ordered = sorted(plans.items(), key=lambda item: (address_bytes(item[0][0]), item[0][1]))
    return EpochState(
        epoch=EpochNumber(draw(uint32)),
        carry_wei=draw(wei),
        gross_wei=tuple((ProviderId(number), gross[number]) for number in sorted(gross)),
        clean_epochs=tuple((ProviderId(number), clean[number]) for number in sorted(clean)),
        supply=tuple(
            Supply(
                category=list(Category)[place], region=region, hardware_class=kind, units=supply[place, region, kind]
            )
            for place, region, kind in sorted(supply)
        ),
        classes=tuple((kind, EpochNumber(classes[kind])) for kind in sorted(classes)),
        violations=tuple(
            PastViolation(
                provider_id=ProviderId(number), violation_class=kind, severity=past[key], epoch=EpochNumber(epoch)
            )
            for key in sorted(past)
            for number, kind, epoch in (key,)
        ),
        plans=tuple(Plan(node=n, device=d, m=1024, n=256, steps=steps) for (n, d), steps in ordered),
        jobs=tuple(JobId(job) for job in sorted(draw(st.sets(safe, max_size=4)))),
    )


@given(observations())
def test_observation_when_written_then_reads_back_as_the_same(observation: Observation) -> None:
    ordered = ordered_observation(observation)

    assert parse_observation(observation_bytes(ordered)) == ordered


@given(states())
def test_state_when_written_then_reads_back_as_the_same(state: EpochState) -> None:
    assert parse_state(state_bytes(state)) == state


@given(st.lists(st.tuples(wei, wei), max_size=40))
def test_shards_when_written_then_read_back_as_the_same(amounts: list[tuple[Wei, Wei]]) -> None:
    leaves = tuple(
        SettlementLeaf(provider_id=ProviderId(number), cum_reward_wei=reward, cum_penalty_wei=penalty)
        for number, (reward, penalty) in enumerate(amounts, start=1)
    )

    assert parse_shards(shard_bytes(leaves)) == leaves


@given(st.sampled_from(sorted(PARSERS)), st.data())
@settings(max_examples=300, deadline=None)
def test_document_when_a_byte_is_damaged_then_refused_or_another_value_but_never_a_crash(
    name: str, data: st.DataObject
) -> None:
    document, again = PARSERS[name]
    position = data.draw(st.integers(0, len(document) - 1))
    damaged = document[:position] + data.draw(st.binary(max_size=2)) + document[position + 1 :]

    try:
        rewritten = again(damaged)
    except InvalidInputError:
        return
    assert rewritten == damaged  # what is accepted has this one spelling


@given(st.recursive(st.none() | st.booleans() | safe | st.text(max_size=5), lambda inner: st.lists(inner, max_size=4)))
def test_document_when_it_is_any_json_then_refused(value: object) -> None:
    try:
        data = canonical_json(value)
    except InvalidInputError:
        return
    for _, again in PARSERS.values():
        with pytest.raises(InvalidInputError):
            again(data)
