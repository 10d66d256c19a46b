"""What a member sees: facts folded from logs, reorganisations above and below finality, the reference block of an epoch."""

from dataclasses import dataclass, replace

import pytest

from oracle.consensus.views import CaseState
from oracle.pipeline.follow import Follower
from oracle.pipeline.sight import CycleFacts, advance_facts
from oracle.pipeline.ticks import follow
from oracle.store import evidence
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall
from swarm_chain.core.units import Address, BlockNumber, EpochNumber, Hash32, Timestamp, Wei
from swarm_chain.testing import FakeChain, FakeSigner
from tests.member_world import ALICE, MemberWorld

ONE, TWO = FakeSigner("member one").address, FakeSigner("member two").address
CASE = keccak(b"case")


def event(contract: str, name: str, block: int = 7, **args: object) -> ChainEvent:
    """A decoded log."""
    return ChainEvent(
        contract=contract,
        name=name,
        args=args,
        block=BlockNumber(block),
        log_index=0,
        tx_hash=keccak(b"tx"),
        timestamp=Timestamp(0),
    )


def voted(epoch: int, member: Address, report: bytes) -> ChainEvent:
    """A vote."""
    return event("EpochOracle", "Voted", epoch=epoch, member=member, reportHash=keccak(report), support=1)


def test_facts_when_members_vote_and_withdraw_then_live_votes_remain() -> None:
    facts = advance_facts(CycleFacts(), [voted(1, ONE, b"a"), voted(1, TWO, b"b")])
    assert facts.votes == {(1, ONE): keccak(b"a"), (1, TWO): keccak(b"b")}
    withdrawn = event("EpochOracle", "VoteWithdrawn", epoch=1, member=ONE, reportHash=keccak(b"a"), support=0)
    assert advance_facts(facts, [withdrawn]).votes == {(1, TWO): keccak(b"b")}
    removed = event("EpochOracle", "MemberRemoved", member=TWO, members=1, quorum=1)
    assert advance_facts(facts, [removed]).votes == {(1, ONE): keccak(b"a")}
    submitted = event("EpochOracle", "ReportSubmitted", epoch=1, reportHash=keccak(b"a"), submitter=ONE, rootIndex=0)
    done = advance_facts(facts, [voted(2, ONE, b"c"), submitted])
    assert (done.processed_epochs, done.votes) == (2, {(2, ONE): keccak(b"c")})


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("CaseAnswered", CaseState.ANSWERED),
        ("CaseVetoed", CaseState.VETOED),
        ("CaseExecuted", CaseState.EXECUTED),
        ("CaseExpired", CaseState.EXPIRED),
    ],
)
def test_facts_when_a_case_moves_then_its_state_and_times_are_known(name: str, state: CaseState) -> None:
    opened = event("SlashingCourt", "CaseOpened", caseId=CASE, executableAt=30, expiresAt=60)
    facts = advance_facts(CycleFacts(), [opened])
    assert (facts.cases[CASE].state, facts.cases[CASE].executable_at) == (CaseState.OPEN, 30)
    assert advance_facts(facts, [event("SlashingCourt", name, caseId=CASE)]).cases[CASE].state is state


def test_facts_when_secrets_and_jobs_come_then_their_blocks_are_known() -> None:
    logs = [
        event("ChallengeBeacon", "SecretCommitted", 11, windowId=5, secretHash=bytes(32)),
        event("JobEscrow", "JobCompleted", 12, jobId=9, receiptDigest=bytes(32), judgeBy=0),
        event("SwarmToken", "Transfer", 13),
    ]
    facts = advance_facts(CycleFacts(), logs)
    assert (facts.secret_blocks, facts.completed_blocks) == ({5: 11}, {9: 12})


@dataclass(slots=True)
class Fork:
    """A view of a chain on which blocks from `replaced_from` on have other hashes and no logs."""

    chain: FakeChain
    replaced_from: int = 2**62

    def chain_id(self) -> int:
        return self.chain.chain_id()

    def block(self, which: "int | str | Hash32") -> BlockRef:
        found = self.chain.block(which)
        return replace(found, hash=keccak(found.hash)) if found.number >= self.replaced_from else found

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        return tuple(one for one in self.chain.events(first, last) if one.block < self.replaced_from)

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        return self.chain.call(call, at)

    def balance(self, address: Address) -> Wei:
        return self.chain.balance(address)


def test_follower_when_blocks_above_finality_are_replaced_then_their_logs_are_gone() -> None:
    chain = FakeChain()
    fork = Fork(chain)
    follower = Follower(fork, BlockNumber(0))
    chain.mine(6)
    chain.append("ChallengeBeacon", "SecretCommitted", windowId=5, secretHash=keccak(b"s"))
    latest = chain.mine().number
    assert follower.poll().facts.secret_blocks == {5: latest}
    fork.replaced_from = latest
    sight = follower.poll()
    assert (sight.facts.secret_blocks, sight.state.windows) == ({}, ())


def test_follower_when_a_final_block_is_replaced_then_it_stops() -> None:
    """Invariant 45."""
    chain = FakeChain()
    fork = Fork(chain)
    follower = Follower(fork, BlockNumber(0))
    chain.mine(10)
    finalized = follower.poll().finalized.number
    assert finalized > 0
    fork.replaced_from = finalized
    chain.mine()
    with pytest.raises(InconsistentError, match=f"final block {finalized}"):
        follower.poll()


def test_follower_when_the_chain_is_away_then_the_last_sight_stays() -> None:
    chain = FakeChain()
    follower = Follower(chain, BlockNumber(0))
    with pytest.raises(UnavailableError, match="not seen the chain"):
        _ = follower.sight
    chain.mine()
    seen = follower.poll()
    chain.available = False
    with pytest.raises(UnavailableError):
        follower.poll()
    assert follower.sight is seen


def test_follow_when_a_window_opens_then_its_clock_starts_once(world: MemberWorld) -> None:
    window = world.open()
    started = evidence.first_sight(world.engine, window)
    world.clock.advance(3)
    world.follow()
    follow(world.member)
    assert evidence.first_sight(world.engine, window) == started


@pytest.mark.parametrize("seconds", [1, 7, 59, 60, 61])
def test_ref_block_when_searched_then_it_is_the_last_one_before_the_end(world: MemberWorld, seconds: int) -> None:
    world.chain.mine(150 // seconds + 8, seconds=seconds)
    finalized = world.chain.block("finalized")
    for epoch in range(world.network.epoch_at(finalized.timestamp)):
        found = world.member.archive.ref_block(EpochNumber(epoch), finalized)
        end = world.network.epoch_end(epoch)
        assert found.timestamp < end <= world.chain.block(found.number + 1).timestamp


def test_ref_block_when_the_end_is_not_final_then_not_yet(world: MemberWorld) -> None:
    world.chain.mine(seconds=world.network.params.epoch.epoch_for)
    with pytest.raises(UnavailableError, match="not final yet"):
        world.member.archive.ref_block(world.network.epoch_at(0), world.chain.block("finalized"))


def test_state_at_when_asked_for_older_and_newer_blocks_then_the_same_as_folded_at_once(world: MemberWorld) -> None:
    world.log("ProviderRegistry", "NodeRemoved", providerId=1, node=ALICE.address)
    world.chain.mine(3)
    early, late = world.chain.block(1), world.chain.block("latest")
    archive = world.member.archive
    first = archive.state_at(late)
    assert archive.state_at(early).providers[0].nodes == (ALICE.address,)
    assert archive.state_at(late) == first
    assert first.providers[0].past_nodes == (ALICE.address,)
