"""What classes proved: deciles of a report's own numbers, by class and category."""

import pytest

from oracle.model import EpochFacts
from oracle.publish.classes import class_document, deciles, spreads
from swarm_chain.core.kinds import Category, HardwareClass, Outcome
from swarm_chain.core.model import Verdict
from swarm_chain.core.units import EpochNumber, Mtops, WindowId
from tests.oracle_world import address, provider

PROVIDERS = (
    provider(1, *(f"c{number}" for number in range(20)), hardware_class=HardwareClass.CPU),
    provider(2, "g", "idle", hardware_class=HardwareClass.GPU),
)


def _facts() -> EpochFacts:
    rates = {f"c{number}": 100 + number for number in range(20)} | {"g": 5000, "stranger": 10**9}
    return EpochFacts(
        epoch=EpochNumber(4),
        windows=(WindowId(0),),
        verdicts=tuple(
            Verdict(window_id=WindowId(0), node=address(name), device=0, outcome=Outcome.PASSED, mtops=Mtops(rate))
            for name, rate in rates.items()
        ),
        proven={Category.MEMORY: {address("g"): 80, address("idle"): 0}},
    )


def test_spreads_when_classes_differ_then_each_its_own_and_strangers_and_idle_nodes_do_not_count() -> None:
    found = {(one.hardware_class, one.category): one for one in spreads(PROVIDERS, _facts())}

    assert set(found) == {
        (HardwareClass.CPU, Category.COMPUTE),
        (HardwareClass.GPU, Category.COMPUTE),
        (HardwareClass.GPU, Category.MEMORY),
    }
    cpu = found[HardwareClass.CPU, Category.COMPUTE]
    assert (cpu.nodes, cpu.deciles[0], cpu.deciles[5], cpu.deciles[10]) == (20, 100, 109, 119)
    assert found[HardwareClass.GPU, Category.COMPUTE].deciles == (5000,) * 11


def test_document_when_asked_for_a_class_then_that_one_alone() -> None:
    document = class_document(EpochNumber(4), HardwareClass.GPU, spreads(PROVIDERS, _facts()))

    assert (document["epoch"], document["hardwareClass"]) == (4, "gpu")
    assert [row["category"] for row in document["categories"]] == ["compute", "memory"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("units", [[3], [1, 2], list(range(100, 0, -1))])
def test_deciles_when_of_any_numbers_then_eleven_of_them_in_order(units: list[int]) -> None:
    found = deciles(units)

    assert len(found) == 11
    assert list(found) == sorted(found)
    assert (found[0], found[10]) == (min(units), max(units))
    assert set(found) <= set(units)
