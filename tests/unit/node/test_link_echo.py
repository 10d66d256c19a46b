"""The door of a node's echo: whom it answers, with how much, and whom never."""

from node.links.board import link_steps
from node.links.echo import ANSWERS_A_SECOND, CHECKS_A_SECOND, Doorkeeper
from node.model import MeasureLinks, Own, View
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import BlockRef, WindowRecord
from swarm_chain.core.pings import NONCE_BYTES, PING_BYTES, PONG_BYTES, Ping, ping_bytes, pong_bytes, token_hash
from swarm_chain.core.units import (
    ZERO_HASH,
    BlockNumber,
    EpochNumber,
    Hash32,
    ProviderId,
    Signature,
    Timestamp,
    window_id,
)
from swarm_chain.testing import FakeClock, FakeSigner

DOMAIN, EPOCH = keccak(b"domain"), EpochNumber(7)
NODE, PEER, STRANGER = FakeSigner("node"), FakeSigner("peer"), FakeSigner("stranger")


def door_of(clock: FakeClock | None = None) -> Doorkeeper:
    door = Doorkeeper(DOMAIN, NODE.address, (clock or FakeClock()).monotonic_ms)
    door.admit(EPOCH, frozenset({PEER.address}))
    return door


def token(
    key: FakeSigner = PEER, *, epoch: int = EPOCH, target: FakeSigner = NODE, domain: Hash32 = DOMAIN
) -> Signature:
    return key.sign_typed(domain, token_hash(EpochNumber(epoch), PEER.address, target.address))


def asked(signature: Signature, *, number: int = 0, epoch: int = EPOCH, caller: FakeSigner = PEER) -> bytes:
    nonce = keccak(b"nonce %d" % number)[:NONCE_BYTES]
    return ping_bytes(Ping(epoch=EpochNumber(epoch), caller=caller.address, nonce=nonce, token=signature))


def test_ping_when_the_token_is_right_then_answered_100_times_and_never_with_more_than_it_was() -> None:
    door, signature = door_of(), token()

    for number in range(100):
        ping = asked(signature, number=number)
        pong = door.answer(ping)
        assert pong == pong_bytes(keccak(b"nonce %d" % number)[:NONCE_BYTES])
        assert len(pong) == PONG_BYTES < PING_BYTES == len(ping)


def test_ping_when_the_token_is_wrong_then_nothing_comes_back() -> None:
    door = door_of()
    wrong = (
        token(STRANGER),  # signed by another
        token(target=STRANGER),  # for another node
        token(epoch=EPOCH - 1),  # of another epoch
        token(domain=keccak(b"another network")),
        Signature(bytes(65)),
    )

    assert [door.answer(asked(one)) for one in wrong] == [b""] * len(wrong)


def test_ping_when_the_caller_was_not_drawn_then_nothing_comes_back_even_if_it_signs() -> None:
    signature = STRANGER.sign_typed(DOMAIN, token_hash(EPOCH, STRANGER.address, NODE.address))

    assert door_of().answer(asked(signature, caller=STRANGER)) == b""


def test_datagram_when_it_is_no_ping_then_nothing_comes_back() -> None:
    door, ping = door_of(), asked(token())

    for datagram in (b"", b"SWL1", ping[:-1], ping + b"\0", b"X" + ping[1:], bytes(PING_BYTES)):
        assert door.answer(datagram) == b""


def test_door_when_flooded_with_forged_tokens_then_checks_are_bounded_and_known_callers_are_answered() -> None:
    clock = FakeClock()
    door, signature = door_of(clock), token()
    assert door.answer(asked(signature))
    for number in range(CHECKS_A_SECOND + 10):
        door.answer(asked(Signature(bytes([number % 256]) * 65)))

    assert door.answer(asked(signature, number=1)), "a caller that is known needs no check"
    clock.advance(1)
    for number in range(ANSWERS_A_SECOND):
        assert door.answer(asked(signature, number=number))
    assert door.answer(asked(signature)) == b""


def test_door_when_an_epoch_is_long_over_then_its_callers_are_forgotten() -> None:
    door, signature = door_of(), token()
    door.admit(EpochNumber(EPOCH + 2), frozenset({PEER.address}))

    assert door.answer(asked(signature)) == b""


def view_of(state: WindowState) -> View:
    window = WindowRecord(window_id=window_id(EPOCH, 0), state=state)
    block = BlockRef(number=BlockNumber(1), hash=ZERO_HASH, timestamp=Timestamp(1))
    return View(block=block, node=NODE.address, provider_id=ProviderId(1), windows=(window,))


def test_links_when_the_first_window_is_open_then_announced_and_pinged_after_it() -> None:
    own = Own(now_ms=0, heartbeat_ms=0, members=(), devices=(), links=True)

    assert list(link_steps(view_of(WindowState.COMMITTED), own)) == []
    assert list(link_steps(view_of(WindowState.OPEN), own)) == [MeasureLinks(epoch=EPOCH, pings=False)]
    assert list(link_steps(view_of(WindowState.CLOSED), own)) == [MeasureLinks(epoch=EPOCH, pings=True)]


def test_links_when_done_resting_or_off_then_nothing_is_due() -> None:
    for own in (
        Own(now_ms=0, heartbeat_ms=0, members=(), devices=()),
        Own(now_ms=0, heartbeat_ms=0, members=(), devices=(), links=True, linking=True),
        Own(now_ms=0, heartbeat_ms=0, members=(), devices=(), links=True, draining=True),
        Own(now_ms=0, heartbeat_ms=0, members=(), devices=(), links=True, linked=frozenset({EPOCH})),
    ):
        assert list(link_steps(view_of(WindowState.DRAWN), own)) == []
