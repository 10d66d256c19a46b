"""Links between drawn peers: who measures with whom, and the one report both of them sign.

    epoch seed, nodes --drawn_pairs--> pairs of nodes of different providers
    pair --pings, iperf3--> LinkReport --link_digest--> signed by both ends, or by none

Source: docs/spec/network.md "Links".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import require_signed_by, typed_digest
from swarm_chain.core.units import Address, EpochNumber, Hash32, ProviderId, Signature

LINK_TYPE = (
    "LinkReport(uint256 epoch,address first,address second,uint256 rttUs,uint256 jitterUs,uint256 lossPpm,"
    "bool throughputMeasured,uint256 throughputMbps)"
)
MAX_US = 10_000_000  # ten seconds: what takes longer is lost
PPM = 1_000_000
MAX_MBPS = 10_000_000

Pair = tuple[Address, Address]
_TAG_RING = keccak(b"swarm.network.ring.v1")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """What two nodes found between them in an epoch; `first` has the lower address.

    `rtt_us` is the median round trip, in [1, MAX_US]; `jitter_us` the median difference of one to the next; `loss_ppm` the
    share of pings without an answer; `throughput_mbps` None where not both have iperf3.
    """

    epoch: EpochNumber
    first: Address
    second: Address
    rtt_us: int
    jitter_us: int
    loss_ppm: int
    throughput_mbps: int | None = None

    def __post_init__(self) -> None:
        if self.pair != pair_of(self.first, self.second):
            raise InvalidInputError("the lower address stands first", fix="order the two ends", code="bad_link")
        for name, value, low, high in (
            ("rtt_us", self.rtt_us, 1, MAX_US),
            ("jitter_us", self.jitter_us, 0, MAX_US),
            ("loss_ppm", self.loss_ppm, 0, PPM),
            ("throughput_mbps", self.throughput_mbps or 0, 0, MAX_MBPS),
        ):
            if not low <= value <= high:
                raise InvalidInputError(f"{name} = {value}", fix=f"use {low} to {high}", code="bad_link")

    @property
    def pair(self) -> Pair:
        """Both ends."""
        return self.first, self.second


def pair_of(one: Address, other: Address) -> Pair:
    """Two nodes as a pair, the lower address first.

    Raises:
        InvalidInputError: they are the same.
    """
    if one.lower() == other.lower():
        raise InvalidInputError(f"{one} has no link to itself", fix="name two nodes", code="bad_link")
    return (one, other) if one.lower() < other.lower() else (other, one)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLink:
    """A report with the signature of `first`, which proposes it, and of `second`, None until it agrees."""

    report: LinkReport
    first: Signature
    second: Signature | None = None


def link_hash(report: LinkReport) -> Hash32:
    """Struct hash of a LinkReport."""
    r = report
    figures = words(r.rtt_us, r.jitter_us, r.loss_ppm, r.throughput_mbps is not None, r.throughput_mbps or 0)
    return keccak(words(keccak(LINK_TYPE.encode()), r.epoch, r.first, r.second) + figures)


def require_both_signed(domain: Hash32, report: LinkReport, first: Signature, second: Signature) -> None:
    """Refuses a report that not both ends signed.

    Args:
        domain: EIP-712 domain of node messages.
        report: what they say.
        first: signature of `report.first`.
        second: signature of `report.second`.

    Raises:
        InvalidInputError: one signature is not that end's.
    """
    digest = typed_digest(domain, link_hash(report))
    require_signed_by(report.first, digest, first)
    require_signed_by(report.second, digest, second)


def drawn_pairs(seed: Hash32, nodes: Mapping[Address, ProviderId], ahead: int) -> frozenset[Pair]:
    """Draw who measures with whom: on a ring in drawn order, each node with the next ones of other providers.

    Args:
        seed: of the epoch's first window.
        nodes: all live nodes and their providers.
        ahead: peers each node looks ahead for, > 0; it is found by about as many others.

    Returns:
        Pairs of nodes of different providers; each node is in at least `ahead` of them, or in one with every other there is.
    """
    ring = sorted(nodes, key=lambda node: keccak(words(_TAG_RING, seed, node)))
    found: set[Pair] = set()
    twice = [*ring, *ring]
    after = _next_of_other_provider([nodes[node] for node in twice])
    for place, node in enumerate(ring):
        peer = after[place]
        for _ in range(ahead):
            if peer >= place + len(ring):
                break
            found.add(pair_of(node, twice[peer]))
            peer += 1
            if peer < len(twice) and nodes[twice[peer]] == nodes[node]:
                peer = after[peer]
    return frozenset(found)


def _next_of_other_provider(providers: Sequence[ProviderId]) -> list[int]:
    """For each place the next one with another provider; past the end where there is none."""
    after = [len(providers)] * len(providers)
    for place in range(len(providers) - 2, -1, -1):
        same = providers[place] == providers[place + 1]
        after[place] = after[place + 1] if same else place + 1
    return after
