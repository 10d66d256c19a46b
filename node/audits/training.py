"""Training as audits ask for it: runs that nobody knows before the nonce, their checkpoints on disk until they are opened.

question --specs--> Trainers --checkpoints on disk, content hashes--> tree --root--> answer --draw--> openings
"""

import base64
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from node.ports import AuditQuestion
from swarm_chain.core import merkle
from swarm_chain.core.checkpoints import checkpoint_leaf, content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.messages import Json
from swarm_chain.core.training import TrainingParams, TrainingWork, draw_trained, planned_work
from swarm_chain.core.units import Address, EpochNumber, Hash32
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, run_segment

Contents = tuple[Hash32, ...]


class Trainers(Protocol):
    """What trains several runs, as many side by side as it has workers."""

    def start(self) -> None:
        """Makes workers ready: nobody's clock runs yet."""
        ...

    def train(self, specs: Sequence[TrainSpec], folders: Sequence[Path]) -> list[Contents]:
        """Trains each run in its folder; content hashes of its checkpoints."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingClaim:
    """Whose training it is, how many samples/s a device claims, and where it keeps checkpoints while an audit lasts."""

    node: Address
    rate: int
    params: TrainingParams
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedRuns:
    """All runs of a question: content hashes of their checkpoints in leaf order, and the tree over them."""

    question: AuditQuestion
    contents: Contents
    tree: bytes


class OneTrainer:
    """Trains run after run in this process."""

    def start(self) -> None:
        """Brings torch in."""
        import torch

        torch.set_num_threads(1)

    def train(self, specs: Sequence[TrainSpec], folders: Sequence[Path]) -> list[Contents]:
        """Trains each run in its folder; content hashes of its checkpoints."""
        return [train_run(spec, folder) for spec, folder in zip(specs, folders, strict=True)]


class Trainee:
    """Auditee of the training category: one question of a device at a time, and its checkpoints are all that is kept.

    Args:
        claim: whose training, and how fast.
        trainers: what trains.

    Raises:
        InvalidInputError: nobody can claim so many samples/s.
    """

    def __init__(self, claim: TrainingClaim, trainers: Trainers) -> None:
        self._claim = claim
        self._trainers = trainers
        self._work = planned_work(claim.params, claim.rate)
        self._trained: dict[int, TrainedRuns] = {}

    def claim(self, _member: Address) -> int:
        """Samples/s a device claims, before every member as many."""
        return self._claim.rate

    def prepare(self, _epoch: EpochNumber, _epoch_seed: Hash32, device: int) -> None:
        """Makes the trainers ready; of the work nothing can be done before a nonce is known."""
        self._forget(device)
        self._trainers.start()

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root over all checkpoints of a question."""
        self._forget(question.device)  # of an audit that was never opened
        runs = range(self._work.runs)
        specs = [self._spec(question, run) for run in runs]
        trained = self._trainers.train(specs, [self._folder(question.device, run) for run in runs])
        return self._commit(question, tuple(content for run in trained for content in run))

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """The segments a draw asks for of the last answer; their files go.

        Raises:
            InconsistentError: nothing was trained for this question, as after a restart (code "claim_lost").
        """
        trained = self._trained.pop(question.device, None)
        if trained is None or trained.question != question:
            raise InconsistentError("the checkpoints are gone", code="claim_lost", fix="the audit is answered again")
        drawn = draw_trained(draw, merkle.root(trained.tree), self._work, self._claim.params.draws)
        opened = [self._opening(trained, segment) for segment in drawn]
        self._forget(question.device)
        return opened

    def release(self) -> None:
        """Removes all files."""
        self._trained.clear()
        shutil.rmtree(self._claim.folder, ignore_errors=True)

    def _commit(self, question: AuditQuestion, contents: Contents) -> Hash32:
        tree = merkle.build_tree(checkpoint_leaf(index, content) for index, content in enumerate(contents))
        self._trained[question.device] = TrainedRuns(question=question, contents=contents, tree=tree)
        return merkle.root(tree)

    def _opening(self, trained: TrainedRuns, segment: int) -> Json:
        run, number = self._work.place(segment)
        content = segment_path(self._folder(trained.question.device, run), number).read_bytes()
        return opening_json(self._work, trained, segment, content)

    def _spec(self, question: AuditQuestion, run: int) -> TrainSpec:
        asked = TrainingQuestion(node=self._claim.node, device=question.device, nonce=question.nonce)
        return audited_spec(self._claim.params, asked, run)

    def _folder(self, device: int, run: int) -> Path:
        return self._claim.folder / str(device) / str(run)

    def _forget(self, device: int) -> None:
        self._trained.pop(device, None)
        shutil.rmtree(self._claim.folder / str(device), ignore_errors=True)


def train_run(spec: TrainSpec, folder: Path) -> Contents:
    """Trains a run from its beginning, as fast as it goes: files without fsync, for an audit does not outlive a crash.

    Args:
        spec: the run.
        folder: takes the start of every segment; made if absent.

    Returns:
        Content hashes of all checkpoints, in order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = initial_checkpoint(spec)
    hashes = [content_hash(content)]
    for index in range(spec.segments):
        segment_path(folder, index).write_bytes(content)
        content = run_segment(spec, content, index)
        hashes.append(content_hash(content))
    return tuple(hashes)


def segment_path(folder: Path, index: int) -> Path:
    """Where the start of a segment lies while an audit lasts."""
    return folder / f"{index:06d}.ckpt"


def opening_json(work: TrainingWork, trained: TrainedRuns, segment: int, content: bytes) -> Json:
    """A drawn segment as an audit's openings name it (docs/spec/training.md).

    Args:
        work: how runs lie in the tree.
        trained: what was committed to.
        segment: number of the segment, over all runs.
        content: of the checkpoint it starts from.
    """
    run, number = work.place(segment)
    start = work.leaf(run, number)

    def path(leaf: int) -> list[str]:
        return [to_hex(sibling) for sibling in merkle.path(trained.tree, leaf)]

    return {
        "segment": segment,
        "start": base64.b64encode(content).decode("ascii"),
        "end": to_hex(trained.contents[start + 1]),
        "firstPath": path(work.leaf(run, 0)),
        "previousPath": path(start - 1) if number else [],
        "startPath": path(start),
        "endPath": path(start + 1),
    }
