"""The judge passes a node that holds its blocks, with integers that never flatter, and says why another one fails."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from oracle.judge.storage import StorageCase, StorageVerdict, judge_storage
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import StorageAnswer, answer_to, block, volume_key
from swarm_chain.core.units import Hash32
from tests.storage_world import (
    BLOCKS,
    ELAPSED_MS,
    KEY,
    MALLORY,
    MEMBER,
    PARAMS,
    SECRET,
    VOLUME,
    audit_of,
    case_of,
    held,
    misremembering,
    passes,
)

HELD = held()
HONEST = case_of(HELD.__getitem__)


def answered(**changes: Any) -> StorageCase:
    """The honest case with something of its answer replaced."""
    assert HONEST.answer is not None
    return replace(HONEST, answer=replace(HONEST.answer, **changes))


def reason_of(case: StorageCase) -> str:
    """Why the judge fails a case; a failed one has measured nothing."""
    verdict = judge_storage(case)
    assert verdict.outcome is Outcome.FAILED
    assert (verdict.mb, verdict.iops, verdict.read_us) == (0, 0, 0)
    return verdict.reason


def test_honest_node_passes_with_what_was_measured() -> None:
    assert judge_storage(HONEST) == StorageVerdict(
        audit=HONEST.audit, outcome=Outcome.PASSED, elapsed_ms=ELAPSED_MS, mb=0, iops=3200, read_us=313
    )


def test_honest_node_passes_a_hundred_times_in_a_row() -> None:
    assert passes(case_of(HELD.__getitem__, audit_of(number)) for number in range(100)) == 100


def test_proven_mb_are_those_of_the_audited_blocks() -> None:
    large = audit_of(blocks=500_000, reads=4)

    verdict = judge_storage(case_of(lambda index: block(KEY, index), large))

    assert (verdict.outcome, verdict.mb) == (Outcome.PASSED, 2048)


def test_node_that_did_not_answer_is_missing() -> None:
    verdict = judge_storage(replace(HONEST, answer=None, elapsed_ms=0))

    assert (verdict.outcome, verdict.reason, verdict.mb) == (Outcome.MISSING, "no_answer", 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"volume": replace(VOLUME, node=MALLORY)}, "wrong_node"),
        ({"volume": replace(VOLUME, index=1)}, "wrong_volume"),
        ({"volume": replace(VOLUME, member=MALLORY)}, "wrong_volume"),
        ({"volume": replace(VOLUME, chain_id=1)}, "wrong_volume"),
        ({"blocks": BLOCKS + 1}, "wrong_blocks"),
        ({"blocks": BLOCKS - 1}, "wrong_blocks"),
        ({"nonce": keccak(b"older")}, "wrong_nonce"),
        ({"digest": keccak(b"guess")}, "wrong_digest"),
    ],
    ids=str,
)
def test_answer_to_something_else_fails_and_says_what(change: dict[str, Any], reason: str) -> None:
    assert reason_of(answered(**change)) == reason


@pytest.mark.parametrize(
    "change",
    [
        {"digest": None},
        {"digest": b""},
        {"digest": bytes(31)},
        {"digest": "a" * 32},
        {"digest": 2**256},
        {"digest": bytearray(32)},
        {"volume": None},
        {"volume": "volume"},
        {"volume": 2**64},
        {"blocks": None},
        {"blocks": float("nan")},
        {"blocks": 2**300},
        {"nonce": None},
        {"nonce": [1] * 32},
    ],
    ids=str,
)
def test_malformed_answer_fails(change: dict[str, Any]) -> None:
    assert reason_of(answered(**change)) in {"malformed", "wrong_volume", "wrong_blocks", "wrong_nonce"}


@pytest.mark.parametrize("answer", [5, "answer", {}, b"x", [None]], ids=str)
def test_answer_of_a_wrong_kind_fails(answer: Any) -> None:
    assert reason_of(replace(HONEST, answer=answer)) == "malformed"


def test_answer_at_the_deadline_passes_and_a_millisecond_later_fails() -> None:
    last = PARAMS.limit_ms

    assert judge_storage(replace(HONEST, elapsed_ms=last)).outcome is Outcome.PASSED
    assert reason_of(replace(HONEST, elapsed_ms=last + 1)) == "late"


def test_node_that_fetches_every_block_from_afar_is_late() -> None:
    # 3 ms to the other place and back for each read: no read can be asked for before the one ahead of it is there.
    assert reason_of(replace(HONEST, elapsed_ms=ELAPSED_MS + 3 * PARAMS.reads + PARAMS.answer_ms)) == "late"


def test_answer_to_an_older_audit_is_refused_under_its_own_name_and_under_the_new_one() -> None:
    older = answer_to(audit_of(1), HELD.__getitem__)

    assert reason_of(replace(HONEST, answer=older)) == "wrong_nonce"
    assert reason_of(replace(HONEST, answer=replace(older, nonce=HONEST.audit.nonce))) == "wrong_digest"


def test_node_without_the_key_cannot_generate_the_blocks() -> None:
    guess = held(volume_key(keccak(b"public seed"), VOLUME))

    assert passes(case_of(guess.__getitem__, audit_of(number, reads=1)) for number in range(100)) == 0


def test_node_that_kept_half_passes_as_often_as_chance_says() -> None:
    half = misremembering({index: content for index, content in HELD.items() if index % 2})

    # Four reads: (1/2)^4 of 800 audits, that is 50, standard deviation 7; nonces are fixed.
    assert 25 <= passes(case_of(half, audit_of(number, reads=4)) for number in range(800)) <= 75
    assert passes(case_of(half, audit_of(number)) for number in range(100)) == 0


def test_node_that_dropped_one_block_of_forty_passes_as_often_as_chance_says() -> None:
    most = misremembering({index: content for index, content in HELD.items() if index})

    # 32 reads: (39/40)^32 = 44 % of 200 audits, that is 89, standard deviation 7.
    assert 54 <= passes(case_of(most, audit_of(number)) for number in range(200)) <= 124


def test_two_nodes_cannot_share_one_copy() -> None:
    other = replace(VOLUME, node=MALLORY)
    key = volume_key(SECRET, other)

    shared = case_of(HELD.__getitem__, audit_of(volume=other), key)
    own = case_of(held(key).__getitem__, audit_of(volume=other), key)

    assert reason_of(shared) == "wrong_digest"
    assert judge_storage(own).outcome is Outcome.PASSED


def test_node_with_one_changed_byte_in_every_block_fails() -> None:
    rotten = {index: content[:-1] + bytes([content[-1] ^ 1]) for index, content in HELD.items()}

    assert passes(case_of(rotten.__getitem__, audit_of(number, reads=1)) for number in range(100)) == 0


def test_node_that_keeps_digests_instead_of_blocks_fails() -> None:
    digests = {index: keccak(content) for index, content in HELD.items()}

    assert reason_of(case_of(lambda index: digests[index] * 128)) == "wrong_digest"


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: replace(HONEST, uploaded=BLOCKS - 1),
        lambda: replace(HONEST, elapsed_ms=0),
        lambda: replace(HONEST, params=replace(PARAMS, reads=1)),
        lambda: replace(HONEST, key=volume_key(SECRET, replace(VOLUME, member=MALLORY))),
        lambda: replace(HONEST, audit=audit_of(volume=replace(VOLUME, node=MEMBER))),
    ],
)
def test_mistake_of_the_member_itself_is_an_error_and_not_a_verdict(mistake: Callable[[], StorageCase]) -> None:
    with pytest.raises(InvalidInputError):
        mistake()


def test_every_bit_of_the_digest_counts() -> None:
    assert isinstance(HONEST.answer, StorageAnswer)
    right = int.from_bytes(HONEST.answer.digest, "big")
    flipped = (answered(digest=Hash32((right ^ 1 << bit).to_bytes(32, "big"))) for bit in range(256))

    assert passes(flipped) == 0
