"""Claims in a process of their own: the same answers as here, and what is lost with the process is said to be lost."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from node.audits.actor import RayAuditee
from node.audits.memory import HeldMemory, MemoryClaim
from node.audits.runner import AuditRunner
from node.model import AuditKey, ClaimKey, PrepareClaim, StartAudit
from node.ports import AuditQuestion
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, EpochNumber, Hash32, window_id
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner
from tests.node_world import DRAW, MemberInMemory

PARAMS = load_params("minimal")
NODE = FakeSigner("node")
CLAIM = MemoryClaim(
    chain_id=31337,
    beacon=Address("0x6156fEB3ED0e75F93e3B3353A313aeB5382D7FAC"),
    node=NODE.address,
    claim_mib=PARAMS.memory.least_mib,
    params=PARAMS.memory,
)
EPOCH, SEED, DOMAIN = EpochNumber(3), keccak(b"seed"), keccak(b"domain")
MEMBER = FakeSigner("member").address
QUESTION = AuditQuestion(
    audit_id=keccak(b"audit"), member=MEMBER, device=0, claim=CLAIM.claim_mib, nonce=keccak(b"nonce")
)
PREPARE = PrepareClaim(key=ClaimKey(window_id=window_id(EPOCH, 0), device=0, category=Category.MEMORY), epoch_seed=SEED)
AUDIT = StartAudit(key=AuditKey(window_id=window_id(EPOCH, 1), device=0, category=Category.MEMORY, member="one"))


@pytest.fixture
def auditee(ray_cluster: object) -> Iterator[RayAuditee]:
    """Memory held by an actor."""
    made = RayAuditee(partial(HeldMemory, CLAIM))
    yield made
    made.release()


def test_actor_when_asked_then_the_answers_of_what_it_holds(auditee: RayAuditee) -> None:
    here = HeldMemory(CLAIM)
    for one in (here, auditee):
        one.prepare(EPOCH, SEED, 0)

    assert auditee.claim(MEMBER) == CLAIM.claim_mib
    assert auditee.answer(QUESTION) == here.answer(QUESTION)
    assert auditee.openings(QUESTION, DRAW) == here.openings(QUESTION, DRAW)


def test_actor_when_released_then_nothing_is_prepared(auditee: RayAuditee) -> None:
    auditee.prepare(EPOCH, SEED, 0)
    auditee.release()

    with pytest.raises(UnavailableError) as caught:
        auditee.answer(QUESTION)

    assert caught.value.code == "not_prepared"


def test_actor_when_it_was_asked_before_it_held_anything_then_its_own_error_comes_back(auditee: RayAuditee) -> None:
    auditee.prepare(EPOCH, SEED, 0)

    with pytest.raises(SwarmError) as caught:
        auditee.answer(replace(QUESTION, device=1))

    assert caught.value.code == "not_prepared"


def test_runner_when_claim_and_audit_are_started_then_the_member_has_answer_and_openings(auditee: RayAuditee) -> None:
    member = MemberInMemory(domain=DOMAIN, node=NODE.address)
    runner = AuditRunner({Category.MEMORY: auditee}, {"one": member}, NODE, DOMAIN)

    for action in (PREPARE, AUDIT):
        runner.start(action)
        assert runner.busy == {action.key}
        _wait(runner)

    assert [request.claim for request in member.requests] == [CLAIM.claim_mib]
    (answer,) = member.answers
    assert len(member.opened[answer.audit_id]) == PARAMS.memory.draws
    runner.close()


class Broken:
    """An auditee with a mistake in it."""

    def claim(self, _member: Address) -> int:
        return 1

    def prepare(self, _epoch: EpochNumber, _epoch_seed: Hash32, _device: int) -> None:
        raise ZeroDivisionError

    def answer(self, _question: AuditQuestion) -> Hash32:
        raise InvalidInputError("no", code="no")

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[dict[str, object]]:
        return []

    def release(self) -> None:
        """Nothing."""


def test_runner_when_an_auditee_crashes_or_refuses_then_its_error_is_told_and_the_next_one_goes_on() -> None:
    member = MemberInMemory(domain=DOMAIN, node=NODE.address)
    runner = AuditRunner({Category.MEMORY: Broken()}, {"one": member}, NODE, DOMAIN)

    codes = []
    for action in (PREPARE, AUDIT):
        runner.start(action)
        codes.append(_wait(runner, fails=True))

    assert codes == ["audit_crashed", "no"]
    assert runner.busy == frozenset()
    runner.close()


def _wait(runner: AuditRunner, *, fails: bool = False) -> str:
    """The code of what ended, empty if it went well; nothing is started meanwhile."""
    while not (done := runner.finished()):
        time.sleep(0.01)
    (one,) = done
    assert (one.error is not None) == fails, one.error
    return one.error.code if one.error else ""
