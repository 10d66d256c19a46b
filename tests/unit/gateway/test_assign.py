"""Assignments: one node at a time, another where it does not accept."""

from dataclasses import replace

from gateway.assign import ACCEPT_WITHIN, Round, next_assignments, why_waiting
from gateway.model import Assignment, Candidate, OpenJob
from swarm_chain.core.jobs import Resources, parse_job_spec
from swarm_chain.core.kinds import HardwareClass, JobKind, JobState
from swarm_chain.core.model import JobRecord
from swarm_chain.core.units import Hash32, JobId, ProviderId, Timestamp, Wei
from tests.gateway_world import ALICE, BOB, CUSTOMER, SPEC, TERMS, announcement_of

NOW = Timestamp(1000)
FIRST, SECOND = (
    Candidate(
        provider=ProviderId(number),
        region="eu-west",
        hardware_class=HardwareClass.CPU,
        announcement=announcement_of(node, NOW, price_wei=Wei(number)),
    )
    for number, node in enumerate((ALICE, BOB), start=1)
)
AROUND = Round(candidates=(FIRST, SECOND), before=(), now=NOW, terms=TERMS)


def job(number: int = 1, budget: int = 1000) -> OpenJob:
    """A posted job of two device-seconds."""
    record = JobRecord(
        job_id=JobId(number),
        state=JobState.POSTED,
        kind=JobKind.TRAIN,
        customer=CUSTOMER.address,
        spec_hash=Hash32(bytes(32)),
        budget_wei=Wei(budget),
        posted_at=NOW,
    )
    return OpenJob(record=record, accept_by=Timestamp(NOW + 500), spec=parse_job_spec(SPEC), seconds=2)


def given(to: Candidate, at: int = NOW, *, withdrawn: bool = False, number: int = 1) -> Assignment:
    """That a node was asked."""
    return Assignment(
        job_id=JobId(number), node=to.node, provider=to.provider, assigned_at=Timestamp(at), withdrawn=withdrawn
    )


def test_posted_job_goes_to_the_best_node() -> None:
    assert next_assignments([job()], AROUND) == (given(FIRST),)


def test_job_that_was_given_stays_where_it_is() -> None:
    assert next_assignments([job()], replace(AROUND, before=(given(FIRST),))) == ()


def test_two_jobs_of_one_round_go_to_different_nodes() -> None:
    assert next_assignments([job(1), job(2)], AROUND) == (given(FIRST), given(SECOND, number=2))


def test_job_not_accepted_in_time_is_withdrawn_before_another_is_asked() -> None:
    later = replace(AROUND, before=(given(FIRST),), now=Timestamp(NOW + ACCEPT_WITHIN))

    assert next_assignments([job()], later) == (given(FIRST, withdrawn=True), given(SECOND, later.now))


def test_job_of_a_node_that_disappeared_is_given_to_another() -> None:
    gone = replace(AROUND, before=(given(FIRST),), candidates=(SECOND,))

    assert next_assignments([job()], gone) == (given(FIRST, withdrawn=True), given(SECOND))


def test_job_is_withdrawn_where_nobody_is_left() -> None:
    gone = replace(AROUND, before=(given(FIRST),), candidates=())

    assert next_assignments([job()], gone) == (given(FIRST, withdrawn=True),)


def test_once_all_were_asked_the_one_asked_longest_ago_is_next() -> None:
    before = (given(SECOND, NOW - 90, withdrawn=True), given(FIRST, NOW - 30, withdrawn=True))

    assert next_assignments([job()], replace(AROUND, before=before)) == (given(SECOND),)


def test_budget_below_every_price_is_not_given_and_says_why() -> None:
    poor = job(budget=9)  # the least price of this gateway is 10

    assert next_assignments([poor], AROUND) == ()
    assert why_waiting(poor, AROUND) == "the budget is 9 wei, and the cheapest node that can run it asks for 10"


def test_job_nobody_accepted_in_time_is_withdrawn_and_given_to_nobody() -> None:
    late = replace(AROUND, before=(given(FIRST),), now=Timestamp(NOW + 500))

    assert next_assignments([job()], late) == (given(FIRST, withdrawn=True),)
    assert "cancel it" in why_waiting(job(), late)


def test_job_no_node_can_run_says_what_is_missing() -> None:
    large = replace(job(), spec=replace(parse_job_spec(SPEC), resources=Resources(gpus=8)))

    assert next_assignments([large], AROUND) == ()
    assert why_waiting(large, AROUND) == "no node has 8 gpus; the most is 0"


def test_job_posted_as_another_kind_than_its_spec_is_given_to_nobody() -> None:
    wrong = replace(job(), record=replace(job().record, kind=JobKind.TUNE))

    assert next_assignments([wrong], AROUND) == ()
    assert why_waiting(wrong, AROUND) == "it was posted as tune and its spec is train: cancel it"


def test_job_that_was_given_says_to_whom() -> None:
    assert why_waiting(job(), replace(AROUND, before=(given(FIRST),))) == f"node {FIRST.node} was asked to accept it"
