"""Cheaters before an audit of training; beside each the honest node passes a hundred times, with other nonces.

A cheat in some of the segments is found if one of them is drawn: it fails then always, and otherwise never.
"""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from node.audits.training import Contents, segment_path
from oracle.pipeline.training_auditor import TrainingAuditor
from oracle.store.audits import Audit, AuditFinding
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.training import draw_trained, planned_work
from swarm_chain.core.units import Address, Hash32
from swarm_chain.reference.checkpoint import dump_checkpoint, parse_checkpoint
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, run_segment
from tests.boasts.training import HalfTrainee, extrapolated
from tests.training_world import (
    NODE,
    OTHER,
    RATE,
    TINY,
    claim,
    draw_of,
    found,
    network,
    play,
    trainee,
)

TIMES = 100
WORK = planned_work(TINY, RATE)
Openings = list[dict[str, object]]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Audit, ...]:
    """A hundred audits an honest node answered; all pass."""
    node = trainee(tmp_path_factory.mktemp("honest"))
    audits = tuple(play(node, number) for number in range(TIMES))
    assert [found(one) for one in audits] == [AuditFinding(outcome=Outcome.PASSED, units=RATE)] * TIMES
    return audits


@dataclass(slots=True)
class Lying:
    """Trainers whose runs are made by a liar: from the spec the contents of all checkpoints."""

    lie: Callable[[TrainSpec], Sequence[bytes]]

    def start(self) -> None:
        """Nothing is to be made ready."""

    def train(self, specs: Sequence[TrainSpec], folders: Sequence[Path]) -> list[Contents]:
        return [self._run(spec, folder) for spec, folder in zip(specs, folders, strict=True)]

    def _run(self, spec: TrainSpec, folder: Path) -> Contents:
        folder.mkdir(parents=True)
        contents = self.lie(spec)
        for index, content in enumerate(contents):
            segment_path(folder, index).write_bytes(content)
        return tuple(map(content_hash, contents))


def trained(spec: TrainSpec, start: bytes | None = None) -> list[bytes]:
    """All checkpoints of a run, from another start if one is given."""
    contents = [initial_checkpoint(spec) if start is None else start]
    for index in range(spec.segments):
        contents.append(run_segment(spec, contents[-1], index))
    return contents


def skipped(spec: TrainSpec) -> list[bytes]:
    """Segment 1 is not trained: its end is its start under another number; the rest is trained from there."""
    contents = [initial_checkpoint(spec)]
    for index in range(spec.segments):
        last = contents[-1]
        made = replace(parse_checkpoint(spec, last), index=index + 1, previous=content_hash(last))
        contents.append(dump_checkpoint(made) if index == 1 else run_segment(spec, last, index))
    return contents


def interpolated(spec: TrainSpec) -> list[bytes]:
    """Segment 1 is not trained: its end follows the line through the checkpoints before; the rest is trained from there."""
    contents = [initial_checkpoint(spec)]
    for index in range(spec.segments):
        contents.append(extrapolated(spec, contents) if index == 1 else run_segment(spec, contents[-1], index))
    return contents


@pytest.mark.parametrize(("lie", "times", "least", "most"), [(skipped, 24, 3, 19), (interpolated, 12, 1, 11)])
def test_one_segment_a_run_when_not_trained_then_found_exactly_if_drawn(
    lie: Callable[[TrainSpec], Sequence[bytes]], times: int, least: int, most: int, tmp_path: Path
) -> None:
    cheater = trainee(tmp_path, Lying(lie))
    caught = 0
    for number in range(times):
        played = play(cheater, number)
        drawn = draw_trained(draw_of(number), played.root or Hash32(b""), WORK, TINY.draws)
        touched = any(WORK.place(segment)[1] == 1 for segment in drawn)
        assert found(played).reason == ("false_segment" if touched else "")
        caught += touched

    # Two of eight segments are false and two are drawn: 1 - 6/8 · 5/7 = 46 % are found.
    assert least <= caught <= most


def test_half_of_the_segments_when_not_trained_then_found_exactly_if_drawn(tmp_path: Path) -> None:
    cheater = HalfTrainee(claim(tmp_path))
    for number in range(12):
        played = play(cheater, number)
        drawn = draw_trained(draw_of(number), played.root or Hash32(b""), WORK, TINY.draws)
        assert found(played).reason == ("false_segment" if any(WORK.place(one)[1] % 2 for one in drawn) else "")


def other_seed(spec: TrainSpec) -> list[bytes]:
    """A run of another nonce's data under this run's name: its own chain, the header of this spec."""
    return renamed(spec, trained(replace(spec, seed=spec.seed ^ 1)))


