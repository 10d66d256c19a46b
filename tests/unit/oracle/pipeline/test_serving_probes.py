"""Serving, from a node's offer over the member's HTTP to its observation; nodes are simulated, all of the member is real."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oracle.pipeline.measured import measurements_of
from oracle.pipeline.probe_turns import is_busy, turn_of
from oracle.pipeline.probes import Probing, probe_due
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.kinds import Category
from swarm_chain.core.messages import Json
from swarm_chain.core.serving import ServingOffer, offer_hash
from swarm_chain.core.units import Address, EpochNumber, Timestamp
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, PARAMS, STRANGER, MemberWorld
from tests.serving_world import Canned, SimulatedNode, SimulatedProber

URL, BOBS = "http://127.0.0.1:9001", "http://127.0.0.1:9002"


def offer_of(world: MemberWorld, key: FakeSigner = ALICE, **changes: Any) -> ServingOffer:
    offer = ServingOffer(
        epoch=world.epoch,
        node=key.address,
        url=URL,
        rate=4,
        issued_at=Timestamp(world.now),
        member=world.signer.address,
    )
    return replace(offer, **changes)


def body_of(world: MemberWorld, offer: ServingOffer, key: FakeSigner = ALICE) -> Json:
    fields = {
        "epoch": offer.epoch,
        "node": offer.node,
        "url": offer.url,
        "rate": offer.rate,
        "issuedAt": offer.issued_at,
        "member": offer.member,
    }
    return {"offer": fields, "signature": to_hex(key.sign_typed(world.domain, offer_hash(offer)))}


def post(world: MemberWorld, offer: ServingOffer, key: FakeSigner = ALICE) -> tuple[int, str]:
    response = world.client.post("/v1/offers", json=body_of(world, offer, key))
    return response.status_code, str(response.json().get("error", ""))


def probing(world: MemberWorld, prober: SimulatedProber) -> Probing:
    return replace(world.member.probing, prober=prober)


def seeded(world: MemberWorld) -> None:
    """Joins the committee, opens the epoch's first window, and lets its busy time pass."""
    world.log("EpochOracle", "MemberAdded", member=world.signer.address, members=1, quorum=1)
    world.close(world.open(0))
    pass_time(world, PARAMS.serving.busy_for)


def pass_time(world: MemberWorld, seconds: int) -> None:
    until = world.now + seconds
    while world.now < until:
        world.follow()


def told(world: MemberWorld, node: FakeSigner = ALICE) -> list[Json]:
    return list(world.client.get(f"/v1/probes/{node.address}").json()["probes"])


def test_offer_when_honest_then_probed_and_measured_up_to_its_claim(world: MemberWorld) -> None:
    seeded(world)
    assert post(world, offer_of(world)) == (202, "")
    prober = SimulatedProber({URL: SimulatedNode(model=model_of(world))})
    (probe,) = probe_due(probing(world, prober))
    (measured,) = [
        one
        for one in measurements_of(world.member, world.member.follower.sight, world.epoch)
        if one.category is Category.SERVING
    ]

    assert (probe.finding.reason, probe.finding.units) == ("", 4)
    assert prober.asked == [(URL, 2), (URL, 4)]
    assert (measured.units, measured.service.error_bps, measured.service.response_us) == (4, 0, probe.finding.p95_us)
    assert (told(world)[0]["outcome"], told(world)[0]["units"]) == ("passed", 4)
    assert probe_due(probing(world, prober)) == ()  # once an epoch


def test_offer_when_answers_are_canned_then_nothing_and_the_reason_is_told_after_the_lowest_rung(
    world: MemberWorld,
) -> None:
    seeded(world)
    post(world, offer_of(world))
    prober = SimulatedProber({URL: Canned()})
    probe_due(probing(world, prober))

    assert prober.asked == [(URL, 2)]  # whoever is named in an offer without serving gets no more than this
    assert (told(world)[0]["reason"], told(world)[0]["units"]) == ("wrong_answer", 0)


def test_two_nodes_when_due_then_each_is_measured_by_itself(world: MemberWorld) -> None:
    seeded(world)
    post(world, offer_of(world))
    post(world, offer_of(world, BOB, url=BOBS), BOB)
    prober = SimulatedProber({URL: SimulatedNode(model=model_of(world)), BOBS: Canned()})
    found = {probe.node: probe.finding.units for probe in probe_due(probing(world, prober))}

    assert found == {ALICE.address: 4, BOB.address: 0}


