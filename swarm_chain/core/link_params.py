"""Protocol numbers of links between drawn peers. Source: docs/spec/network.md "Links"."""

from dataclasses import dataclass

from swarm_chain.core.units import BPS, Bps

MAX_PROBES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkParams:
    """Who measures with whom, how, and what is believed; `_us` are microseconds, `_ms` milliseconds, `_for` seconds."""

    ahead: int
    probes: int
    gap_ms: int
    timeout_ms: int
    rest_for: int
    agree_bps: Bps
    agree_us: int
    agree_ppm: int
    share_bps: Bps
    slack_us: int
    least_peers: int
    private_hosts: int


def link_rules(links: LinkParams) -> dict[str, bool]:
    """Give what must hold between the numbers, and whether it does."""
    return {
        "links need peers, and enough of them to count": 0 < links.least_peers <= links.ahead,
        "a link is measured by some probes, none of which waits for ever": 1 < links.probes <= MAX_PROBES
        and 0 < links.timeout_ms <= 10_000
        and links.rest_for > 0,
        "two honest ends may differ, and distance is believed in part at most": links.agree_bps >= BPS
        and 0 < links.share_bps <= BPS,
    }
