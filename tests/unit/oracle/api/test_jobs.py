"""Job specs, receipts and checkpoints over HTTP: forged, wrong, too large, too many (attacks 4, 6, 9 and 21)."""

import json
from dataclasses import replace

import pytest

from node import wire
from node.ports import CheckpointUpload
from oracle.pipeline.job_desk import MAX_RECEIPTS, SPEC_SHELF, drawn_segments
from oracle.store import jobs as store
from oracle.store.jobs import SpecShelf
from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES, checkpoint_tree, content_hash, path_hash
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.merkle import path, root
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import checkpoint_hash, receipt_digest, receipt_hash
from swarm_chain.core.units import Hash32, JobId, Timestamp
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, MemberWorld

JOB = JobId(5)
WORK = {"model": "mlp", "seed": 5, "steps": 10, "segment_steps": 2, "batch": 4, "context": 4, "vocabulary": 8}
SIZES = {"width": 8, "heads": 1, "layers": 1, "learning_rate_micro": 3000}
SPEC = parse_job_spec({"kind": "train", "program": "swarm-train/1", "work": WORK | SIZES}).document()
CONTENTS = tuple(b"checkpoint %d" % index for index in range(6))
HASHES = tuple(map(content_hash, CONTENTS))


@pytest.fixture
def accepted(world: MemberWorld) -> MemberWorld:
    """A world in which alice's node accepted a job."""
    times = {"acceptBy": world.now + 100, "maxRunFor": 1000}
    posted = {"customer": BOB.address, "kind": 1, "specHash": keccak(canonical_json(SPEC)), "budget": 10**18}
    world.log("JobEscrow", "JobPosted", jobId=JOB, **posted, **times)
    world.log("JobEscrow", "JobAccepted", jobId=JOB, providerId=1, node=ALICE.address, completeBy=world.now + 1000)
    assert world.client.post("/v1/jobs/specs", json={"spec": SPEC}).status_code == 201
    return world


def receipt(**changes: object) -> Receipt:
    """Alice's receipt of the job."""
    honest = Receipt(
        job_id=JOB,
        kind=JobKind.TRAIN,
        node=ALICE.address,
        spec_hash=keccak(canonical_json(SPEC)),
        input_digest=HASHES[0],
        output_digest=HASHES[-1],
        checkpoint_root=root(checkpoint_tree(HASHES)),
        checkpoint_count=len(HASHES),
        device_seconds=10,
        started_at=Timestamp(1),
        finished_at=Timestamp(11),
        exit_code=0,
    )
    return replace(honest, **changes)  # type: ignore[arg-type]  # fields of a receipt


def hand_in(
    world: MemberWorld, made: Receipt, key: FakeSigner = ALICE, contents: tuple[Hash32, ...] = HASHES
) -> tuple[int, dict[str, object]]:
    """Status and document of the answer to a receipt signed by a key."""
    signature = key.sign_typed(world.domain, receipt_hash(made))
    body = {
        "receipt": receipt_json(made),
        "signature": to_hex(signature),
        "checkpoints": [*map(to_hex, contents)],
    }
    answer = world.client.post(f"/v1/jobs/{JOB}/receipts", json=body)
    return answer.status_code, answer.json()


def complete(world: MemberWorld, made: Receipt) -> None:
    """Completes the job on chain with a receipt and mines the block that decides the draw."""
    digest = receipt_digest(world.domain, made)
    world.log("JobEscrow", "JobCompleted", jobId=JOB, receiptDigest=digest, judgeBy=world.now + 600)
    world.follow()
    world.follow()


def upload(world: MemberWorld, index: int, **changes: object) -> tuple[int, dict[str, object]]:
    """Status and document of the answer to an upload; `content`, `siblings`, `key` and `job` may be false."""
    content = changes.get("content", CONTENTS[index])
    siblings = changes.get("siblings", path(checkpoint_tree(HASHES), index))
    key, job = changes.get("key", ALICE), changes.get("job", JOB)
    assert isinstance(content, bytes)
    assert isinstance(siblings, tuple)
    assert isinstance(key, FakeSigner)
    assert isinstance(job, int)
    struct_hash = checkpoint_hash(job, ALICE.address, index, content_hash(content), path_hash(siblings))
    body = wire.checkpoint_body(
        CheckpointUpload(
            job_id=JobId(job),
            node=ALICE.address,
            index=index,
            content=content,
            path=siblings,
            signature=key.sign_typed(world.domain, struct_hash),
        )
    )
    answer = world.client.post(f"/v1/jobs/{job}/checkpoints", json=body)
    return answer.status_code, answer.json()


