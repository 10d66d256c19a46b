"""A log is followed to its end, whatever happens to the gateway in between, and no longer."""

from collections.abc import Iterator

import pytest

from swarm_chain.client.logs import PATIENCE_MS, follow_log, read_log_now
from swarm_chain.client.model import LogPiece
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import JobState
from swarm_chain.testing import FakeClock


class Said:
    """A gateway that answers in turn with these pieces or errors; at last with what comes last."""

    def __init__(self, *turns: tuple[str, bool] | SwarmError) -> None:
        self.turns, self.asked = list(turns), list[int]()

    def __call__(self, offset: int) -> LogPiece:
        self.asked.append(offset)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, SwarmError):
            raise turn
        text, ended = turn
        return LogPiece(offset=offset, next=offset + len(text), text=text, ended=ended)


def _texts(pieces: Iterator[LogPiece]) -> list[str]:
    return [piece.text for piece in pieces]


def _running() -> JobState:
    return JobState.ACCEPTED


def test_log_when_followed_then_ends_with_the_log() -> None:
    said = Said(("one\n", False), ("", False), UnavailableError("away"), ("two\n", False), ("", True))

    assert _texts(follow_log(said, _running, FakeClock(), None)) == ["one\n", "two\n"]
    assert said.asked == [0, 4, 4, 4, 8]


def test_log_when_followed_and_the_job_is_over_then_ends_though_the_gateway_never_says_so() -> None:
    states = [JobState.ACCEPTED, JobState.ACCEPTED, JobState.REFUNDED]
    said = Said(("one\n", False), ("", False), ("last\n", False), ("", False))

    texts = _texts(follow_log(said, lambda: states.pop(0) if len(states) > 1 else states[0], FakeClock(), None))

    assert texts == ["one\n", "last\n"]


def test_log_when_not_followed_then_ends_with_what_is_there() -> None:
    assert _texts(read_log_now(Said(("one\n", False), ("two\n", False), ("", False)))) == [
        "one\n",
        "two\n",
    ]


def test_log_when_the_job_is_not_seen_yet_then_followers_wait_and_others_are_told() -> None:
    unknown = InvalidInputError("unknown", code="unknown_job")

    assert _texts(follow_log(Said(unknown, unknown, ("one\n", True)), _running, FakeClock(), None)) == ["one\n"]
    with pytest.raises(InvalidInputError):
        _texts(read_log_now(Said(unknown)))


def test_log_when_refused_then_following_ends_at_once() -> None:
    said = Said(InvalidInputError("not yours", code="wrong_signer"))

    with pytest.raises(InvalidInputError, match="not yours"):
        _texts(follow_log(said, _running, FakeClock(), None))
    assert said.asked == [0]


def test_log_when_the_gateway_stays_away_then_following_fails_after_its_patience() -> None:
    clock = FakeClock()
    begun = clock.monotonic_ms()

    with pytest.raises(UnavailableError):
        _texts(follow_log(Said(("one\n", False), UnavailableError("away")), _running, clock, None))
    assert PATIENCE_MS < clock.monotonic_ms() - begun < 2 * PATIENCE_MS


def test_log_when_the_job_is_over_and_the_gateway_away_then_fails_at_once() -> None:
    with pytest.raises(UnavailableError):
        _texts(follow_log(Said(UnavailableError("away")), lambda: JobState.PAID, FakeClock(), None))


def test_log_when_followed_for_so_long_then_ends_though_nothing_does() -> None:
    clock = FakeClock()
    begun = clock.monotonic_ms()

    assert _texts(follow_log(Said(("one\n", False), ("", False)), _running, clock, 5)) == ["one\n"]
    assert 5_000 <= clock.monotonic_ms() - begun <= 7_000
