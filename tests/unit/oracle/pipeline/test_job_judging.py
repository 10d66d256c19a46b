"""Judging jobs when something is lacking: receipts, signatures, inputs, or a member that can compute."""

from dataclasses import replace

import pytest

from oracle.pipeline import job_inputs
from oracle.pipeline.job_inputs import take_input
from oracle.pipeline.replay_process import UnitAsk, compute_unit
from oracle.pipeline.ticks import judge_jobs
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, content_hash
from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import Hash32, JobId
from tests.job_examples import EXAMPLES, Example
from tests.job_world import GATEWAY, CountingCompute, JobWorld
from tests.member_world import BOB, STRANGER, MemberWorld

EXAMPLE = EXAMPLES["swarm-train/1"](3)
CONTENTS = EXAMPLE.contents
WITH_GATEWAY = replace(EXAMPLE, spec=replace(EXAMPLE.spec, gateway=GATEWAY.address))
BLOB = b"rows of a customer"
WITH_INPUT = replace(EXAMPLE, spec=replace(EXAMPLE.spec, inputs=("0x" + content_hash(BLOB).hex(),)))


@pytest.fixture
def jobs(world: MemberWorld) -> JobWorld:
    """A member without jobs."""
    return JobWorld(world=world)


def found(jobs: JobWorld, job: JobId) -> tuple[Outcome, str] | None:
    """Outcome and reason of a look at the jobs."""
    jobs.judge()
    finding = jobs.finding(job)
    return None if finding is None else (finding.outcome, finding.reason)


def completed(jobs: JobWorld, example: Example, gateways: str = "") -> JobId:
    """A completed job with an honest run; `gateways` says whose signatures its receipt comes with, one after the other."""
    job = jobs.post(example.spec)
    signed = jobs.sign(jobs.receipt(job, example.spec, CONTENTS), CONTENTS)
    keys = {"right": GATEWAY, "wrong": STRANGER}
    for gateway in gateways.split() or [""]:
        jobs.take(jobs.countersign(signed, keys[gateway]) if gateway in keys else signed)
    jobs.complete(signed.receipt)
    return job


def test_units_when_judged_then_the_drawn_ones_and_the_start_are_computed_and_nothing_else(jobs: JobWorld) -> None:
    jobs.compute = counting = CountingCompute()
    job = jobs.run(EXAMPLE, CONTENTS)

    assert found(jobs, job) == (Outcome.PASSED, "")
    assert counting.asked == [*jobs.drawn(job), None]
    jobs.judge()
    assert len(counting.asked) == 3, "a job is judged once"


@pytest.mark.parametrize("gateways", ["none", "wrong"])
def test_attack_when_the_gateway_did_not_sign_then_not_paid_but_only_after_it_had_time_to(
    jobs: JobWorld, gateways: str
) -> None:
    job = completed(jobs, WITH_GATEWAY, gateways)

    assert found(jobs, job) is None
    jobs.wait()
    assert found(jobs, job) == (Outcome.FAILED, "no_gateway")


@pytest.mark.parametrize("gateways", ["right", "none right", "wrong right", "right none", "right wrong"])
def test_attack_when_somebody_passes_the_receipt_on_without_its_signature_then_the_right_one_counts(
    jobs: JobWorld, gateways: str
) -> None:
    job = completed(jobs, WITH_GATEWAY, gateways)
    jobs.upload(job, CONTENTS, EXAMPLE.program, {})

    assert found(jobs, job) == (Outcome.PASSED, "")


def test_attack_when_a_receipt_is_of_another_job_then_refused_and_the_job_is_not_paid(jobs: JobWorld) -> None:
    paid, other = jobs.run(EXAMPLE, CONTENTS), jobs.post(EXAMPLE.spec)
    with pytest.raises(InvalidInputError, match="not for job"):
        jobs.take(jobs.sign(jobs.receipt(other, EXAMPLE.spec, CONTENTS, node=BOB.address), CONTENTS, BOB))
    jobs.complete(replace(jobs.receipt(other, EXAMPLE.spec, CONTENTS), job_id=other, device_seconds=9))

    assert found(jobs, paid) == (Outcome.PASSED, "")
    assert found(jobs, other) is None
    jobs.wait()
    assert found(jobs, other) == (Outcome.MISSING, "no_receipt")


def test_attack_when_a_node_signs_two_receipts_then_the_one_on_chain_counts(jobs: JobWorld) -> None:
    job = jobs.post(EXAMPLE.spec)
    first, second = (jobs.receipt(job, EXAMPLE.spec, CONTENTS, device_seconds=seconds) for seconds in (10, 99))
    for receipt in (first, second):
        jobs.take(jobs.sign(receipt, CONTENTS))
    jobs.complete(first)
    jobs.upload(job, CONTENTS, EXAMPLE.program, {})
    with pytest.raises(InvalidInputError, match="another receipt"):
        jobs.take(jobs.sign(jobs.receipt(job, EXAMPLE.spec, CONTENTS, device_seconds=98), CONTENTS))

    assert found(jobs, job) == (Outcome.PASSED, "")


