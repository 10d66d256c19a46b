"""Computes units of jobs and segments of audited training again, in a process of its own: a crash stays outside the member.

member --(spec, unit, source)--> worker with torch
       <--content hash | error--
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from oracle.pipeline.worker import WorkerProcess
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.jobs import parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs import sandboxed

ANSWER_WITHIN_S: Final = 10  # beyond the time customer's code has, for the sandbox to end it and say so


def replay_segment(spec: bytes, start: bytes, segment: int) -> Hash32:
    """Runs one segment again, in whatever process it is called in.

    Args:
        spec: canonical JSON of the job spec.
        start: bytes of checkpoint `segment`.
        segment: number of the segment.

    Returns:
        Content hash of checkpoint `segment` + 1 as this machine computes it.

    Raises:
        InvalidInputError: spec or checkpoint are not what they should be, or the run diverges.
        UnavailableError: this machine is of another kind than the one that trained.
    """
    from swarm_chain.reference.spec import parse_train_spec
    from swarm_chain.reference.train import run_segment

    return content_hash(run_segment(parse_train_spec(json.loads(spec)), start, segment))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitAsk:
    """One unit of a job to be computed again: canonical JSON of its spec, its inputs, and what the unit is computed from.

    `unit` is None for content 0, which has no source; `seconds` are what customer's code may take for it.
    """

    spec: bytes
    unit: int | None
    source: bytes
    inputs: Mapping[Hash32, bytes] = field(default_factory=dict)
    seconds: int = 300


def compute_unit(ask: UnitAsk) -> Hash32:
    """Computes one unit again, in whatever process it is called in; customer's code in a sandbox of its own.

    Returns:
        Hash of content `unit` + 1, or of content 0, as this machine computes it.

    Raises:
        InvalidInputError: spec or source are not what they should be, or the customer's work fails.
        UnavailableError: this machine is of another kind than the one that made the source, or cannot wall off code.
    """
    spec = parse_job_spec(json.loads(ask.spec))
    limits = sandboxed.unit_limits(spec, ask.seconds)
    if ask.unit is None:
        return content_hash(sandboxed.first_content(spec, ask.inputs, limits))
    return content_hash(sandboxed.compute_unit(spec, ask.inputs, ask.unit, ask.source, limits))


class ReplayProcess:
    """The worker; it is started by the first replay, so that a member without jobs never pays for torch.

    Args:
        timeout_for: seconds one segment or unit may take.
    """

    def __init__(self, timeout_for: int) -> None:
        self._timeout_for = timeout_for
        self._worker = WorkerProcess(_answered, what="the replay", lost="replay_lost")

    def replay(self, spec: bytes, start: bytes, segment: int) -> Hash32:
        """`replay_segment` in the worker; jobs and audits are judged side by side, and take turns.

        Raises:
            InvalidInputError: as `replay_segment`.
            UnavailableError: it took too long, or the worker died or was closed; what it was for stays unjudged.
        """
        return self._worker.ask((spec, start, segment), self._timeout_for)

    def compute(self, ask: UnitAsk) -> Hash32:
        """`compute_unit` in the worker; errors as `replay`. Customer's code that takes too long is the customer's fault."""
        return self._worker.ask(replace(ask, seconds=self._timeout_for), self._timeout_for + ANSWER_WITHIN_S)

    def close(self) -> None:
        """Ends the worker for good, whatever it is doing; a replay under way raises UnavailableError in its thread."""
        self._worker.close()


def _answered(question: UnitAsk | tuple[bytes, bytes, int]) -> Hash32:
    return compute_unit(question) if isinstance(question, UnitAsk) else replay_segment(*question)
