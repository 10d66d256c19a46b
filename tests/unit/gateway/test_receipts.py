"""Receipts: signed for honest work, refused for everything else."""

from pathlib import Path
from typing import Any

import pytest

from gateway.canaries import CanaryAsk
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.signing import receipt_digest, recover
from swarm_chain.core.units import Signature
from tests.gateway_world import BOB, GATEWAY, GatewayWorld, honest_contents, receipt_of


def test_receipt_of_honest_work_gets_the_gateways_signature(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())

    answer = world.post_receipt(honest_contents())

    assert answer.status_code == 200, answer.json()
    digest = receipt_digest(world.domain, receipt_of(honest_contents(), world.now))
    assert recover(digest, Signature(bytes.fromhex(answer.json()["gatewaySignature"][2:]))) == GATEWAY.address
    shown = world.get("/v1/jobs/1")
    assert shown["gatewaySignature"] == answer.json()["gatewaySignature"]
    assert shown["unitsDone"] == shown["units"] == 2


def test_receipt_sent_twice_gets_the_same_signature_and_a_second_one_none(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())
    first = world.post_receipt(honest_contents())

    assert world.post_receipt(honest_contents()).json() == first.json()
    second = world.post_receipt(honest_contents(), device_seconds=4)

    assert second.status_code == 409
    assert second.json()["error"] == "receipt_countersigned"
    assert world.post_receipt(()).json()["error"] == "receipt_countersigned"


def test_receipt_survives_the_process_between_upload_and_signature(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())
    times: dict[str, Any] = {"started_at": world.now, "finished_at": world.now}
    again = world.restarted()
    first = again.post_receipt(honest_contents(), **times)
    later = again.restarted()

    assert first.status_code == 200
    assert later.post_receipt(honest_contents(), **times).json() == first.json()
    later.close()


def test_receipt_without_all_contents_is_refused_and_says_which_lack(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_content(0, honest_contents()[0])
    world.put_content(1, b"something else")

    answer = world.post_receipt(honest_contents())

    assert answer.status_code == 409
    assert answer.json()["error"] == "contents_missing"
    assert answer.json()["values"]["missing"] == [1, 2]


@pytest.mark.parametrize("forged", [0, 1, 2], ids=["other beginning", "skipped work", "canned output"])
def test_forged_content_fails_the_canaries_for_good(world: GatewayWorld, forged: int) -> None:
    world.accepted_job()
    honest = honest_contents()
    false = honest[forged][:-4] + b"\1\2\3\4"
    contents = (*honest[:forged], false, *honest[forged + 1 :])
    world.put_contents(contents)

    answer = world.post_receipt(contents)

    assert answer.status_code == 409
    assert answer.json()["error"] == "canary_failed"
    world.put_contents(honest)  # what would have passed comes too late: which units are asked for is known now
    assert world.post_receipt(honest).json()["error"] == "canary_failed"
    assert "found wrong" in world.get("/v1/jobs/1")["why"]


def test_truncated_job_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents()[:2])

    answer = world.post_receipt(honest_contents()[:2])

    assert answer.status_code == 422
    assert answer.json()["error"] == "checkpoint_count"


def test_failed_job_is_signed_without_contents(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.post_receipt(()).status_code == 200
    assert world.get("/v1/jobs/1")["receipt"]["exitCode"] == 1


def test_failed_job_that_names_contents_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())

    assert world.post_receipt(honest_contents(), exit_code=1).json()["error"] == "checkpoint_count"


def test_receipt_signed_by_another_key_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()

    assert world.post_receipt((), key=BOB).json()["error"] == "wrong_signer"
    assert world.post_receipt((), key=BOB, node=BOB.address).json()["error"] == "wrong_node"


@pytest.mark.parametrize("changed", [{"spec_hash": b"\1" * 32}, {"kind": 2}, {"finished_at": 2**40}, {"started_at": 1}])
def test_receipt_of_something_else_is_refused(world: GatewayWorld, changed: dict[str, Any]) -> None:
    world.accepted_job()

    answer = world.post_receipt((), **changed)

    assert answer.status_code == 422
    assert answer.json()["error"] == "wrong_receipt"


def test_receipt_whose_hashes_do_not_open_the_root_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())

    assert world.post_receipt(honest_contents(), checkpoint_root=b"\2" * 32).json()["error"] == "checkpoint_root"
    assert world.post_receipt(honest_contents(), checkpoints=2).json()["error"] == "checkpoint_count"


def test_receipt_before_its_job_is_accepted_is_asked_for_again(world: GatewayWorld) -> None:
    world.announce()
    world.post_job()

    answer = world.post_receipt(())

    assert answer.status_code == 503
    assert answer.json()["error"] == "not_accepted"


def test_receipt_after_the_jobs_time_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.follow(seconds=3601)

    assert world.post_receipt(()).json()["error"] == "too_late"


def test_receipt_of_a_job_completed_with_another_one_is_refused(world: GatewayWorld) -> None:
    world.accepted_job()
    world.log("JobEscrow", "JobCompleted", jobId=1, receiptDigest=b"\3" * 32, judgeBy=world.now + 100)

    assert world.post_receipt(()).json()["error"] == "wrong_receipt"


def test_receipt_of_an_unknown_job_is_not_found(world: GatewayWorld) -> None:
    answer = world.post_receipt(())

    assert answer.status_code == 404
    assert answer.json()["error"] == "unknown_job"


def test_canaries_that_crash_leave_the_receipt_unsigned(tmp_path: Path) -> None:
    def lost(_: CanaryAsk) -> str:
        raise UnavailableError("computing units again ended without an answer", code="worker_lost")

    world = GatewayWorld(tmp_path, check=lost)
    world.accepted_job()
    world.put_contents(honest_contents())

    answer = world.post_receipt(honest_contents())

    assert answer.status_code == 503
    assert answer.json()["error"] == "worker_lost"
    assert world.get("/v1/jobs/1")["gatewaySignature"] is None
    world.close()
