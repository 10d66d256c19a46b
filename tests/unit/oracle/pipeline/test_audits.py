"""Audits: the clock starts once and stops once, what is drawn comes after the answer, and nothing but honest work counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from starlette.testclient import TestClient

from node import wire
from oracle.api.app import create_app
from oracle.model import Measurement
from oracle.pipeline.audits import CRASHED, Auditor, audit_measurements, judge_audits
from oracle.pipeline.member import Member
from oracle.store.audits import Audit, AuditFinding, audit_of
from swarm_chain.core.audits import AuditAnswer, AuditRequest, answer_hash, audit_id, request_hash
from swarm_chain.core.encoding import hash_from_hex, keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.messages import Json
from swarm_chain.core.units import EpochNumber, Hash32, WindowId
from swarm_chain.testing import FakeSigner
from tests.http_clients import client_of
from tests.member_world import ALICE, BOB, MemberWorld, other_domain

LIMIT_MS, MOST, ASK_FOR = 500, 1000, 5
STRANGER = FakeSigner("stranger")


def limit_ms(claim: int) -> int:
    """Every claim up to a bound has the same time."""
    if claim > MOST:
        raise InvalidInputError("nobody has so much", code="bad_claim", fix="claim less")
    return LIMIT_MS


def judge(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
    """A finding on each."""
    return tuple(map(_judge, audits))


def _judge(audit: Audit) -> AuditFinding:
    """The smallest thing that is audited: the answer is a hash of the nonce and the draw has to be shown."""
    if audit.openings is None or audit.draw.hex() not in audit.openings.decode():
        return AuditFinding(outcome=Outcome.FAILED, reason="not_shown")
    if audit.root != keccak(b"work" + audit.nonce):
        return AuditFinding(outcome=Outcome.FAILED, reason="wrong_root")
    if audit.elapsed_ms is None or audit.elapsed_ms > LIMIT_MS:
        return AuditFinding(outcome=Outcome.FAILED, reason="late")
    return AuditFinding(outcome=Outcome.PASSED, units=audit.claim)


def stumble(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
    """A judge with a mistake in it, which alice's answers bring to light."""
    if any(audit.node == ALICE.address for audit in audits):
        raise ZeroDivisionError
    return judge(audits)


def boast(audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
    """A judge that finds more than was claimed."""
    return tuple(AuditFinding(outcome=Outcome.PASSED, units=audit.claim + 1) for audit in audits)


@dataclass(slots=True)
class Dice:
    """Bytes nobody could know before, another time the same."""

    thrown: int = 0

    def __call__(self, size: int) -> bytes:
        self.thrown += 1
        return keccak(b"dice" + self.thrown.to_bytes(4, "big"))[:size]


@dataclass(slots=True, kw_only=True)
class Audited:
    """A member that audits memory, and what nodes send it."""

    world: MemberWorld
    member: Member
    client: TestClient = field(init=False)

    def __post_init__(self) -> None:
        app = create_app(self.member, self.world.chain.deployment.contracts)
        self.client = client_of(app)

    def window(self, number: int = 1) -> WindowId:
        """A window that just closed; the epoch's first one was open before."""
        if number == 1:
            self.world.close(self.world.open(0))
        window = self.world.open(number)
        self.world.close(window)
        return window

    def request(self, window: WindowId, **changes: object) -> AuditRequest:
        """Alice's device 0 claims 100."""
        made = AuditRequest(
            window_id=window,
            node=ALICE.address,
            device=0,
            category=Category.MEMORY,
            claim=100,
            member=self.world.signer.address,
        )
        return replace(made, **changes)  # type: ignore[arg-type]  # the changes of a test

    def ask(self, request: AuditRequest, key: FakeSigner = ALICE, domain: Hash32 | None = None) -> tuple[int, Json]:
        """Status and answer of POST /v1/audits."""
        signature = key.sign_typed(domain or self.world.domain, request_hash(request))
        return self._post("/v1/audits", wire.audit_request_body(request, signature))

    def answer(self, audit: Hash32, root: Hash32, key: FakeSigner = ALICE) -> tuple[int, Json]:
        """Status and answer of POST /v1/audits/answers."""
        made = AuditAnswer(audit_id=audit, root=root)
        signature = key.sign_typed(self.world.domain, answer_hash(made))
        return self._post("/v1/audits/answers", wire.audit_answer_body(made, signature))

    def open(self, audit: Hash32, shown: str) -> int:
        """Status of POST /v1/audits/{id}/openings."""
        return self._post(f"/v1/audits/0x{audit.hex()}/openings", {"openings": [{"shown": shown}]})[0]

    def play(self, request: AuditRequest, key: FakeSigner = ALICE, takes_ms: int = 10) -> Hash32:
        """An honest audit, up to its judgement; gives its id."""
        status, begun = self.ask(request, key)
        assert status == 201, begun
        audit, nonce = (hash_from_hex(str(begun[name])) for name in ("auditId", "nonce"))
        self.world.clock.sleep(takes_ms / 1000)
        status, answered = self.answer(audit, keccak(b"work" + nonce), key)
        assert status == 202, answered
        assert self.open(audit, str(answered["draw"])) == 202
        return audit

    def measured(self, epoch: EpochNumber) -> tuple[Measurement, ...]:
        """Judges what waits and sums up an epoch."""
        judge_audits(self.member.auditing)
        self.world.follow()
        return audit_measurements(self.world.network, self.member.follower.sight.state, self.member.auditing, epoch)

    def _post(self, path: str, body: Json) -> tuple[int, Json]:
        response = self.client.post(path, json=body)
        return response.status_code, response.json()


@pytest.fixture
def audited(world: MemberWorld) -> Audited:
    auditor = Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=judge)
    return Audited(world=world, member=replace(world.member, entropy=Dice(), auditors={Category.MEMORY: auditor}))


