"""The outbox against a real chain whose pool drops, forgets, reorganises and overprices: each intent is mined exactly once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine

from oracle.pipeline.backlog import BUMP_AFTER_MS, Sender, bring_forward
from oracle.pipeline.transact import transact
from oracle.store.engine import open_store
from oracle.store.outbox import SUCCEEDED, SUPERSEDED, attempts_of, open_attempts
from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.panel import Quorum
from swarm_chain.adapters.transaction import FeePolicy, parse_fields
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.units import Wei
from swarm_chain.devnet import Devnet
from swarm_chain.ports import ChainWriter
from swarm_chain.testing import FakeClock, FakeSigner
from tests.chain_fixtures import ChainTools
from tests.integration.proxy import Proxy, running_proxy

GWEI = 10**9
CAP = Wei(40 * GWEI)
FIRST, SECOND = "epoch:1:vote", "epoch:2:vote"


class ChainClock(FakeClock):
    """Waiting passes at once; `meanwhile` is what the chain does in that time."""

    meanwhile: Callable[[], object] = staticmethod(int)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.meanwhile()


@dataclass(slots=True, kw_only=True)
class Payer:
    """A key that pays bob one wei more for each intent, so that the sum tells which were mined and how often."""

    net: Devnet
    tools: ChainTools
    engine: Engine
    writer: ChainWriter
    signer: KeySigner
    clock: ChainClock = field(default_factory=ChainClock)
    bob: str = FakeSigner("bob").address

    def sender(self, patience_ms: int = 30_000) -> Sender:
        """Outbox and key of a process that just started."""
        return Sender(
            engine=self.engine,
            writer=self.writer,
            address=self.signer.address,
            clock=self.clock,
            fence=_no_lease,
            patience_ms=patience_ms,
        )

    def pay(self, key: str, amount: int, patience_ms: int = 30_000) -> None:
        """Brings a payment to its end, as a tick does."""
        transact(self.sender(patience_ms), key, self.call(amount))

    def leave_behind(self, key: str, amount: int) -> SignedTx:
        """A payment that is sent, and whose process then dies."""
        sender = self.sender()
        tx = sender.sign(key, sender.writer.prepare(self.call(amount)))
        sender.broadcast(tx)
        return tx

    def call(self, amount: int) -> ContractCall:
        """Transfer of some wei to bob."""
        return ContractCall(contract="SwarmToken", function="transfer", args=(self.bob, amount))

    def automine(self, enabled: bool) -> None:
        """A block for every transaction, or none but by hand."""
        self.net.rpc.request("evm_setAutomine", [enabled])
        self.net.rpc.request("evm_setIntervalMining", [0])

    @property
    def paid(self) -> list[int]:
        """Amounts bob got, in chain order."""
        head = self.tools.reader.block("latest").number
        events = [e for e in self.tools.reader.events(0, head) if e.name == "Transfer" and e.args["to"] == self.bob]
        return [int(str(e.args["value"])) for e in events]

    def states(self, key: str) -> list[str]:
        """States of the attempts at an intent, oldest first."""
        return [state for _, state in attempts_of(self.engine, key)]


@pytest.fixture
def proxy(chain: Devnet) -> Iterator[Proxy]:
    """A node that wants ten percent more for a replacement."""
    with running_proxy(chain.rpc_url) as made:
        yield made


@pytest.fixture
def payer(chain: Devnet, tools: ChainTools, proxy: Proxy, owner: KeySigner, tmp_path: Path) -> Iterator[Payer]:
    engine = open_store(f"sqlite:///{tmp_path / 'oracle.db'}")
    writer = connect_chain([proxy.url], chain.deployment).writer(owner, policy=FeePolicy(max_fee_wei=CAP))
    made = Payer(net=chain, tools=tools, engine=engine, writer=writer, signer=owner)
    made.automine(False)
    base_fee = int(chain.rpc.request("eth_getBlockByNumber", ["latest", False])["baseFeePerGas"], 16)
    yield made
    fees_risen(made, base_fee)  # a snapshot does not hold it
    engine.dispose()


def test_pool_when_it_drops_a_transaction_nobody_wants_any_more_then_it_and_the_next_are_mined_once(
    payer: Payer,
) -> None:
    dropped = payer.leave_behind(FIRST, 1)
    payer.net.rpc.request("anvil_dropTransaction", [to_hex(dropped.hash)])
    payer.clock.meanwhile = payer.net.mine

    payer.pay(SECOND, 2)

    assert payer.paid == [1, 2]
    bring_forward(payer.sender())
    assert payer.states(FIRST) == payer.states(SECOND) == [SUCCEEDED]
    assert open_attempts(payer.engine, payer.signer.address) == ()


def test_gap_when_the_first_of_two_was_dropped_then_the_second_is_no_longer_held_up(payer: Payer) -> None:
    dropped = payer.leave_behind(FIRST, 1)
    waiting = payer.leave_behind(SECOND, 2)
    payer.net.rpc.request("anvil_dropTransaction", [to_hex(dropped.hash)])
    payer.net.mine(2)
    assert (waiting.nonce, payer.paid) == (dropped.nonce + 1, [])

    bring_forward(payer.sender())
    payer.net.mine(2)

    assert payer.paid == [1, 2]


def test_pool_when_it_forgets_everything_at_a_restart_then_all_are_sent_again_and_mined_once(payer: Payer) -> None:
    for number in range(3):
        payer.leave_behind(f"epoch:{number}:vote", number + 1)
    payer.net.rpc.request("anvil_dropAllTransactions")

    bring_forward(payer.sender())
    payer.net.mine(2)
    bring_forward(payer.sender())

    assert payer.paid == [1, 2, 3]
    assert [payer.states(f"epoch:{number}:vote") for number in range(3)] == [[SUCCEEDED]] * 3


def test_fees_when_they_rise_above_a_waiting_transaction_then_bumped_until_it_pays_and_mined_once(
    payer: Payer, proxy: Proxy
) -> None:
    stuck = payer.leave_behind(FIRST, 1)
    fees_risen(payer, 2 * stuck.max_fee_wei)
    payer.net.mine(2)
    assert payer.paid == []
    sender = payer.sender()
    for _ in range(8):
        bring_forward(sender)
        payer.clock.advance(BUMP_AFTER_MS // 1000)
        fees_risen(payer, 2 * stuck.max_fee_wei)
        payer.net.mine()

    bring_forward(sender)
    attempts = attempts_of(payer.engine, FIRST)
    assert payer.paid == [1]
    assert len({tx.nonce for tx, _ in attempts}) == 1
    assert [state for _, state in attempts].count(SUCCEEDED) == 1
    assert proxy.calls.count("eth_sendRawTransaction") == len(attempts) + 1, "once again, then only bumped ones"


def test_replacement_when_the_pool_calls_it_underpriced_then_the_next_bump_outbids_it(
    payer: Payer, proxy: Proxy
) -> None:
    """Another process of this key, now dead, sent the same nonce for a higher fee, and the outbox does not know of it."""
    stuck = payer.leave_behind(FIRST, 1)
    fields = parse_fields(stuck.raw)
    fees = (Wei(fee * 13 // 10) for fee in (fields.max_fee_wei, fields.priority_wei))
    higher = replace(fields, max_fee_wei=next(fees), priority_wei=next(fees))
    foreign = payer.signer.sign_transaction(higher.as_dict() | {"data": b"", "to": payer.bob, "gas": 30_000})
    assert isinstance(proxy.answer(_raw(foreign)).get("result"), str)
    sender = payer.sender()
    for _ in range(5):
        bring_forward(sender)
        payer.clock.advance(BUMP_AFTER_MS // 1000)
    payer.net.mine()

    bring_forward(sender)
    assert payer.paid == [1]
    assert payer.states(FIRST).count(SUCCEEDED) == 1


def test_nonce_when_another_wallet_with_the_key_used_it_then_superseded_and_paid_with_a_new_one(payer: Payer) -> None:
    stuck = payer.leave_behind(FIRST, 1)
    payer.net.rpc.request("anvil_dropTransaction", [to_hex(stuck.hash)])
    fields = parse_fields(stuck.raw).as_dict() | {"data": b"", "to": payer.bob, "gas": 30_000}
    payer.net.rpc.request("eth_sendRawTransaction", [to_hex(payer.signer.sign_transaction(fields))])
    payer.net.mine()
    payer.clock.meanwhile = payer.net.mine

    with pytest.raises(UnavailableError) as caught:
        payer.pay(FIRST, 1)
    payer.pay(FIRST, 1)

    assert caught.value.code == "tx_superseded"
    assert payer.states(FIRST) == [SUPERSEDED, SUCCEEDED]
    assert payer.paid == [1]


@pytest.mark.parametrize("depth", [1, 3])
def test_reorganisation_when_it_takes_a_mined_payment_back_then_the_same_transaction_is_mined_again_once(
    payer: Payer, depth: int
) -> None:
    payer.clock.meanwhile = payer.net.mine
    payer.net.mine(5)
    payer.pay(FIRST, 1)
    (first,) = (tx for tx, _ in attempts_of(payer.engine, FIRST))
    payer.net.mine(depth - 1)
    payer.net.rpc.request("anvil_reorg", [depth, []])
    payer.net.rpc.request("anvil_dropAllTransactions")
    assert payer.paid == []

    payer.pay(FIRST, 1)
    payer.pay(SECOND, 2)

    assert payer.paid == [1, 2]
    assert [tx for tx, _ in attempts_of(payer.engine, FIRST)] == [first]


def test_base_fee_when_above_the_cap_then_nothing_is_signed_and_paid_once_it_falls(payer: Payer) -> None:
    fees_risen(payer, CAP + 1)
    payer.net.mine()
    with pytest.raises(UnavailableError) as caught:
        payer.pay(FIRST, 1)
    assert (caught.value.code, payer.states(FIRST)) == ("fee_above_cap", [])

    fees_risen(payer, GWEI)
    payer.net.mine()
    payer.clock.meanwhile = payer.net.mine
    payer.pay(FIRST, 1)
    assert payer.paid == [1]


def test_base_fee_when_it_rises_above_the_cap_after_signing_then_waits_at_the_cap_and_is_paid_once_it_falls(
    payer: Payer,
) -> None:
    stuck = payer.leave_behind(FIRST, 1)
    sender = payer.sender()
    for _ in range(40):
        fees_risen(payer, 2 * CAP)
        payer.net.mine()
        bring_forward(sender)
        payer.clock.advance(BUMP_AFTER_MS // 1000)

    fees = [tx.max_fee_wei for tx, _ in attempts_of(payer.engine, FIRST)]
    assert payer.paid == []
    assert stuck.max_fee_wei < max(fees) <= CAP
    assert max(fees) * 9 > CAP * 8, "one more bump would have passed the cap"
    for _ in range(2):
        fees_risen(payer, GWEI)
        payer.net.mine()
        bring_forward(sender)
        payer.clock.advance(BUMP_AFTER_MS // 1000)
    payer.net.mine()
    bring_forward(sender)
    assert payer.paid == [1]
    assert payer.states(FIRST).count(SUCCEEDED) == 1


def test_answers_when_already_known_and_nonce_too_low_come_late_then_still_paid_once(
    payer: Payer, proxy: Proxy
) -> None:
    proxy.swallow.add("eth_sendRawTransaction")
    with pytest.raises(UnavailableError):
        payer.pay(FIRST, 1)
    proxy.swallow.clear()
    with pytest.raises(UnavailableError) as waiting:
        payer.pay(FIRST, 1, patience_ms=1_000)
    assert waiting.value.code == "tx_unknown", "already known counts as sent"
    payer.net.mine()
    proxy.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "nonce too low: next nonce 9, tx nonce 8"}
    payer.pay(FIRST, 1)

    assert payer.paid == [1]
    assert payer.states(FIRST) == [SUCCEEDED]


def test_faults_when_they_come_one_after_another_at_two_endpoints_of_three_then_ten_payments_are_mined_once_each(
    chain: Devnet, tools: ChainTools, owner: KeySigner, payer: Payer, proxy: Proxy
) -> None:
    """Every payment meets another fault; processes die between signing and sending."""
    with running_proxy(chain.rpc_url) as second, running_proxy(chain.rpc_url) as third:
        urls = [proxy.url, second.url, third.url]
        connection = connect_chain(urls, chain.deployment, Quorum(timeout_s=5, grace_s=0.2))
        payer.writer = connection.writer(owner, policy=FeePolicy(max_fee_wei=CAP))
        payer.clock.meanwhile = payer.net.mine
        for number in range(10):
            _one_more_fault(payer, (proxy, second), number)
            payer.pay(f"epoch:{number}:submit", 100 + number)
            for one in (proxy, second):
                one.swallow.clear()
                one.refuse.clear()
                one.edit.clear()
        payer.net.mine(2)

    assert sorted(payer.paid) == sorted([*range(100, 110), *(200 + number for number in range(0, 10, 5))])


def _one_more_fault(payer: Payer, proxies: tuple[Proxy, Proxy], number: int) -> None:
    one, two = proxies
    match number % 5:
        case 0:
            dropped = payer.leave_behind(f"epoch:{number}:vote", 200 + number)
            payer.net.rpc.request("anvil_dropTransaction", [to_hex(dropped.hash)])
        case 1:
            one.swallow.add("eth_sendRawTransaction")
        case 2:
            one.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "txpool is full"}
            two.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "txpool is full"}
        case 3:
            one.edit["eth_getTransactionReceipt"] = None
        case 4:
            two.edit["eth_getTransactionCount"] = hex(10**6)


def fees_risen(payer: Payer, base_fee: int) -> None:
    """The next block's base fee."""
    payer.net.rpc.request("anvil_setNextBlockBaseFeePerGas", [hex(base_fee)])


def _raw(raw: bytes) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [to_hex(raw)]}


def _no_lease(_connection: Connection) -> None:
    """A test is the only process."""
