"""Placement: which nodes can run a spec, in which order, and what is missing."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.model import Candidate
from gateway.placement import missing, placements
from swarm_chain.core.jobs import JobSpec, Placement, Resources, parse_job_spec
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.units import ProviderId
from swarm_chain.testing import FakeSigner
from tests.gateway_world import SPEC, announcement_of


def candidate(name: str, *, provider: int = 1, jobs: int = 0, region: str = "eu-west", **offered: Any) -> Candidate:
    """A node by a name."""
    return Candidate(
        provider=ProviderId(provider),
        region=region,
        hardware_class=HardwareClass.CPU,
        announcement=announcement_of(FakeSigner(name), 100, **offered),
        jobs=jobs,
    )


def wanting(placement: Placement | None = None, **resources: int) -> JobSpec:
    """The job with other wishes."""
    spec = replace(parse_job_spec(SPEC), resources=Resources(**resources))
    return spec if placement is None else replace(spec, placement=placement)


def names(found: tuple[Candidate, ...]) -> list[str]:
    """Their addresses."""
    return [one.node for one in found]


def test_least_loaded_comes_first_then_the_cheapest() -> None:
    busy, dear, cheap = candidate("a", jobs=1, price_wei=1), candidate("b", price_wei=9), candidate("c", price_wei=5)

    assert names(placements(wanting(), (busy, dear, cheap))) == [cheap.node, dear.node, busy.node]


def test_equal_nodes_have_one_order_whatever_order_they_come_in() -> None:
    nodes = tuple(candidate(name) for name in "abcde")

    assert placements(wanting(), nodes) == placements(wanting(), tuple(reversed(nodes)))


@pytest.mark.parametrize(
    ("resources", "sentence"),
    [
        ({"gpus": 8}, "no node has 8 gpus; the most is 2"),
        ({"cpus": 64}, "no node has 64 cpus; the most is 4"),
        ({"memory_mb": 9000}, "no node has 9000 MB of memory; the most is 4096"),
        ({"disk_mb": 20_000}, "no node has 20000 MB of disk; the most is 10000"),
    ],
)
def test_requirement_nobody_meets_is_one_sentence(resources: dict[str, Any], sentence: str) -> None:
    nodes = (candidate("a", gpus=2), candidate("b", cpus=4))

    assert missing(wanting(**resources), nodes) == (sentence,)


def test_every_unmet_requirement_is_named() -> None:
    spec = wanting(Placement(regions=("mars",), measured={"compute": 5}), gpus=1)

    assert missing(spec, (candidate("a"),)) == (
        "no node is of region mars; there is eu-west",
        "no node was measured with 5 units of compute; the most is 0",
        "no node has 1 gpus; the most is 0",
    )


def test_parts_that_no_node_has_together_are_said_so() -> None:
    nodes = (candidate("a", gpus=2, cpus=1), candidate("b", cpus=4))

    assert missing(wanting(gpus=1, cpus=4), nodes) == ("no node has all of it together, though each part is there",)


def test_workers_are_counted_over_the_nodes_of_one_provider() -> None:
    own = tuple(candidate(name, provider=1, cpus=2) for name in "ab")
    others = (candidate("c", provider=2, cpus=3),)

    assert {one.provider for one in placements(wanting(workers=4), (*own, *others))} == {1}
    assert missing(wanting(workers=5), (*own, *others)) == ("no provider has room for 5 workers; the most is 4",)


def test_nothing_announced_is_said_so() -> None:
    assert missing(wanting(), ()) == ("no node is announced here that is registered, staked and not suspended",)


def test_named_nodes_providers_and_classes_are_kept_to() -> None:
    alice, bob = candidate("a", provider=1), candidate("b", provider=2)

    assert names(placements(wanting(Placement(nodes=(bob.node.lower(),))), (alice, bob))) == [bob.node]
    assert names(placements(wanting(Placement(providers=(1,))), (alice, bob))) == [alice.node]
    assert placements(wanting(Placement(classes=("gpu",))), (alice, bob)) == ()


def test_measured_node_is_taken_where_the_spec_asks_for_it() -> None:
    slow, quick = candidate("a"), replace(candidate("b"), measured={"compute": 7})

    assert names(placements(wanting(Placement(measured={"compute": 7})), (slow, quick))) == [quick.node]
