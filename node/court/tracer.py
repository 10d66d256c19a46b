"""Accused rows as Ray tasks beside the devices: they reserve nothing and give way to proofs."""

from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from node.court.worker import trace_beside
from node.ports import AccusedRow, TracedRow
from swarm_chain.core.units import Hash32

_WORKER_RETRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    accusation_id: Hash32
    task: Any


class RayRowTracer:
    """RowTracer on the Ray cluster this process is connected to, on this machine.

    Args:
        threads: CPU threads for a run that has to be done again.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._running: list[_Running] = []

    def start(self, accused: AccusedRow) -> None:
        """Starts a trace and returns at once."""
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        # No later task may inherit the worker's low priority, so it ends with this one.
        beside: Any = ray.remote(num_cpus=0, max_calls=1, max_retries=_WORKER_RETRIES)(trace_beside)
        task = beside.options(scheduling_strategy=here).remote(accused, self._threads)
        self._running.append(_Running(accusation_id=accused.accusation_id, task=task))

    def finished(self) -> tuple[TracedRow, ...]:
        """Traces that ended since the last call."""
        if not self._running:
            return ()
        tasks = [running.task for running in self._running]
        done, _ = ray.wait(tasks, num_returns=len(tasks), timeout=0)
        ended = [running for running in self._running if running.task in done]
        self._running = [running for running in self._running if running.task not in done]
        return tuple(map(_traced, ended))

    def close(self) -> None:
        """Stops what runs."""
        for running in self._running:
            ray.cancel(running.task, force=True)
        self._running.clear()


def _traced(running: _Running) -> TracedRow:
    try:
        return TracedRow(accusation_id=running.accusation_id, evidence=ray.get(running.task))
    except RayError as error:
        return TracedRow(accusation_id=running.accusation_id, error=str(error).strip().splitlines()[0])
