"""Benchmark reports: what a node says of itself, signed, for everybody to read beside what members measured.

    node --BenchmarkReport(figures), signed--> member: keeps the newest of a node, shows it, and takes nothing from it

No reward, plan or observation reads a report: whoever writes a larger number into it has written a larger number.
Source: docs/spec/benchmarks.md.
"""

from dataclasses import dataclass

from swarm_chain.core.encoding import canonical_json, keccak, words
from swarm_chain.core.messages import Json
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import Address, Hash32, Timestamp

BENCHMARK_TYPE = "BenchmarkReport(address node,uint256 signedAt,bytes32 figures)"
MAX_FIGURES = 64
MAX_NAME = 48  # characters of category, name and unit, each


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured metric; `value` is in `unit`, 0 to 2^53 - 1."""

    category: str
    name: str
    unit: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkReport:
    """What a node measured of itself; `signed_at` is the time of the latest block it saw when it signed, unix s."""

    node: Address
    signed_at: Timestamp
    figures: tuple[Figure, ...]


def figures_json(report: BenchmarkReport) -> list[Json]:
    """Figures in the report's order, as they travel and as they are hashed."""
    return [{"category": f.category, "name": f.name, "unit": f.unit, "value": f.value} for f in report.figures]


def figures_hash(report: BenchmarkReport) -> Hash32:
    """What stands for the figures in the signed message: keccak256 of their canonical JSON."""
    return keccak(canonical_json(figures_json(report)))


def benchmark_hash(report: BenchmarkReport) -> Hash32:
    """Struct hash of a BenchmarkReport."""
    return keccak(words(keccak(BENCHMARK_TYPE.encode()), report.node, report.signed_at, figures_hash(report)))


def benchmark_digest(domain: Hash32, report: BenchmarkReport) -> Hash32:
    """What the node key signs (domain: ChallengeBeacon)."""
    return typed_digest(domain, benchmark_hash(report))
