"""Ranks under DDP and FSDP, as processes over gloo: each ends where one process does that computes all of them."""

from pathlib import Path

import pytest

from swarm_chain.reference.parallel import BF16, FP32, ParallelRun
from tests.rank_world import MLP, SPEC, RankCase, replayed, trained


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.long), 3])  # 3: unlike shares, and 1/3 rounds
def test_ranks_when_they_train_together_then_each_has_the_bytes_of_one_process(workers: int, tmp_path: Path) -> None:
    cases = [
        RankCase(run=ParallelRun(train=train, workers=workers, precision=precision), strategy=strategy)
        for train, precision in ((SPEC, FP32), (SPEC, BF16), (MLP, FP32))
        for strategy in ("ddp", "fsdp")
    ]
    expected = [" ".join(replayed(case.run)) for case in cases]

    for rank, lines in enumerate(trained(cases, tmp_path)):
        assert lines == expected, f"rank {rank}"
    assert len(set(expected)) == 3, "precision and model change the bytes, the strategy does not"