def test_audit_when_honest_then_its_claim_is_measured(audited: Audited) -> None:
    epoch, window = audited.world.epoch, audited.window()
    audit = audited.play(audited.request(window))
    audited.world.draw(window)

    assert audited.measured(epoch) == (Measurement(node=ALICE.address, category=Category.MEMORY, units=100),)
    kept = audit_of(audited.world.engine, audit)
    assert kept is not None
    assert (kept.elapsed_ms, kept.outcome, kept.openings) == (10, Outcome.PASSED, None)
    assert kept.nonce == keccak(kept.draw), "the member was bound to its draw from the beginning"


def test_request_when_sent_again_then_the_same_nonce_and_the_clock_runs_on(audited: Audited) -> None:
    request = audited.request(audited.window())
    first = audited.ask(request)
    audited.world.clock.sleep(0.3)

    assert audited.ask(request) == first

    audited.world.clock.sleep(0.3)
    audit = hash_from_hex(str(first[1]["auditId"]))
    assert audited.answer(audit, keccak(b"x"))[1]["elapsedMs"] == 600
    assert first[1]["limitMs"] == LIMIT_MS


def test_request_when_it_claims_something_else_then_refused(audited: Audited) -> None:
    window = audited.window()
    audited.ask(audited.request(window))

    status, said = audited.ask(audited.request(window, claim=200))

    assert (status, said["error"]) == (409, "other_claim")


def test_answer_when_another_one_follows_then_the_first_counts(audited: Audited) -> None:
    begun = audited.ask(audited.request(audited.window()))[1]
    audit = hash_from_hex(str(begun["auditId"]))
    first = audited.answer(audit, keccak(b"first"))
    audited.world.clock.sleep(1)

    assert audited.answer(audit, keccak(b"first")) == first
    status, said = audited.answer(audit, keccak(b"second"))
    assert (status, said["error"]) == (409, "other_answer")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"member": BOB.address}, 422, "other_member"),
        ({"category": Category.STORAGE}, 422, "not_audited"),
        ({"claim": 0}, 422, "bad_claim"),
        ({"claim": MOST + 1}, 422, "bad_claim"),
        ({"node": STRANGER.address}, 422, "unknown_node"),
        ({"node": BOB.address}, 422, "wrong_signer"),
        ({"window_id": WindowId(0)}, 422, "no_audit"),
        ({"window_id": WindowId(9)}, 404, "unknown_window"),
    ],
)
def test_request_when_wrong_then_refused_and_nothing_begins(
    audited: Audited, changes: dict[str, object], status: int, code: str
) -> None:
    window = audited.window()

    got = audited.ask(audited.request(window, **changes))

    assert (got[0], got[1]["error"]) == (status, code)
    assert audited.measured(audited.world.epoch) == ()


def test_request_when_signed_for_another_chain_then_refused(audited: Audited) -> None:
    foreign = other_domain(audited.world, chain_id=1)

    status, said = audited.ask(audited.request(audited.window()), domain=foreign)

    assert (status, said["error"]) == (422, "wrong_signer")


def test_request_when_the_window_is_open_or_long_closed_then_refused(audited: Audited) -> None:
    audited.world.open(0)
    early = audited.world.open(1)
    assert audited.ask(audited.request(early))[0] == 503

    audited.world.close(early)
    audited.world.chain.mine(seconds=ASK_FOR)
    audited.world.follow()

    status, said = audited.ask(audited.request(early))
    assert (status, said["error"]) == (422, "wrong_window_state")


def test_answer_when_not_the_nodes_own_then_refused(audited: Audited) -> None:
    begun = audited.ask(audited.request(audited.window()))[1]
    audit = hash_from_hex(str(begun["auditId"]))

    assert audited.answer(audit, keccak(b"x"), BOB)[1]["error"] == "wrong_signer"
    assert audited.answer(keccak(b"nobody's"), keccak(b"x"))[1]["error"] == "unknown_audit"
    assert audited.answer(audit, keccak(b"x"))[0] == 202


def test_openings_when_before_the_answer_then_refused_and_when_twice_then_the_first_count(audited: Audited) -> None:
    window = audited.window()
    begun = audited.ask(audited.request(window))[1]
    audit = hash_from_hex(str(begun["auditId"]))
    assert audited.open(audit, "") == 422
    audited.answer(audit, keccak(b"work" + hash_from_hex(str(begun["nonce"]))))

    assert audited.open(audit, "nothing") == 202
    kept = audit_of(audited.world.engine, audit)
    assert kept is not None
    assert audited.open(audit, kept.draw.hex()) == 202

    ((_, found),) = judge_audits(audited.member.auditing)
    assert (found.outcome, found.reason) == (Outcome.FAILED, "not_shown")


