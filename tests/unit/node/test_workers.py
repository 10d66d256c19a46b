"""Ray nodes of a job's workers: of one provider always, of them the ones whose labels say enough, and no job waits for that."""

from dataclasses import replace

import pytest

from node.cluster import measured_labels, node_labels, provider_selector
from node.jobs.workers import RayNode, selector_of, worker_selector
from swarm_chain.core.jobs import JobSpec, Placement, Resources
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, ProviderId
from swarm_chain.testing import FakeSigner

OWN, QUICK, SLOW = (FakeSigner(name).address for name in ("own", "quick", "slow"))
FREE = {"CPU": 2.0, "memory": 8e9}
SPEC = JobSpec(
    kind="train",
    program="swarm-train/2",
    work={},
    placement=Placement(measured={"compute": 300}),
    resources=Resources(workers=2, cpus=1),
)


def ray_node(name: Address, provider: int = 7, **units: int) -> RayNode:
    """A Ray node that joined with these measurements."""
    measured = measured_labels({Category(category): one for category, one in units.items()})
    return RayNode(labels={**node_labels(name, ProviderId(provider), "eu-west", "cpu"), **measured}, free=FREE)


WITHIN = provider_selector(ray_node(OWN).labels)


def names_of(*addresses: str) -> dict[str, str]:
    """A selector of these nodes of the provider."""
    return {**WITHIN, "swarm/node": f"in({','.join(sorted(addresses))})"}


def test_selector_when_a_spec_asks_for_a_measurement_then_the_providers_nodes_labelled_with_it_and_this_one() -> None:
    nodes = (ray_node(OWN), ray_node(QUICK, compute=300), ray_node(SLOW, compute=299))

    assert worker_selector(WITHIN, SPEC, OWN, nodes) == names_of(OWN, QUICK)


def test_attack_selector_when_another_providers_node_is_labelled_faster_then_it_is_not_selected() -> None:
    stranger = FakeSigner("stranger").address
    nodes = (ray_node(OWN), ray_node(QUICK, compute=300), ray_node(stranger, provider=8, compute=2**50))

    assert worker_selector(WITHIN, SPEC, OWN, nodes) == names_of(OWN, QUICK)


def test_selector_when_several_categories_are_asked_for_then_a_node_needs_all_of_them() -> None:
    spec = replace(SPEC, placement=Placement(measured={"compute": 300, "memory": 10}))
    nodes = (ray_node(OWN), ray_node(QUICK, compute=300, memory=10), ray_node(SLOW, compute=900))

    assert worker_selector(WITHIN, spec, OWN, nodes) == names_of(OWN, QUICK)


@pytest.mark.parametrize(
    ("resources", "free"),
    [
        (Resources(workers=5, cpus=1), FREE),
        (Resources(workers=2, cpus=1), {"CPU": 0.5, "memory": 8e9}),
        (Resources(workers=2, cpus=1, gpus=1), FREE),
        (Resources(workers=2, cpus=1, memory_mb=9_000), FREE),
        (Resources(workers=2, cpus=1), {}),
    ],
    ids=["workers", "cpus", "gpus", "memory", "nothing"],
)
def test_selector_when_the_nodes_that_fit_have_no_room_then_all_of_the_provider(
    resources: Resources, free: dict[str, float]
) -> None:
    nodes = [replace(one, free=free) for one in (ray_node(OWN), ray_node(QUICK, compute=300), ray_node(SLOW))]

    assert worker_selector(WITHIN, replace(SPEC, resources=resources), OWN, nodes) == WITHIN


def test_attack_selector_when_labels_are_no_numbers_or_names_then_they_say_nothing_and_break_nothing() -> None:
    boasting = [
        RayNode(labels={**ray_node(SLOW).labels, "swarm/measured-compute": value}, free=FREE)
        for value in ("9" * 5_000, "-1", "1e9", "٣٠٠", "")
    ]
    nameless = RayNode(labels={**WITHIN, "swarm/node": "x),in(y", "swarm/measured-compute": "300"}, free=FREE)
    nodes = (ray_node(OWN), *boasting, nameless, RayNode(labels={}, free=FREE))

    assert worker_selector(WITHIN, SPEC, OWN, nodes) == names_of(OWN)


def test_selector_when_nothing_is_asked_for_or_ray_is_this_machines_own_then_as_it_was() -> None:
    assert selector_of(WITHIN, replace(SPEC, placement=Placement())) is WITHIN
    assert selector_of({}, SPEC) == {}