def drawn_of(world: MemberWorld) -> tuple[int, ...]:
    """Drawn segments of the completed job."""
    return drawn_segments(world.member.desk, world.member.follower.sight.state.jobs[0])


def test_spec_when_posted_then_served_byte_for_byte_under_its_hash(world: MemberWorld) -> None:
    answer = world.client.post("/v1/jobs/specs", json={"spec": SPEC})
    assert (answer.status_code, answer.json()) == (201, {"specHash": to_hex(keccak(canonical_json(SPEC)))})
    assert world.client.get(f"/v1/jobs/specs/{answer.json()['specHash']}").content == canonical_json(SPEC)
    assert world.client.get(f"/v1/jobs/specs/0x{'00' * 32}").status_code == 404


@pytest.mark.parametrize(
    ("value", "status"),
    [("1.5", 422), ("NaN", 422), ("Infinity", 422), ('"\\ud800"', 422), (json.dumps("x" * 65_536), 413)],
)
def test_attack_21_when_a_spec_is_not_canonical_or_too_large_then_refused(
    world: MemberWorld, value: str, status: int
) -> None:
    body = f'{{"spec": {{"a": {value}}}}}'.encode()
    answer = world.client.post("/v1/jobs/specs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert answer.json().keys() == {"error", "message", "fix", "values"}


def test_spec_when_a_host_posts_too_many_then_429(world: MemberWorld) -> None:
    statuses = [world.client.post("/v1/jobs/specs", json={"spec": {"n": n}}).status_code for n in range(21)]
    assert statuses == [201] * 20 + [429]


def test_spec_when_the_shelf_is_full_then_refused_until_old_ones_leave(world: MemberWorld) -> None:
    shelf = SpecShelf(max_bytes=100, keep_for=60)

    def put(number: int, now: int, posted: tuple[Hash32, ...] = ()) -> bool:
        document = b"%040d" % number
        return store.shelve_spec(world.engine, shelf, (keccak(document), document), Timestamp(now), posted)

    assert [put(1, 0), put(2, 30), put(3, 31)] == [True, True, False]
    assert put(2, 31), "what is there is there"
    assert put(3, 31, posted=(keccak(b"%040d" % 1),)), "specs of posted jobs take no room"
    assert put(4, 91), "the second one left"
    assert store.spec_document(world.engine, keccak(b"%040d" % 2)) is None


def test_spec_when_there_is_no_room_then_503_says_so(world: MemberWorld) -> None:
    for number in range(SPEC_SHELF.max_bytes // 2**26):
        document = bytes([number]) * 2**26
        store.shelve_spec(world.engine, SPEC_SHELF, (keccak(document), document), Timestamp(world.now), ())
    answer = world.client.post("/v1/jobs/specs", json={"spec": SPEC})
    assert (answer.status_code, answer.json()["error"]) == (503, "specs_full")


def test_receipt_when_the_node_of_the_job_signed_it_then_kept_once(accepted: MemberWorld) -> None:
    assert hand_in(accepted, receipt()) == (202, {"duplicate": False})
    assert hand_in(accepted, receipt()) == (202, {"duplicate": True})


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"job_id": JobId(6)}, "wrong_receipt"),
        ({"node": BOB.address}, "wrong_receipt"),
        ({"spec_hash": keccak(b"another spec")}, "wrong_receipt"),
        ({"checkpoint_count": 5}, "checkpoint_count"),
        ({"checkpoint_root": keccak(b"another root")}, "checkpoint_root"),
    ],
)
def test_attack_4_when_a_receipt_is_of_something_else_then_refused(
    accepted: MemberWorld, changes: dict[str, object], error: str
) -> None:
    status, document = hand_in(accepted, receipt(**changes))
    assert (status, document["error"]) == (422, error)


def test_attack_22_when_a_receipt_is_forged_then_refused(accepted: MemberWorld) -> None:
    assert hand_in(accepted, receipt(), key=BOB)[1]["error"] == "wrong_signer"


def test_receipt_when_the_job_is_unknown_then_404(world: MemberWorld) -> None:
    assert hand_in(world, receipt())[0] == 404


