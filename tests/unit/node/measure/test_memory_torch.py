"""Torch's prover of the memory set gives the numpy prover's bytes, on any device; here on the CPU."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sha3 import keccak_256

from node.audits.memory import HeldMemory, MemoryClaim
from node.measure.memory import answer, hold
from node.measure.memory_torch import DeviceDataset, hold_on
from node.ports import AuditQuestion
from oracle.judge.memory import judge_memory
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import lanes_tree
from swarm_chain.core.rowchain import splitmix64
from swarm_chain.params import load_params
from swarm_chain.reference.keccak_torch import keccak_words, tree_of_results
from swarm_chain.reference.splitmix_torch import words_of
from tests.memory_world import CHALLENGE, EPOCH, NODE, SHAPE, cache_of, case_of

PLACE = "cpu"
LANES = (0, 1, SHAPE.lanes - 1)


def dataset() -> DeviceDataset:
    """The honest one."""
    return hold_on(PLACE, cache_of(), EPOCH, NODE, 0, SHAPE)


def test_words_when_compared_with_numpy_then_the_same() -> None:
    index = np.array([0, 1, 2**40, 2**63 - 1], dtype=np.uint64)

    made = words_of(2**64 - 3, torch.from_numpy(index.view(np.int64).copy()))

    assert made.numpy().view(np.uint64).tolist() == splitmix64(2**64 - 3, index).tolist()


@pytest.mark.parametrize("words", [1, 4, 8, 15])
def test_keccak_when_compared_with_the_library_then_the_same(words: int) -> None:
    messages = np.random.default_rng(words).integers(-(2**63), 2**63 - 1, (7, words), dtype=np.int64)

    digests = torch.stack(keccak_words(list(torch.from_numpy(messages).unbind(1))), dim=1)

    assert [row.tobytes() for row in digests.numpy()] == [keccak_256(row.tobytes()).digest() for row in messages]


@pytest.mark.parametrize("lanes", [1, 2, 64])
def test_tree_when_compared_with_the_core_then_the_same_bytes(lanes: int) -> None:
    results = np.random.default_rng(lanes).integers(-(2**63), 2**63 - 1, (lanes, 4), dtype=np.int64)

    assert tree_of_results(torch.from_numpy(results)).numpy().tobytes() == lanes_tree(results.tobytes())


def test_dataset_when_compared_with_numpy_then_the_same_items() -> None:
    assert dataset().items.numpy().tobytes() == hold(cache_of(), EPOCH, NODE, 0, SHAPE).items.tobytes()


def test_answer_when_asked_again_and_again_then_numpys_and_the_judge_passes_it() -> None:
    ours, theirs = dataset(), hold(cache_of(), EPOCH, NODE, 0, SHAPE)
    for number in range(10):  # 32 lanes each
        asked = replace(CHALLENGE, nonce=keccak(b"nonce %d" % number))
        assert ours.answer(asked, LANES) == answer(asked, theirs, LANES)

    (verdict,) = judge_memory(cache_of(), [case_of(ours.answer(CHALLENGE, LANES))])
    assert verdict.outcome is Outcome.PASSED


def test_answer_when_a_bit_of_the_memory_changed_then_it_is_not_committed() -> None:
    broken = dataset()
    broken.items.bitwise_xor_(1)

    with pytest.raises(InconsistentError) as caught:
        broken.answer(CHALLENGE, LANES)

    assert caught.value.code == "memory_differs"


def test_answer_when_asked_about_another_device_then_refused() -> None:
    with pytest.raises(InvalidInputError):
        dataset().answer(replace(CHALLENGE, device=1), LANES)


def test_held_memory_when_on_a_device_of_torch_then_answers_as_on_numpy() -> None:
    params = load_params("minimal").memory
    claim = MemoryClaim(chain_id=1, beacon=NODE, node=NODE, claim_mib=params.least_mib, params=params)
    question = AuditQuestion(audit_id=keccak(b"a"), member=NODE, device=0, claim=2, nonce=keccak(b"n"))
    roots = []
    for held in (HeldMemory(claim), HeldMemory(claim, lambda *made: hold_on(PLACE, *made))):
        held.prepare(EPOCH.epoch, EPOCH.epoch_seed, 0)
        roots.append((held.answer(question), held.openings(question, keccak(b"draw"))))

    assert roots[0] == roots[1]
