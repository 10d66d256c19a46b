"""Transactions that stayed behind: nobody asks for them any more, and still none holds up the key's next ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from oracle.pipeline.backlog import BUMP_AFTER_MS, Sender, bring_forward
from oracle.pipeline.transact import transact
from oracle.store.outbox import REVERTED, STORED, SUCCEEDED, SUPERSEDED, attempts_of, open_attempts, store_intent
from swarm_chain.core.errors import RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Wei
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner
from tests.stores import sqlite_store
from tests.unit.oracle.pipeline.votes import vote

OLD, NEW = "epoch:3:vote", "epoch:4:vote"


def call(epoch: int) -> ContractCall:
    """A vote for an epoch; each is taken once."""
    return ContractCall(contract="EpochOracle", function="vote", args=(epoch, b"r" * 32))


@dataclass(slots=True, kw_only=True)
class Desk:
    """A key, its outbox, and a chain that mines only what pays enough when asked to."""

    chain: FakeChain
    engine: Engine
    signer: FakeSigner
    clock: FakeClock

    def sender(self, cap_wei: int = 500 * 10**9, signer: FakeSigner | None = None) -> Sender:
        """Outbox and key as a process has them that just started."""
        key = signer or self.signer
        return Sender(
            engine=self.engine,
            writer=self.chain.writer(key, Wei(cap_wei)),
            address=key.address,
            clock=self.clock,
            fence=_no_lease,
        )

    def leave_behind(self, key: str = OLD, epoch: int = 3, *, sent: bool = True) -> None:
        """A process signs, maybe sends, and dies; nothing is mined."""
        self.chain.automine = False
        sender = self.sender()
        tx = sender.sign(key, sender.writer.prepare(call(epoch)))
        if sent:
            sender.broadcast(tx)

    def states(self, key: str) -> list[str]:
        """States of the attempts at an intent, oldest first."""
        return [state for _, state in attempts_of(self.engine, key)]

    def fees(self, key: str) -> list[int]:
        """Fees of the attempts at an intent, oldest first."""
        return [tx.max_fee_wei for tx, _ in attempts_of(self.engine, key)]

    @property
    def voted(self) -> list[object]:
        """Epochs voted for, in chain order."""
        events = self.chain.events(0, self.chain.block("latest").number)
        return [event.args["epoch"] for event in events if event.name == "Voted"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    chain, signer = FakeChain(), FakeSigner("member")

    chain.program.action("EpochOracle", "vote", vote)
    engine = sqlite_store(tmp_path / "oracle.db")
    yield Desk(chain=chain, engine=engine, signer=signer, clock=FakeClock())
    engine.dispose()


def test_transaction_when_never_sent_and_unwanted_then_sent_before_the_next_is_signed(desk: Desk) -> None:
    desk.leave_behind(sent=False)
    desk.chain.automine = True

    transact(desk.sender(), NEW, call(4))

    assert desk.voted == [3, 4]
    nonces = [attempts_of(desk.engine, key)[0][0].nonce for key in (OLD, NEW)]
    assert nonces == [0, 1]


def test_transaction_when_stuck_and_unwanted_then_bumped_by_an_eighth_each_time_until_it_is_mined(desk: Desk) -> None:
    desk.leave_behind()
    sender = desk.sender()
    for _ in range(4):
        bring_forward(sender)
        desk.clock.advance(BUMP_AFTER_MS // 1000)

    fees = desk.fees(OLD)
    assert len(fees) == 4, "first only sent again, then bumped at each of three looks"
    assert all(8 * later >= 9 * earlier for earlier, later in pairwise(fees))
    desk.chain.mine()
    bring_forward(sender)
    assert sorted(desk.states(OLD)) == [STORED] * 3 + [SUCCEEDED]
    assert open_attempts(desk.engine, desk.signer.address) == ()
    assert desk.voted == [3]


def test_looks_when_more_often_than_a_bump_is_due_then_nothing_is_sent(desk: Desk) -> None:
    desk.leave_behind()
    sender = desk.sender()
    for _ in range(50):
        bring_forward(sender)
        desk.clock.sleep(0.25)

    assert desk.states(OLD) == [STORED]


def test_nonces_when_several_wait_then_only_the_first_in_line_is_bumped(desk: Desk) -> None:
    desk.leave_behind()
    desk.leave_behind(NEW, 4)
    sender = desk.sender()
    bring_forward(sender)
    desk.clock.advance(BUMP_AFTER_MS // 1000)
    bring_forward(sender)

    assert (len(desk.fees(OLD)), len(desk.fees(NEW))) == (2, 1)
    desk.chain.mine()
    assert desk.voted == [3, 4]


def test_transaction_when_at_the_fee_cap_then_the_same_one_goes_out_again(desk: Desk) -> None:
    desk.leave_behind()
    sender = desk.sender(cap_wei=3 * 10**9)
    for _ in range(3):
        bring_forward(sender)
        desk.clock.advance(BUMP_AFTER_MS // 1000)

    assert desk.states(OLD) == [STORED]
    desk.chain.mine()
    assert desk.voted == [3]


def test_nonce_when_another_process_used_it_then_closed_and_later_wanted_again_with_a_new_one(desk: Desk) -> None:
    desk.leave_behind(sent=False)
    writer = desk.chain.writer(desk.signer)
    writer.broadcast(writer.prepare(call(9)))
    desk.chain.mine()

    bring_forward(desk.sender())
    assert desk.states(OLD) == [SUPERSEDED]
    desk.chain.automine = True
    transact(desk.sender(), OLD, call(3))
    assert desk.states(OLD) == [SUPERSEDED, SUCCEEDED]
    assert desk.voted == [9, 3]


def test_transaction_when_mined_and_reverted_meanwhile_then_noted_and_its_nonce_closed(desk: Desk) -> None:
    desk.leave_behind()
    desk.chain.program.storage[desk.signer.address, 3] = b"voted by other means"
    desk.chain.mine()

    bring_forward(desk.sender())

    assert desk.states(OLD) == [REVERTED]
    with pytest.raises(RejectedError):
        transact(desk.sender(), OLD, call(3))


def test_attempts_when_they_are_another_keys_then_left_alone(desk: Desk) -> None:
    desk.leave_behind(sent=False)
    successor = FakeSigner("the member's next key")
    desk.chain.automine = True

    transact(desk.sender(signer=successor), NEW, call(4))
    transact(desk.sender(signer=successor), OLD, call(3))

    senders = [tx.sender for tx, _ in attempts_of(desk.engine, OLD)]
    assert senders == [desk.signer.address, successor.address], "a bump with another key would take a wrong nonce"
    assert desk.voted == [4, 3]


def test_account_when_it_cannot_pay_then_the_next_ones_are_not_held_back_by_the_look(desk: Desk) -> None:
    desk.leave_behind(sent=False)
    refusing = desk.sender()

    @dataclass(slots=True)
    class Poor:
        """A writer whose node says that the account cannot pay."""

        sent: int = 0

        def __getattr__(self, name: str) -> object:
            return getattr(refusing.writer, name)

        def broadcast(self, _tx: object) -> None:
            self.sent += 1
            raise RejectedError("insufficient funds", code="insufficient_funds")

    poor = Poor()
    sender = Sender(
        engine=desk.engine,
        writer=poor,  # type: ignore[arg-type]  # passes everything else on
        address=desk.signer.address,
        clock=desk.clock,
        fence=_no_lease,
    )
    bring_forward(sender)

    assert (poor.sent, desk.states(OLD)) == (1, [STORED])


def test_chain_when_away_then_the_look_fails_and_nothing_is_marked(desk: Desk) -> None:
    desk.leave_behind()
    desk.chain.available = False

    with pytest.raises(UnavailableError):
        bring_forward(desk.sender())
    assert desk.states(OLD) == [STORED]


def test_intent_when_it_times_out_then_looks_and_tries_share_one_pace(desk: Desk) -> None:
    desk.chain.automine = False
    sender = desk.sender()
    with pytest.raises(UnavailableError):
        transact(sender, OLD, call(3))
    tries = len(desk.fees(OLD))
    bring_forward(sender)
    bring_forward(sender)

    assert len(desk.fees(OLD)) <= tries + 1


def test_open_attempts_when_nonces_are_closed_by_other_intents_then_not_among_them(desk: Desk) -> None:
    desk.leave_behind(sent=False)
    writer = desk.chain.writer(desk.signer)
    other = writer.prepare(call(7))
    store_intent(desk.engine, NEW, other, _no_lease)
    writer.broadcast(other)
    desk.chain.mine()

    bring_forward(desk.sender())

    assert open_attempts(desk.engine, desk.signer.address) == ()
    assert desk.states(NEW) == [SUCCEEDED]


def _no_lease(_connection: Connection) -> None:
    """A test is the only process."""
