"""Guilt for forged work: two of three drawn referees who computed the same, or nobody is guilty."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

from oracle.consensus.facts import facts_of
from oracle.consensus.referees import draw_referees, find_forgery
from oracle.model import ForgedWork, JobFinding, Mismatch, Observation
from oracle.publish.observation import observation_bytes, parse_observation
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import Address, EpochNumber, JobId, ProviderId
from tests.oracle_world import NETWORK, Device, address, observe, provider, scene
from tests.unit.oracle.judge.test_training import CONTENTS, _job, _signed

BLOCK = keccak(b"reference block")
HONEST, OTHER = keccak(b"what the unit gives"), keccak(b"something else")
WRONG = Mismatch(content=2, computed=HONEST)
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
JOB = replace(_job(_signed()), provider_id=ProviderId(2))
Said = tuple[Outcome, Mismatch | None]
GUILTY, LIAR, NO_HASH, RIGHT = (FAILED, WRONG), (FAILED, replace(WRONG, computed=OTHER)), (FAILED, None), (PASSED, None)


def members(count: int) -> tuple[Address, ...]:
    """Addresses of a committee."""
    return tuple(address(f"member {number}") for number in range(1, count + 1))


def observation(member: Address, said: Said | None) -> Observation:
    """What a member says of the job; None: nothing."""
    outcome, other = said or (PASSED, None)
    reason = "wrong_unit" if other else ""
    finding = JobFinding(job_id=JobId(1), outcome=outcome, reason=reason, mismatch=other)
    return Observation(epoch=EpochNumber(0), member=member, jobs=(finding,) if said else ())


def forgery(*said: Said | None, others: Said | None = None) -> ForgedWork | None:
    """What follows when the referees say this, in draw order, and every other member of seven that."""
    committee = members(7)
    referees = draw_referees(committee, BLOCK, JOB)
    views = dict.fromkeys(committee, others) | dict(zip(referees, said, strict=True))
    return find_forgery(JOB, _signed(), (observation(one, view) for one, view in views.items()), referees)


def test_referees_when_drawn_then_three_members_whatever_the_order_they_are_named_in() -> None:
    drawn = draw_referees(members(7), BLOCK, JOB)

    assert len(set(drawn)) == 3
    assert set(drawn) <= set(members(7))
    assert drawn == draw_referees(members(7)[::-1], BLOCK, JOB)
    assert draw_referees(members(3), BLOCK, JOB) != draw_referees(members(3), keccak(b"another block"), JOB)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_referees_when_the_committee_has_fewer_than_three_then_none(count: int) -> None:
    assert draw_referees(members(count), BLOCK, JOB) == ()


def test_referees_when_many_jobs_are_judged_then_every_member_has_its_turn() -> None:
    turns = Counter(
        one for job in range(140) for one in draw_referees(members(7), BLOCK, replace(JOB, job_id=JobId(job)))
    )

    assert set(turns) == set(members(7))
    assert max(turns.values()) < 2 * min(turns.values())


@pytest.mark.parametrize("said", sorted(set(permutations((GUILTY, GUILTY, RIGHT))), key=str))
def test_guilt_when_two_of_three_computed_the_same_then_found_with_their_names(said: tuple[Said, ...]) -> None:
    found = forgery(*said)

    assert found is not None
    assert (found.content, found.committed, found.computed) == (2, CONTENTS[2], HONEST)
    assert (found.node, found.provider_id, found.receipt_digest) == (JOB.node, 2, JOB.receipt_digest)
    assert len(found.referees) == 2
    assert set(found.referees) <= set(draw_referees(members(7), BLOCK, JOB))


@pytest.mark.parametrize(
    ("said", "others"),
    [
        ((GUILTY, RIGHT, RIGHT), None),
        ((GUILTY, RIGHT, RIGHT), GUILTY),  # everybody else does not make up for a referee
        ((GUILTY, None, None), GUILTY),
        ((GUILTY, LIAR, RIGHT), None),  # two that computed different things confirm nothing
        ((GUILTY, (FAILED, replace(WRONG, content=3)), RIGHT), None),
        ((GUILTY, NO_HASH, NO_HASH), None),  # failed for another reason, or without saying what it should be
        ((NO_HASH, NO_HASH, NO_HASH), None),
        ((RIGHT, RIGHT, RIGHT), GUILTY),
        ((GUILTY, (PASSED, WRONG), RIGHT), None),
        (((FAILED, Mismatch(content=2, computed=CONTENTS[2])),) * 3, None),  # just what was signed
        (((FAILED, Mismatch(content=99, computed=HONEST)),) * 3, None),  # no such content
    ],
)
def test_guilt_when_fewer_than_two_referees_agree_then_none(said: tuple[Said, ...], others: Said | None) -> None:
    assert forgery(*said, others=others) is None


def test_guilt_when_all_three_agree_or_one_dissents_then_the_same_evidence_but_for_the_names() -> None:
    three, two = forgery(GUILTY, GUILTY, GUILTY), forgery(GUILTY, GUILTY, LIAR)

    assert three is not None
    assert two is not None
    assert replace(three, referees=two.referees) == two


def _facts(said: tuple[Said | None, ...], *, with_receipt: bool = True) -> tuple[tuple[Outcome, bool], ...]:
    """Outcome and guilt of the job after a committee's observations went into a bundle."""
    played = scene((provider(1, "alice"), provider(2, "bob")), (Device(node="alice"),))
    signed = [
        observe(f"member {number}", observation(address(f"member {number}"), view))
        for number, view in enumerate(said, start=1)
    ]
    state = replace(played.state, jobs=(JOB,), members=members(len(said)), quorum=len(said) // 2 + 1)
    receipts = (_signed(),) if with_receipt else ()
    pool = replace(played.pool, observations=tuple(signed), receipts=receipts)
    facts = facts_of(state, replace(played, state=state, pool=pool).bundle(), None, NETWORK)
    return tuple((job.outcome, job.forged is not None) for job in facts.jobs)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((GUILTY,), ((FAILED, False),)),  # a committee of one refunds, and slashes nobody
        ((GUILTY, GUILTY), ((FAILED, False),)),
        ((GUILTY, GUILTY, GUILTY), ((FAILED, True),)),
        ((GUILTY, GUILTY, RIGHT), ((FAILED, True),)),
        ((GUILTY, RIGHT, RIGHT), ((PASSED, False),)),
        ((GUILTY, GUILTY, None), ((FAILED, True),)),
        ((GUILTY, None, None), ()),
        ((GUILTY, LIAR, RIGHT), ((FAILED, False),)),
        ((GUILTY, GUILTY, RIGHT, RIGHT), ()),  # no majority, no verdict, no guilt
    ],
)
def test_facts_when_members_differ_then_pay_by_majority_and_guilt_by_referees(
    said: tuple[Said | None, ...], expected: tuple[tuple[Outcome, bool], ...]
) -> None:
    assert _facts(said) == expected


def test_facts_when_the_receipt_is_not_in_the_bundle_then_nobody_is_guilty() -> None:
    assert _facts((GUILTY,) * 3, with_receipt=False) == ((FAILED, False),)


def test_observation_when_it_names_a_mismatch_then_read_back_the_same() -> None:
    written = observation(address("member 1"), GUILTY)

    assert parse_observation(observation_bytes(written)) == written


@pytest.mark.parametrize(
    "row",
    ['[1,"passed","",[2,"0x%s"]]', '[1,"failed","",[0,"0x%s"]]', '[1,"failed","",[4096,"0x%s"]]', '[1,"failed",""]'],
)
def test_observation_when_its_mismatch_makes_no_sense_then_refused(row: str) -> None:
    good = observation_bytes(observation(address("member 1"), (FAILED, None)))
    bad = good.replace(b'[1,"failed","",null]', (row.replace("%s", "11" * 32)).encode())

    assert bad != good
    with pytest.raises(InvalidInputError):
        parse_observation(bad)
