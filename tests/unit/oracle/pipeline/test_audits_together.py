"""One moment for all devices: whoever asked after a close gets its nonce then, and its clock starts then.

A device that stands for two nodes has to do the work of both in the time of one, however far apart they asked.
"""

from dataclasses import replace

import pytest

from oracle.pipeline.audits import Auditor, take_answer, take_openings, take_request
from oracle.store.audits import audit_of
from swarm_chain.core.audits import AuditAnswer, answer_hash, request_hash
from swarm_chain.core.encoding import hash_from_hex, keccak
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Hash32
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, MemberWorld
from tests.unit.oracle.pipeline.test_audits import ASK_FOR, LIMIT_MS, Audited, Dice, judge, limit_ms

SLOT_MS = 2000
REPEATS = 100


@pytest.fixture
def audited(world: MemberWorld) -> Audited:
    """A member that asks all in one moment."""
    auditor = Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=judge, slot_ms=SLOT_MS)
    return Audited(world=world, member=replace(world.member, entropy=Dice(), auditors={Category.MEMORY: auditor}))


def nonce(audited: Audited, begun: Json) -> tuple[int, Json]:
    """Status and answer of GET /v1/audits/{id}/nonce."""
    answer = audited.client.get(f"/v1/audits/{begun['auditId']}/nonce")
    return answer.status_code, answer.json()


def work(audited: Audited, begun: Json, key: FakeSigner, takes_ms: int) -> Hash32:
    """An answer after so much work, and what is drawn of it; gives the audit."""
    told = nonce(audited, begun)[1]["nonce"]
    audited.world.clock.sleep(takes_ms / 1000)
    audit = hash_from_hex(str(begun["auditId"]))
    answered = audited.answer(audit, keccak(b"work" + hash_from_hex(str(told))), key)[1]
    audited.open(audit, str(answered["draw"]))
    return audit


def test_nonce_when_two_ask_seconds_apart_then_told_in_one_moment_and_not_before(audited: Audited) -> None:
    window = audited.window()
    alice = audited.ask(audited.request(window))[1]
    early, said = nonce(audited, alice)
    assert (early, said["error"]) == (503, "too_early")
    audited.world.clock.sleep(3)
    bob = audited.ask(audited.request(window, node=BOB.address), BOB)[1]

    assert (alice["nonce"], bob["nonce"]) == (None, None)
    assert (alice["askedInMs"], bob["askedInMs"]) == (1000 * ASK_FOR, 1000 * (ASK_FOR - 3))
    audited.world.clock.sleep(ASK_FOR - 3)
    assert [nonce(audited, one)[0] for one in (alice, bob)] == [200, 200]
    assert nonce(audited, alice)[1] != nonce(audited, bob)[1]


def test_request_when_sent_again_after_the_moment_then_the_nonce_and_the_clock_runs_on(audited: Audited) -> None:
    request = audited.request(audited.window())
    audited.ask(request)
    audited.world.clock.sleep(ASK_FOR + 0.2)

    begun = audited.ask(request)[1]

    assert (begun["askedInMs"], begun["nonce"]) == (0, nonce(audited, begun)[1]["nonce"])
    audit = hash_from_hex(str(begun["auditId"]))
    assert audited.answer(audit, keccak(b"x"))[1]["elapsedMs"] == 200


def test_nonce_when_the_audit_is_unknown_then_refused(audited: Audited) -> None:
    status, said = nonce(audited, {"auditId": "0x" + "77" * 32})

    assert (status, said["error"]) == (404, "unknown_audit")


@pytest.mark.parametrize("place", [0, 1, 4])
def test_moment_when_several_members_audit_then_each_waits_for_those_before_it(audited: Audited, place: int) -> None:
    window, own, sight = audited.window(), audited.world.signer.address, audited.member.follower.sight
    others = tuple(FakeSigner(f"member {number}").address for number in range(place))
    seen = replace(sight, state=replace(sight.state, members=(*others, own)))
    member = replace(audited.member, desk=replace(audited.member.desk, sight=lambda: seen))

    begun = Audited(world=audited.world, member=member).ask(audited.request(window))[1]

    assert begun["askedInMs"] == 1000 * ASK_FOR + place * SLOT_MS


def test_device_when_it_is_honest_then_measured_a_hundred_times(audited: Audited) -> None:
    window, auditing, domain = audited.window(), audited.member.auditing, audited.world.domain
    asked = [audited.request(window, device=device) for device in range(REPEATS)]
    begun = [take_request(auditing, one, ALICE.sign_typed(domain, request_hash(one))) for one in asked]
    audited.world.clock.sleep(ASK_FOR)
    for audit in begun:
        answer = AuditAnswer(audit_id=audit.audit_id, root=keccak(b"work" + audit.nonce))
        signature = ALICE.sign_typed(domain, answer_hash(answer))
        take_answer(auditing, answer, signature, audited.member.desk.instant)
        take_openings(auditing, audit.audit_id, b'[{"shown":"%s"}]' % audit.draw.hex().encode())

    assert all(_passed(audited, audit.audit_id) for audit in begun)


def test_device_when_it_serves_two_nodes_then_the_second_is_late(audited: Audited) -> None:
    """Work for one takes three fifths of the time; the second node asked later in vain."""
    window, takes_ms = audited.window(), LIMIT_MS * 3 // 5
    alice = audited.ask(audited.request(window))[1]
    audited.world.clock.sleep(ASK_FOR - 1)
    bob = audited.ask(audited.request(window, node=BOB.address), BOB)[1]
    audited.world.clock.sleep(1)

    first = work(audited, alice, ALICE, takes_ms)
    second = work(audited, bob, BOB, takes_ms)

    assert _passed(audited, first)
    assert not _passed(audited, second)


def _passed(audited: Audited, audit: Hash32) -> bool:
    kept = audit_of(audited.world.engine, audit)
    assert kept is not None
    (found,) = judge([kept])
    return found.outcome is Outcome.PASSED
