"""Measurements of several sources in one."""

from oracle.economy import Service
from oracle.model import Measurement
from oracle.pipeline.measured import merged
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Bps
from swarm_chain.testing import FakeSigner

ALICE, BOB = FakeSigner("alice").address, FakeSigner("bob").address
UNITS = Measurement(node=ALICE, category=Category.NETWORK, units=900)
LINKS = Measurement(
    node=ALICE, category=Category.NETWORK, units=500, service=Service(error_bps=Bps(3), response_us=1000)
)


def test_merged_when_two_sources_bound_units_then_the_lower_one_counts_and_service_stays() -> None:
    both = Measurement(node=ALICE, category=Category.NETWORK, units=500, service=LINKS.service)

    assert merged([UNITS, LINKS]) == merged([LINKS, UNITS]) == (both,)


def test_merged_when_two_sources_saw_service_then_the_worse_figures_count() -> None:
    slower = Measurement(node=ALICE, category=Category.NETWORK, service=Service(error_bps=Bps(1), response_us=9000))
    (found,) = merged([LINKS, slower])

    assert found.service == Service(error_bps=Bps(3), response_us=9000)
    assert found.units == 500


def test_merged_when_nodes_or_categories_differ_then_nothing_is_mixed() -> None:
    others = [
        UNITS,
        Measurement(node=BOB, category=Category.NETWORK, units=1),
        Measurement(node=ALICE, category=Category.MEMORY, units=2),
    ]

    assert merged(others) == tuple(others)


def test_merged_when_nothing_was_measured_then_nothing_is_said() -> None:
    service_only = Measurement(node=ALICE, category=Category.COMPUTE, service=Service(rating=7))

    assert merged([service_only, Measurement(node=ALICE, category=Category.COMPUTE)]) == (service_only,)
    assert merged([]) == ()
