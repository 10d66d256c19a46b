"""What a gateway hears of nodes from the members' own application."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.members import HttpMembers
from gateway.store.engine import open_database
from oracle.publish.classes import proven_of
from swarm_chain.core.kinds import Category
from tests.committee_world import CommitteeWorld
from tests.gateway_world import GATEWAY
from tests.member_world import ALICE, STRANGER

MEMBER, NOT_THERE = "http://testserver", "http://testserver/nothing-here"


@pytest.fixture
def committee(tmp_path: Path) -> Iterator[CommitteeWorld]:
    """A committee of one."""
    made = CommitteeWorld(tmp_path, count=1, quorum=1)
    yield made
    made.close_down()


@pytest.fixture
def members(committee: CommitteeWorld, tmp_path: Path) -> Iterator[HttpMembers]:
    """The committee's member as a gateway knows it, beside a URL where there is none."""
    database = open_database(tmp_path / "gateway.sqlite", GATEWAY.address)
    yield HttpMembers((MEMBER, NOT_THERE), database, committee.first.client)
    database.close()


def test_measured_when_a_node_reported_nothing_of_itself_then_still_what_was_proven_of_it(
    committee: CommitteeWorld, members: HttpMembers
) -> None:
    assert members.measured(ALICE.address) == {}
    epoch = committee.play_epoch()
    committee.settle()
    proven = proven_of(ALICE.address, committee.first.member.archive.published(epoch).facts)

    assert members.measured(ALICE.address) == {"compute": proven[Category.COMPUTE]}
    assert proven[Category.COMPUTE] > 0
    assert members.measured(STRANGER.address) == {}
