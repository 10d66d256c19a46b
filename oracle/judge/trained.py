"""Judgement of an audit of training: drawn segments lie in the committed tree, in their chain, and were replayed.

    openings --check_openings--> "" --(replay each drawn segment elsewhere)--> judge_trained --> passed | failed

Hashes and counts only; who replays and how long it takes is not the judge's business. Source: docs/spec/training.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_chain.core.checkpoints import opens_checkpoint
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.training import TrainingParams, TrainingWork, draw_trained, planned_work, proven_rate
from swarm_chain.core.units import ZERO_HASH, Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSegment:
    """A drawn segment. `start` and `end` are content hashes, `previous` what the start names as the one before it.

    `first` is the content hash the run's checkpoint 0 must have. Paths lead from the leaves of the run's checkpoint 0,
    of the one before the start (none for segment 0 of a run), of the start and of the end to the root.
    """

    segment: int
    first: Hash32
    previous: Hash32
    start: Hash32
    end: Hash32
    first_path: tuple[Hash32, ...]
    previous_path: tuple[Hash32, ...]
    start_path: tuple[Hash32, ...]
    end_path: tuple[Hash32, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCase:
    """An answer and what was opened of it."""

    params: TrainingParams
    claim: int
    draw: Hash32
    root: Hash32
    elapsed_ms: int
    opened: tuple[OpenedSegment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingVerdict:
    """What an answer is worth: samples/s proven, or a stable reason why none."""

    outcome: Outcome
    reason: str = ""
    rate: int = 0


def check_openings(case: TrainingCase) -> str:
    """Compare openings with what was drawn and committed, before anything is replayed.

    Returns:
        "" if all fits, else a stable reason: wrong_segments, wrong_path, wrong_first or wrong_chain.
    """
    work = planned_work(case.params, case.claim)
    drawn = draw_trained(case.draw, case.root, work, case.params.draws)
    if tuple(one.segment for one in case.opened) != drawn:
        return "wrong_segments"
    return next((reason for one in case.opened if (reason := _fault(case.root, work, one))), "")


def judge_trained(case: TrainingCase, replayed: Mapping[int, Hash32]) -> TrainingVerdict:
    """Judge an answer.

    Args:
        case: the answer; its openings passed `check_openings` or not.
        replayed: content hash of the end of each drawn segment, as replayed from its start.

    Returns:
        Passed with the proven rate; missing with too_late; failed with a reason of `check_openings`, or false_segment
        where one was not replayed to the committed hash.
    """
    if case.elapsed_ms > case.params.limit_ms:
        return TrainingVerdict(outcome=Outcome.MISSING, reason="too_late")
    fault = check_openings(case)
    if not fault and any(replayed.get(one.segment) != one.end for one in case.opened):
        fault = "false_segment"
    if fault:
        return TrainingVerdict(outcome=Outcome.FAILED, reason=fault)
    rate = proven_rate(case.params, case.claim, case.elapsed_ms)
    return TrainingVerdict(outcome=Outcome.PASSED, rate=rate)


def _fault(root: Hash32, work: TrainingWork, one: OpenedSegment) -> str:
    run, number = work.place(one.segment)
    start = work.leaf(run, number)

    def opens(leaf: int, content: Hash32, path: tuple[Hash32, ...]) -> bool:
        return opens_checkpoint(root, work.leaves, leaf, content, path)

    if not (opens(start, one.start, one.start_path) and opens(start + 1, one.end, one.end_path)):
        return "wrong_path"
    if not opens(work.leaf(run, 0), one.first, one.first_path):
        return "wrong_first"
    if number == 0:
        return "" if one.previous == ZERO_HASH and not one.previous_path else "wrong_chain"
    return "" if opens(start - 1, one.previous, one.previous_path) else "wrong_chain"
