"""Service levels over arbitrary networks: better never weighs less, other classes change nothing, silence is neutral."""

from dataclasses import fields, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.economy import Service
from oracle.model import EpochFacts, RewardLine
from oracle.rewards.lines import RewardInputs, reward_epoch
from oracle.rewards.quality import graded_services
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.kinds import Category, HardwareClass
from swarm_chain.core.model import ProviderRecord
from swarm_chain.core.units import BPS, Address, Bps, EpochNumber, Wei
from swarm_chain.params import load_params
from tests.oracle_world import NETWORK, PARAMS, address, provider

LEVELS = load_params("mainnet").services
NAMES = ("a", "b", "c", "d")
NODES = tuple(address(name) for name in NAMES)
CLASSES = st.lists(st.sampled_from(list(HardwareClass)), min_size=len(NODES), max_size=len(NODES))
HIGH_IS_BETTER = frozenset({"rate", "utilisation_bps", "rating"})
FIGURES = {
    figure.name: st.integers(0, BPS) if figure.name.endswith("_bps") else st.integers(0, 10**6)
    for figure in fields(Service)
}
SERVICES = st.builds(Service, **{name: st.none() | numbers for name, numbers in FIGURES.items()})
MEASURED = st.dictionaries(st.tuples(st.sampled_from(list(Category)), st.sampled_from(NODES)), SERVICES, max_size=12)
Measured = dict[tuple[Category, Address], Service]


def _providers(classes: list[HardwareClass]) -> tuple[ProviderRecord, ...]:
    return tuple(
        provider(number, name, hardware_class=kind)
        for number, (name, kind) in enumerate(zip(NAMES, classes, strict=True), start=1)
    )


def _lines(classes: list[HardwareClass], services: Measured) -> tuple[RewardLine, ...]:
    """Four providers that proved the same in every category that is not computed."""
    proven: dict[Category, dict[Address, int]] = {
        category: dict.fromkeys(NODES, 100) for category in Category if category is not Category.COMPUTE
    }
    inputs = RewardInputs(
        network=replace(NETWORK, params=replace(PARAMS, services=LEVELS)),
        providers=_providers(classes),
        facts=EpochFacts(epoch=EpochNumber(3), proven=proven, services=services),
        capacities={},
        carry_wei=Wei(0),
        gross_wei={},
        covered=1,
    )
    return reward_epoch(inputs)[1]


@given(CLASSES, MEASURED, st.sampled_from(list(Category)), st.data())
@settings(max_examples=100, deadline=None)
def test_weight_when_one_figure_is_better_then_never_less_and_never_a_larger_shortfall(
    classes: list[HardwareClass], services: Measured, category: Category, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(FIGURES)))
    low, high = sorted((data.draw(FIGURES[name]), data.draw(FIGURES[name])))
    better, worse = (high, low) if name in HIGH_IS_BETTER else (low, high)
    base = services.get((category, NODES[0]), Service())

    def line(value: int) -> RewardLine:
        figure: dict[str, Any] = {name: value}
        return _lines(classes, {**services, (category, NODES[0]): replace(base, **figure)})[0]

    good, bad = line(better), line(worse)
    assert all(one.weight >= other.weight for one, other in zip(good.weights, bad.weights, strict=True))
    assert good.shortfall_bps <= bad.shortfall_bps


@given(CLASSES, MEASURED, MEASURED)
@settings(max_examples=100, deadline=None)
def test_grade_when_other_classes_are_measured_otherwise_then_mine_is_the_same(
    classes: list[HardwareClass], services: Measured, others: Measured
) -> None:
    of = dict(zip(NODES, map(int, classes), strict=True))
    foreign = {key: service for key, service in others.items() if of[key[1]] != of[NODES[0]]}
    mine = {key: service for key, service in services.items() if of[key[1]] == of[NODES[0]]}

    def grades(measured: Measured) -> dict[tuple[Category, Address], object]:
        graded = graded_services(measured, of, LEVELS, PARAMS.rewards)
        return {key: grade for key, grade in graded.items() if key[1] == NODES[0]}

    assert grades({**foreign, **mine}) == grades(mine)
    weights = [_lines(classes, measured)[0].weights for measured in ({**foreign, **mine}, mine)]
    assert weights[0] == weights[1]


@given(CLASSES, MEASURED)
@settings(max_examples=60, deadline=None)
def test_line_when_nobody_measured_a_provider_then_neutral_whatever_the_others_did(
    classes: list[HardwareClass], services: Measured
) -> None:
    silent = {key: service for key, service in services.items() if key[1] != NODES[0]}
    line = _lines(classes, silent)[0]

    assert line.weights == _lines(classes, {})[0].weights
    assert (line.shortfall_bps, line.services) == (0, ())
    assert all(weight.quality_bps == BPS for weight in line.weights)


@given(st.sampled_from(list(HardwareClass)), st.sampled_from(list(Category)))
def test_level_when_a_class_owes_nothing_then_judged_as_strictly_as_any_class(
    kind: HardwareClass, category: Category
) -> None:
    owed, judged = LEVELS.owed(kind, category), LEVELS.judged(kind, category)
    for figure in fields(ServiceLevel):
        others = [getattr(LEVELS.owed(other, category), figure.name) for other in HardwareClass]
        assert getattr(judged, figure.name) == (getattr(owed, figure.name) or getattr(judged, figure.name))
        assert bool(getattr(judged, figure.name)) == any(others)


@given(st.integers(0, 300), st.sampled_from(list(Category)))
def test_level_when_the_class_is_unknown_then_nothing_is_owed(kind: int, category: Category) -> None:
    if kind not in set(HardwareClass):
        assert LEVELS.owed(kind, category) == ServiceLevel()


def test_levels_when_read_from_params_then_the_documentation_targets() -> None:
    network = LEVELS.cpu.network

    assert LEVELS.gpu.compute.utilisation_bps == Bps(9000)
    assert LEVELS.gpu.serving.response_us == 100_000
    assert LEVELS.storage.storage.rate == 100_000
    assert (network.response_us, network.far_response_us, network.jitter_us) == (10_000, 50_000, 1000)
    assert (network.rate, network.error_bps) == (1000, 1)
    assert LEVELS.cpu.serving == ServiceLevel(), "a CPU node is not punished for lacking a GPU"
