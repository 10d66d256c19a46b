"""Who writes the contents of a training job: an actor beside the job's folder, wherever its workers are."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from node.jobs.folder import JobFolder
from swarm_chain.core.errors import InconsistentError
from swarm_chain.reference.checkpoint import parse_checkpoint
from swarm_chain.reference.parallel import ParallelRun
from swarm_chain.reference.train import end_of


class Keeper:
    """Makes a content of each state and writes it into the job's folder.

    A state is hashed here alone, once: hashing one costs as much as a step, and the workers' time is the customer's.

    Args:
        folder: the job's.
        run: the run.
    """

    def __init__(self, folder: JobFolder, run: ParallelRun) -> None:
        self._folder = folder
        self._run = run
        index, content = self.last()
        self._at = parse_checkpoint(run.train, content)
        self._hash = folder.hashes(index + 1)[index]

    def last(self) -> tuple[int, bytes]:
        """Number and bytes of the last content of those that are there without a gap."""
        index = standing(self._folder, self._run.train.segments)
        content = self._folder.kept(index)
        if content is None:
            raise InconsistentError(f"content {index} went away while the job runs", code="content_gone")
        return index, content

    def keep(self, index: int, state: NDArray[np.float32], loss: float, spent_ms: int) -> None:
        """Stores the content that ends a segment.

        Args:
            index: its number.
            state: (3, p) float32, parameters and both moments.
            loss: of the segment's last step, nats.
            spent_ms: on all devices.

        Raises:
            InconsistentError: it is not the next one.
        """
        if index <= self._at.index:
            return  # from a worker that is gone: whoever took its place has computed the same again
        if index != self._at.index + 1:
            raise InconsistentError(f"content {index} does not follow content {self._at.index}", code="content_gap")
        self._hash = self._folder.keep(index, end_of(self._at, self._hash, state, loss))
        self._folder.add_time(spent_ms)
        self._at = replace(self._at, index=index)
        self._folder.say(f"segment {index} of {self._run.train.segments}, loss {round(loss * 1_000_000)} millionths")


def standing(folder: JobFolder, units: int) -> int:
    """Number of the last content that is there, with all before it."""
    index = 0
    while index < units and folder.kept(index + 1) is not None:
        index += 1
    return index


def keeper_of(folder: JobFolder, run: ParallelRun) -> Any:
    """An actor on this Ray node that keeps the contents of a run."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Keeper).options(num_cpus=0, scheduling_strategy=here).remote(folder, run)
