"""Recomputes drawn answers of a probe with the reference model, and every one that is shorter or longer than asked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from swarm_chain.core.probing import ProbeSample, drawn_answers, prompt_of
from swarm_chain.core.serving import ServingParams, tokens_digest
from swarm_chain.core.units import Hash32
from swarm_chain.reference.tokenmodel import TokenModel, answers, build_model


def rescored(
    samples: Sequence[ProbeSample],
    tokens: Sequence[tuple[int, ...]],
    params: ServingParams,
    model: Hash32,
    seed: Hash32,
) -> tuple[ProbeSample, ...]:
    """Give samples their digests, and the drawn ones the digest of the right answer.

    Args:
        samples: of one rung, in order of their numbers.
        tokens: what came, one entry a sample.
        params: sizes of model and requests, and how many are drawn.
        model: seed of the weights.
        seed: of the rung: prompts and draw follow from it.
    """
    answered = [number for number, one in enumerate(samples) if not one.error]
    drawn = set(drawn_answers(seed, answered, params.draws))
    drawn |= {number for number in answered if len(tokens[number]) != params.answer_tokens}
    wanted = sorted(drawn)
    right = answers(_model(params, model), [prompt_of(seed, one, params) for one in wanted], params.answer_tokens)
    expected = dict(zip(wanted, map(tokens_digest, right), strict=True))
    return tuple(
        one if one.error else replace(one, digest=tokens_digest(tokens[number]), expected=expected.get(number))
        for number, one in enumerate(samples)
    )


@lru_cache(maxsize=2)  # of this epoch and the one before
def _model(params: ServingParams, seed: Hash32) -> TokenModel:
    return build_model(params, seed)