def other_init(spec: TrainSpec) -> list[bytes]:
    """A run from weights that were trained before."""
    start = parse_checkpoint(spec, initial_checkpoint(spec))
    return trained(spec, dump_checkpoint(replace(start, state=start.state + np.float32(0.5))))


def fewer_steps(spec: TrainSpec) -> list[bytes]:
    """Every segment stops halfway, and is handed in as whole."""
    half = replace(spec, steps=spec.steps // 2, segment_steps=spec.segment_steps // 2)
    return renamed(spec, trained(half))


def not_finite(spec: TrainSpec) -> list[bytes]:
    """All numbers are NaN: whatever is trained from them is, too."""
    return [broken(content) for content in trained(spec)]


def infinite(spec: TrainSpec) -> list[bytes]:
    """One number is infinite."""
    return [content[:-4] + np.float32(np.inf).tobytes() for content in trained(spec)]


def short(spec: TrainSpec) -> list[bytes]:
    """Checkpoints of a smaller model."""
    return [content[:-12] for content in trained(spec)]


def renamed(spec: TrainSpec, contents: Sequence[bytes]) -> list[bytes]:
    """Checkpoints of another spec with this one's hash in their headers, chained anew."""
    ours = parse_checkpoint(spec, initial_checkpoint(spec)).spec
    return rechained(content[:8] + ours + content[40:] for content in contents)


def rechained(contents: Iterable[bytes]) -> list[bytes]:
    """The same checkpoints, each with the hash of the one before it."""
    made: list[bytes] = []
    for content in contents:
        previous = content_hash(made[-1]) if made else bytes(32)
        made.append(content[:40] + previous + content[72:])
    return made


def broken(content: bytes) -> bytes:
    """A checkpoint without a single number."""
    return content[:144] + np.full((len(content) - 144) // 4, np.nan, dtype="<f4").tobytes()


@pytest.mark.parametrize(
    ("lie", "reasons"),
    [
        (other_seed, {"wrong_first"}),
        (other_init, {"wrong_first"}),
        (fewer_steps, {"false_segment"}),
        (not_finite, {"invalid_checkpoint"}),
        (infinite, {"invalid_checkpoint"}),
        (short, {"invalid_checkpoint"}),
    ],
)
def test_all_segments_when_another_run_is_handed_in_then_it_always_fails(
    lie: Callable[[TrainSpec], Sequence[bytes]], reasons: set[str], honest: tuple[Audit, ...], tmp_path: Path
) -> None:
    cheater = trainee(tmp_path, Lying(lie))

    assert {found(play(cheater, number)).reason for number in range(5)} == reasons


@pytest.mark.parametrize("thief", [OTHER, NODE])
def test_weights_when_copied_from_another_run_then_they_are_no_checkpoints_of_this_one(
    thief: Address, honest: tuple[Audit, ...]
) -> None:
    for number, one in enumerate(honest):
        other = replace(one, node=thief) if thief == OTHER else replace(honest[number - 1], nonce=one.nonce)
        assert found(other).reason == "invalid_checkpoint"


def test_root_when_another_was_committed_then_openings_do_not_lead_to_it(honest: tuple[Audit, ...]) -> None:
    for number, one in enumerate(honest):
        other = replace(one, root=honest[number - 1].root)
        assert found(other).reason in ("wrong_path", "wrong_segments")
        assert found(replace(one, root=keccak(b"nothing"))).reason in ("wrong_path", "wrong_segments")


def chosen(openings: Openings) -> Openings:
    """The other order."""
    return openings[::-1]


def once(openings: Openings) -> Openings:
    """One of two."""
    return openings[:1]


def twice(openings: Openings) -> Openings:
    """The same one two times."""
    return [openings[0], openings[0]]


def cut(openings: Openings) -> Openings:
    """A path too short."""
    return [{**one, "endPath": as_list(one["endPath"])[:-1]} for one in openings]


def bent(openings: Openings) -> Openings:
    """An end nobody committed to."""
    return [{**one, "end": to_hex(keccak(b"end"))} for one in openings]


def unchained(openings: Openings) -> Openings:
    """A path of the checkpoint before that leads nowhere, or one where there is none."""
    return [{**one, "previousPath": as_list(one["startPath"])} for one in openings]


def unrooted(openings: Openings) -> Openings:
    """A path of the first checkpoint that leads nowhere."""
    return [{**one, "firstPath": as_list(one["endPath"])} for one in openings]


def as_list(value: object) -> list[object]:
    """A path of an opening."""
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        (chosen, {"wrong_segments"}),
        (once, {"wrong_segments"}),
        (twice, {"wrong_segments"}),
        (cut, {"wrong_path"}),
        (bent, {"wrong_path"}),
        (unchained, {"wrong_chain"}),
        (unrooted, {"wrong_first"}),
    ],
)
def test_openings_when_they_do_not_fit_then_it_always_fails(
    change: Callable[[Openings], Openings], reasons: set[str], honest: tuple[Audit, ...]
) -> None:
    changed = [replace(one, openings=canonical_json(change(json.loads(one.openings or b"")))) for one in honest]

    assert {found(one).reason for one in changed} == reasons


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"null",
        b"[1]",
        b"[[]]",
        canonical_json([{"segment": 0}]),
        b'[{"segment": NaN}]',
        b"[" * 2000,
    ],
)
def test_openings_when_junk_then_malformed(junk: bytes, honest: tuple[Audit, ...]) -> None:
    assert found(replace(honest[0], openings=junk)).reason == "malformed"


