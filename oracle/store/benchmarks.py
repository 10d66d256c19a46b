"""Benchmark reports of nodes: the newest of each, which nothing but its own page reads."""

import json
from dataclasses import dataclass

from sqlalchemy import Engine, and_, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.tables import benchmarks
from swarm_chain.core.benchmarks import BenchmarkReport, Figure, figures_json
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.units import Address, Signature, Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBenchmark:
    """A report with the signature of its node: anybody may check who said it."""

    report: BenchmarkReport
    signature: Signature


def keep_benchmark(engine: Engine, signed: SignedBenchmark) -> bool:
    """Keeps the newest report of a node.

    Returns:
        False if one as new or newer was there; nothing changes then.
    """
    report = signed.report
    values = {
        "node": report.node,
        "signed_at": report.signed_at,
        "figures": canonical_json(figures_json(report)),
        "signature": signed.signature,
    }
    with writing(engine) as connection:
        if insert_new(connection, benchmarks, values):
            return True
        older = and_(benchmarks.c.node == report.node, benchmarks.c.signed_at < report.signed_at)
        return connection.execute(update(benchmarks).where(older).values(**values)).rowcount == 1


def benchmark_of(engine: Engine, node: Address) -> SignedBenchmark | None:
    """The newest report of a node, None if it sent none."""
    with engine.connect() as connection:
        row = connection.execute(select(benchmarks).where(benchmarks.c.node == node)).one_or_none()
    if row is None:
        return None
    figures = tuple(Figure(**figure) for figure in json.loads(row.figures))
    report = BenchmarkReport(node=node, signed_at=Timestamp(row.signed_at), figures=figures)
    return SignedBenchmark(report=report, signature=Signature(row.signature))
