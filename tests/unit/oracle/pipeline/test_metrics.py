"""What a member shows to Prometheus follows what happened: the chain, the cycle, the outbox, the messages."""

from dataclasses import replace

from oracle.cron import start_cron
from oracle.pipeline.ticks import follow, roll_call, work
from oracle.pipeline.transact import transact
from oracle.store import documents
from swarm_chain.core.encoding import sha256_digest
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import ZERO_HASH, EpochNumber
from tests.member_world import ALICE, MemberWorld

CALL = ContractCall(contract="EpochOracle", function="vote", args=(0, b"\1" * 32))


def shown(world: MemberWorld, name: str, **labels: str) -> float | None:
    """Value of a series, None if there is none."""
    return world.member.metrics.registry.get_sample_value(name, labels)


def accept(world: MemberWorld, manifest_hash: bytes, index: int = 1) -> None:
    """A report of epoch 0 that the chain took."""
    world.log(
        "RewardSettlement",
        "ReportAccepted",
        rootIndex=index,
        epoch=0,
        root=b"\1" * 32,
        outcomesRoot=ZERO_HASH,
        manifestHash=manifest_hash,
        leafCount=2,
        totalReward=0,
        totalPenalty=0,
        activatesAt=world.now,
    )


def test_chain_when_followed_then_blocks_epoch_and_deadline_are_shown(world: MemberWorld) -> None:
    world.follow()

    assert shown(world, "swarm_head_block") == world.chain.block("latest").number
    assert shown(world, "swarm_chain_time_seconds") == world.now
    assert shown(world, "swarm_epoch_end_seconds") == world.network.epoch_end(world.epoch)
    assert shown(world, "swarm_report_deadline_seconds") == world.network.deadline(max(world.epoch - 1, 0))


def test_committee_when_it_votes_then_members_quorum_and_votes_are_shown(world: MemberWorld) -> None:
    assert (shown(world, "swarm_member"), shown(world, "swarm_members")) == (0, 0)
    world.log("EpochOracle", "MemberAdded", member=world.signer.address, members=1, quorum=1)
    world.log("EpochOracle", "Voted", epoch=0, member=world.signer.address, reportHash=b"\1" * 32, support=1)

    names = ("swarm_member", "swarm_members", "swarm_quorum", "swarm_members_voted")
    assert [shown(world, name) for name in names] == [1, 1, 1, 1]


def test_report_when_the_chain_took_another_one_then_it_does_not_agree(world: MemberWorld) -> None:
    documents.save_documents(world.engine, EpochNumber(0), {"manifest": b"mine"})
    accept(world, sha256_digest(b"theirs"))
    assert shown(world, "swarm_own_report_agrees") == 0

    accept(world, sha256_digest(b"mine"), index=2)
    assert shown(world, "swarm_own_report_agrees") == 1


def test_report_when_this_member_has_none_then_nothing_is_said_against_it(world: MemberWorld) -> None:
    accept(world, sha256_digest(b"theirs"))

    assert shown(world, "swarm_own_report_agrees") == 1


def test_state_when_the_next_action_changes_then_only_the_last_one_is_1(world: MemberWorld) -> None:
    cycle = world.member.metrics.cycle
    for action in ("CommitSecret", "Wait", "Wait"):
        cycle.chose(action)

    assert shown(world, "swarm_state", action="CommitSecret") == 0
    assert shown(world, "swarm_state", action="Wait") == 1


def test_balance_when_the_roll_is_called_then_shown_except_in_a_dry_run(world: MemberWorld) -> None:
    roll_call(replace(world.member, signer=None, sender=None))
    assert shown(world, "swarm_native_balance_wei") == 0

    roll_call(world.member)
    assert shown(world, "swarm_native_balance_wei") == world.chain.balance(world.signer.address)


def test_messages_when_taken_or_refused_then_counted_by_kind_and_reason(world: MemberWorld) -> None:
    beat = world.beat(world.heartbeat())
    forged = world.beat(world.heartbeat(sequence=2), key=ALICE, signature=world.signer.sign_text(b"something else"))
    for body in (beat, beat, forged, {"heartbeat": 5}):
        world.client.post("/v1/heartbeats", json=body)
    world.client.post("/v1/commitments", content=b"[" * 100, headers={"content-type": "application/json"})
    world.client.post("/v1/proofs", content=b"x" * (2 * 1024 * 1024))
    world.client.post("/v1/nonsense/of/mine", json={})
    world.client.get("/v1/status")

    taken = {
        (sample.labels["kind"], sample.labels["outcome"]): sample.value
        for metric in world.member.metrics.registry.collect()
        for sample in metric.samples
        if sample.name == "swarm_evidence_total"
    }
    assert taken == {
        ("heartbeat", "accepted"): 2,
        ("heartbeat", "wrong_signer"): 1,
        ("heartbeat", "malformed"): 1,
        ("commitment", "too_deep"): 1,
        ("proof", "too_large"): 1,
        ("other", "http"): 1,
    }


def test_transactions_when_sent_then_counted_by_what_became_of_them(world: MemberWorld) -> None:
    assert world.member.sender is not None
    sender = replace(world.member.sender, count=world.member.metrics.tx.attempted)
    world.chain.program.action("EpochOracle", "vote", lambda *_: ())

    transact(sender, "epoch:0:vote", CALL)

    assert shown(world, "swarm_tx_attempts_total", outcome="signed") == 1
    assert shown(world, "swarm_tx_attempts_total", outcome="succeeded") == 1
    assert shown(world, "swarm_tx_attempts_total", outcome="reverted") is None


def test_tick_when_a_limit_of_the_chain_refused_a_report_then_the_limit_is_counted(world: MemberWorld) -> None:
    world.member.metrics.tick_failed("work", "RewardAboveCap")
    world.member.metrics.tick_failed("work", "rpc_unavailable")

    assert shown(world, "swarm_limit_violations_total", limit="RewardAboveCap") == 1
    assert shown(world, "swarm_limit_violations_total", limit="rpc_unavailable") is None
    assert shown(world, "swarm_tick_failures_total", entry="work", code="rpc_unavailable") == 1


def test_replicas_when_counted_then_shown(world: MemberWorld) -> None:
    world.member.metrics.cycle.replicas(5)

    assert shown(world, "swarm_publish_replicas") == 5


def test_work_when_done_then_its_action_is_the_state(world: MemberWorld) -> None:
    work(world.member)
    follow(world.member)

    states = [s for m in world.member.metrics.registry.collect() if m.name == "swarm_state" for s in m.samples]
    assert [sample.value for sample in states].count(1) == 1


def test_clock_when_an_entry_ends_well_then_its_time_is_shown(world: MemberWorld) -> None:
    scheduler = start_cron(world.member, poll_ms=50)
    scheduler.get_job("follow").func(*scheduler.get_job("follow").args)
    scheduler.shutdown(wait=True)

    assert shown(world, "swarm_last_success_seconds", entry="follow") == world.clock.now()
