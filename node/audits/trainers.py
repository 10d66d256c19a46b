"""Workers that train runs side by side, each an actor on this machine; they end with whoever made them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.util import ActorPool
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from node.audits.training import Contents, OneTrainer, Trainee, TrainingClaim
from swarm_chain.reference.spec import TrainSpec


class RayTrainers:
    """Trainers of several workers.

    Args:
        workers: how many, at least 1.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._actors: list[Any] = []

    def start(self) -> None:
        """Starts the workers; each has torch when this returns."""
        if not self._actors:
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            kind = ray.remote(_Worker).options(num_cpus=0, scheduling_strategy=here)
            self._actors = [kind.remote() for _ in range(self._workers)]
        ray.get([actor.start.remote() for actor in self._actors])

    def train(self, specs: Sequence[TrainSpec], folders: Sequence[Path]) -> list[Contents]:
        """Trains each run in its folder, whoever is done takes the next one; content hashes of its checkpoints."""
        self.start()  # whoever was restarted has none
        pool = ActorPool(self._actors)
        runs = list(zip(specs, folders, strict=True))
        return list(pool.map(lambda actor, run: actor.train.remote(*run), runs))


class _Worker:
    """One worker: trains a run at a time."""

    def __init__(self) -> None:
        self._trainer = OneTrainer()

    def start(self) -> None:
        self._trainer.start()

    def train(self, spec: TrainSpec, folder: Path) -> Contents:
        return self._trainer.train([spec], [folder])[0]


def make_trainee(claim: TrainingClaim, workers: int) -> Trainee:
    """The auditee of a device: one worker trains in its own process, several in theirs.

    Args:
        claim: whose training, and how fast.
        workers: runs to train side by side, at least 1.
    """
    return Trainee(claim, OneTrainer() if workers == 1 else RayTrainers(workers))