def test_audit_when_late_then_nothing_is_proven(audited: Audited) -> None:
    epoch, window = audited.world.epoch, audited.window()
    audited.play(audited.request(window), takes_ms=LIMIT_MS + 1)
    audited.world.draw(window)

    (found,) = audited.measured(epoch)

    assert found.units == 0


def test_audit_when_the_member_was_restarted_in_between_then_it_cannot_say_how_long_it_took(audited: Audited) -> None:
    begun = audited.ask(audited.request(audited.window()))[1]
    after = replace(audited.member, desk=replace(audited.member.desk, boot="boot 2"))
    restarted = Audited(world=audited.world, member=after)

    status, answered = restarted.answer(hash_from_hex(str(begun["auditId"])), keccak(b"x"))

    assert (status, answered["elapsedMs"]) == (202, None)


def test_units_when_a_device_did_not_ask_in_one_of_the_windows_then_none(audited: Audited) -> None:
    epoch, windows = audited.world.epoch, []
    for number in (1, 2):
        windows.append(audited.window(number))
        if number == 1:
            audited.play(audited.request(windows[0]))
        audited.play(audited.request(windows[-1], node=BOB.address, claim=6 + number), BOB)
        audited.world.draw(windows[-1])

    found = {one.node: one.units for one in audited.measured(epoch)}

    assert found == {ALICE.address: 0, BOB.address: 7}


def test_units_when_a_node_has_two_devices_then_their_sum(audited: Audited) -> None:
    epoch, window = audited.world.epoch, audited.window()
    for device, claim in ((0, 5), (1, 6)):
        audited.play(audited.request(window, device=device, claim=claim))
    audited.world.draw(window)

    assert [one.units for one in audited.measured(epoch)] == [11]


def test_units_when_the_window_was_never_drawn_then_nobody_has_any(audited: Audited) -> None:
    audited.play(audited.request(audited.window()))

    assert audited.measured(audited.world.epoch) == ()


@pytest.mark.parametrize(("judging", "reason", "units"), [(stumble, CRASHED, 0), (boast, "", 100)])
def test_judge_when_it_crashes_or_finds_too_much_then_never_more_than_was_claimed(
    audited: Audited, judging: Callable[[Sequence[Audit]], tuple[AuditFinding, ...]], reason: str, units: int
) -> None:
    auditor = Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=judging)
    wrong = Audited(world=audited.world, member=replace(audited.member, auditors={Category.MEMORY: auditor}))
    wrong.play(wrong.request(wrong.window()))

    ((_, found),) = judge_audits(wrong.member.auditing)

    assert (found.reason, found.units) == (reason, units)
    assert judge_audits(wrong.member.auditing) == ()


def test_judge_when_one_answer_makes_it_crash_then_the_others_are_judged_all_the_same(audited: Audited) -> None:
    auditor = Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=stumble)
    wrong = Audited(world=audited.world, member=replace(audited.member, auditors={Category.MEMORY: auditor}))
    window = wrong.window()
    wrong.play(wrong.request(window))
    wrong.play(wrong.request(window, node=BOB.address), BOB)

    found = {audit.node: one.reason for audit, one in judge_audits(wrong.member.auditing)}

    assert found == {ALICE.address: CRASHED, BOB.address: ""}


def test_judge_when_the_member_itself_lacks_something_then_nobody_has_failed_and_it_judges_later(
    audited: Audited,
) -> None:
    def away(_: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        raise UnavailableError("the chain is away")

    auditor = Auditor(ask_for=ASK_FOR, limit_ms=limit_ms, has_openings=True, judge=away)
    waiting = Audited(world=audited.world, member=replace(audited.member, auditors={Category.MEMORY: auditor}))
    waiting.play(waiting.request(waiting.window()))

    assert judge_audits(waiting.member.auditing) == ()
    ((_, found),) = judge_audits(audited.member.auditing)
    assert found.outcome is Outcome.PASSED


def test_request_when_the_first_window_of_the_epoch_was_never_opened_then_refused(audited: Audited) -> None:
    window = audited.world.open(1)
    audited.world.close(window)

    status, said = audited.ask(audited.request(window))

    assert (status, said["error"]) == (404, "unknown_window")


def test_audit_id_when_anything_differs_then_another_one(audited: Audited) -> None:
    request, nonce = audited.request(WindowId(1)), keccak(b"nonce")
    others = [
        replace(request, window_id=WindowId(2)),
        replace(request, node=BOB.address),
        replace(request, device=1),
        replace(request, category=Category.STORAGE),
        replace(request, claim=101),
        replace(request, member=BOB.address),
    ]

    ids = {audit_id(one, nonce) for one in (request, *others)} | {audit_id(request, keccak(b"other"))}

    assert len(ids) == len(others) + 2
