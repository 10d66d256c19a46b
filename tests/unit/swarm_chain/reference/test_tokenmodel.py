"""The reference model of serving: known answers, and nothing that could be left out without changing them."""

from dataclasses import replace

import numpy as np
import pytest

from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.probing import prompt_of
from swarm_chain.core.rowchain import top_byte
from swarm_chain.core.serving import tokens_digest
from swarm_chain.params import load_params
from swarm_chain.reference.tokenmodel import TokenModel, answers, build_model

PARAMS = load_params("minimal").serving
SEED = keccak(b"seed")
MODEL = build_model(PARAMS, SEED)
PROMPTS = [prompt_of(SEED, number, PARAMS) for number in range(12)]


def plain_answer(model: TokenModel, prompt: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The same tokens by Python's integers, a token at a time."""
    states = [[0] * model.embedding.shape[1] for _ in model.layers]
    told: list[int] = []
    layers = [np.asarray(weights).astype(int).tolist() for weights in model.layers]
    head = np.asarray(model.head).astype(int).tolist()
    for place in range(len(prompt) + count - 1):
        token = prompt[place] if place < len(prompt) else told[-1]
        below = model.embedding[token].tolist()
        for number, weights in enumerate(layers):
            both = states[number] + below
            sums = [sum(x * row[j] for x, row in zip(both, weights, strict=True)) for j in range(len(below))]
            below = states[number] = top_byte(np.array([sums], dtype=np.int32))[0].tolist()
        if place >= len(prompt) - 1:
            logits = [sum(x * row[j] for x, row in zip(below, head, strict=True)) for j in range(model.vocabulary)]
            told.append(logits.index(max(logits)))
    return tuple(told)


def test_model_when_known_then_the_known_answers() -> None:
    told = answers(MODEL, PROMPTS, PARAMS.answer_tokens)

    assert keccak(b"".join(map(tokens_digest, told))).hex()[:16] == "b3d70869b62c32f3"


def test_model_of_mainnet_when_known_then_the_known_answers() -> None:
    params = load_params("mainnet").serving
    told = answers(build_model(params, SEED), [prompt_of(SEED, 0, params)], params.answer_tokens)

    assert tokens_digest(told[0]).hex()[:16] == "cf2a75defb0778aa"


def test_answers_when_made_by_plain_integers_then_the_same() -> None:
    assert answers(MODEL, PROMPTS[:2], 3) == tuple(plain_answer(MODEL, prompt, 3) for prompt in PROMPTS[:2])


def test_answers_when_batched_with_others_of_any_length_then_as_alone() -> None:
    mixed = [prompt[: 1 + number % 8] for number, prompt in enumerate(PROMPTS)]

    assert answers(MODEL, mixed, 5) == tuple(answers(MODEL, [prompt], 5)[0] for prompt in mixed)


def test_answers_when_one_token_of_a_prompt_changes_then_all_that_follows() -> None:
    changed = [(prompt[0] ^ 1, *prompt[1:]) for prompt in PROMPTS]
    pairs = zip(answers(MODEL, PROMPTS, 8), answers(MODEL, changed, 8), strict=True)

    assert all(one != other for one, other in pairs)


def test_answers_when_a_layer_is_left_out_or_the_seed_is_anothers_then_others() -> None:
    right = answers(MODEL, PROMPTS, 8)
    shorter = answers(replace(MODEL, layers=MODEL.layers[:1]), PROMPTS, 8)
    another = answers(build_model(PARAMS, keccak(b"another epoch")), PROMPTS, 8)

    assert all(len({*told}) == 3 for told in zip(right, shorter, another, strict=True))


def test_answers_when_logits_are_equal_then_the_lowest_token() -> None:
    even = replace(MODEL, head=np.zeros_like(MODEL.head))

    assert answers(even, PROMPTS[:2], 2) == ((0, 0), (0, 0))


@pytest.mark.parametrize("prompts", [[], [()], [(0,), ()], [(256,)], [(-1,)]])
def test_prompt_when_empty_or_of_unknown_tokens_then_refused(prompts: list[tuple[int, ...]]) -> None:
    if not prompts:
        assert answers(MODEL, prompts, 1) == ()
        return
    with pytest.raises(InvalidInputError) as caught:
        answers(MODEL, prompts, 1)

    assert caught.value.code == "bad_prompt"
