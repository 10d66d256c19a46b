"""Pings: what round trips come to, and when the other end's report may be signed."""

from dataclasses import replace

import pytest

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.link_params import link_rules
from swarm_chain.core.links import MAX_US, PPM, LinkReport, pair_of
from swarm_chain.core.pings import LinkFigures, agrees, figures_of, parse_ping
from swarm_chain.core.units import Bps, EpochNumber
from swarm_chain.params import load_params
from swarm_chain.testing import FakeSigner

PARAMS = load_params("mainnet").links
FIRST, SECOND = pair_of(FakeSigner("one").address, FakeSigner("other").address)
MINE = LinkFigures(rtt_us=20_000, jitter_us=300, loss_ppm=0)


def test_figures_when_some_pings_are_lost_then_medians_of_the_others_and_the_share() -> None:
    found = figures_of([100, None, 300, 200, 0, MAX_US + 5])

    assert found == LinkFigures(rtt_us=200, jitter_us=199, loss_ppm=PPM // 6)
    assert figures_of([7]) == LinkFigures(rtt_us=7, jitter_us=0, loss_ppm=0)


@pytest.mark.parametrize("trips", [[], [None, None]])
def test_figures_when_nothing_came_back_then_refused(trips: list[int | None]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        figures_of(trips)

    assert caught.value.code == "peer_away"


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"rtt_us": 40_000}, True),
        ({"rtt_us": 10_000}, True),
        ({"rtt_us": 42_001}, False),
        ({"rtt_us": 8_999}, False),
        ({"rtt_us": 1}, False),
        ({"jitter_us": 2_600}, True),
        ({"jitter_us": 2_601}, False),
        ({"loss_ppm": PARAMS.agree_ppm}, True),
        ({"loss_ppm": PARAMS.agree_ppm + 1}, False),
        ({"throughput_mbps": 1}, False),
        ({"throughput_mbps": 900}, False),
    ],
)
def test_report_when_it_differs_from_what_this_end_found_then_signed_only_within_the_bounds(
    changes: dict[str, int], fits: bool
) -> None:
    report = LinkReport(
        epoch=EpochNumber(1), first=FIRST, second=SECOND, rtt_us=20_000, jitter_us=300, loss_ppm=0, throughput_mbps=None
    )

    assert agrees(MINE, replace(report, **changes), PARAMS) is fits  # type: ignore[arg-type]  # tests change what they like


@pytest.mark.parametrize(
    ("mine", "fits"), [(900, True), (450, True), (1800, True), (449, False), (1801, False), (None, False)]
)
def test_throughput_when_this_end_measured_one_then_signed_only_if_much_the_same(mine: int | None, fits: bool) -> None:
    params = replace(PARAMS, agree_bps=Bps(20_000))
    report = LinkReport(
        epoch=EpochNumber(1), first=FIRST, second=SECOND, rtt_us=20_000, jitter_us=300, loss_ppm=0, throughput_mbps=900
    )

    assert agrees(replace(MINE, throughput_mbps=mine), report, params) is fits
    assert agrees(replace(MINE, throughput_mbps=mine), replace(report, throughput_mbps=None), params)


def test_rules_when_the_presets_are_broken_then_told() -> None:
    assert all(link_rules(PARAMS).values())
    assert not all(link_rules(replace(PARAMS, least_peers=PARAMS.ahead + 1)).values())
    assert not all(link_rules(replace(PARAMS, probes=1)).values())
    assert not all(link_rules(replace(PARAMS, agree_bps=Bps(9999))).values())


def test_ping_when_it_is_something_else_then_refused() -> None:
    with pytest.raises(InvalidInputError):
        parse_ping(b"SWL2" + bytes(105))