def test_receipt_when_the_node_keeps_changing_it_then_the_store_does_not_grow(accepted: MemberWorld) -> None:
    answers = [hand_in(accepted, receipt(device_seconds=seconds)) for seconds in range(MAX_RECEIPTS + 1)]
    assert [status for status, _ in answers] == [202] * MAX_RECEIPTS + [422]
    assert answers[-1][1]["error"] == "too_many_receipts"
    complete(accepted, receipt(device_seconds=99))
    assert hand_in(accepted, receipt(device_seconds=99))[0] == 202, "the one the chain names always finds a place"
    assert hand_in(accepted, receipt(device_seconds=100))[1]["error"] == "wrong_receipt"


def test_checkpoint_when_drawn_then_kept_and_the_last_one_is_the_result(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    for index in sorted({*drawn_of(accepted), len(CONTENTS) - 1}):
        assert upload(accepted, index) == (202, {"duplicate": False})
        assert upload(accepted, index) == (202, {"duplicate": True})
    answer = accepted.client.get(f"/v1/jobs/{JOB}/result")
    assert (answer.status_code, answer.content) == (200, CONTENTS[-1])


def test_checkpoint_when_the_draw_is_not_made_yet_then_the_sender_may_come_again(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    assert upload(accepted, 5)[1]["error"] == "no_receipt", "the chain names none yet"
    digest = receipt_digest(accepted.domain, receipt())
    accepted.log("JobEscrow", "JobCompleted", jobId=JOB, receiptDigest=digest, judgeBy=accepted.now + 600)
    assert upload(accepted, 5)[0] == 503


def test_checkpoint_when_not_drawn_then_refused_so_that_nobody_can_fill_the_disk(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    idle = next(index for index in range(5) if index not in drawn_of(accepted))
    status, document = upload(accepted, idle)
    assert (status, document["error"]) == (422, "not_drawn")


def test_attack_6_and_9_when_path_content_job_or_key_are_false_then_refused(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    last, honest = 5, path(checkpoint_tree(HASHES), 5)
    assert upload(accepted, last, content=b"other bytes")[1]["error"] == "wrong_checkpoint"
    assert upload(accepted, last, siblings=honest[:-1])[1]["error"] == "wrong_checkpoint"
    assert upload(accepted, last, siblings=(*honest, keccak(b"more")))[1]["error"] == "wrong_checkpoint"
    assert upload(accepted, last, siblings=(honest[0],) * len(honest))[1]["error"] == "wrong_checkpoint"
    assert upload(accepted, last, key=BOB)[1]["error"] == "wrong_signer"
    assert upload(accepted, last, job=6)[0] == 404


def test_attack_21_when_a_checkpoint_is_too_large_or_no_base64_then_refused(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    assert upload(accepted, 5, content=bytes(MAX_CHECKPOINT_BYTES + 1))[1]["error"] == "too_large"
    body = {"node": ALICE.address, "index": 5, "content": "no base64!", "path": [], "signature": "0x" + "00" * 65}
    answer = accepted.client.post(f"/v1/jobs/{JOB}/checkpoints", json=body)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid_input")


def test_job_when_asked_for_then_the_state_is_told(accepted: MemberWorld) -> None:
    assert accepted.client.get(f"/v1/jobs/{JOB}").json()["state"] == "accepted"
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    document = accepted.client.get(f"/v1/jobs/{JOB}").json()
    assert document["state"] == "completed"
    assert wire.parse_receipt(document["receipt"]) == receipt()
    assert (document["kind"], document["program"]) == ("train", "swarm-train/1")
    assert document["drawnUnits"] == list(drawn_of(accepted))
    assert [one["what"] for one in document["contents"]] == sorted({*drawn_of(accepted), 5})
    assert not any(one["here"] for one in document["contents"])
    assert document["why"].startswith("waits")
    assert accepted.client.get("/v1/jobs/77").status_code == 404


def test_job_when_paid_then_its_drawn_units_are_told_and_no_content_is_asked_for(accepted: MemberWorld) -> None:
    hand_in(accepted, receipt())
    complete(accepted, receipt())
    drawn = list(drawn_of(accepted))
    amounts = dict.fromkeys(("toProvider", "toOracle", "burned", "refunded"), 0)
    accepted.log("JobEscrow", "JobPaid", jobId=JOB, providerId=1, **amounts)
    accepted.follow()
    document = accepted.client.get(f"/v1/jobs/{JOB}").json()
    assert (document["state"], document["drawnUnits"], document["contents"]) == ("paid", drawn, [])
    assert drawn
