"""The local suite: what was not measured has a reason and no value, whoever measures it."""

from pathlib import Path

import pytest

from node.bench import BackendResult
from node.suite.cli import CATEGORIES, OTHERS
from node.suite.local import compute_metrics, storage_metrics
from node.suite.metrics import Bench, Metric, per_second
from node.suite.others import metrics_of_others
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.units import Mtops

SHAPE = ComputeShape(m=64, n=64, steps=1)


class Ticks:
    """A clock that goes on by a millisecond at each look."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        self.ns += 10**6
        return self.ns


def _bench(folder: Path) -> Bench:
    return Bench(shape=SHAPE, runs=1, device="cpu", threads=1, folder=folder, clock_ns=Ticks())


@pytest.mark.parametrize(("value", "problem"), [(None, ""), (0, "away")])
def test_metric_when_it_has_neither_or_both_then_refused(value: int | None, problem: str) -> None:
    with pytest.raises(ValueError, match="either"):
        Metric(category="compute", name="rate", unit="mtops", method="m", value=value, problem=problem)


def test_compute_when_the_fastest_backend_gives_wrong_answers_then_it_does_not_count(tmp_path: Path) -> None:
    backends = [
        BackendResult(backend="wrong", known_answers_passed=False, best_ms=1, rate_mtops=Mtops(10**9)),
        BackendResult(backend="slow", known_answers_passed=True, best_ms=9, rate_mtops=Mtops(5)),
        BackendResult(backend="fast", known_answers_passed=True, best_ms=3, rate_mtops=Mtops(15)),
    ]

    (best,) = compute_metrics(_bench(tmp_path), backends)
    (none,) = compute_metrics(_bench(tmp_path), backends[:1])

    assert (best.value, best.method.rpartition(" ")[2]) == (15, "fast")
    assert (none.value, none.problem) == (None, "no backend knows its answers")


def test_storage_when_fio_is_absent_then_its_remedy_and_the_audited_reads_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = {one.name: one for one in storage_metrics(_bench(tmp_path))}

    assert found["fio IOPS"].value is None
    assert "apt install fio" in found["fio IOPS"].problem
    assert found["audited reads"].value == per_second(2000, 10**6)
    assert list(tmp_path.iterdir()) == [], "nothing stays on the data path"


@pytest.mark.parametrize("category", OTHERS)
def test_metrics_when_others_measure_them_then_all_are_named_with_who_and_why_not_here(category: str) -> None:
    found = list(metrics_of_others(category))

    assert found
    assert all(one.value is None and one.problem and one.measured_by != "this machine" for one in found)
    assert category in CATEGORIES


@pytest.mark.parametrize(("amount", "elapsed_ns", "rate"), [(10, 3 * 10**9, 3), (5, 0, 5 * 10**9), (0, 1, 0)])
def test_rate_when_it_is_not_whole_then_rounded_down(amount: int, elapsed_ns: int, rate: int) -> None:
    assert per_second(amount, elapsed_ns) == rate
