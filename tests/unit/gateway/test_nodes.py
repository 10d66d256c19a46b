"""Announcements and assignments over HTTP."""

from typing import Any

import pytest

from swarm_chain.core.errors import InvalidInputError
from tests.gateway_world import ALICE, BOB, GATEWAY, STRANGER, GatewayWorld


def test_gateway_says_who_it_is(world: GatewayWorld) -> None:
    assert world.get("/v1/gateway") == {
        "address": GATEWAY.address,
        "chainId": 31_337,
        "rayAddress": "127.0.0.1:6379",
        "feeBps": 500,
        "minPriceWei": "10",
    }


def test_announced_node_is_listed_as_the_registry_knows_it(world: GatewayWorld) -> None:
    answer = world.announce(region="the moon", hardware_class=2)
    world.measured = {ALICE.address: {"compute": 12}}

    assert answer.json() == {"rayAddress": "127.0.0.1:6379"}
    (shown,) = world.get("/v1/nodes")
    assert (shown["node"], shown["provider"], shown["priceWei"]) == (ALICE.address, 1, "100")
    assert (shown["region"], shown["hardwareClass"]) == ("eu-west", 1)  # what it says of itself places nothing
    assert (shown["jobs"], shown["measured"]) == (0, {"compute": 12})


def test_announcement_signed_by_another_is_refused(world: GatewayWorld) -> None:
    assert world.announce(ALICE, key=BOB).json()["error"] == "wrong_signer"


@pytest.mark.parametrize("offset", [-31, 31])
def test_announcement_of_another_time_is_refused(world: GatewayWorld, offset: int) -> None:
    answer = world.announce(issued_at=world.now + offset)

    assert answer.status_code == 422
    assert answer.json()["error"] == "stale"


def test_older_announcement_does_not_replace_a_newer_one(world: GatewayWorld) -> None:
    world.announce(price_wei=7)

    assert world.announce(issued_at=world.now - 5, expires_at=world.now + 50).json()["error"] == "stale"
    assert world.get("/v1/nodes")[0]["priceWei"] == "7"


def test_node_of_no_provider_is_refused_with_the_reason(world: GatewayWorld) -> None:
    answer = world.announce(STRANGER)

    assert answer.json()["error"] == "not_eligible"
    assert "belongs to no provider" in answer.json()["message"]


def test_suspended_node_is_neither_taken_nor_given_jobs(world: GatewayWorld) -> None:
    world.announce()
    world.log("ProviderRegistry", "ProviderSuspended", providerId=1, suspendedUntil=world.now + 100)

    assert world.get("/v1/nodes") == []
    assert "suspended until" in world.announce().json()["message"]


def test_announcement_is_over_when_it_expires(world: GatewayWorld) -> None:
    world.announce(expires_at=world.now + 20)
    world.follow(seconds=20)

    assert world.get("/v1/nodes") == []


@pytest.mark.parametrize(
    "changed", [{"cpus": 0}, {"price_wei": 2**128}, {"memory_mb": 0}, {"region": "r" * 65}, {"expires_at": 2**40}]
)
def test_announcement_out_of_range_cannot_be_made(world: GatewayWorld, changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        world.announce(**changed)


def test_posted_job_is_given_to_one_node_until_it_is_accepted(world: GatewayWorld) -> None:
    world.announce()
    world.announce(BOB, price_wei=500)
    world.post_job()
    assert (world.assigned(ALICE), world.assigned(BOB)) == ([1], [])
    assert world.get("/v1/jobs/1")["why"] == f"node {ALICE.address} was asked to accept it"

    world.accept()

    assert (world.assigned(ALICE), world.assigned(BOB)) == ([], [])
    assert world.get("/v1/nodes")[0]["jobs"] == 1


def test_assignment_outlives_the_process_and_goes_on_to_the_next_node(world: GatewayWorld) -> None:
    world.announce()
    world.announce(BOB, price_wei=500)
    world.post_job()

    again = world.restarted()
    assert again.assigned(ALICE) == [1]
    again.follow(seconds=60)

    assert (again.assigned(ALICE), again.assigned(BOB)) == ([], [1])
    again.close()


def test_job_whose_spec_never_came_says_so(world: GatewayWorld) -> None:
    world.announce()
    customer = STRANGER.address
    times = {"acceptBy": world.now + 100, "maxRunFor": 100}
    world.log("JobEscrow", "JobPosted", jobId=1, customer=customer, kind=1, specHash=b"\5" * 32, budget=10**6, **times)

    assert world.assigned(ALICE) == []
    assert world.get("/v1/jobs/1")["why"] == "its spec was not left at this gateway"
