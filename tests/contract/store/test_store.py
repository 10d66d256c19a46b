"""One suite on SQLite and PostgreSQL: the store keeps what came first and calls repeats repeats."""

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from oracle.model import JobFinding, Mismatch
from oracle.store import documents, evidence, jobs, liveness, outbox
from oracle.store.evidence import Instant, Saved
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.kinds import Outcome, WindowState
from swarm_chain.core.model import Commitment, ContractCall, SignedCommitment, SignedTx, WindowRecord
from swarm_chain.core.units import Address, EpochNumber, Hash32, JobId, Signature, Wei, WindowId

ALICE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
BOB = Address("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
WINDOW = WindowId(7 << 16)
BOOT = "boot 1"


def at(ms: int) -> Instant:
    return Instant(boot=BOOT, ms=ms)


def opened(seed: bytes = b"s") -> WindowRecord:
    return WindowRecord(window_id=WINDOW, state=WindowState.OPEN, window_seed=Hash32(seed * 32))


def commitment(root: int, node: Address = ALICE, window: WindowRecord | None = None) -> SignedCommitment:
    value = Commitment(
        window_id=WINDOW,
        window_seed=(window or opened()).window_seed,
        node=node,
        device=0,
        m=64,
        n=64,
        steps=1,
        root=Hash32(root.to_bytes(32, "big")),
    )
    return SignedCommitment(commitment=value, signature=Signature(bytes(64) + b"\x1b"))


def test_commitment_when_first_then_it_counts(engine: Engine) -> None:
    saved, received = evidence.save_commitment(engine, commitment(1), 1234)
    assert (saved, received.elapsed_ms, received.first) == (Saved.NEW, 1234, True)


def test_commitment_when_repeated_later_then_the_first_measurement_stands(engine: Engine) -> None:
    evidence.save_commitment(engine, commitment(1), 1234)
    saved, received = evidence.save_commitment(engine, commitment(1), 99)
    assert (saved, received.elapsed_ms) == (Saved.DUPLICATE, 1234)


def test_commitment_when_another_root_follows_then_both_are_kept_and_the_first_counts(engine: Engine) -> None:
    evidence.save_commitment(engine, commitment(1), 10)
    saved, counts = evidence.save_commitment(engine, commitment(2), 20)
    assert (saved, counts.signed) == (Saved.CONFLICT, commitment(1))
    kept = evidence.arrivals(engine, [opened()])
    assert [(a.signed, a.first) for a in kept] == [(commitment(1), True), (commitment(2), False)]


def test_commitment_when_a_third_root_follows_then_the_store_does_not_grow(engine: Engine) -> None:
    for root in (1, 2, 3, 4):
        evidence.save_commitment(engine, commitment(root), 10)
    assert len(evidence.arrivals(engine, [opened()])) == 2


@pytest.mark.parametrize("root", [1, 2])
def test_commitment_when_the_window_is_opened_anew_then_the_one_for_the_new_seed_counts(
    engine: Engine, root: int
) -> None:
    anew = opened(b"t")
    evidence.save_commitment(engine, commitment(1), 10)
    saved, received = evidence.save_commitment(engine, commitment(root, window=anew), 20)
    assert (saved, received.first) == (Saved.NEW, True)
    assert [a.signed for a in evidence.arrivals(engine, [anew])] == [commitment(root, window=anew)]
    assert [a.signed for a in evidence.seal(engine, opened())] == [commitment(1)]
    assert evidence.arrivals(engine, []) == ()


def test_proof_when_sent_twice_then_the_first_stands(engine: Engine) -> None:
    assert evidence.save_proof(engine, (WINDOW, ALICE, 0), b"one") is Saved.NEW
    assert evidence.save_proof(engine, (WINDOW, ALICE, 0), b"one") is Saved.DUPLICATE
    assert evidence.save_proof(engine, (WINDOW, ALICE, 0), b"two") is Saved.CONFLICT
    assert evidence.proof_documents(engine, [WINDOW]) == (b"one",)
    assert evidence.proven_devices(engine, WINDOW) == {(ALICE, 0)}


def test_heartbeat_when_replayed_then_it_keeps_nobody_alive(engine: Engine) -> None:
    assert liveness.save_heartbeat(engine, ALICE, 5, at(1000))
    assert not liveness.save_heartbeat(engine, ALICE, 5, at(9000))
    assert not liveness.save_heartbeat(engine, ALICE, 4, at(9000))
    assert liveness.save_heartbeat(engine, ALICE, 6, at(2000))
    assert liveness.last_heartbeats(engine, BOOT) == {ALICE: 2000}


def test_heartbeat_when_it_arrived_under_another_boot_then_it_counts_from_when_it_is_adopted(engine: Engine) -> None:
    liveness.save_heartbeat(engine, ALICE, 5, Instant(boot="another", ms=10**12))
    liveness.save_heartbeat(engine, BOB, 5, at(1000))
    assert liveness.last_heartbeats(engine, BOOT) == {BOB: 1000}
    assert liveness.adopt_heartbeats(engine, at(3000)) == 1
    assert liveness.adopt_heartbeats(engine, at(9000)) == 0
    assert liveness.last_heartbeats(engine, BOOT) == {ALICE: 3000, BOB: 1000}


def test_roll_call_when_called_twice_then_totals_and_presences_add(engine: Engine) -> None:
    liveness.save_roll_call(engine, EpochNumber(3), {ALICE: True, BOB: False})
    liveness.save_roll_call(engine, EpochNumber(3), {ALICE: True, BOB: True})
    assert liveness.roll_call_counts(engine, EpochNumber(3)) == ((BOB, 1, 2), (ALICE, 2, 2))


def test_window_when_seen_again_then_the_first_sight_stands(engine: Engine) -> None:
    secret = evidence.save_secret(engine, WINDOW, b"s" * 32)
    assert evidence.save_secret(engine, WINDOW, b"t" * 32) == secret == evidence.secret_of(engine, WINDOW)
    assert evidence.first_sight(engine, WINDOW) is None
    evidence.mark_seen(engine, WINDOW, at(100))
    evidence.mark_seen(engine, WINDOW, Instant(boot="another", ms=200))
    assert evidence.first_sight(engine, WINDOW) == at(100)


def test_window_when_seen_before_any_secret_then_there_is_no_secret(engine: Engine) -> None:
    evidence.mark_seen(engine, WINDOW, at(100))
    assert evidence.secret_of(engine, WINDOW) is None


def test_verdict_when_given_twice_then_the_first_stands(engine: Engine) -> None:
    digest, other = Hash32(b"d" * 32), Mismatch(content=3, computed=Hash32(b"c" * 32))
    passed = JobFinding(job_id=JobId(1), outcome=Outcome.PASSED)
    failed = JobFinding(job_id=JobId(2), outcome=Outcome.FAILED, reason="wrong_unit", mismatch=other)
    assert jobs.save_verdict(engine, digest, failed)
    assert jobs.save_verdict(engine, digest, passed)
    assert not jobs.save_verdict(engine, digest, replace(failed, job_id=JobId(1)))
    assert jobs.verdicts(engine, [JobId(1), JobId(2), JobId(3)]) == (passed, failed)


def test_input_when_kept_then_once_and_only_while_the_job_has_room(engine: Engine) -> None:
    first, second = Hash32(b"a" * 32), Hash32(b"b" * 32)
    assert jobs.save_input(engine, JobId(1), first, b"12345", 8)
    assert jobs.save_input(engine, JobId(1), first, b"12345", 8) is False
    assert jobs.save_input(engine, JobId(1), second, b"1234", 8) is None
    assert jobs.save_input(engine, JobId(2), second, b"1234", 8)
    assert jobs.kept_inputs(engine, JobId(1)) == {first}
    assert jobs.input_content(engine, JobId(1), first) == b"12345"
    assert jobs.input_content(engine, JobId(1), second) is None


def test_documents_when_published_with_other_bytes_then_the_member_stops(engine: Engine) -> None:
    documents.save_documents(engine, EpochNumber(1), {"manifest": b"m", "bundle": b"b"})
    documents.save_documents(engine, EpochNumber(1), {"manifest": b"m"})
    with pytest.raises(InconsistentError, match="other bytes"):
        documents.save_documents(engine, EpochNumber(1), {"state": b"s", "manifest": b"n"})
    assert documents.document(engine, EpochNumber(1), "state") is None, "half a publication must not stay"
    assert documents.names(engine, EpochNumber(1)) == {"bundle", "manifest"}


def test_outbox_when_attempts_are_stored_then_they_come_back_in_order_with_their_states(engine: Engine) -> None:
    call = ContractCall(contract="EpochOracle", function="vote", args=(1, b"h" * 32))
    attempts = [
        SignedTx(
            hash=Hash32(bytes([i]) * 32), raw=b"raw%d" % i, sender=ALICE, nonce=4, max_fee_wei=Wei(10 + i), call=call
        )
        for i in (1, 2)
    ]
    for tx in attempts:
        outbox.store_intent(engine, "1:vote", tx, lambda _connection: None)
    outbox.mark_intent(engine, "1:vote", attempts[1], outbox.SUCCEEDED)
    assert [outbox.was_signed(engine, prefix) for prefix in ("1:v", "1:vote", "1:votes", "11:v", "%")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    kept = outbox.attempts_of(engine, "1:vote")
    assert [(tx.hash, tx.raw, tx.max_fee_wei, state) for tx, state in kept] == [
        (attempts[0].hash, b"raw1", 11, outbox.STORED),
        (attempts[1].hash, b"raw2", 12, outbox.SUCCEEDED),
    ]
