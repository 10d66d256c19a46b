"""Calling nodes back: only the requester's own address, only for a signed and fresh request, and never often."""

from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient

from node.doctor.reach import callback_body
from oracle.api.app import create_app
from oracle.pipeline.callbacks import Called, callable_address
from swarm_chain.core.callbacks import CallbackRequest, callback_hash, greeting
from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Hash32, Timestamp
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, STRANGER, MemberWorld

HOST = "10.1.2.3"  # private networks are called in the minimal preset, as a demo needs
NONCE = Hash32(b"n" * 32)


@dataclass(slots=True)
class Calls:
    """A caller that writes down whom it was to call."""

    made: list[tuple[str, int, bytes]] = field(default_factory=list)
    problem: str = ""

    def call(self, host: str, port: int, line: bytes, /) -> Called:
        self.made.append((host, port, line))
        return Called(elapsed_ms=7, problem=self.problem)


class Asking:
    """A node at an address that asks a member to be called back."""

    def __init__(self, world: MemberWorld, host: str = HOST) -> None:
        self.world, self.calls = world, Calls()
        app = create_app(world.member, world.chain.deployment.contracts, self.calls)
        self.client = TestClient(app, client=(host, 50_000), raise_server_exceptions=False)

    def post(
        self,
        key: FakeSigner = ALICE,
        *,
        node: FakeSigner = ALICE,
        member: FakeSigner | None = None,
        port: int = 4000,
        nonce: Hash32 = NONCE,
        lead: int = 0,
    ) -> tuple[int, dict[str, object]]:
        """Status and document of the answer."""
        issued = self.world.now + lead
        request = CallbackRequest(
            node=node.address,
            member=(member or self.world.signer).address,
            port=port,
            nonce=nonce,
            issued_at=Timestamp(issued),
            expires_at=Timestamp(issued + 30),
        )
        signature = key.sign_typed(self.world.domain, callback_hash(request))
        answer = self.client.post("/v1/callbacks", json=callback_body(request, signature))
        return answer.status_code, answer.json()


def test_callback_when_a_node_asks_then_its_own_address_is_called_with_its_nonce(world: MemberWorld) -> None:
    asking = Asking(world)

    assert asking.post() == (200, {"host": HOST, "reached": True, "elapsedMs": 7, "problem": ""})
    assert asking.calls.made == [(HOST, 4000, b"swarm-callback " + NONCE.hex().encode() + b"\n")]


def test_callback_when_the_port_is_closed_then_the_reason_is_told(world: MemberWorld) -> None:
    asking = Asking(world)
    asking.calls.problem = "Connection refused"

    document = asking.post()[1]

    assert (document["reached"], document["problem"]) == (False, "Connection refused")


def test_callback_when_honest_a_hundred_times_then_called_each_time(world: MemberWorld) -> None:
    asking = Asking(world)
    for number in range(100):
        world.clock.sleep(1)
        assert asking.post(nonce=keccak(words(number)), port=1024 + number)[0] == 200

    assert {line for _, _, line in asking.calls.made} == {greeting(keccak(words(n))) for n in range(100)}
    assert {host for host, _, _ in asking.calls.made} == {HOST}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"key": BOB}, "wrong_signer"),
        ({"key": STRANGER, "node": STRANGER}, "unknown_node"),
        ({"member": BOB}, "wrong_member"),
        ({"lead": -61}, "expired"),
        ({"lead": 61}, "expired"),
        ({"port": 22}, "bad_port"),
        ({"port": 1023}, "bad_port"),
    ],
)
def test_attack_callback_when_forged_replayed_or_to_somebody_elses_service_then_nobody_is_called(
    world: MemberWorld, changes: dict[str, object], error: str
) -> None:
    asking = Asking(world)

    status, document = asking.post(**changes)  # type: ignore[arg-type]  # each case gives one argument its type

    assert (status, document["error"]) == (422, error)
    assert asking.calls.made == []


def test_attack_callback_when_one_host_asks_often_then_limited_whatever_node_it_names(world: MemberWorld) -> None:
    asking = Asking(world)

    statuses = [asking.post(key, node=key)[0] for _ in range(4) for key in (ALICE, BOB)]

    assert statuses == [200] * 5 + [429] * 3


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1"])
def test_attack_callback_when_the_address_is_the_members_own_network_then_never_on_a_real_network(host: str) -> None:
    with pytest.raises(InvalidInputError, match="not a public address"):
        callable_address(host, private=False)


@pytest.mark.parametrize("host", ["169.254.169.254", "0.0.0.0", "255.255.255.255", "224.0.0.1", "ff02::1", "fe80::1"])  # noqa: S104
def test_attack_callback_when_no_single_machine_has_the_address_then_never(host: str) -> None:
    with pytest.raises(InvalidInputError, match="not a public address"):
        callable_address(host, private=True)


@pytest.mark.parametrize("host", ["", "testclient", "example.org", "1.2.3.4:80"])
def test_attack_callback_when_the_host_is_a_name_then_it_is_not_looked_up(host: str) -> None:
    with pytest.raises(InvalidInputError, match="no address"):
        callable_address(host, private=True)


def test_address_when_public_then_itself_and_mapped_ones_unwrapped() -> None:
    assert callable_address("8.8.8.8", private=False) == "8.8.8.8"
    assert callable_address("::ffff:8.8.8.8", private=False) == "8.8.8.8"
    assert callable_address("127.0.0.1", private=True) == "127.0.0.1"