@pytest.mark.parametrize("start", ["", "AA", "****", None, 7, base64.b64encode(b"x").decode() + "\n"])
def test_start_when_it_is_no_base64_then_malformed(start: object, honest: tuple[Audit, ...]) -> None:
    opened = [{**one, "start": start} for one in json.loads(honest[0].openings or b"")]

    assert found(replace(honest[0], openings=canonical_json(opened))).reason == "malformed"


def test_openings_when_there_are_too_many_then_malformed_before_anything_is_replayed(honest: tuple[Audit, ...]) -> None:
    opened = json.loads(honest[0].openings or b"") * 50
    calls: list[int] = []

    def counting(_spec: bytes, _start: bytes, segment: int) -> Hash32:
        calls.append(segment)
        return keccak(b"")

    auditor = TrainingAuditor(network(), counting)

    assert found(replace(honest[0], openings=canonical_json(opened)), auditor).reason == "malformed"
    assert calls == []


def test_overclaim_when_it_takes_too_long_then_late_and_before_that_it_proves_no_more_than_was_done(
    honest: tuple[Audit, ...],
) -> None:
    for one in honest:
        assert found(replace(one, elapsed_ms=TINY.limit_ms + 1)) == AuditFinding(
            outcome=Outcome.MISSING, reason="too_late"
        )
    assert found(replace(honest[0], elapsed_ms=TINY.limit_ms)).units == 16 * 1000 // TINY.limit_ms
    assert found(replace(honest[0], elapsed_ms=1)).units == RATE, "never above the claim"


@pytest.mark.parametrize(
    ("code", "reason", "tries"), [("other_machine", "other_machine", 1), ("replay_lost", "replay_lost", 2)]
)
def test_replay_when_this_member_cannot_then_nothing_is_proven_and_nobody_failed(
    code: str, reason: str, tries: int, honest: tuple[Audit, ...]
) -> None:
    calls: list[int] = []

    def unable(_spec: bytes, _start: bytes, segment: int) -> Hash32:
        calls.append(segment)
        raise UnavailableError("not here", code=code)

    assert found(honest[0], TrainingAuditor(network(), unable)) == AuditFinding(outcome=Outcome.MISSING, reason=reason)
    assert len(calls) == tries


def test_replay_when_the_member_is_stopping_then_it_judges_later(honest: tuple[Audit, ...]) -> None:
    def stopping(_spec: bytes, _start: bytes, _segment: int) -> Hash32:
        raise UnavailableError("stopping", code="stopping")

    with pytest.raises(UnavailableError):
        found(honest[0], TrainingAuditor(network(), stopping))


def test_replay_when_the_checkpoint_says_another_machine_then_the_member_does_not_compare(tmp_path: Path) -> None:
    def foreign(spec: TrainSpec) -> list[bytes]:
        return rechained(content[:80] + b"another".ljust(64, b"\0") + content[144:] for content in trained(spec))

    assert found(play(trainee(tmp_path, Lying(foreign)), 1)) == AuditFinding(
        outcome=Outcome.MISSING, reason="other_machine"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"elapsed_ms": None}, "other_clock"), ({"openings": None}, "no_proof"), ({"root": None}, "no_proof")],
)
def test_audit_when_something_is_lacking_then_missing(
    changes: dict[str, None], reason: str, honest: tuple[Audit, ...]
) -> None:
    lacking = replace(honest[0], **changes)  # type: ignore[arg-type]

    assert found(lacking) == AuditFinding(outcome=Outcome.MISSING, reason=reason)
