"""Links for tests: a member with nodes on the ring, and pings in memory that cross a line of known length."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from node.links.book import HttpOracleLinks, LinkPeer, OracleLinks
from node.links.echo import Doorkeeper
from node.links.round import LinkGrounds
from node.oracle_client import JsonHttp
from oracle.pipeline.links import peers_of, take_endpoint, take_link
from swarm_chain.adapters.pinger import PingCall
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.links import LinkReport, SignedLink, link_hash, pair_of
from swarm_chain.core.messages import Json, signed_endpoint_json, signed_link_json
from swarm_chain.core.pings import NONCE_BYTES, LinkEndpoint, Ping, endpoint_hash, ping_bytes, pong_bytes
from swarm_chain.core.units import Address, EpochNumber, Signature, Timestamp
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, PARAMS, MemberWorld

HOST = "127.0.0.1"
PORTS: Mapping[Address, int] = {ALICE.address: 20_001, BOB.address: 20_002}
FIRST, SECOND = sorted((ALICE, BOB), key=lambda key: key.address.lower())


def endpoint_of(world: MemberWorld, key: FakeSigner, **changes: object) -> LinkEndpoint:
    """Where a node answers in the next epoch."""
    endpoint = LinkEndpoint(
        epoch=EpochNumber(world.epoch + 1),
        node=key.address,
        host=HOST,
        port=PORTS.get(key.address, 20_000),
        issued_at=Timestamp(world.now),
    )
    return replace(endpoint, **changes)  # type: ignore[arg-type]  # tests change what they like


def announce(world: MemberWorld, endpoint: LinkEndpoint, key: FakeSigner) -> tuple[int, str]:
    """Announces over the member's HTTP; status and code."""
    body = signed_endpoint_json(endpoint, key.sign_typed(world.domain, endpoint_hash(endpoint)))
    return said(world, "/v1/links/endpoints", body)


def said(world: MemberWorld, path: str, body: Json) -> tuple[int, str]:
    """Status and error code of a message."""
    response = world.client.post(path, json=body)
    return response.status_code, str(response.json().get("error", ""))


def next_epoch(world: MemberWorld) -> None:
    """Lets the next epoch begin."""
    running = world.epoch
    world.chain.mine(seconds=max(1, world.network.epoch_end(running) - world.now))
    world.follow()


def begin(world: MemberWorld, keys: Iterable[FakeSigner] = (ALICE, BOB)) -> None:
    """Puts nodes on the ring of the next epoch, and lets that begin with its first window over."""
    for key in keys:
        endpoint = endpoint_of(world, key)
        take_endpoint(world.member.linking, endpoint, key.sign_typed(world.domain, endpoint_hash(endpoint)))
    next_epoch(world)
    world.close(world.open(0))


def signed_link(
    world: MemberWorld, *, first: FakeSigner = FIRST, second: FakeSigner | None = SECOND, **changes: object
) -> SignedLink:
    """A report of the only pair, signed by keys; without a second one it is a proposal."""
    one, other = pair_of(ALICE.address, BOB.address)
    plain = LinkReport(epoch=world.epoch, first=one, second=other, rtt_us=4000, jitter_us=200, loss_ppm=0)
    report = replace(plain, **changes)  # type: ignore[arg-type]  # tests change what they like
    return SignedLink(
        report=report,
        first=first.sign_typed(world.domain, link_hash(report)),
        second=None if second is None else second.sign_typed(world.domain, link_hash(report)),
    )


def report(world: MemberWorld, signed: SignedLink) -> tuple[int, str]:
    """Hands a report in over the member's HTTP."""
    return said(world, "/v1/links", signed_link_json(signed))


def oracle_links(world: MemberWorld) -> OracleLinks:
    """The node's side of the member over its application, without a socket."""
    return HttpOracleLinks(JsonHttp("http://testserver", world.client))


@dataclass(slots=True)
class MemberInProcess:
    """OracleLinks of a member without its HTTP, for many epochs in a row."""

    world: MemberWorld

    def address(self) -> Address:
        return self.world.signer.address

    def announce(self, endpoint: LinkEndpoint, signature: Signature) -> None:
        take_endpoint(self.world.member.linking, endpoint, signature)

    def peers(self, epoch: EpochNumber, node: Address) -> tuple[LinkPeer, ...]:
        return tuple(
            LinkPeer(endpoint=one.peer.endpoint, signature=one.peer.signature, link=one.link)
            for one in peers_of(self.world.member.linking, epoch, node)
        )

    def report(self, signed: SignedLink) -> None:
        take_link(self.world.member.linking, signed)


@dataclass(slots=True, kw_only=True)
class Wires:
    """Pings in memory: every node's door on one line, so far apart in us, with some noise and loss."""

    doors: dict[int, Doorkeeper] = field(default_factory=dict)
    rtt_us: int = 4000
    loss_percent: int = 0
    seed: int = 0
    sent: int = 0

    def ping(self, call: PingCall) -> tuple[int | None, ...]:
        """Pinger over these wires."""
        random, found = Random(f"{self.seed} {self.sent}"), []
        for _ in range(call.probes):
            nonce = random.randbytes(NONCE_BYTES)
            datagram = ping_bytes(Ping(epoch=call.epoch, caller=call.caller, nonce=nonce, token=call.token))
            self.sent += 1
            back = self.doors[call.port].answer(datagram) if call.port in self.doors else b""
            is_lost = random.randrange(100) < self.loss_percent
            found.append(self.rtt_us + random.randrange(500) if back == pong_bytes(nonce) and not is_lost else None)
        if not any(found):
            raise UnavailableError("nobody answers", code="peer_away")
        return tuple(found)


def grounds_of(world: MemberWorld, wires: Wires, key: FakeSigner, *, over_http: bool = False) -> LinkGrounds:
    """A node's part in links over a member and wires; its door is on them from now on."""
    door = Doorkeeper(world.domain, key.address, world.clock.monotonic_ms)
    wires.doors[PORTS[key.address]] = door
    return LinkGrounds(
        signer=key,
        domain=world.domain,
        params=PARAMS.links,
        members={"it": oracle_links(world) if over_http else MemberInProcess(world)},
        pinger=wires.ping,
        admit=door.admit,
    )
