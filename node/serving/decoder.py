"""Requests of one model, decoded side by side: each joins when it comes, and leaves when it has what it asked for.

    join --> reads: a token of its text a step --> writes: its own last token a step --> leaves, those behind it move up

Rows never mix, so who is beside a request changes nothing in its answer. Source: docs/spec/serving.md "The model".
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from node.serving.products import Products
from swarm_chain.core.rowchain import Int8Matrix, top_byte
from swarm_chain.core.serving import MAX_CONTEXT
from swarm_chain.reference.tokenmodel import TokenModel

Numbers = NDArray[np.int64]
Owner = TypeVar("Owner")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row(Generic[Owner]):
    """A request: the text it reads, and the token after that, from which on it writes."""

    owner: Owner
    text: Numbers
    last: int


class Decoder(Generic[Owner]):
    """Rows of requests and their states.

    Args:
        model: the weights.
        products: of its matrices.
        most: rows there is room for.
    """

    def __init__(self, model: TokenModel, products: Products, most: int) -> None:
        self._embedding, self._products = model.embedding, products
        self._width = model.embedding.shape[1]
        # A layer's input, [state ‖ below], stays in place: what a step gives is written into this layer's and the next one's.
        self._both = [np.zeros((most, 2 * self._width), dtype=np.int8) for _ in model.layers]
        self._rows: list[_Row[Owner]] = []
        self._inputs, self._unread, self._lacking, self._untold = (np.zeros(most, dtype=np.int64) for _ in range(4))
        self._written = np.zeros((most, MAX_CONTEXT), dtype=np.int32)  # the first `untold` of a row's are for its owner
        self._due = np.zeros(most)

    def __len__(self) -> int:
        return len(self._rows)

    def owners(self) -> list[Owner]:
        """Whose requests are under way."""
        return [row.owner for row in self._rows]

    def join(self, owner: Owner, prompt: Sequence[int], tokens: int, due: float) -> None:
        """Begins a request; there must be room for it.

        Args:
            owner: comes back with what was made for it.
            prompt: tokens that exist, at least one.
            tokens: how many to write; with 0 the state after the prompt is what was asked for.
            due: nothing is told before this time, unless it is all.
        """
        place, text = len(self._rows), np.array(prompt[:-1] if tokens else prompt, dtype=np.int64)
        self._rows.append(_Row(owner=owner, text=text, last=prompt[-1]))
        self._inputs[place], self._unread[place], self._lacking[place] = prompt[-1], len(text), tokens
        self._untold[place], self._due[place] = 0, due
        for both in self._both:
            both[place] = 0

    def drop(self, owner: Owner) -> None:
        """Forgets a request that nobody waits for any more."""
        self._keep([place for place, row in enumerate(self._rows) if row.owner != owner])

    def burst(self, until: float, apart_s: float) -> list[tuple[Owner, list[int]]]:
        """Makes steps until a request ends, begins to write or is told something, or time is over; at least one.

        Args:
            until: when it is over; times are time.perf_counter's.
            apart_s: who was told something now is told more so much later.

        Returns:
            What was made since they were told last, for those who are due or have it all: tokens, or the state.
        """
        count = len(self)
        unread, lacking, untold, due = (part[:count] for part in (self._unread, self._lacking, self._untold, self._due))
        readers, writers = np.flatnonzero(unread), np.flatnonzero(unread == 0)
        steps = self._steps(readers, writers, until)
        unread[readers] -= steps
        lacking[writers] -= steps
        for place in readers[unread[readers] == 0]:
            self._inputs[place] = self._rows[place].last
        now, ended = time.perf_counter(), unread + lacking == 0
        telling = np.flatnonzero(ended | ((untold > 0) & (due <= now)))
        told = [(self._rows[place].owner, self._told(place)) for place in telling.tolist()]
        untold[telling], due[telling] = 0, now + apart_s
        if ended.any():
            self._keep(np.flatnonzero(~ended).tolist())
        return told

    def _steps(self, readers: Numbers, writers: Numbers, until: float) -> int:
        """Makes steps in which everybody goes on with what they do, and counts them."""
        inputs, everybody = self._inputs[: len(self)], len(writers) == len(self)
        texts = self._texts(readers, self._most_steps(readers, writers))
        for step, read in enumerate(texts, start=1):
            inputs[readers] = read
            top = self._advance(inputs)
            if len(writers):
                scores = self._products.times(top if everybody else top[writers], len(self._both))
                inputs[writers] = np.argmax(scores, axis=1)  # the first of equals
                self._written[writers, self._untold[writers]] = inputs[writers]
                self._untold[writers] += 1
            if time.perf_counter() >= until:
                return step
        return len(texts)

    def _most_steps(self, readers: Numbers, writers: Numbers) -> int:
        if (self._due[writers] <= time.perf_counter()).any():
            return 1  # somebody waits for a token
        return int(np.concatenate((self._unread[readers], self._lacking[writers])).min())

    def _texts(self, readers: Numbers, steps: int) -> Numbers:
        """What readers read, (steps, readers)."""
        texts = np.empty((steps, len(readers)), dtype=np.int64)
        for column, place in enumerate(readers):
            text = self._rows[place].text
            at = len(text) - self._unread[place]
            texts[:, column] = text[at : at + steps]
        return texts

    def _advance(self, inputs: Numbers) -> Int8Matrix:
        count, below = len(inputs), self._embedding[inputs]
        for layer, both in enumerate(self._both):
            both[:count, self._width :] = below
            below = top_byte(self._products.times(both[:count], layer))  # (count, width)
            both[:count, : self._width] = below
        return below

    def _told(self, place: int) -> list[int]:
        """Tokens a row was not told yet, or its state where it only reads."""
        untold: int = self._untold[place]
        told: list[int] = (self._written[place, :untold] if untold else self._both[-1][place, : self._width]).tolist()
        return told

    def _keep(self, places: list[int]) -> None:
        kept = (*self._both, self._inputs, self._unread, self._lacking, self._untold, self._due)
        for part in kept:
            part[: len(places)] = part[places]
        longest = int(self._untold[: len(places)].max(initial=0))
        self._written[: len(places), :longest] = self._written[places, :longest]
        self._rows = [self._rows[place] for place in places]
