"""The reference model of serving: a small recurrent network over tokens in exact integers, evaluated in batches.

    token --E--> e (d)      layer l:  h_l = top_byte([h_l ‖ below] · W_l)      below: e, then h_0, h_1, …
    logits = h_last · V (v)      next token = argmax, the lowest index of equals

All entries are bytes of the counter-mode generator, all products are exact and each step scatters its sums as the row chain
does: nothing short of doing the steps gives the tokens, and every machine gives the same ones.
Source: docs/spec/serving.md "The model".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.rowchain import Int8Matrix, input_rows, top_byte, weight_columns
from swarm_chain.core.units import Hash32

Tokens = NDArray[np.int64]
_EMBEDDING, _HEAD, _LAYER = 0, 1, 2  # numbers of the matrices; layer l has _LAYER + l


class ModelSizes(Protocol):
    """How large a model is: width d, a multiple of 8 up to 1024, layers, and tokens v of its vocabulary."""

    @property
    def width(self) -> int: ...

    @property
    def layers(self) -> int: ...

    @property
    def vocabulary(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenModel:
    """Weights of one epoch. float32 holds small integers exactly and multiplies them fastest."""

    seed: Hash32
    embedding: Int8Matrix  # (v, d) int8
    layers: tuple[NDArray[np.float32], ...]  # (2d, d), integers in [-64, 63]
    head: NDArray[np.float32]  # (d, v), integers in [-64, 63]

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return len(self.embedding)


def build_model(params: ModelSizes, seed: Hash32) -> TokenModel:
    """Generate the weights of a seed.

    Args:
        params: width d, layers and vocabulary v.
        seed: what `model_seed` gave.

    Returns:
        About d · (v + 2d · layers + 4v) bytes of weights, most of them as float32.
    """
    width, vocabulary = params.width, params.vocabulary
    every = np.arange(vocabulary, dtype=np.int64)
    columns = np.arange(width, dtype=np.int64)
    layers = (weight_columns(_seed64(seed, _LAYER + layer), columns, 2 * width) for layer in range(params.layers))
    return TokenModel(
        seed=seed,
        embedding=input_rows(_seed64(seed, _EMBEDDING), every, width),
        layers=tuple(np.ascontiguousarray(columns_first.T, dtype=np.float32) for columns_first in layers),
        head=np.ascontiguousarray(weight_columns(_seed64(seed, _HEAD), every, width).T, dtype=np.float32),
    )


def decode(model: TokenModel, prompts: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Continue several prompts at once, a token of each at a time, without end.

    Args:
        model: the weights.
        prompts: token ids in [0, vocabulary), each prompt at least one, of any lengths.

    Returns:
        An iterator of the next token of every prompt, in their order.

    Raises:
        InvalidInputError: there is no prompt, an empty one, or a token out of range.
    """
    states = _read(model, prompts)
    while True:
        logits = states[-1].astype(np.float32) @ model.head  # (b, v), exact
        tokens: Tokens = np.argmax(logits, axis=1)  # the first of equals
        yield tuple(tokens.tolist())
        states = _advance(model, states, tokens)


def answers(model: TokenModel, prompts: Sequence[Sequence[int]], count: int) -> tuple[tuple[int, ...], ...]:
    """Give the first `count` tokens of every prompt; arguments and errors are those of `decode`."""
    if not prompts:
        return ()
    return tuple(zip(*islice(decode(model, prompts), count), strict=True))


def embeddings(model: TokenModel, prompts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Give the state of the last layer after every prompt was read: d integers in [-128, 127] each.

    Arguments and errors are those of `decode`, but no prompt gives no embedding.
    """
    return tuple(map(tuple, _read(model, prompts)[-1].tolist())) if prompts else ()


def require_prompts(vocabulary: int, prompts: Sequence[Sequence[int]]) -> None:
    """Refuse what no model of a vocabulary can read.

    Raises:
        InvalidInputError: there is no prompt, an empty one, or a token out of range.
    """
    good = all(prompt and min(prompt) >= 0 and max(prompt) < vocabulary for prompt in prompts)
    if not prompts or not good:
        raise InvalidInputError(
            "a prompt is empty, or has a token that does not exist",
            code="bad_prompt",
            fix=f"use token ids from 0 to {vocabulary - 1}",
        )


def _read(model: TokenModel, prompts: Sequence[Sequence[int]]) -> list[Int8Matrix]:
    require_prompts(model.vocabulary, prompts)
    lengths = np.array([len(prompt) for prompt in prompts])
    padded = np.zeros((len(prompts), int(lengths.max())), dtype=np.int64)  # (b, longest)
    for row, prompt in enumerate(prompts):
        padded[row, : len(prompt)] = prompt
    states = [np.zeros((len(prompts), model.embedding.shape[1]), dtype=np.int8) for _ in model.layers]
    for place in range(padded.shape[1]):
        reading = np.flatnonzero(lengths > place)  # shorter prompts wait as they are
        for state, moved in zip(
            states, _advance(model, [state[reading] for state in states], padded[reading, place]), strict=True
        ):
            state[reading] = moved
    return states


def _advance(model: TokenModel, states: Sequence[Int8Matrix], tokens: Tokens) -> list[Int8Matrix]:
    below, moved = model.embedding[tokens], []
    for state, weights in zip(states, model.layers, strict=True):
        both = np.concatenate((state, below), axis=1).astype(np.float32)  # (b, 2d)
        below = top_byte((both @ weights).astype(np.int32))  # (b, d) int8
        moved.append(below)
    return moved


def _seed64(seed: Hash32, matrix: int) -> int:
    return int.from_bytes(keccak(words(seed, matrix))[:8], "big")
