"""Links judged: honest pairs pass a hundred times in a row, and each way of lying about a link is dropped or outvoted."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest

from oracle.judge.links import LinkFindings, LinkRound, judge_links
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.links import MAX_US, PPM, LinkReport, Pair, drawn_pairs, link_hash, pair_of, require_both_signed
from swarm_chain.core.units import Address, Bps, EpochNumber, Hash32, ProviderId
from swarm_chain.testing import FakeSigner

RUNS, NODES, AHEAD = 100, 12, 3
EPOCH, DOMAIN = EpochNumber(7), keccak(b"domain")
HOP_US, WORLD_US, SLACK_US = 400, 60_000, 500
KEYS = [FakeSigner(f"node {number}") for number in range(NODES)]
ADDRESSES = [key.address for key in KEYS]
PROVIDERS = {node: ProviderId(number // 2 + 1) for number, node in enumerate(ADDRESSES)}  # two nodes a provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Earth:
    """Nodes on a line; the member in its middle. The round trip is the distance, and a hop."""

    seed: Hash32

    def at(self, node: Address) -> int:
        """Microseconds from the end of the line."""
        return int.from_bytes(keccak(self.seed + node.encode())[:4], "big") % WORLD_US

    def report(self, pair: Pair) -> LinkReport:
        """What two honest nodes find."""
        rtt_us = abs(self.at(pair[0]) - self.at(pair[1])) + HOP_US
        return LinkReport(
            epoch=EPOCH, first=pair[0], second=pair[1], rtt_us=rtt_us, jitter_us=50, loss_ppm=0, throughput_mbps=500
        )

    def links(self) -> LinkRound:
        """An honest epoch."""
        pairs = drawn_pairs(self.seed, PROVIDERS, AHEAD)
        return LinkRound(
            epoch=EPOCH,
            pairs=pairs,
            announced=frozenset(ADDRESSES),
            reports=tuple(self.report(pair) for pair in sorted(pairs)),
            member_rtt_us={node: abs(self.at(node) - WORLD_US // 2) + HOP_US for node in ADDRESSES},
            share_bps=Bps(5000),
            slack_us=SLACK_US,
        )


def earths() -> list[Earth]:
    """A hundred places and draws."""
    return [Earth(seed=keccak(b"earth %d" % number)) for number in range(RUNS)]


def with_report(links: LinkRound, report: LinkReport) -> LinkRound:
    """The same epoch with one pair's report replaced."""
    return replace(links, reports=(*(one for one in links.reports if one.pair != report.pair), report))


def reasons(found: LinkFindings) -> set[str]:
    """Why reports were dropped."""
    return {reason for _, reason in found.dropped}


