"""What the fakes add to the ports: time on command, logs on command, and refusals like the real ones."""

from dataclasses import replace

import pytest

from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.signing import recover, typed_digest
from swarm_chain.core.units import Hash32, Wei
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner, reject
from swarm_chain.testing.program import Log, Storage

ALICE = FakeSigner("alice")
VOTE = ContractCall(contract="EpochOracle", function="setReporter", args=(FakeSigner("bob").address,))


def _voting_chain() -> FakeChain:
    def reporter_changed(storage: Storage, sender: str, reporter: str) -> list[Log]:
        storage[sender] = reporter
        return [("EpochOracle", "ReporterChanged", {"member": sender, "reporter": reporter})]

    chain = FakeChain()
    chain.program.action("EpochOracle", "setReporter", reporter_changed)
    return chain


def test_clock_moves_only_when_told() -> None:
    clock = FakeClock()
    start, ticks = clock.now(), clock.monotonic_ms()

    clock.sleep(1.5)
    clock.advance(10)

    assert clock.now() - start == 11
    assert clock.monotonic_ms() - ticks == 11_500


def test_signer_of_a_label_is_always_the_same_and_signs_for_real() -> None:
    domain, struct_hash = Hash32(b"\7" * 32), Hash32(b"\x08" * 32)

    assert FakeSigner("alice").address == ALICE.address != FakeSigner("bob").address
    assert recover(typed_digest(domain, struct_hash), ALICE.sign_typed(domain, struct_hash)) == ALICE.address


def test_appended_log_appears_in_the_next_block() -> None:
    chain = FakeChain()
    chain.append("EpochOracle", "QuorumChanged", quorum=3)

    head = chain.mine(seconds=12)

    (event,) = chain.events(0, head.number)
    assert (event.name, event.args["quorum"], event.timestamp) == ("QuorumChanged", 3, head.timestamp)


@pytest.mark.parametrize(
    ("contract", "event", "args"),
    [
        ("EpochOracle", "QuorumRaised", {"quorum": 3}),
        ("EpochOracle", "QuorumChanged", {"votes": 3}),
        ("EpochOracle", "QuorumChanged", {}),
        ("Casino", "Spun", {}),
    ],
)
def test_log_the_abi_does_not_declare_is_refused(contract: str, event: str, args: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        FakeChain().append(contract, event, **args)


def test_function_the_abi_does_not_declare_cannot_be_registered() -> None:
    with pytest.raises(InvalidInputError):
        FakeChain().program.view("EpochOracle", "favourite", lambda _storage: 1)


def _replacement(chain: FakeChain, fee_bps: int) -> SignedTx:
    """Another transaction for a nonce that waits, at a share of its fee."""
    chain.automine = False
    writer = chain.writer(ALICE)
    first = writer.prepare(VOTE)
    writer.broadcast(first)
    return replace(first, hash=Hash32(b"\2" * 32), max_fee_wei=Wei(first.max_fee_wei * fee_bps // 10_000))


@pytest.mark.parametrize("fee_bps", [11_000, 11_250])
def test_mempool_takes_a_replacement_that_pays_ten_percent_more(fee_bps: int) -> None:
    chain = _voting_chain()

    assert chain.pool.take(_replacement(chain, fee_bps))


@pytest.mark.parametrize("fee_bps", [10_000, 10_999])
def test_mempool_refuses_a_replacement_that_pays_less(fee_bps: int) -> None:
    chain = _voting_chain()
    cheap = _replacement(chain, fee_bps)

    with pytest.raises(RejectedError) as caught:
        chain.pool.take(cheap)

    assert caught.value.code == "underpriced"


def test_transaction_behind_a_gap_waits_for_the_gap_to_close() -> None:
    chain = _voting_chain()
    chain.automine = False
    writer = chain.writer(ALICE)
    first = writer.prepare(VOTE)
    later = replace(first, hash=Hash32(b"\2" * 32), nonce=first.nonce + 1)

    writer.broadcast(later)
    chain.mine()
    assert writer.outcome(later.hash) is None
    writer.broadcast(first)
    chain.mine(2)

    assert writer.outcome(later.hash) is not None


def test_everything_is_unavailable_while_the_endpoints_are_down() -> None:
    chain = _voting_chain()
    writer = chain.writer(ALICE)
    tx = writer.prepare(VOTE)
    chain.available = False

    for action in (chain.chain_id, lambda: chain.block("latest"), lambda: writer.prepare(VOTE)):
        with pytest.raises(UnavailableError):
            action()
    with pytest.raises(UnavailableError):
        writer.broadcast(tx)
    chain.available = True
    assert writer.outcome(tx.hash) is None


def test_reject_is_the_error_the_decoder_would_make() -> None:
    error = reject("NotMatured", maturesAt=5, nowAt=2**60)

    assert (error.code, error.values) == ("NotMatured", {"maturesAt": 5, "nowAt": str(2**60)})
    assert error.fix == "Wait until the request matures, then withdraw."


@pytest.mark.parametrize(("name", "values"), [("NotMatured", {"maturesAt": 5}), ("NotRipe", {})])
def test_reject_of_something_no_contract_says_is_refused(name: str, values: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        reject(name, **values)
