"""The outbox as a table: where a process may die, what the chain may say, and what the next look does about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Engine

from oracle.pipeline.backlog import BUMP_AFTER_MS, Sender
from oracle.pipeline.lease import LeaseKeeper
from oracle.pipeline.transact import transact
from oracle.store.leases import Fence
from oracle.store.outbox import REVERTED, STORED, SUCCEEDED, SUPERSEDED, attempts_of
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.core.units import Hash32, Wei
from swarm_chain.ports import ChainWriter
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner
from tests.stores import sqlite_store
from tests.unit.oracle.pipeline.votes import REVERTS, vote

KEY = "epoch:3:vote"
CALL = ContractCall(contract="EpochOracle", function="vote", args=(3, b"r" * 32))
OTHER = ContractCall(contract="SwarmToken", function="approve", args=("0x" + "00" * 20, 1))


class Death(BaseException):
    """kill -9: no handler of the program sees it."""


@dataclass(slots=True)
class Faulty:
    """A real writer on the chain in memory that fails on command."""

    writer: ChainWriter
    dies_before_broadcast: bool = False
    dies_after_broadcast: bool = False
    loses_answer: bool = False
    sent: list[Hash32] = field(default_factory=list)

    def prepare(self, call: ContractCall) -> SignedTx:
        return self.writer.prepare(call)

    def broadcast(self, tx: SignedTx) -> None:
        if self.dies_before_broadcast:
            raise Death
        self.sent.append(tx.hash)
        self.writer.broadcast(tx)
        if self.dies_after_broadcast:
            raise Death
        if self.loses_answer:
            raise UnavailableError("the line broke", code="rpc_unavailable")

    def bump(self, tx: SignedTx) -> SignedTx:
        return self.writer.bump(tx)

    def outcome(self, tx_hash: Hash32) -> TxOutcome | None:
        return self.writer.outcome(tx_hash)

    def why_reverted(self, tx: SignedTx, outcome: TxOutcome) -> RejectedError:
        return self.writer.why_reverted(tx, outcome)


@dataclass(slots=True, kw_only=True)
class Desk:
    """A key, its outbox and a chain on which an epoch can be voted for once."""

    chain: FakeChain
    engine: Engine
    signer: FakeSigner
    clock: FakeClock
    faulty: Faulty
    fence: Fence

    def vote(self, *, patience_ms: int = 45_000) -> TxOutcome:
        """Brings the vote to its end, as a tick does."""
        return transact(self.sender(patience_ms), KEY, CALL)

    def sender(self, patience_ms: int = 45_000) -> Sender:
        """Outbox and key as a process has them that just started."""
        return Sender(
            engine=self.engine,
            writer=self.faulty,
            address=self.signer.address,
            clock=self.clock,
            fence=self.fence,
            patience_ms=patience_ms,
        )

    def restart(self) -> None:
        """A new process over the same outbox."""
        self.faulty = Faulty(self.chain.writer(self.signer))

    @property
    def states(self) -> list[str]:
        """States of all attempts, oldest first."""
        return [state for _, state in attempts_of(self.engine, KEY)]

    @property
    def votes(self) -> int:
        """Voted events on chain."""
        events = self.chain.events(0, self.chain.block("latest").number)
        return sum(event.name == "Voted" for event in events)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    chain, signer = FakeChain(), FakeSigner("oracle")

    chain.program.action("EpochOracle", "vote", vote)
    chain.program.action("SwarmToken", "approve", lambda *_arguments: [])
    engine = sqlite_store(tmp_path / "oracle.db")
    clock, faulty = FakeClock(), Faulty(chain.writer(signer))
    keeper = LeaseKeeper(engine, clock, holder="process 1", lasts_ms=10**9)
    keeper.keep()
    yield Desk(chain=chain, engine=engine, signer=signer, clock=clock, faulty=faulty, fence=keeper.fence)
    engine.dispose()


def test_intent_when_nothing_goes_wrong_then_one_transaction(desk: Desk) -> None:
    assert desk.vote().succeeded
    assert (desk.states, desk.votes) == ([SUCCEEDED], 1)


def test_intent_when_asked_for_again_then_nothing_is_sent(desk: Desk) -> None:
    first = desk.vote()
    assert desk.vote() == first
    assert (len(desk.faulty.sent), desk.votes) == (1, 1)


@pytest.mark.parametrize("death", ["dies_before_broadcast", "dies_after_broadcast"])
def test_kill_when_around_the_broadcast_then_the_same_transaction_completes_it(desk: Desk, death: str) -> None:
    setattr(desk.faulty, death, True)
    with pytest.raises(Death):
        desk.vote()
    desk.restart()
    assert desk.vote().succeeded
    assert (desk.states, desk.votes) == ([SUCCEEDED], 1)


def test_kill_when_the_transaction_waits_in_the_pool_then_it_is_looked_up_not_signed_again(desk: Desk) -> None:
    desk.chain.automine = False
    desk.faulty.dies_after_broadcast = True
    with pytest.raises(Death):
        desk.vote()
    desk.restart()
    desk.chain.mine()
    assert desk.vote().succeeded
    assert (desk.states, desk.faulty.sent) == ([SUCCEEDED], [])


def test_answer_when_lost_then_unknown_is_not_failed(desk: Desk) -> None:
    desk.faulty.loses_answer = True
    with pytest.raises(UnavailableError):
        desk.vote()
    assert desk.states == [STORED]
    desk.faulty.loses_answer = False
    assert desk.vote().succeeded
    assert desk.votes == 1


def test_nonce_when_another_transaction_took_it_then_the_intent_is_signed_anew(desk: Desk) -> None:
    desk.faulty.dies_before_broadcast = True
    with pytest.raises(Death):
        desk.vote()
    desk.restart()
    writer = desk.chain.writer(desk.signer)
    writer.broadcast(writer.prepare(OTHER))
    with pytest.raises(UnavailableError) as raised:
        desk.vote()
    assert (raised.value.code, desk.states) == ("tx_superseded", [SUPERSEDED])
    assert desk.vote().succeeded
    assert (desk.states, desk.votes) == ([SUPERSEDED, SUCCEEDED], 1)


def test_vote_when_done_by_other_means_then_the_chain_says_so_and_nothing_is_sent(desk: Desk) -> None:
    writer = desk.chain.writer(desk.signer)
    writer.broadcast(writer.prepare(CALL))
    with pytest.raises(RejectedError) as raised:
        desk.vote()
    assert (raised.value.code, desk.states, desk.votes) == ("SameVote", [], 1)


def test_transaction_when_stuck_then_bumped_by_an_eighth_and_one_of_them_counts(desk: Desk) -> None:
    desk.chain.automine = False
    with pytest.raises(UnavailableError) as raised:
        desk.vote(patience_ms=3 * BUMP_AFTER_MS)
    assert raised.value.code == "tx_unknown"
    fees = [tx.max_fee_wei for tx, _ in attempts_of(desk.engine, KEY)]
    assert len(fees) >= 3
    assert all(8 * later >= 9 * earlier for earlier, later in pairwise(fees))
    assert len({tx.nonce for tx, _ in attempts_of(desk.engine, KEY)}) == 1
    desk.chain.mine()
    assert desk.vote().succeeded
    assert desk.votes == 1


def test_transaction_when_the_fee_cap_is_reached_then_it_waits_and_nothing_breaks(desk: Desk) -> None:
    desk.chain.automine = False
    desk.faulty = Faulty(desk.chain.writer(desk.signer, max_fee_wei=Wei(3 * 10**9)))
    with pytest.raises(UnavailableError):
        desk.vote(patience_ms=3 * BUMP_AFTER_MS)
    assert desk.states == [STORED]
    with pytest.raises(InvalidInputError):
        desk.faulty.bump(desk.faulty.prepare(CALL))


def test_receipt_when_reverted_then_decoded_and_the_next_attempt_has_its_own_preflight(desk: Desk) -> None:
    desk.chain.automine = False
    desk.faulty.dies_after_broadcast = True
    with pytest.raises(Death):
        desk.vote()
    desk.restart()
    desk.chain.program.storage[REVERTS] = True
    desk.chain.mine()
    with pytest.raises(RejectedError) as raised:
        desk.vote()
    assert raised.value.code == "SameVote"
    assert "reverted in block" in raised.value.message
    with pytest.raises(RejectedError):
        desk.vote()
    assert (desk.states, desk.faulty.sent) == ([REVERTED], []), "the preflight said no, so nothing was sent"
    desk.chain.program.storage[REVERTS] = False
    desk.chain.automine = True
    assert desk.vote().succeeded
    assert desk.states == [REVERTED, SUCCEEDED]


def test_bumped_transaction_when_one_of_them_reverted_then_its_siblings_are_dead_too(desk: Desk) -> None:
    desk.chain.automine = False
    with pytest.raises(UnavailableError):
        desk.vote(patience_ms=2 * BUMP_AFTER_MS)
    assert len(desk.states) >= 2
    desk.chain.program.storage[REVERTS] = True
    desk.chain.mine()
    with pytest.raises(RejectedError):
        desk.vote()
    desk.chain.program.storage[REVERTS] = False
    desk.chain.automine = True
    assert desk.vote().succeeded, "it did not try to send a sibling whose nonce is used"
    assert desk.votes == 1


def test_receipt_when_reverted_again_and_again_then_a_person_is_called(desk: Desk) -> None:
    for _ in range(3):
        desk.chain.automine = False
        desk.restart()
        desk.faulty.dies_after_broadcast = True
        with pytest.raises(Death):
            desk.vote()
        desk.restart()
        desk.chain.program.storage[REVERTS] = True
        desk.chain.mine()
        with pytest.raises(RejectedError):
            desk.vote()
        desk.chain.program.storage[REVERTS] = False
    with pytest.raises(InconsistentError):
        desk.vote()
    assert desk.states == [REVERTED] * 3


def test_chain_when_away_then_the_intent_waits(desk: Desk) -> None:
    desk.chain.available = False
    with pytest.raises(UnavailableError):
        desk.vote()
    desk.chain.available = True
    assert desk.vote().succeeded
    assert desk.votes == 1


def test_account_when_empty_then_refused_and_later_done(desk: Desk) -> None:
    desk.chain.pool.fund(desk.signer.address, Wei(0))
    with pytest.raises(RejectedError) as raised:
        desk.vote()
    assert (raised.value.code, desk.states) == ("insufficient_funds", [])
    desk.chain.pool.fund(desk.signer.address, Wei(10**18))
    assert desk.vote().succeeded
