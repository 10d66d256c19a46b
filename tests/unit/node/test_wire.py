"""What a node sends and reads: exact JSON out, nothing malformed in."""

import pytest

from node import wire
from node.model import DevicePlan
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import JobKind, WindowState
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Commitment, Opening, Proof, Receipt, SignedCommitment, SignedProof
from swarm_chain.core.units import ZERO_HASH, Hash32, JobId, Signature, Timestamp, Wei, WindowId
from swarm_chain.testing import FakeSigner

NODE = FakeSigner("node").address
SIGNATURE = Signature(bytes(65))
HASH, SEED = keccak(b"any"), keccak(b"seed")
WINDOW: dict[str, object] = {
    "windowId": 65536,
    "state": "open",
    "windowSeed": to_hex(HASH),
    "drawSeed": to_hex(ZERO_HASH),
    "commitmentsRoot": to_hex(ZERO_HASH),
    "openedAt": 100,
    "commitUntil": 120,
    "openUntil": 0,
}
LEAF: dict[str, object] = {"providerId": 1, "cumRewardWei": "5", "cumPenaltyWei": "0"}


def test_commitment_body_names_every_field_of_the_protocol() -> None:
    commitment = Commitment(
        window_id=WindowId(65536), window_seed=SEED, node=NODE, device=0, m=64, n=64, steps=2, root=HASH
    )
    assert wire.commitment_body(SignedCommitment(commitment=commitment, signature=SIGNATURE)) == {
        "commitment": {
            "windowId": 65536,
            "windowSeed": to_hex(SEED),
            "node": NODE,
            "device": 0,
            "m": 64,
            "n": 64,
            "steps": 2,
            "root": to_hex(HASH),
        },
        "signature": to_hex(SIGNATURE),
    }


def test_proof_body_keeps_the_order_of_the_draw() -> None:
    openings = tuple(Opening(row=row, head=bytes([row] * 64), path=(HASH,)) for row in (9, 3))
    proof = Proof(window_id=WindowId(65536), node=NODE, device=0, root=HASH, openings=openings)
    body = wire.proof_body(SignedProof(proof=proof, signature=SIGNATURE))
    fields = body["proof"]
    assert isinstance(fields, dict)
    assert [opening["row"] for opening in fields["openings"]] == [9, 3]
    assert fields["openings"][0]["head"] == "0x" + "09" * 64


def test_receipt_survives_the_state_file() -> None:
    receipt = Receipt(
        job_id=JobId(1),
        kind=JobKind.TRAIN,
        node=NODE,
        spec_hash=HASH,
        input_digest=keccak(b"in"),
        output_digest=keccak(b"out"),
        checkpoint_root=keccak(b"root"),
        checkpoint_count=3,
        device_seconds=7,
        started_at=Timestamp(10),
        finished_at=Timestamp(20),
        exit_code=0,
    )
    assert wire.parse_receipt(receipt_json(receipt)) == receipt


def test_windows_and_plans_are_read() -> None:
    (window,) = wire.parse_windows({"windows": [WINDOW]})
    assert (window.window_id, window.state, window.window_seed) == (65536, WindowState.OPEN, HASH)
    plans = wire.parse_plans({"epoch": 1, "plans": [{"device": 0, "m": 64, "n": 128, "steps": 8}]})
    assert plans == (DevicePlan(device=0, shape=ComputeShape(m=64, n=128, steps=8)),)


@pytest.mark.parametrize(
    "change",
    [
        {"windowId": "65536"},
        {"windowId": True},
        {"windowId": 1.5},
        {"state": "ajar"},
        {"state": 2},
        {"windowSeed": "0x12"},
        {"windowSeed": None},
        {"openedAt": None},
    ],
)
def test_malformed_window_is_an_error_of_the_families(change: dict[str, object]) -> None:
    with pytest.raises(SwarmError):
        wire.parse_windows({"windows": [{**WINDOW, **change}]})


@pytest.mark.parametrize("answer", [{}, {"windows": {}}, {"windows": ["x"]}, {"windows": [WINDOW] * 5000}])
def test_windows_of_another_form_are_refused(answer: dict[str, object]) -> None:
    with pytest.raises(UnavailableError):
        wire.parse_windows(answer)


@pytest.mark.parametrize("m", [-64, 0, 63, 2**40])
def test_plan_of_an_impossible_shape_is_refused(m: int) -> None:
    with pytest.raises(InvalidInputError):
        wire.parse_plans({"plans": [{"device": 0, "m": m, "n": 64, "steps": 1}]})


def test_epoch_proof_is_read() -> None:
    proof = wire.parse_epoch_proof({"leaf": LEAF, "path": [to_hex(HASH)]})
    assert (proof.leaf.cum_reward_wei, proof.path) == (Wei(5), (Hash32(HASH),))


@pytest.mark.parametrize(
    "leaf",
    [
        None,
        {},
        {**LEAF, "cumRewardWei": 5},
        {**LEAF, "cumRewardWei": "-5"},
        {**LEAF, "cumRewardWei": "5.0"},
        {**LEAF, "cumRewardWei": "٣"},
        {**LEAF, "cumRewardWei": "9" * 39},
        {**LEAF, "cumRewardWei": "9" * 5000},
    ],
)
def test_malformed_leaf_is_an_error_of_the_families(leaf: object) -> None:
    with pytest.raises(UnavailableError):
        wire.parse_epoch_proof({"leaf": leaf, "path": []})
