"""Links, from two nodes' endpoints over the member's HTTP to its measurements; pings cross wires in memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from node.links.round import link_round
from oracle.model import Measurement
from oracle.pipeline.links import link_measurements, ping_due, take_link
from oracle.pipeline.measured import lowered
from oracle.store.links import trips_in
from swarm_chain.core.kinds import Category
from swarm_chain.core.links import MAX_US, PPM
from swarm_chain.core.messages import Json, signed_link_json
from swarm_chain.core.units import EpochNumber, Timestamp
from swarm_chain.testing import FakeSigner
from tests.boasts.links import AgreesToAll, Flattering, Shy
from tests.links_world import (
    FIRST,
    PORTS,
    SECOND,
    Wires,
    announce,
    begin,
    endpoint_of,
    grounds_of,
    next_epoch,
    report,
    said,
    signed_link,
)
from tests.member_world import ALICE, BOB, PARAMS, STRANGER, MemberWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MemberWorld]:
    """A member with two nodes of two providers."""
    made = MemberWorld(tmp_path)
    yield made
    made.close_down()


def measured(world: MemberWorld) -> dict[str, Measurement]:
    """What the member says of the running epoch's links."""
    found = link_measurements(world.member.linking, world.member.follower.sight, world.epoch)
    return {one.node: one for one in found}


def settle(world: MemberWorld, wires: Wires, *, over_http: bool = False) -> list[bool]:
    """Both nodes look, twice; whether each is done."""
    first, second = (grounds_of(world, wires, key, over_http=over_http) for key in (FIRST, SECOND))
    return [link_round(one, world.epoch) for one in (second, first, second, first)][2:]


def test_links_when_both_ends_are_honest_then_both_are_measured(world: MemberWorld) -> None:
    begin(world)
    wires = Wires(rtt_us=4000)

    assert settle(world, wires, over_http=True) == [True, True]

    found = measured(world)
    assert set(found) == {ALICE.address, BOB.address}
    for one in found.values():
        assert one.category is Category.NETWORK
        assert one.units is None, "links prove no bandwidth"
        assert one.service.response_us is not None
        assert 4000 <= one.service.response_us < 4500
        assert one.service.far_response_us is None  # both are of one region
        assert one.service.error_bps == 0
        assert one.service.jitter_us is not None
        assert one.service.jitter_us < 500


def test_links_when_nobody_reports_then_both_are_out_of_reach(world: MemberWorld) -> None:
    begin(world)

    for one in measured(world).values():
        assert (one.service.response_us, one.service.error_bps) == (MAX_US, 10_000)
    assert PPM // 100 == 10_000


def test_links_when_only_one_end_answers_then_the_honest_end_makes_nothing_up(world: MemberWorld) -> None:
    begin(world)
    wires = Wires()
    honest = grounds_of(world, wires, FIRST)

    assert not link_round(honest, world.epoch)  # the other is away
    assert measured(world)[FIRST.address].service.response_us == MAX_US


def test_ring_when_nobody_announced_in_time_then_nothing_is_measured(world: MemberWorld) -> None:
    next_epoch(world)
    world.close(world.open(0))

    assert announce(world, endpoint_of(world, ALICE, epoch=world.epoch), ALICE) == (422, "other_epoch")
    assert measured(world) == {}


def test_regions_when_they_differ_then_the_response_is_a_far_one(world: MemberWorld) -> None:
    owner = FakeSigner("owner 3").address
    identity = {"owner": owner, "operator": owner, "payout": owner, "hardwareClass": 1, "region": b"us-east\0"}
    world.log("ProviderRegistry", "ProviderRegistered", providerId=3, **identity)
    world.log("ProviderRegistry", "NodeRemoved", providerId=2, node=BOB.address)
    world.log("ProviderRegistry", "NodeAdded", providerId=3, node=BOB.address)
    begin(world)
    settle(world, Wires())

    service = measured(world)[ALICE.address].service
    assert service.response_us is None
    assert service.far_response_us is not None


