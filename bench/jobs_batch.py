"""A batch job over bare Ray Data `map_batches` with the same model and batches, and bytes of its input in the object store.

Both run in turn on one cluster; start-up of the workers is in both. Store: what an input of `--megabytes` adds for one worker and
for four, read by all of them.
"""

import argparse
import logging
import os
import secrets
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

# Ray reads them when it is imported.
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import numpy as np
from _report import Result, print_report, seconds_of, typical_ratio

from node.jobs.work import JobOrder, run_job
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.reference.programs.tokens import DrawnRows, ModelWork, model_of
from swarm_chain.reference.tokenmodel import answers

DRAWN = {"seed": 1, "tokens": 16, "vocabulary": 4096}
SIZES = {"width": 512, "layers": 2, "vocabulary": 4096}


class Bare:
    """What someone without Swarm would write."""

    def __init__(self, tokens: int) -> None:
        self.model, self.tokens = model_of(ModelWork(**SIZES), 1), tokens

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        prompts = [DrawnRows(**DRAWN).row(int(number)) for number in batch["row"]]
        return {"answer": [list(answer) for answer in answers(self.model, prompts, self.tokens)]}


class Reader:
    """A worker that reads all of a shared input."""

    def read(self, shared: Any) -> int:
        """Its last byte."""
        return int(memoryview(shared)[-1])


def bare(options: argparse.Namespace) -> int:
    """The same rows through `map_batches` alone."""
    import ray

    blocks = -(-options.rows // options.rows_per_unit)
    rows = ray.data.from_items([{"row": row} for row in range(options.rows)], override_num_blocks=blocks)
    mapped = rows.map_batches(
        Bare,
        batch_size=options.rows_per_unit,
        compute=ray.data.ActorPoolStrategy(size=options.workers),
        num_cpus=1,
        fn_constructor_args=(options.tokens,),
    )
    return sum(1 for _ in mapped.iter_rows())


def job(options: argparse.Namespace) -> None:
    """The same rows as a job."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_job(JobOrder(document=_spec(options).document(), folder=str(Path(folder))))
        assert result.exit_code == 0, result.reason


def copies(megabytes: int, workers: int) -> float:
    """Bytes the store holds for an input that each worker reads, over its length."""
    import ray

    shared = ray.put(np.zeros(megabytes * 1_000_000, np.uint8))
    readers: list[Any] = [ray.remote(Reader).options(num_cpus=0).remote() for _ in range(workers)]
    ray.get([reader.read.remote(shared) for reader in readers])
    held = next(line for line in _summary().splitlines() if "Plasma memory usage" in line)
    used = float(held.split("usage")[1].split()[0])
    del shared
    return used * 2**20 / (megabytes * 1_000_000)


def _summary() -> str:
    import ray
    from ray._private.internal_api import memory_summary

    head = ray.get_runtime_context().gcs_address
    found: str = memory_summary(head, stats_only=True)  # type: ignore[no-untyped-call]  # Ray has no types for it
    return found


def _spec(options: argparse.Namespace) -> JobSpec:
    model = {"seed": 1, "sizes": SIZES, "tokens": options.tokens}
    work = {"rows": options.rows, "rows_per_unit": options.rows_per_unit, "drawn": DRAWN, "model": model}
    resources = {"workers": options.workers, "memory_mb": 64}
    return parse_job_spec({"kind": "batch", "program": "swarm-batch/1", "work": work, "resources": resources})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--rows-per-unit", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--megabytes", type=int, default=50)
    options = parser.parse_args()
    import ray
    import ray.data

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    one, four = copies(options.megabytes, 1), copies(options.megabytes, 4)
    bares, jobs = seconds_of(lambda: bare(options), lambda: job(options), rounds=options.rounds)
    ratio = typical_ratio(jobs, bares)
    print_report(
        "jobs_batch",
        [
            Result(name="job", value=median(jobs), unit="s", baseline=median(bares), ratio=ratio, goal=1.05),
            Result(
                name="copies of the input, 4 workers", value=four, unit="copies", baseline=one, ratio=four / one, goal=1
            ),
        ],
    )
    ray.shutdown()


if __name__ == "__main__":
    main()