def test_links_when_honest_then_every_report_counts_a_hundred_times() -> None:
    for earth in earths():
        links = earth.links()
        found = judge_links(links)

        assert found.dropped == ()
        assert found.nodes.keys() == set(ADDRESSES)
        for node, finding in found.nodes.items():
            rtts = sorted(report.rtt_us for report in links.reports if node in report.pair)
            assert finding.rtt_us == rtts[(len(rtts) - 1) // 2]
            assert (finding.error_bps, finding.jitter_us, finding.mbps) == (0, 50, 500)


def test_pairs_when_drawn_then_of_different_providers_and_everybody_has_peers() -> None:
    seen = set()
    for earth in earths():
        pairs = drawn_pairs(earth.seed, PROVIDERS, AHEAD)
        seen.add(pairs)
        count = Counter(node for pair in pairs for node in pair)

        assert all(PROVIDERS[one] != PROVIDERS[other] and pair_of(other, one) == (one, other) for one, other in pairs)
        assert min(count[node] for node in ADDRESSES) >= AHEAD
        assert pairs == drawn_pairs(earth.seed, dict(reversed(PROVIDERS.items())), AHEAD)
    assert len(seen) > RUNS // 2


@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
def test_pairs_when_there_are_few_nodes_then_none_with_itself_or_its_own_provider(nodes: int) -> None:
    few = {node: PROVIDERS[node] for node in ADDRESSES[:nodes]}

    pairs = drawn_pairs(keccak(b"seed"), few, AHEAD)

    assert pairs == {pair_of(ADDRESSES[2], node) for node in ADDRESSES[:2] if nodes == 3}


def test_false_ping_when_the_pair_was_not_drawn_then_dropped() -> None:
    for earth in earths():
        links = earth.links()
        strangers = next(
            pair_of(one, other)
            for one in ADDRESSES
            for other in ADDRESSES
            if one != other and pair_of(one, other) not in links.pairs
        )
        lie = replace(earth.report(strangers), rtt_us=1)
        found = judge_links(replace(links, reports=(*links.reports, lie)))

        assert found.dropped == ((lie, "not_drawn"),)
        assert found.nodes == judge_links(links).nodes


def test_false_ping_when_nearer_than_the_member_can_believe_then_dropped_a_hundred_times() -> None:
    for earth in earths():
        links = earth.links()
        far = links.member_rtt_us
        pair = max(links.pairs, key=lambda one: (abs(far[one[0]] - far[one[1]]), one))
        found = judge_links(with_report(links, replace(earth.report(pair), rtt_us=1)))

        assert reasons(found) == {"too_near"}


def test_slander_when_farther_than_over_the_member_then_dropped_a_hundred_times() -> None:
    for earth in earths():
        links = earth.links()
        pair = min(links.pairs)
        limit = sum(links.member_rtt_us[node] for node in pair) + SLACK_US
        assert reasons(judge_links(with_report(links, replace(earth.report(pair), rtt_us=limit + 1)))) == {"too_far"}


def test_false_ping_when_the_member_measured_neither_then_the_median_outvotes_a_minority() -> None:
    for earth in earths():
        links = replace(earth.links(), member_rtt_us={})
        node = ADDRESSES[0]
        own = sorted(report.rtt_us for report in links.reports if node in report.pair)
        friend = next(report for report in links.reports if node in report.pair)
        found = judge_links(with_report(links, replace(friend, rtt_us=1, throughput_mbps=10**6)))

        assert own[0] <= found.nodes[node].rtt_us
        assert found.nodes[node].mbps == 500


def test_report_when_two_differ_for_a_pair_then_neither_counts_and_a_copy_does_no_harm() -> None:
    links = Earth(seed=keccak(b"two")).links()
    one = links.reports[0]
    other = replace(one, rtt_us=one.rtt_us + 1)

    both = judge_links(replace(links, reports=(*links.reports, other)))
    copies = judge_links(replace(links, reports=(*links.reports, one)))

    assert both.dropped == ((one, "contradicted"), (other, "contradicted"))
    assert copies == judge_links(links)


def test_report_when_of_an_old_epoch_then_dropped_and_contradicts_nothing() -> None:
    links = Earth(seed=keccak(b"old")).links()
    old = replace(links.reports[0], epoch=EpochNumber(EPOCH - 1), rtt_us=1)

    found = judge_links(replace(links, reports=(*links.reports, old)))

    assert found.dropped == ((old, "wrong_epoch"),)
    assert found.nodes == judge_links(links).nodes


def test_report_when_a_node_signs_only_what_flatters_it_then_the_others_count_as_out_of_reach() -> None:
    links = Earth(seed=keccak(b"picky")).links()
    node = ADDRESSES[0]
    own = [report for report in links.reports if node in report.pair]
    kept = tuple(report for report in links.reports if report not in own[1:])

    finding = judge_links(replace(links, reports=kept)).nodes[node]

    assert (finding.rtt_us, finding.loss_ppm, finding.error_bps, finding.mbps) == (MAX_US, PPM, 10_000, 0)


def test_nodes_when_not_announced_then_without_finding_and_no_burden_on_their_peers() -> None:
    links = Earth(seed=keccak(b"away")).links()
    away = ADDRESSES[0]
    reports = tuple(report for report in links.reports if away not in report.pair)

    found = judge_links(replace(links, announced=frozenset(ADDRESSES[1:]), reports=reports))

    assert away not in found.nodes
    assert all(finding.rtt_us < MAX_US for finding in found.nodes.values())


def test_report_when_one_end_signs_alone_then_refused_and_both_pass() -> None:
    first, second = sorted(KEYS[:2], key=lambda key: key.address.lower())
    report = replace(Earth(seed=keccak(b"x")).report((first.address, second.address)), throughput_mbps=None)
    signed = [key.sign_typed(DOMAIN, link_hash(report)) for key in (first, second)]

    require_both_signed(DOMAIN, report, *signed)

    for false in ([signed[0], signed[0]], [signed[1], signed[0]]):
        with pytest.raises(InvalidInputError):
            require_both_signed(DOMAIN, report, *false)
    with pytest.raises(InvalidInputError):
        require_both_signed(DOMAIN, replace(report, rtt_us=report.rtt_us + 1), *signed)
    with pytest.raises(InvalidInputError):
        require_both_signed(keccak(b"another chain"), report, *signed)


@pytest.mark.parametrize(
    "changes",
    [
        {"rtt_us": 0},
        {"rtt_us": MAX_US + 1},
        {"jitter_us": -1},
        {"loss_ppm": PPM + 1},
        {"throughput_mbps": 2**64},
        {"throughput_mbps": -1},
    ],
)
def test_report_when_its_numbers_are_impossible_then_there_is_no_such_report(changes: dict[str, int]) -> None:
    report = Earth(seed=keccak(b"x")).report(pair_of(*ADDRESSES[:2]))

    with pytest.raises(InvalidInputError):
        replace(report, **changes)  # type: ignore[arg-type]  # integers alone


def test_report_when_of_a_node_with_itself_or_in_the_wrong_order_then_there_is_no_such_report() -> None:
    report = Earth(seed=keccak(b"x")).report(pair_of(*ADDRESSES[:2]))

    for first, second in ((report.first, report.first), (report.second, report.first)):
        with pytest.raises(InvalidInputError):
            replace(report, first=first, second=second)


def test_hash_when_throughput_was_not_measured_then_another_one_than_of_zero() -> None:
    report = Earth(seed=keccak(b"x")).report(pair_of(*ADDRESSES[:2]))

    assert link_hash(replace(report, throughput_mbps=None)) != link_hash(replace(report, throughput_mbps=0))
