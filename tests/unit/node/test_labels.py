"""Labels of a Ray node: what members proved becomes labels, and nothing else does."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from node.cluster import measured_labels
from node.proven import Get, ask_proven
from oracle.publish.classes import proven_of
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.testing import FakeSigner
from tests.committee_world import CommitteeWorld
from tests.member_world import ALICE

NODE = FakeSigner("node").address


def saying(**units: object) -> Get:
    """A member that answers with these units."""
    return lambda path: {"epoch": 3, "units": units} if path == f"/v1/proven/{NODE}" else {}


def away(path: str) -> Mapping[str, object]:
    """A member that is away."""
    raise UnavailableError(f"nobody answers at {path}", code="oracle_unreachable")


@pytest.fixture
def committee(tmp_path: Path) -> Iterator[CommitteeWorld]:
    """A committee of one that has accepted no report yet."""
    made = CommitteeWorld(tmp_path, count=1, quorum=1)
    yield made
    made.close_down()


def of_member(committee: CommitteeWorld) -> Get:
    """The member's own application as a node asks it."""

    def get(path: str) -> Mapping[str, object]:
        answer = committee.first.client.get(path)
        if answer.status_code >= 300:
            raise UnavailableError(answer.json()["message"], code=answer.json()["error"])
        document: dict[str, object] = answer.json()
        return document

    return get


def test_labels_when_categories_were_proven_then_one_each_in_its_unit_and_none_for_nothing() -> None:
    labels = measured_labels({Category.STORAGE: 2000, Category.COMPUTE: 512, Category.MEMORY: 0})

    assert labels == {"swarm/measured-compute": "512", "swarm/measured-storage": "2000"}
    assert measured_labels(dict.fromkeys(Category, 2**53 - 1)).keys() == {
        f"swarm/measured-{category.value}" for category in Category
    }
    assert measured_labels({}) == {}


def test_proven_when_a_member_published_an_epoch_then_its_reports_units_become_the_label(
    committee: CommitteeWorld,
) -> None:
    epoch = committee.play_epoch()
    committee.settle()
    proven = proven_of(ALICE.address, committee.first.member.archive.published(epoch).facts)

    found = ask_proven({"member": of_member(committee)}, ALICE.address)

    assert measured_labels(found) == {"swarm/measured-compute": str(proven[Category.COMPUTE])}


def test_proven_when_no_report_was_accepted_yet_then_no_label_and_the_log_says_why(committee: CommitteeWorld) -> None:
    with capture_logs() as logs:
        found = ask_proven({"member": of_member(committee)}, ALICE.address)

    assert measured_labels(found) == {}
    own = [(one["event"], one["reason"]) for one in logs if one["event"] in {"proven_not_told", "labels_not_measured"}]
    assert own == [
        ("proven_not_told", "no report was accepted yet"),
        ("labels_not_measured", "no member says what it proved"),
    ]


def test_proven_when_no_member_answers_then_no_label_and_the_log_says_so() -> None:
    with capture_logs() as logs:
        found = ask_proven({"a": away, "b": away}, NODE)

    assert found == {}
    assert [(one["event"], one["log_level"]) for one in logs] == [
        ("proven_not_told", "info"),
        ("proven_not_told", "info"),
        ("labels_not_measured", "warning"),
    ]


def test_proven_when_members_differ_then_the_lower_middle_of_those_who_answer() -> None:
    members = {"a": saying(compute=9, memory=4), "b": saying(compute=5), "c": away, "d": saying(compute=7)}

    assert ask_proven(members, NODE) == {Category.COMPUTE: 7}
    assert ask_proven({"a": saying(compute=9), "b": saying(compute=5)}, NODE) == {Category.COMPUTE: 5}


@pytest.mark.parametrize("units", [True, "5", -1, 2**53, 1.5, None])
def test_attack_proven_when_a_member_says_no_proper_number_then_it_has_no_say(units: object) -> None:
    assert ask_proven({"a": saying(compute=units), "b": saying(compute=5)}, NODE) == {Category.COMPUTE: 5}
    assert ask_proven({"a": saying(compute=units)}, NODE) == {}


def test_proven_when_a_member_knows_categories_this_node_does_not_then_they_are_left_out() -> None:
    assert ask_proven({"a": saying(compute=5, telepathy=8)}, NODE) == {Category.COMPUTE: 5}
    assert ask_proven({"a": lambda _: {"units": [5]}}, NODE) == {}