def test_peers_when_fewer_than_needed_then_nothing_is_said(world: MemberWorld) -> None:
    begin(world)
    settle(world, Wires())
    links = replace(PARAMS.links, least_peers=2)
    network = replace(world.network, params=replace(PARAMS, links=links))
    linking = replace(world.member.linking, desk=replace(world.member.desk, network=network))

    assert link_measurements(linking, world.member.follower.sight, world.epoch) == ()


def test_member_when_nodes_answer_then_its_shortest_way_is_kept_once_an_epoch(world: MemberWorld) -> None:
    begin(world)
    wires = Wires(rtt_us=9000)
    linking = replace(world.member.linking, pinger=wires.ping)
    assert ping_due(linking) == {}  # nobody lets it in yet
    settle(world, wires)

    found = ping_due(linking)

    assert set(found) == {ALICE.address, BOB.address}
    assert all(9000 <= rtt < 9500 for rtt in found.values())
    assert trips_in(world.engine, world.epoch) == found
    assert ping_due(linking) == {}


def test_member_when_devices_compute_or_it_is_a_dry_run_then_it_pings_nobody(world: MemberWorld) -> None:
    for key in (ALICE, BOB):
        announce(world, endpoint_of(world, key), key)
    next_epoch(world)
    world.open(0)
    wires = Wires()

    assert ping_due(replace(world.member.linking, pinger=wires.ping)) == {}
    assert ping_due(replace(world.member.linking, pinger=wires.ping, signer=None)) == {}
    assert wires.sent == 0


def test_peers_when_the_epoch_has_no_seed_then_later(world: MemberWorld) -> None:
    response = world.client.get(f"/v1/links/{world.epoch + 5}/peers/{ALICE.address}")

    assert (response.status_code, response.json()["error"]) == (503, "no_epoch_seed")


HOSTILE: list[tuple[dict[str, object], str]] = [
    ({"host": "name.example"}, "bad_endpoint"),
    ({"host": "169.254.169.254"}, "bad_endpoint"),
    ({"host": "0.0.0.0"}, "bad_endpoint"),  # noqa: S104  # refused, not bound
    ({"host": "255.255.255.255"}, "bad_endpoint"),
    ({"host": "224.0.0.1"}, "bad_endpoint"),
    ({"host": "127.1"}, "bad_endpoint"),
    ({"host": "::ffff:10.0.0.1"}, "bad_endpoint"),
    ({"host": "fe80::1%eth0"}, "bad_endpoint"),
    ({"port": 53}, "bad_endpoint"),
    ({"epoch": EpochNumber(99)}, "other_epoch"),
    ({"node": STRANGER.address}, "unknown_node"),
    ({"issued_at": Timestamp(2**40)}, "expired"),
    ({"node": BOB.address}, "wrong_signer"),
]


def test_endpoint_when_nobody_should_be_sent_there_then_refused(world: MemberWorld) -> None:
    for changes, code in HOSTILE:
        assert announce(world, endpoint_of(world, ALICE, **changes), ALICE) == (422, code), changes
    assert announce(world, endpoint_of(world, ALICE), ALICE) == (202, "")


def test_endpoint_when_said_again_then_the_later_one_counts(world: MemberWorld) -> None:
    old = endpoint_of(world, FIRST)
    for one in (old, replace(old, port=30_000, issued_at=Timestamp(world.now + 1)), old):
        assert announce(world, one, FIRST) == (202, "")
    begin(world, [SECOND])
    (peer,) = world.client.get(f"/v1/links/{world.epoch}/peers/{SECOND.address}").json()["peers"]

    assert peer["endpoint"]["port"] == 30_000


def test_report_when_one_end_signs_for_both_then_refused(world: MemberWorld) -> None:
    begin(world)

    assert report(world, signed_link(world, second=FIRST)) == (422, "wrong_signer")
    assert report(world, signed_link(world, first=SECOND)) == (422, "wrong_signer")
    assert report(world, signed_link(world, first=SECOND, second=None)) == (422, "wrong_signer")


