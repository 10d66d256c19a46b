"""Claims twice the training it does: every second segment is not trained, its end is drawn on from the two checkpoints before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from node.audits.training import Contents, Trainee, TrainingClaim, segment_path
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.reference.checkpoint import dump_checkpoint, parse_checkpoint
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, run_segment


class EverySecond:
    """Trainers that train even segments; the ends of odd ones follow the line through what came before."""

    def start(self) -> None:
        """Nothing is to be made ready."""

    def train(self, specs: Sequence[TrainSpec], folders: Sequence[Path]) -> list[Contents]:
        """Half of each run in its folder, in order."""
        return [half_trained(spec, folder) for spec, folder in zip(specs, folders, strict=True)]


class HalfTrainee(Trainee):
    """A trainee that claims as much as an honest one and trains every second segment."""

    def __init__(self, claim: TrainingClaim) -> None:
        super().__init__(claim, EverySecond())


def half_trained(spec: TrainSpec, folder: Path) -> Contents:
    """Trains every second segment of a run.

    Args:
        spec: the run.
        folder: where its checkpoints go, honest ones and others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = [initial_checkpoint(spec)]
    for index in range(spec.segments):
        made = extrapolated(spec, contents) if index % 2 else run_segment(spec, contents[-1], index)
        contents.append(made)
    for index, content in enumerate(contents):
        segment_path(folder, index).write_bytes(content)
    return tuple(map(content_hash, contents))


def extrapolated(spec: TrainSpec, contents: Sequence[bytes]) -> bytes:
    """A next checkpoint nobody trained: as far from the last as that is from the one before it, and well chained.

    Args:
        spec: the run.
        contents: checkpoints so far, at least two.
    """
    before, last = (parse_checkpoint(spec, content) for content in contents[-2:])
    state = (last.state + (last.state - before.state)).astype(np.float32)
    made = replace(last, previous=content_hash(contents[-1]), index=last.index + 1, state=state)
    return dump_checkpoint(made)
