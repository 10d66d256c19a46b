"""Receipts against the chain, and verdicts on replayed segments."""

from dataclasses import replace
from typing import Any

import pytest

from oracle.judge.training import check_receipt, judge_units, paid_seconds
from oracle.model import Mismatch, SignedReceipt
from swarm_chain.core import merkle
from swarm_chain.core.checkpoints import checkpoint_tree
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import JobKind, JobState, Outcome
from swarm_chain.core.model import JobRecord, Receipt
from swarm_chain.core.signing import receipt_digest
from swarm_chain.core.units import Hash32, JobId, Signature, Timestamp, Wei
from tests.oracle_world import DOMAIN, address, sign

CONTENTS = tuple(keccak(b"checkpoint %d" % index) for index in range(5))
RECEIPT = Receipt(
    job_id=JobId(1),
    kind=JobKind.TRAIN,
    node=address("bob"),
    spec_hash=keccak(b"spec"),
    input_digest=CONTENTS[0],
    output_digest=CONTENTS[-1],
    checkpoint_root=merkle.root(checkpoint_tree(CONTENTS)),
    checkpoint_count=5,
    device_seconds=20,
    started_at=Timestamp(100),
    finished_at=Timestamp(120),
    exit_code=0,
)


def _signed(signer: str = "bob", checkpoints: tuple[Hash32, ...] = CONTENTS, **changes: Any) -> SignedReceipt:
    receipt = replace(RECEIPT, **changes)
    return SignedReceipt(
        receipt=receipt, signature=sign(signer, receipt_digest(DOMAIN, receipt)), checkpoints=checkpoints
    )


def _job(signed: SignedReceipt, **changes: Any) -> JobRecord:
    job = JobRecord(
        job_id=JobId(1),
        state=JobState.COMPLETED,
        kind=JobKind.TRAIN,
        customer=address("dave"),
        spec_hash=RECEIPT.spec_hash,
        budget_wei=Wei(10),
        posted_at=Timestamp(90),
        node=address("bob"),
        receipt_digest=receipt_digest(DOMAIN, signed.receipt),
        completed_at=Timestamp(130),
    )
    return replace(job, **changes)


def test_receipt_when_all_fits_then_no_reason() -> None:
    assert check_receipt(_signed(), _job(_signed()), DOMAIN) == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"job_id": JobId(2)}, "wrong_job"),
        ({"node": address("mallory")}, "wrong_job"),
        ({"spec_hash": Hash32(b"\1" * 32)}, "wrong_job"),
        ({"kind": JobKind.SERVE}, "wrong_job"),
        ({"exit_code": 1}, "failed_run"),
        ({"finished_at": Timestamp(99)}, "wrong_times"),
        ({"checkpoint_root": Hash32(b"\1" * 32)}, "wrong_checkpoints"),
        ({"checkpoint_count": 4}, "wrong_checkpoints"),
        ({"input_digest": CONTENTS[1]}, "wrong_checkpoints"),
        ({"output_digest": CONTENTS[3]}, "wrong_checkpoints"),
    ],
)
def test_receipt_when_it_contradicts_the_chain_then_the_reason(changes: dict[str, Any], reason: str) -> None:
    signed = _signed(**changes)

    assert check_receipt(signed, _job(signed), DOMAIN) == reason


def test_receipt_when_changed_after_completion_then_wrong_digest() -> None:
    assert check_receipt(_signed(device_seconds=10**6), _job(_signed()), DOMAIN) == "wrong_digest"


def test_receipt_when_signed_by_another_then_refused() -> None:
    assert check_receipt(_signed("mallory"), _job(_signed()), DOMAIN) == "wrong_signer"


def test_receipt_when_the_signature_is_no_signature_then_refused() -> None:
    broken = replace(_signed(), signature=Signature(bytes(65)))

    assert check_receipt(broken, _job(broken), DOMAIN) == "wrong_signer"


def test_receipt_when_a_checkpoint_was_exchanged_then_refused() -> None:
    forged = _signed(checkpoints=(*CONTENTS[:2], Hash32(b"\1" * 32), *CONTENTS[3:]))

    assert check_receipt(forged, _job(forged), DOMAIN) == "wrong_checkpoints"


def test_receipt_when_it_has_one_checkpoint_then_nothing_can_be_replayed() -> None:
    lonely = _signed(checkpoints=CONTENTS[:1], checkpoint_count=1)

    assert check_receipt(lonely, _job(lonely), DOMAIN) == "wrong_checkpoints"


def test_seconds_when_the_node_boasts_then_held_to_what_the_chain_saw() -> None:
    boast = _signed(device_seconds=10**9)

    assert paid_seconds(_signed(), _job(_signed())) == 20
    assert paid_seconds(boast, _job(boast)) == 40
    assert paid_seconds(boast, _job(boast, completed_at=Timestamp(0))) == 0


RIGHT = {4: CONTENTS[4], 1: CONTENTS[1], 0: CONTENTS[0]}


def test_units_when_all_are_computed_as_committed_then_passed() -> None:
    for has_code in (False, True):
        found = judge_units(JobId(1), (3, 0), CONTENTS, RIGHT, has_code=has_code)

        assert (found.outcome, found.reason, found.mismatch) == (Outcome.PASSED, "", None)


@pytest.mark.parametrize(
    ("drawn", "computed", "reason"),
    [
        ((3, 0), RIGHT | {1: CONTENTS[2]}, "wrong_unit"),
        ((3, 0), {4: CONTENTS[2]}, "wrong_unit"),  # a member stops at the first one
        ((3, 0), RIGHT | {0: CONTENTS[2]}, "wrong_start"),
        ((3, 0), {4: CONTENTS[4], 0: CONTENTS[0]}, "not_computed"),
        ((3, 0), {4: CONTENTS[4], 1: CONTENTS[1]}, "not_computed"),
        ((4,), RIGHT, "not_computed"),
        ((), {0: CONTENTS[0]}, "no_units"),
    ],
)
def test_units_when_one_is_wrong_or_lacking_then_failed(
    drawn: tuple[int, ...], computed: dict[int, Hash32], reason: str
) -> None:
    found = judge_units(JobId(1), drawn, CONTENTS, computed, has_code=False)

    assert (found.outcome, found.reason) == (Outcome.FAILED, reason)


def test_mismatch_when_several_units_are_wrong_then_the_first_in_draw_order_is_named() -> None:
    wrong = RIGHT | {1: CONTENTS[2], 4: CONTENTS[3]}

    assert judge_units(JobId(1), (3, 0), CONTENTS, wrong, has_code=False).mismatch == Mismatch(
        content=4, computed=CONTENTS[3]
    )


def test_mismatch_when_the_customers_code_made_it_or_it_is_the_start_then_nobody_is_accused() -> None:
    by_code = judge_units(JobId(1), (3, 0), CONTENTS, RIGHT | {4: CONTENTS[2]}, has_code=True)
    start = judge_units(JobId(1), (3, 0), CONTENTS, RIGHT | {0: CONTENTS[2]}, has_code=False)

    assert (by_code.outcome, by_code.reason, by_code.mismatch) == (Outcome.FAILED, "not_reproduced", None)
    assert (start.outcome, start.mismatch) == (Outcome.FAILED, None)
