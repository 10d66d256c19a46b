"""Judging audits: a category that takes long delays no other, and what was found is kept before anything else begins."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Thread

import pytest

from oracle.cron import start_cron
from oracle.pipeline.audits import CRASHED, JUDGED_AT_ONCE, Auditor, judge_audits, judge_category
from oracle.pipeline.ticks import judge_answers
from oracle.store.audits import Audit, AuditFinding, audit_of, keep_answer, keep_openings, start_audit
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.units import Hash32
from tests.member_world import ALICE, BOB, MemberWorld
from tests.unit.oracle.pipeline.test_audits import ASK_FOR, Audited, Dice, judge, limit_ms, stumble

Judge = Callable[[Sequence[Audit]], tuple[AuditFinding, ...]]
QUICK, SLOW = Category.MEMORY, Category.TRAINING
WAIT_S = 10  # for a thread that has nothing to wait for


def auditor(judging: Judge = judge, together: int = JUDGED_AT_ONCE) -> Auditor:
    """An auditor of the smallest thing there is to audit."""
    return Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=judging, together=together)


@pytest.fixture
def audited(world: MemberWorld) -> Audited:
    """A member that audits two categories."""
    return with_auditors(world, slow=auditor())


def with_auditors(world: MemberWorld, slow: Auditor) -> Audited:
    """A member that audits two categories, one of them like this."""
    member = replace(world.member, entropy=Dice(), auditors={SLOW: slow, QUICK: auditor()})
    return Audited(world=world, member=member)


def outcome(audited: Audited, audit: Hash32) -> Outcome | None:
    """What is kept of an audit's judgement."""
    kept = audit_of(audited.world.engine, audit)
    assert kept is not None
    return kept.outcome


def test_entry_when_another_category_takes_long_then_it_judges_meanwhile(world: MemberWorld) -> None:
    begun, end = Event(), Event()

    def long(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        begun.set()
        assert end.wait(WAIT_S)
        return judge(audits)

    audited = with_auditors(world, slow=auditor(long))
    window = audited.window()
    slow, quick = (audited.play(audited.request(window, category=category)) for category in (SLOW, QUICK))
    thread = Thread(target=judge_answers, args=(SLOW, audited.member))
    thread.start()
    try:
        assert begun.wait(WAIT_S)
        judge_answers(QUICK, audited.member)

        assert (outcome(audited, quick), outcome(audited, slow)) == (Outcome.PASSED, None)
    finally:
        end.set()
        thread.join()
    assert outcome(audited, slow) is Outcome.PASSED


def test_clock_when_started_then_each_category_has_an_entry_of_its_own(audited: Audited) -> None:
    scheduler = start_cron(audited.member, poll_ms=60_000)
    names = {job.id for job in scheduler.get_jobs()}
    scheduler.shutdown(wait=True)

    assert {"judge_training", "judge_memory", "judge_jobs"} <= names


def test_finding_when_the_next_answer_is_judged_then_it_is_kept_already(world: MemberWorld) -> None:
    kept: list[int] = []

    def counting(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        kept.append(sum(outcome(audited, audit) is not None for audit in played))
        return judge(audits)

    audited = with_auditors(world, slow=auditor(counting, together=1))
    window = audited.window()
    played = [audited.play(audited.request(window, category=SLOW, node=key.address), key) for key in (ALICE, BOB)]

    assert len(list(judge_category(audited.member.auditing, SLOW))) == len(played)
    assert kept == [0, 1]


def test_finding_when_the_member_cannot_judge_the_next_then_it_stays(world: MemberWorld) -> None:
    def only_alice(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        if audits[0].node != ALICE.address:
            raise UnavailableError("stopping", code="stopping")
        return judge(audits)

    audited = with_auditors(world, slow=auditor(only_alice, together=1))
    window = audited.window()
    alice, bob = (audited.play(audited.request(window, category=SLOW, node=key.address), key) for key in (ALICE, BOB))

    judge_audits(audited.member.auditing)

    assert (outcome(audited, alice), outcome(audited, bob)) == (Outcome.PASSED, None)


def test_category_when_more_of_another_wait_than_are_judged_at_once_then_judged_all_the_same(
    world: MemberWorld,
) -> None:
    def away(_: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        raise UnavailableError("no worker")

    audited = with_auditors(world, slow=auditor(away))
    window = audited.window()
    quick = audited.play(audited.request(window))
    pattern = audit_of(world.engine, quick)
    assert pattern is not None
    for device in range(JUDGED_AT_ONCE):
        # Ids below any hash: these are the first in line.
        one = replace(pattern, category=SLOW, device=device, audit_id=Hash32(device.to_bytes(32, "big")))
        start_audit(world.engine, one)
        keep_answer(world.engine, one.audit_id, keccak(b"root"), 1)
        keep_openings(world.engine, one.audit_id, b"[]")

    judge_audits(audited.member.auditing)

    assert outcome(audited, quick) is Outcome.PASSED


def test_crash_when_a_judge_stumbles_then_the_answer_fails_and_the_alert_has_its_metric(world: MemberWorld) -> None:
    audited = with_auditors(world, slow=auditor(stumble, together=1))
    audit = audited.play(audited.request(audited.window(), category=SLOW))
    registry = audited.member.metrics.registry

    def crashes(category: Category) -> float | None:
        return registry.get_sample_value("swarm_audit_crashes_total", {"category": category})

    assert (crashes(SLOW), crashes(QUICK)) == (0, 0), "there before the first, or that would be no increase"
    judge_answers(SLOW, audited.member)

    kept = audit_of(world.engine, audit)
    assert kept is not None
    assert (kept.outcome, kept.reason, kept.units) == (Outcome.FAILED, CRASHED, 0)
    assert (crashes(SLOW), crashes(QUICK)) == (1, 0)
