"""Ray Train on one and two workers: every rank ends where one process does that computes all shards."""

from pathlib import Path

import pytest

from node.suite.scaling import checked, run_workers
from swarm_chain.core.encoding import keccak
from swarm_chain.reference.audited import TrainingQuestion, audited_spec
from tests.training_world import NODE, TINY


@pytest.mark.long
def test_workers_when_they_train_together_then_every_rank_is_replayed_here(ray_cluster: object, tmp_path: Path) -> None:
    spec = audited_spec(TINY, TrainingQuestion(node=NODE, device=0, nonce=keccak(b"scaling")), 0)

    runs = [checked(run) for run in run_workers(spec, (1, 2), tmp_path)]

    assert [len(run.hashes) for run in runs] == [1, 2]
    assert all(run.rate > 0 for run in runs)
    assert runs[0].hashes[0] != runs[1].hashes[0], "two workers see twice the data"
