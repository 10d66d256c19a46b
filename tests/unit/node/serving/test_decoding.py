"""Requests of several models in one process: a fault of one ends all that is under way, and nothing is lost on the way."""

import pytest

from node.serving.batches import Batching, TokenRequest
from node.serving.decoder import Decoder
from node.serving.decoding import Asked, Decoding, Told
from swarm_chain.reference.programs.tokens import ModelWork, seed_hash
from tests.serve_world import FIRST, SECOND, SIZES, given


def asked(number: int, seed: int) -> Asked:
    return Asked(number=number, request=TokenRequest(model=seed_hash(seed), prompt=(1,), tokens=1))


def test_request_when_it_ends_as_another_model_fails_then_it_has_its_answer_and_the_others_the_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side, bursts, real = Decoding(ModelWork(**SIZES), Batching(max_batch_size=2)), [], Decoder.burst

    def second_fails(self: Decoder[int], until: float, apart_s: float) -> list[tuple[int, list[int]]]:
        bursts.append(self)
        if len(bursts) == 2:
            raise RuntimeError("out of memory")
        return real(self, until, apart_s)

    monkeypatch.setattr(Decoder, "burst", second_fails)
    for message in (asked(1, FIRST), asked(2, SECOND), asked(3, FIRST)):
        side.take(message)
    told = side.burst()

    fault = "RuntimeError: out of memory"
    assert told[0] == Told(number=1, numbers=list(given(FIRST, (1,), 1)))
    assert sorted(told[1:], key=lambda one: one.number) == [Told(number=2, fault=fault), Told(number=3, fault=fault)]
    assert not side
