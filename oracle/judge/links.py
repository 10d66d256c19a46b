"""Judges reports of links: drawn pairs only, one report a pair, nothing that the members' own round trips rule out.

    LinkRound --screen--> reports that count, reports dropped and why --medians over drawn peers--> LinkFinding a node

Both ends signed each report, so neither end can be trusted alone with it: what no pair of liars can bend is which pairs were
drawn, and how far each end is from this member. Source: docs/spec/network.md "Links".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from swarm_chain.core.links import MAX_US, PPM, LinkReport, Pair
from swarm_chain.core.units import BPS, Address, Bps, EpochNumber

_PPM_PER_BPS = PPM // BPS


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRound:
    """An epoch's links as a member knows them.

    `pairs` were drawn; `announced` are nodes that said where they can be reached; `reports` are signed by both ends, in
    any order; `member_rtt_us` is this member's own shortest round trip to a node. A report nearer than `share_bps` of what
    the members' round trips differ by, or farther than their sum, is not believed; `slack_us` is granted both ways.
    """

    epoch: EpochNumber
    pairs: frozenset[Pair]
    announced: frozenset[Address]
    reports: tuple[LinkReport, ...]
    member_rtt_us: Mapping[Address, int]
    share_bps: Bps
    slack_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFinding:
    """How a node's links did: medians over its drawn peers. `mbps` is None where most measured none."""

    rtt_us: int
    jitter_us: int
    loss_ppm: int
    mbps: int | None

    @property
    def error_bps(self) -> Bps:
        """Loss in bps, rounded up."""
        return Bps(-(-self.loss_ppm // _PPM_PER_BPS))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFindings:
    """Findings by node, and each report that was dropped with its reason."""

    nodes: Mapping[Address, LinkFinding]
    dropped: tuple[tuple[LinkReport, str], ...]


def judge_links(links: LinkRound) -> LinkFindings:
    """Judge all reports of an epoch.

    A drawn peer that announced itself and has no report with a node counts as out of reach: whoever signs only what
    flatters it has no other median for it. Nodes that were not announced, or whose peers were not, have no finding.

    Args:
        links: what was drawn, announced, reported and measured.

    Returns:
        Findings, and dropped reports with `wrong_epoch`, `not_drawn`, `contradicted`, `too_near` or `too_far`.
    """
    different = Counter(report.pair for report in set(links.reports) if report.epoch == links.epoch)
    kept: dict[Pair, LinkReport] = {}
    dropped = []
    for report in links.reports:
        reason = _fault(links, report, different)
        if reason:
            dropped.append((report, reason))
        else:
            kept[report.pair] = report
    peers = _announced_peers(links)
    found = {node: _finding([kept.get(pair) for pair in pairs]) for node, pairs in peers.items()}
    return LinkFindings(nodes=found, dropped=tuple(dropped))


def _fault(links: LinkRound, report: LinkReport, different: Mapping[Pair, int]) -> str:
    if report.epoch != links.epoch:
        return "wrong_epoch"
    if report.pair not in links.pairs:
        return "not_drawn"
    if different[report.pair] > 1:
        return "contradicted"
    first, second = (links.member_rtt_us.get(node) for node in report.pair)
    if first is None or second is None:
        return ""
    if (report.rtt_us + links.slack_us) * BPS < abs(first - second) * links.share_bps:
        return "too_near"
    return "too_far" if report.rtt_us > first + second + links.slack_us else ""


def _announced_peers(links: LinkRound) -> Mapping[Address, list[Pair]]:
    peers: defaultdict[Address, list[Pair]] = defaultdict(list)
    for pair in sorted(links.pairs):
        if links.announced.issuperset(pair):
            for node in pair:
                peers[node].append(pair)
    return peers


def _finding(reports: list[LinkReport | None]) -> LinkFinding:
    """Medians over all drawn peers, those out of reach at the worst; of two middle values the one that favours the node."""
    speeds = [0 if one is None else one.throughput_mbps for one in reports]
    measured = sorted(speed for speed in speeds if speed is not None)
    return LinkFinding(
        rtt_us=_lower(MAX_US if one is None else one.rtt_us for one in reports),
        jitter_us=_lower(MAX_US if one is None else one.jitter_us for one in reports),
        loss_ppm=_lower(PPM if one is None else one.loss_ppm for one in reports),
        mbps=measured[len(measured) // 2] if 2 * len(measured) >= len(reports) and any(measured) else None,
    )


def _lower(values: Iterable[int]) -> int:
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]