def test_report_when_one_end_signs_alone_then_it_counts_for_nothing(world: MemberWorld) -> None:
    begin(world)

    assert report(world, signed_link(world, second=None)) == (202, "")
    assert measured(world)[FIRST.address].service.response_us == MAX_US


def test_report_when_replayed_from_another_epoch_then_refused(world: MemberWorld) -> None:
    begin(world)
    old = signed_link(world)
    assert report(world, old) == (202, "")
    begin(world)

    assert report(world, old) == (422, "other_epoch")
    assert report(world, replace(old, report=replace(old.report, epoch=world.epoch))) == (422, "wrong_signer")
    assert measured(world)[FIRST.address].service.response_us == MAX_US


def test_report_when_two_differ_then_none_counts_and_no_third_is_kept(world: MemberWorld) -> None:
    begin(world)
    for rtt_us in (4000, 1, 2, 3):
        assert report(world, signed_link(world, rtt_us=rtt_us)) == (202, "")

    assert measured(world)[FIRST.address].service.response_us == MAX_US
    with world.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM link_reports").scalar_one() == 2


def test_report_when_the_same_comes_again_then_it_counts_once(world: MemberWorld) -> None:
    begin(world)
    for signed in (signed_link(world, second=None), signed_link(world), signed_link(world)):
        assert report(world, signed) == (202, "")

    assert measured(world)[FIRST.address].service.response_us == 4000


def test_report_when_the_pair_was_not_drawn_then_refused(world: MemberWorld) -> None:
    begin(world, [ALICE])  # BOB is not on the ring

    assert report(world, signed_link(world)) == (422, "not_drawn")


def test_report_when_both_are_of_one_provider_then_never_drawn(world: MemberWorld) -> None:
    world.log("ProviderRegistry", "NodeRemoved", providerId=2, node=BOB.address)
    world.log("ProviderRegistry", "NodeAdded", providerId=1, node=BOB.address)
    begin(world)

    assert report(world, signed_link(world)) == (422, "not_drawn")


def test_report_when_its_numbers_are_impossible_then_refused(world: MemberWorld) -> None:
    begin(world)
    for name, value in (("rttUs", 0), ("rttUs", MAX_US + 1), ("lossPpm", PPM + 1), ("jitterUs", MAX_US + 1)):
        body = signed_link_json(signed_link(world))
        body["report"] = {**cast(Json, body["report"]), name: value}

        assert said(world, "/v1/links", body) == (422, "bad_link")


def test_report_when_the_members_own_way_rules_it_out_then_it_counts_for_nobody(world: MemberWorld) -> None:
    begin(world)
    wires = {}
    for key, rtt_us in ((FIRST, 100), (SECOND, 9_000_000)):
        wires[PORTS[key.address]] = Wires(rtt_us=rtt_us)
        grounds_of(world, wires[PORTS[key.address]], key).admit(world.epoch, frozenset({world.signer.address}))
    take_link(world.member.linking, signed_link(world, rtt_us=4000))
    assert measured(world)[FIRST.address].service.response_us == 4000

    ping_due(replace(world.member.linking, pinger=lambda call: wires[call.port].ping(call)))

    assert measured(world)[FIRST.address].service.response_us == MAX_US


def test_proposal_when_flattering_then_the_other_end_does_not_sign_and_the_honest_pair_does_100_times(
    world: MemberWorld,
) -> None:
    begin(world)
    liar = Flattering(Wires(rtt_us=300_000))
    first, second = (grounds_of(world, liar.wires, key) for key in (FIRST, SECOND))
    link_round(second, world.epoch)
    link_round(replace(first, pinger=liar.ping), world.epoch)

    assert not link_round(second, world.epoch)
    assert measured(world)[SECOND.address].service.response_us == MAX_US
    for seed in range(100):
        begin(world)
        assert settle(world, Wires(seed=seed, rtt_us=1000 * (seed + 1), loss_percent=seed % 5)) == [True, True]
        service = measured(world)[FIRST.address].service
        assert service.response_us is not None
        assert 1000 * (seed + 1) <= service.response_us < 1000 * (seed + 1) + 500


