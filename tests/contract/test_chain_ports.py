"""One suite for ChainReader and ChainWriter: what holds on anvil, through one endpoint or several, holds on the fake."""

from collections.abc import Iterator

import pytest

from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, send_and_wait
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.ports import ChainReader
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner
from tests.contract.worlds import TEN, World, fake_world, mined, real_world

UNKNOWN = Hash32(keccak(b"no such thing"))


@pytest.fixture(params=["fake", "real", "quorum"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "fake":
        yield fake_world()
        return
    made = real_world(request.getfixturevalue("tools"), 3 if request.param == "quorum" else 1)
    yield made
    made.automine(True)


@pytest.fixture(params=["fake", "real"])
def dead_reader(request: pytest.FixtureRequest) -> ChainReader:
    chain = FakeChain()
    if request.param == "real":
        return Web3Reader("http://127.0.0.1:9", chain.deployment)
    chain.available = False
    return chain


def test_block_by_number_hash_and_tag_is_the_same_block(world: World) -> None:
    latest = world.reader.block("latest")

    assert world.reader.block(latest.number) == latest
    assert world.reader.block(latest.hash) == latest
    assert world.reader.block("earliest").number == 0


def test_finalized_block_is_four_behind_the_latest(world: World) -> None:
    world.mine(3)

    assert world.reader.block("finalized").number == world.reader.block("latest").number - 4


@pytest.mark.parametrize("which", [10**9, UNKNOWN])
def test_block_that_does_not_exist_is_invalid_input(world: World, which: int | Hash32) -> None:
    with pytest.raises(InvalidInputError) as caught:
        world.reader.block(which)

    assert caught.value.code == "unknown_block"


def test_block_by_an_unknown_tag_is_invalid_input(world: World) -> None:
    with pytest.raises(InvalidInputError):
        world.reader.block("newest")


def test_event_is_read_once_with_its_arguments_and_its_blocks_time(world: World) -> None:
    send_and_wait(world.writer(), world.transfer(3), world.clock)
    head = world.reader.block("latest")

    (event,) = [e for e in world.reader.events(head.number, head.number) if e.contract == "SwarmToken"]

    assert event.name == "Transfer"
    assert dict(event.args) == {"from": world.alice.address, "to": world.bob.address, "value": 3}
    assert (event.block, event.timestamp) == (head.number, head.timestamp)


def test_events_of_many_blocks_come_in_chain_order_and_add_up(world: World) -> None:
    first = world.reader.block("latest").number + 1
    for amount in (1, 2, 3):
        send_and_wait(world.writer(), world.transfer(amount), world.clock)
    last = world.reader.block("latest").number

    whole = world.reader.events(first, last)

    assert [e.args["value"] for e in whole] == [1, 2, 3]
    assert whole == world.reader.events(first, first) + world.reader.events(first + 1, last)
    assert [(e.block, e.log_index) for e in whole] == sorted((e.block, e.log_index) for e in whole)


def test_events_of_an_empty_range_are_none(world: World) -> None:
    assert world.reader.events(5, 4) == ()


def test_events_beyond_the_head_are_invalid_input(world: World) -> None:
    with pytest.raises(InvalidInputError):
        world.reader.events(0, 10**9)


def test_call_pinned_to_a_block_sees_its_state(world: World) -> None:
    before = world.reader.block("latest")
    send_and_wait(world.writer(), world.transfer(4), world.clock)

    assert world.reader.call(world.balance_of(world.alice), at=before) == TEN
    assert world.reader.call(world.balance_of(world.alice)) == TEN - 4


@pytest.mark.parametrize(("contract", "function"), [("SwarmToken", "mintMore"), ("Casino", "spin")])
def test_call_of_something_the_abi_lacks_is_invalid_input(world: World, contract: str, function: str) -> None:
    with pytest.raises(InvalidInputError):
        world.reader.call(ContractCall(contract=contract, function=function))


def test_balance_falls_by_the_fee_the_outcome_names(world: World) -> None:
    before = world.reader.balance(world.alice.address)

    outcome = send_and_wait(world.writer(), world.transfer(1), world.clock)

    assert outcome.fee_wei > 0
    assert world.reader.balance(world.alice.address) == before - outcome.fee_wei


def test_reader_without_an_endpoint_is_unavailable(dead_reader: ChainReader) -> None:
    with pytest.raises(UnavailableError) as caught:
        dead_reader.block("latest")

    assert caught.value.exit_code == 4
    assert caught.value.fix


def test_prepare_signs_for_the_sender_and_sends_nothing(world: World) -> None:
    tx = world.writer().prepare(world.transfer(1))

    assert tx.sender == world.alice.address
    assert tx.hash == keccak(tx.raw)
    assert world.writer().prepare(world.transfer(1)).nonce == tx.nonce
    assert world.writer().outcome(tx.hash) is None


def test_prepare_of_a_call_that_would_revert_is_decoded(world: World) -> None:
    with pytest.raises(RejectedError) as caught:
        world.writer().prepare(world.transfer(TEN + 1))

    assert caught.value.code == "ERC20InsufficientBalance"
    assert caught.value.values == {"sender": world.alice.address, "balance": str(TEN), "needed": str(TEN + 1)}
    assert caught.value.fix == "Get more SWM, or use a smaller amount."
    assert caught.value.exit_code == 5


def test_prepare_without_coins_for_gas_says_how_much_is_missing(world: World) -> None:
    world.fund(world.alice.address, Wei(1000))

    with pytest.raises(RejectedError) as caught:
        world.writer().prepare(world.transfer(1))

    assert caught.value.code == "insufficient_funds"
    assert caught.value.values["have"] == "1000"
    assert world.alice.address in caught.value.fix


def test_broadcast_then_outcome_names_block_and_events(world: World) -> None:
    writer = world.writer()
    tx = writer.prepare(world.transfer(7))

    writer.broadcast(tx)
    outcome = mined(writer, tx.hash)

    assert outcome.succeeded
    assert outcome.block == world.reader.block("latest").number
    assert [(e.name, e.args["value"]) for e in outcome.events] == [("Transfer", 7)]


def test_broadcast_again_counts_as_sent_while_waiting_and_when_mined(world: World) -> None:
    world.automine(False)
    writer = world.writer()
    tx = writer.prepare(world.transfer(7))

    writer.broadcast(tx)
    writer.broadcast(tx)
    world.mine(1)
    writer.broadcast(tx)

    assert world.reader.call(world.balance_of(world.bob)) == 7


def test_outcome_is_none_while_the_transaction_waits(world: World) -> None:
    world.automine(False)
    writer = world.writer()
    tx = writer.prepare(world.transfer(7))
    writer.broadcast(tx)

    assert writer.outcome(tx.hash) is None
    assert writer.prepare(world.transfer(1)).nonce == tx.nonce + 1
    world.mine(1)
    assert writer.outcome(tx.hash) is not None


def test_second_transaction_of_a_used_nonce_is_refused(world: World) -> None:
    writer = world.writer()
    first, second = writer.prepare(world.transfer(1)), writer.prepare(world.transfer(2))
    writer.broadcast(first)
    mined(writer, first.hash)

    with pytest.raises(RejectedError) as caught:
        writer.broadcast(second)

    assert caught.value.code == "nonce_used"
    assert world.reader.call(world.balance_of(world.bob)) == 1


def test_replacement_at_the_same_fee_is_refused_and_a_bump_takes_its_place(world: World) -> None:
    world.automine(False)
    writer = world.writer()
    first, second = writer.prepare(world.transfer(1)), writer.prepare(world.transfer(2))
    writer.broadcast(first)
    with pytest.raises(RejectedError) as caught:
        writer.broadcast(second)
    bumped = writer.bump(first)

    writer.broadcast(bumped)
    world.mine(1)

    assert caught.value.code == "underpriced"
    assert bumped.nonce == first.nonce
    assert bumped.max_fee_wei * 8 >= first.max_fee_wei * 9
    assert writer.outcome(first.hash) is None
    assert writer.outcome(bumped.hash) is not None
    assert world.reader.call(world.balance_of(world.bob)) == 1


def test_bump_above_the_cap_is_refused(world: World) -> None:
    cap = Wei(world.writer().prepare(world.transfer(1)).max_fee_wei + 1)
    writer = world.writer_with_cap(world.alice, cap)
    tx = writer.prepare(world.transfer(1))

    with pytest.raises(InvalidInputError) as caught:
        writer.bump(tx)

    assert caught.value.code == "fee_cap"
    assert caught.value.values["cap"] == str(cap)


def test_mined_revert_is_an_outcome_and_its_reason_decoded(world: World) -> None:
    world.automine(False)
    writer = world.writer()
    first = writer.prepare(world.transfer(TEN))
    writer.broadcast(first)
    second = writer.prepare(world.transfer(TEN))
    writer.broadcast(second)
    world.mine(1)

    outcome = writer.outcome(second.hash)

    assert outcome is not None
    assert not outcome.succeeded
    reason = writer.why_reverted(second, outcome)
    assert reason.code == "ERC20InsufficientBalance"
    assert reason.values["needed"] == str(TEN)
    assert reason.values["block"] == outcome.block


def test_send_and_wait_stores_before_it_broadcasts(world: World) -> None:
    waiting: list[tuple[SignedTx, bool]] = []
    writer = world.writer()

    def store(tx: SignedTx) -> None:
        waiting.append((tx, writer.outcome(tx.hash) is None))

    outcome = send_and_wait(writer, world.transfer(1), world.clock, store=store)

    assert [(tx.hash, unsent) for tx, unsent in waiting] == [(outcome.hash, True)]


def test_send_and_wait_without_word_in_time_is_unknown_not_failed(world: World) -> None:
    world.automine(False)
    sent: list[SignedTx] = []

    with pytest.raises(UnavailableError) as caught:
        send_and_wait(world.writer(), world.transfer(5), FakeClock(), store=sent.append)

    assert (caught.value.code, caught.value.exit_code) == ("outcome_unknown", 7)
    assert all(f"0x{tx.hash.hex()}" in caught.value.fix for tx in sent)
    world.mine(1)
    assert world.reader.call(world.balance_of(world.bob)) == 5


def test_send_and_wait_raises_a_stuck_fee_and_pays_once(world: World) -> None:
    world.automine(False)
    sent: list[SignedTx] = []

    class MinesAfterBump(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if len(sent) == 2:
                world.mine(1)

    policy = WaitPolicy(timeout_ms=60_000, poll_ms=1000, bump_after_ms=5_000)
    outcome = send_and_wait(world.writer(), world.transfer(5), MinesAfterBump(), store=sent.append, policy=policy)

    assert outcome.hash == sent[1].hash
    assert sent[0].nonce == sent[1].nonce
    assert world.reader.call(world.balance_of(world.bob)) == 5


def test_send_and_wait_of_a_mined_revert_raises_its_reason(world: World) -> None:
    world.automine(False)
    world.writer().broadcast(world.writer().prepare(world.transfer(TEN)))

    class Mines(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            world.mine(1)

    with pytest.raises(RejectedError) as caught:
        send_and_wait(world.writer(), world.transfer(TEN), Mines())

    assert caught.value.code == "ERC20InsufficientBalance"


def test_address_of_a_signer_is_the_one_the_chain_sees(world: World) -> None:
    carol = FakeSigner("carol")
    world.fund(carol.address, Wei(10**18))
    call = ContractCall(contract="SwarmToken", function="transfer", args=(Address(world.bob.address), 0))

    outcome = send_and_wait(world.writer(carol), call, world.clock)

    assert outcome.events[0].args["from"] == carol.address
