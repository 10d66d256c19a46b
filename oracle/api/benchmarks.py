"""Benchmarks: nodes hand in what they measured of themselves; anybody sees it beside what the network measured."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field, StringConstraints

from oracle.api.answers import POSTED, AcceptedAnswer, Answer, Json, errors
from oracle.api.proven import ProvenAnswer, proven_json
from oracle.api.rates import Rates, Turns, host_of
from oracle.pipeline.benchmarks import take_benchmark
from oracle.pipeline.member import Member
from oracle.store.benchmarks import SignedBenchmark, benchmark_of
from swarm_chain.core.benchmarks import MAX_FIGURES, MAX_NAME, BenchmarkReport, Figure, figures_json
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import Address, Timestamp
from swarm_chain.web.bodies import Body, HexAddress, HexSignature, Uint53, signature_bytes
from swarm_chain.web.strict_json import StrictRoute

# Terminals show them: printable ASCII alone.
FigureText = Annotated[str, StringConstraints(pattern=r"^[ -~]+$", max_length=MAX_NAME)]


class FigureFields(Body):
    """One figure of a report."""

    category: FigureText
    name: FigureText
    unit: FigureText
    value: Uint53


class BenchmarkFields(Body):
    """BenchmarkReport."""

    node: HexAddress
    signed_at: Uint53
    figures: Annotated[list[FigureFields], Field(min_length=1, max_length=MAX_FIGURES)]


class BenchmarkBody(Body):
    """POST /v1/benchmarks."""

    report: BenchmarkFields
    signature: HexSignature

    def to_core(self) -> SignedBenchmark:
        """The core value of this body."""
        r = self.report
        figures = tuple(Figure(category=f.category, name=f.name, unit=f.unit, value=f.value) for f in r.figures)
        report = BenchmarkReport(node=Address(r.node), signed_at=Timestamp(r.signed_at), figures=figures)
        return SignedBenchmark(report=report, signature=signature_bytes(self.signature))


class FigureAnswer(Answer):
    """A figure as the node reports it."""

    category: str
    name: str
    unit: str
    value: int


class BenchmarkAnswer(Answer):
    """GET /v1/benchmarks/{node}."""

    node: str
    signed_at: int = Field(description="Chain time.")
    figures: list[FigureAnswer] = Field(description="Self-reported: they count for nothing.")
    signature: str
    measured: ProvenAnswer | None = Field(description="What counts; null where this member cannot say.")
    problem: str = Field(description="Why it cannot; empty if it can.")


def benchmark_routes(member: Member, rates: Rates) -> APIRouter:
    """Routes of benchmarks.

    Args:
        member: keeps them, and knows what was measured.
        rates: buckets by host; a node's own name buys no second one.
    """
    router = APIRouter(prefix="/v1/benchmarks", tags=["nodes"], route_class=StrictRoute)
    turns = Turns(1)  # reading a large epoch's verdicts takes a while, making them again after a restart much longer

    @router.post("", status_code=202, response_model=AcceptedAnswer, responses=errors(*POSTED))
    def post_benchmark(body: BenchmarkBody, request: Request) -> Json:
        """What a node measured of itself; the newest report of each node is kept, and shown as its own word."""
        rates.benchmarks.take(host_of(request), "")
        return {"duplicate": not take_benchmark(member.desk, body.to_core())}

    @router.get("/{node}", response_model=BenchmarkAnswer, responses=errors(404, 429, 503))
    def benchmark_of_node(node: HexAddress, request: Request) -> Json:
        """A node's newest report of itself beside what the newest accepted report proves of it."""
        rates.answers.take(host_of(request), "")
        found = benchmark_of(member.engine, Address(node))
        if found is None:
            raise InvalidInputError(
                f"node {node} sent no report here", code="unknown_benchmark", fix="swarm node bench --submit"
            )
        with turns.one():
            return _reported(found) | _measured(member, Address(node))

    return router


def _reported(signed: SignedBenchmark) -> Json:
    report = signed.report
    return {
        "node": report.node,
        "signedAt": report.signed_at,
        "figures": figures_json(report),
        "signature": to_hex(signed.signature),
    }


def _measured(member: Member, node: Address) -> Json:
    try:
        return {"measured": proven_json(member, node), "problem": ""}
    except (InvalidInputError, UnavailableError) as error:
        return {"measured": None, "problem": error.message}
