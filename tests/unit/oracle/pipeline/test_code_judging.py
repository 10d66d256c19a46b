"""Customer's code that gives one thing at the node and another at the judge: the job is refunded, and nobody is slashed for it.

The node's units and the judge's are computed in real sandboxes. A sandbox hides where it runs, but not for how long it may:
a judge grants other seconds than a node, so code can always tell them apart.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from oracle.consensus.job_facts import judged_jobs
from oracle.model import Bundle, EpochFacts, Observation, Settlement, SignedObservation
from oracle.pipeline.job_desk import receipt_of
from oracle.settle import settle_epoch
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.units import JobId, Signature, Wei
from swarm_chain.testing import FakeSigner
from tests.job_cheaters import truncated_batch
from tests.job_examples import EXAMPLES, Example, with_code
from tests.job_world import JobWorld
from tests.member_world import MemberWorld

MEMBERS = tuple(FakeSigner(f"member {number}").address for number in range(3))
CODE = """
import os, resource
from swarm_chain.core.errors import UnavailableError

def load(work):
    return resource.getrlimit(resource.RLIMIT_CPU)[0] < 300  # who is asked for less time than a node is at a judge

def fails(error):
    raise error

def predict(judged, rows):
    return [{output} for row in rows]
"""


@pytest.fixture
def jobs(world: MemberWorld) -> Iterator[JobWorld]:
    """A member that computes in its worker process, as the program does."""
    yield JobWorld(world=world, compute=world.member.replays.compute)
    world.member.replays.close()


def example(output: str) -> Example:
    """Four rows, two a unit, each with this output."""
    drawn = {"seed": 1, "tokens": 2, "vocabulary": 64}
    code = CODE.replace("{output}", output)
    return with_code("batch", "swarm-batch/1", {"rows": 4, "rows_per_unit": 2, "drawn": drawn}, code)


def settled(jobs: JobWorld, job: JobId) -> Settlement:
    """What follows if three members all found what this one did, which is the worst that can befall a node."""
    network, desk = jobs.world.network, jobs.world.member.desk
    finding, sight, epoch = jobs.finding(job), jobs.world.member.follower.sight, jobs.world.epoch
    assert finding is not None
    said = (Observation(epoch=epoch, member=member, jobs=(finding,)) for member in MEMBERS)
    bundle = Bundle(
        chain_id=network.chain_id,
        epoch=epoch,
        ref_block=sight.state.block,
        params_version=0,
        observations=tuple(SignedObservation(observation=one, signature=Signature(bytes(65))) for one in said),
        receipts=(receipt_of(desk, jobs.record(job)),),
    )
    stake = network.params.stake.minimum_wei
    providers = tuple(replace(one, stake_wei=stake, active_stake_wei=stake) for one in sight.state.providers)
    state = replace(sight.state, members=MEMBERS, quorum=2, providers=providers)
    facts = EpochFacts(epoch=epoch, jobs=judged_jobs(state, bundle, None, network))
    return settle_epoch(state, facts, None, network)


def test_control_when_a_unit_of_a_program_of_the_networks_own_is_forged_then_slashed(jobs: JobWorld) -> None:
    honest = EXAMPLES["swarm-batch/1"](1)
    job = jobs.run(honest, truncated_batch(honest, honest, honest.contents))
    jobs.judge()

    after = settled(jobs, job)
    assert [one.pay_wei for one in after.result.jobs] == [0]
    assert [one.violation.provider_id for one in after.found] == [1]
    assert after.found[0].violation.amount_wei > 0


@pytest.mark.usefixtures("walls")
def test_code_when_it_gives_the_judge_what_it_gave_the_node_then_paid(jobs: JobWorld) -> None:
    steady = example("row")
    job = jobs.run(steady, steady.contents)
    jobs.judge()

    after = settled(jobs, job)
    assert [one.pay_wei for one in after.result.jobs] == [jobs.record(job).budget_wei]
    assert after.found == ()


@pytest.mark.usefixtures("walls")
@pytest.mark.parametrize(
    "output",
    [
        pytest.param("int.from_bytes(os.urandom(6), 'big')", id="something else at every call"),
        pytest.param("'for the judge' if judged else 'for the node'", id="something else at a judge"),
        pytest.param("fails(ValueError('no')) if judged else 0", id="nothing at a judge"),
    ],
)
def test_code_when_it_gives_the_judge_something_else_then_refunded_and_nobody_is_slashed(
    jobs: JobWorld, output: str
) -> None:
    fickle = example(output)
    job = jobs.run(fickle, fickle.contents)
    jobs.judge()

    found, after = jobs.finding(job), settled(jobs, job)
    assert found is not None
    assert (found.outcome, found.reason, found.mismatch) == (Outcome.FAILED, "not_reproduced", None)
    assert [(one.job_id, one.pay_wei) for one in after.result.jobs] == [(job, Wei(0))]
    assert (after.found, after.total_penalty_wei) == ((), 0)


@pytest.mark.usefixtures("walls")
def test_code_when_it_says_that_the_judges_machine_is_another_then_no_vote_and_nobody_is_slashed(
    jobs: JobWorld,
) -> None:
    lying = example("fails(UnavailableError('another machine', code='other_machine')) if judged else 0")
    job = jobs.run(lying, lying.contents)

    assert jobs.judge().stuck == (job,)
    jobs.wait()
    jobs.judge()
    found, after = jobs.finding(job), settled(jobs, job)
    assert found is not None
    assert (found.outcome, found.reason) == (Outcome.MISSING, "not_computed")
    assert (after.result.jobs, after.found, after.total_penalty_wei) == ((), (), 0)
