"""`GET /v1/classes/{class}` of a member that published an epoch: deciles of what its own report says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.rewards.weights import device_capacities, node_units
from swarm_chain.core.units import EpochNumber
from tests.committee_world import CommitteeWorld
from tests.member_world import MemberWorld

Published = tuple[CommitteeWorld, EpochNumber]


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    """A committee of one that published an epoch in which alice and bob, both of class cpu, proved compute."""
    made = CommitteeWorld(tmp_path, count=1, quorum=1)
    epoch = made.play_epoch()
    made.settle()
    yield made, epoch
    made.close_down()


def test_class_when_an_epoch_was_published_then_its_reports_own_units(published: Published) -> None:
    committee, epoch = published
    facts = committee.first.member.archive.published(epoch).facts
    proven = sorted(node_units(device_capacities(facts.verdicts, len(facts.windows))).values())

    document = committee.first.client.get("/v1/classes/cpu").json()

    assert (document["epoch"], document["hardwareClass"]) == (epoch, "cpu")
    (compute,) = document["categories"]
    assert (compute["category"], compute["nodes"]) == ("compute", 2)
    assert compute["deciles"] == [proven[0]] * 10 + [proven[1]]
    assert proven[0] > 0


def test_class_when_no_node_of_it_proved_anything_then_empty(published: Published) -> None:
    document = published[0].first.client.get("/v1/classes/storage").json()

    assert (document["epoch"], document["categories"]) == (published[1], [])


def test_class_when_nothing_was_published_or_there_is_no_such_class_then_said(world: MemberWorld) -> None:
    waiting, unknown = (world.client.get(f"/v1/classes/{name}") for name in ("cpu", "abacus"))

    assert (waiting.status_code, unknown.status_code) == (503, 404)
    assert "Retry-After" in waiting.headers