def test_proposal_when_the_other_end_agrees_to_all_then_it_stands_as_far_as_the_member_believes_it(
    world: MemberWorld,
) -> None:
    begin(world)
    wires = Wires(rtt_us=300_000)
    first, second = (grounds_of(world, wires, key) for key in (FIRST, SECOND))
    link_round(second, world.epoch)
    link_round(replace(first, pinger=Flattering(wires).ping), world.epoch)
    link_round(replace(second, pinger=AgreesToAll(wires).ping), world.epoch)

    assert measured(world)[FIRST.address].service.response_us is not None
    assert measured(world)[FIRST.address].units is None, "liars among themselves prove no units"


def test_throughput_when_two_ends_sign_it_then_it_lowers_what_audits_proved_and_proves_nothing(
    world: MemberWorld,
) -> None:
    begin(world)
    take_link(world.member.linking, signed_link(world, throughput_mbps=50))
    links = link_measurements(world.member.linking, world.member.follower.sight, world.epoch)
    audits = (
        Measurement(node=FIRST.address, category=Category.NETWORK, units=80),
        Measurement(node=SECOND.address, category=Category.NETWORK, units=30),
    )

    assert [one.units for one in lowered((), links)] == [None, None]
    assert [one.units for one in lowered(audits, links)] == [50, 30]


def test_proposal_when_it_has_a_throughput_nobody_measured_then_the_other_end_does_not_sign(world: MemberWorld) -> None:
    begin(world)
    wires = Wires(rtt_us=4000)
    grounds_of(world, wires, FIRST).admit(world.epoch, frozenset({SECOND.address}))
    second = grounds_of(world, wires, SECOND)
    take_link(world.member.linking, signed_link(world, second=None, throughput_mbps=1))

    assert not link_round(second, world.epoch)
    assert measured(world)[SECOND.address].units is None


def test_throughput_when_both_ends_found_much_the_same_then_signed_and_it_lowers_units(world: MemberWorld) -> None:
    begin(world)
    wires = Wires(rtt_us=4000)
    first = replace(grounds_of(world, wires, FIRST), throughput=lambda _host, _port: 60)
    second = replace(grounds_of(world, wires, SECOND), throughput=lambda _host, _port: 70)

    assert [link_round(one, world.epoch) for one in (second, first, second, first)][2:] == [True, True]

    links = link_measurements(world.member.linking, world.member.follower.sight, world.epoch)
    audits = [Measurement(node=key.address, category=Category.NETWORK, units=80) for key in (FIRST, SECOND)]
    assert [one.units for one in lowered(audits, links)] == [60, 60]


def test_throughput_when_the_proposer_says_less_than_the_other_end_found_then_not_signed(world: MemberWorld) -> None:
    begin(world)
    wires = Wires(rtt_us=4000)
    liar = replace(grounds_of(world, wires, FIRST), throughput=lambda _host, _port: 1)
    second = replace(grounds_of(world, wires, SECOND), throughput=lambda _host, _port: 900)

    assert [link_round(one, world.epoch) for one in (second, liar, second)][2:] == [False]

    audits = [Measurement(node=SECOND.address, category=Category.NETWORK, units=80)]
    links = link_measurements(world.member.linking, world.member.follower.sight, world.epoch)
    units = {one.node: one.units for one in lowered(audits, links)}
    assert units[SECOND.address] == 80, "nobody lowers another's units alone"


def test_node_when_it_answers_none_of_its_peers_then_its_links_are_worst(world: MemberWorld) -> None:
    begin(world)
    wires = Wires()
    first, second = (grounds_of(world, wires, key) for key in (FIRST, SECOND))
    wires.doors[PORTS[FIRST.address]] = Shy(world.domain, FIRST.address, world.clock.monotonic_ms)
    for one in (second, first, second):
        link_round(one, world.epoch)

    assert measured(world)[FIRST.address].service.response_us == MAX_US
