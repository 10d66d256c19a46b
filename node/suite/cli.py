"""What `swarm node bench` shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter_ns

from node.bench import PRESETS, BackendResult, bench_backends
from node.config import NodeSettings
from node.suite import local, training
from node.suite.inference import inference_metrics
from node.suite.metrics import Bench, Metric
from node.suite.network import network_metrics
from node.suite.others import metrics_of_others
from node.suite.percentiles import Place, ask_class, place_of
from node.suite.submit import Handed, Submission, hand_in, require_taken
from swarm_chain.cli.context import Session
from swarm_chain.cli.output import table
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.messages import Json
from swarm_chain.reference.backends import candidates

LOCAL: Mapping[str, Callable[[Bench], Iterator[Metric]]] = {
    "memory": local.memory_metrics,
    "training": training.training_metrics,
    "storage": local.storage_metrics,
    "inference": inference_metrics,
    "network": network_metrics,
}
OTHERS = ("availability",)
CATEGORIES = ("compute", *LOCAL, *OTHERS)


def plan_of(settings: NodeSettings, preset: str, runs: int, device: str) -> Bench:
    """How to measure on this machine.

    Raises:
        InvalidInputError: no such preset.
    """
    if preset not in PRESETS:
        raise InvalidInputError(f"no preset {preset!r}", fix=f"choose one of {', '.join(PRESETS)}", code="usage")
    folder = settings.folder if settings.folder.is_dir() else Path(gettempdir())
    return Bench(
        shape=PRESETS[preset],
        runs=runs,
        device=device,
        threads=settings.threads,
        folder=folder,
        clock_ns=perf_counter_ns,
    )


def show_bench(session: Session, bench: Bench, wanted: Sequence[str], submission: Submission | None = None) -> None:
    """Measures the wanted categories, one after the other, and shows every metric with unit, method and who measures it.

    Args:
        session: where progress and table go.
        bench: how to measure.
        wanted: categories; empty means all.
        submission: to whom it is handed afterwards; None: nothing is sent.

    Raises:
        InvalidInputError: there is no such category, or nothing was measured that could be handed in.
        UnavailableError: it was to be handed in, and no member took it.
    """
    metrics, backends = _measure_all(session, bench, wanted)
    view = ask_class(partial(_ask_member, session), class_of(bench))
    places = [place_of(one, view) for one in metrics]
    for one in backends:
        said = f"{one.rate_mtops / 1000:.3f} TOPS in {one.best_ms} ms" if one.known_answers_passed else "wrong answers"
        session.output.note(f"{one.backend}: {said}")
    columns = ("category", "metric", ">value", "unit", ">percentile", "method", "who measures")
    views = [table("what this machine can do", columns, [_row(*pair) for pair in zip(metrics, places, strict=True)])]
    document = _document(bench, list(zip(metrics, places, strict=True)), backends)
    handed = hand_in(submission, metrics) if submission else ()
    if submission:
        document["submitted"] = [one.as_dict() for one in handed]
        views.append(
            table(
                "submitted as this node's own word", ("member", "what became of it"), [_handed(one) for one in handed]
            )
        )
    session.output.show(document, *views)
    require_taken(handed, document)


def _ask_member(session: Session, path: str) -> Json:
    """A member's document; that none is named is an answer too."""
    return session.oracle.get(path)


def _measure_all(session: Session, bench: Bench, wanted: Sequence[str]) -> tuple[list[Metric], list[BackendResult]]:
    unknown = [name for name in wanted if name not in CATEGORIES]
    if unknown:
        raise InvalidInputError(f"no category {unknown[0]!r}", fix=f"choose of {', '.join(CATEGORIES)}", code="usage")
    metrics: list[Metric] = []
    backends: list[BackendResult] = []
    chosen = [category for category in CATEGORIES if not wanted or category in wanted]
    with session.output.parts(chosen) as begin:
        for category in chosen:
            begin(f"measuring {category}")
            metrics += measured(bench, category, backends)
    return metrics, backends


def _document(bench: Bench, found: Sequence[tuple[Metric, Place]], backends: Sequence[BackendResult]) -> Json:
    shape = bench.shape
    return {
        "m": shape.m,
        "n": shape.n,
        "steps": shape.steps,
        "threads": bench.threads,
        "class": class_of(bench).name.lower(),
        "metrics": [
            {**one.as_dict(), "percentile": place.percentile, "percentileProblem": place.problem}
            for one, place in found
        ],
        "results": [
            {"backend": r.backend, "knownAnswers": r.known_answers_passed, "bestMs": r.best_ms, "mtops": r.rate_mtops}
            for r in backends
        ],
    }


def _handed(one: Handed) -> tuple[object, ...]:
    return one.member, one.refusal or ("taken" if one.is_newest else "it has a newer one")


def class_of(bench: Bench) -> HardwareClass:
    """Hardware class that the measured device belongs to."""
    return HardwareClass.CPU if bench.device == "cpu" else HardwareClass.GPU


def measured(bench: Bench, category: str, backends: list[BackendResult]) -> list[Metric]:
    """Metrics of one category.

    Args:
        bench: how to measure.
        category: one of CATEGORIES.
        backends: takes what was found of each compute backend.
    """
    if category in LOCAL:
        return list(LOCAL[category](bench))
    if category in OTHERS:
        return list(metrics_of_others(category))
    backends += bench_backends(candidates(bench.device, bench.threads), bench.shape, bench.runs, bench.clock_ns)
    return list(local.compute_metrics(bench, backends))


def _row(one: Metric, place: Place) -> tuple[object, ...]:
    value = f"{one.value:,}" if one.value is not None else "-"
    stands = "-" if place.percentile is None else place.percentile
    return one.category, one.name, value, one.unit, stands, one.problem or one.method, one.measured_by