def test_probe_when_a_window_opens_meanwhile_then_it_counts_for_nobody_and_is_made_again(world: MemberWorld) -> None:
    seeded(world)
    post(world, offer_of(world))
    disturbed = SimulatedProber({URL: SimulatedNode(model=model_of(world))}, between=lambda: void(world.open(1)))

    assert probe_due(probing(world, disturbed)) == ()
    assert told(world) == []
    assert is_busy(world.member.follower.sight.state.windows, world.now, PARAMS.serving.busy_for)
    assert probe_due(probing(world, disturbed)) == ()  # devices compute
    pass_time(world, PARAMS.serving.busy_for)
    calm = SimulatedProber({URL: SimulatedNode(model=model_of(world))})
    assert [probe.finding.units for probe in probe_due(probing(world, calm))] == [4]


def test_node_when_it_was_not_probed_then_its_offer_alone_proves_nothing(world: MemberWorld) -> None:
    seeded(world)
    post(world, offer_of(world))
    measured = measurements_of(world.member, world.member.follower.sight, world.epoch)

    assert [(one.category, one.units) for one in measured] == [(Category.SERVING, 0)]


def test_offer_when_replaced_then_the_later_one_counts_and_an_old_one_comes_to_nothing(world: MemberWorld) -> None:
    seeded(world)
    old, new = offer_of(world), offer_of(world, url=BOBS, issued_at=Timestamp(world.now + 1))
    for offer in (old, new, old):
        assert post(world, offer)[0] == 202
    prober = SimulatedProber({BOBS: SimulatedNode(model=model_of(world))})

    assert [probe.finding.units for probe in probe_due(probing(world, prober))] == [4]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"url": "http://169.254.169.254:80"}, "bad_url"),
        ({"url": "http://name.example:80"}, "bad_url"),
        ({"url": "http://a:b@127.0.0.1:80"}, "bad_url"),
        ({"rate": 0}, "claim"),
        ({"rate": PARAMS.serving.most_rate + 1}, "claim"),
        ({"epoch": EpochNumber(99)}, "other_epoch"),
        ({"member": ALICE.address}, "other_member"),
        ({"node": STRANGER.address}, "unknown_node"),
        ({"issued_at": Timestamp(2**40)}, "expired"),
    ],
)
def test_offer_when_it_cannot_be_taken_then_refused(world: MemberWorld, changes: dict[str, Any], code: str) -> None:
    seeded(world)

    assert post(world, offer_of(world, **changes)) == (422, code)


def test_offer_when_signed_by_another_then_refused(world: MemberWorld) -> None:
    seeded(world)

    assert post(world, offer_of(world), BOB)[0] == 422


def test_offer_when_the_epoch_has_no_seed_then_later(world: MemberWorld) -> None:
    assert post(world, offer_of(world)) == (503, "no_epoch_seed")


def test_turns_when_three_members_share_an_epoch_then_never_two_at_a_time_and_each_has_one(world: MemberWorld) -> None:
    seeded(world)
    members = [Address(f"0x{number:040x}") for number in range(1, 4)]
    windows = world.member.follower.sight.state.windows
    turns = [turn_of(windows, world.network, world.now + second, ALICE.address, members) for second in range(36)]

    assert {turn.member for turn in turns if turn} == set(members)
    assert [turn.left_for for turn in turns if turn][:3] == [11, 10, 9]
    assert turn_of(windows, world.network, world.now - 2, ALICE.address, members) is None


def test_member_when_alone_then_a_dry_run_and_another_epoch_probe_nobody(world: MemberWorld, tmp_path: Path) -> None:
    seeded(world)
    post(world, offer_of(world))
    prober = SimulatedProber({URL: SimulatedNode()})

    assert probe_due(replace(probing(world, prober), member=None)) == ()
    assert probe_due(replace(probing(world, prober), prober=None)) == ()
    assert prober.asked == []


def model_of(world: MemberWorld) -> Any:
    """Seed of the running epoch's model."""
    from oracle.pipeline.probes import _model_seed

    return _model_seed(world.network, world.member.follower.sight)


def void(_value: object) -> None:
    """Takes a value and drops it."""