@pytest.mark.parametrize(
    "changes", [{"exit_code": 1}, {"input_digest": keccak(b"another")}, {"output_digest": keccak(b"another")}]
)
def test_receipt_when_it_says_that_it_failed_or_its_ends_are_others_then_not_paid(
    jobs: JobWorld, changes: dict[str, object]
) -> None:
    job = jobs.run(EXAMPLE, CONTENTS, **changes)

    finding = found(jobs, job)
    assert finding is not None
    assert finding[0] is Outcome.FAILED


def test_contents_when_never_handed_in_then_missing_in_the_end_and_no_vote(jobs: JobWorld) -> None:
    job = completed(jobs, EXAMPLE)

    assert found(jobs, job) is None
    jobs.wait()
    assert found(jobs, job) == (Outcome.MISSING, "no_checkpoints")


def test_member_when_it_cannot_compute_then_it_says_so_and_accuses_nobody(jobs: JobWorld) -> None:
    def away(_: UnitAsk) -> Hash32:
        raise UnavailableError("this machine is of another kind", code="other_machine")

    jobs.compute = away
    job = jobs.run(EXAMPLE, CONTENTS)

    judged = jobs.judge()
    assert (judged.findings, judged.stuck) == ((), (job,))
    jobs.wait()
    assert found(jobs, job) == (Outcome.MISSING, "not_computed")


def test_member_when_its_judge_crashes_then_the_job_waits_and_no_other_does(jobs: JobWorld) -> None:
    broken, healthy = jobs.run(EXAMPLE, CONTENTS), EXAMPLES["swarm-train/1"](4)
    second = jobs.run(healthy, healthy.contents)

    def stumble(ask: UnitAsk) -> Hash32:
        if ask.spec == canonical_json(EXAMPLE.spec.document()):
            raise ZeroDivisionError
        return compute_unit(ask)

    jobs.compute = stumble
    judged = jobs.judge()

    assert [one.job_id for one in judged.findings] == [second]
    assert judged.stuck == (broken,)
    jobs.compute = compute_unit
    assert found(jobs, broken) == (Outcome.PASSED, "")


def test_code_when_it_fails_at_the_judge_then_not_paid_and_nobody_is_accused(jobs: JobWorld) -> None:
    def fails(_: UnitAsk) -> Hash32:
        raise InvalidInputError("the customer's code raises ValueError", code="customer_code")

    jobs.compute = fails
    job = jobs.run(EXAMPLE, CONTENTS)

    assert found(jobs, job) == (Outcome.FAILED, "not_reproduced")
    kept = jobs.finding(job)
    assert kept is not None
    assert kept.mismatch is None


def test_spec_when_it_is_none_then_the_job_fails_and_holds_up_no_other(jobs: JobWorld) -> None:
    nonsense = replace(EXAMPLE, spec=replace(EXAMPLE.spec, program="no-such-program/1"))
    bad, good = completed(jobs, nonsense), jobs.run(EXAMPLE, CONTENTS)

    assert found(jobs, bad) == (Outcome.FAILED, "bad_spec")
    assert found(jobs, good) == (Outcome.PASSED, "")


def test_input_when_the_spec_names_it_then_taken_once(jobs: JobWorld) -> None:
    job, desk = completed(jobs, WITH_INPUT), jobs.world.member.desk

    assert found(jobs, job) is None, "it waits for the input"
    assert take_input(desk, job, content_hash(BLOB), BLOB)
    assert not take_input(desk, job, content_hash(BLOB), BLOB)
    assert found(jobs, job) == (Outcome.FAILED, "bad_spec"), (
        "this program takes no inputs, which is known once they are here"
    )


def test_input_when_never_handed_in_then_missing_in_the_end(jobs: JobWorld) -> None:
    job = completed(jobs, WITH_INPUT)
    jobs.wait()

    assert found(jobs, job) == (Outcome.MISSING, "no_inputs")


def test_input_when_false_unnamed_too_large_or_too_early_then_refused(
    jobs: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, large = jobs.world.member.desk, bytes(MAX_CHECKPOINT_BYTES + 1)
    hashes = tuple("0x" + content_hash(one).hex() for one in (BLOB, large, b"second"))
    example = replace(EXAMPLE, spec=replace(EXAMPLE.spec, inputs=hashes))
    waiting, job = jobs.post(example.spec), completed(jobs, example)

    def refusal(job: JobId, named: bytes, content: bytes) -> str:
        with pytest.raises(InvalidInputError) as raised:
            take_input(desk, job, content_hash(named), content)
        return raised.value.code

    assert refusal(waiting, BLOB, BLOB) == "not_completed"
    assert refusal(job, BLOB, b"other bytes") == "wrong_input"
    assert refusal(job, b"unnamed", b"unnamed") == "unknown_input"
    assert refusal(job, large, large) == "too_large"
    monkeypatch.setattr(job_inputs, "MAX_INPUTS_BYTES", len(BLOB))
    assert take_input(desk, job, content_hash(BLOB), BLOB)
    assert refusal(job, b"second", b"second") == "too_large"


def test_tick_when_a_job_is_stuck_then_the_alert_has_its_gauge(jobs: JobWorld) -> None:
    job = jobs.run(EXAMPLE, CONTENTS)
    registry = jobs.world.member.metrics.registry
    jobs.world.member.replays.close()

    judge_jobs(jobs.world.member)

    assert registry.get_sample_value("swarm_jobs_stuck") == 1
    assert jobs.finding(job) is None
