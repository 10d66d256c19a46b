"""`GET /v1/proven/{node}`: what the newest accepted report proves of a node that says nothing of itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.publish.classes import proven_of
from swarm_chain.core.units import EpochNumber
from tests.committee_world import CommitteeWorld
from tests.member_world import ALICE, BOB, STRANGER, MemberWorld

Published = tuple[CommitteeWorld, EpochNumber]


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    """A committee of one that published an epoch in which alice and bob proved compute; neither reported a benchmark."""
    made = CommitteeWorld(tmp_path, count=1, quorum=1)
    epoch = made.play_epoch()
    made.settle()
    yield made, epoch
    made.close_down()


def test_proven_when_an_epoch_was_published_then_its_reports_own_units_by_category(published: Published) -> None:
    committee, epoch = published
    facts = committee.first.member.archive.published(epoch).facts

    for key in (ALICE, BOB):
        document = committee.first.client.get(f"/v1/proven/{key.address}").json()

        assert document == {"epoch": epoch, "units": {"compute": next(iter(proven_of(key.address, facts).values()))}}
        assert document["units"]["compute"] > 0
        assert committee.first.client.get(f"/v1/benchmarks/{key.address}").status_code == 404


def test_proven_when_the_report_knows_no_such_node_then_nothing_is_proven_of_it(published: Published) -> None:
    document = published[0].first.client.get(f"/v1/proven/{STRANGER.address}").json()

    assert document == {"epoch": published[1], "units": {}}


def test_proven_when_no_report_was_accepted_or_it_is_no_address_then_refused(world: MemberWorld) -> None:
    waiting, malformed = (world.client.get(f"/v1/proven/{name}") for name in (ALICE.address, "0x12"))

    assert (waiting.status_code, malformed.status_code) == (503, 422)
    assert waiting.json()["message"] == "no report was accepted yet"
    assert "Retry-After" in waiting.headers
