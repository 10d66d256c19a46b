"""Transactions against a real chain and against a node that behaves like one in the wild."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, Web3Writer, send_and_wait
from swarm_chain.adapters.transaction import FeePolicy, parse_fields
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.devnet import Devnet
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools
from tests.contract.worlds import mined
from tests.integration.proxy import Proxy, running_proxy

PAYMENT = ContractCall(contract="SwarmToken", function="transfer", args=(FakeSigner("bob").address, 5))
QUICK = WaitPolicy(timeout_ms=30_000, poll_ms=20, bump_after_ms=200)


@pytest.fixture
def proxy(chain: Devnet) -> Iterator[Proxy]:
    with running_proxy(chain.rpc_url) as made:
        yield made


@pytest.fixture
def writer(chain: Devnet, proxy: Proxy, owner: KeySigner) -> Web3Writer:
    return Web3Writer(Web3Reader(proxy.url, chain.deployment), owner)


def _balance(tools: ChainTools) -> object:
    return tools.call("SwarmToken", "balanceOf", FakeSigner("bob").address)


def test_stuck_fee_is_replaced_at_a_node_that_wants_ten_percent_more(
    chain: Devnet, tools: ChainTools, writer: Web3Writer
) -> None:
    chain.rpc.request("evm_setAutomine", [False])
    chain.rpc.request("evm_setIntervalMining", [0])
    sent: list[SignedTx] = []

    def store(tx: SignedTx) -> None:
        sent.append(tx)
        if len(sent) == 3:
            chain.rpc.request("evm_setIntervalMining", [1])

    outcome = send_and_wait(writer, PAYMENT, SystemClock(), store=store, policy=QUICK)

    assert outcome.hash in {tx.hash for tx in sent}
    assert len({tx.nonce for tx in sent}) == 1
    assert all(later.max_fee_wei * 8 >= tx.max_fee_wei * 9 for tx, later in pairwise(sent))
    assert _balance(tools) == 5


def test_replacement_that_raises_too_little_is_refused_there(
    chain: Devnet, writer: Web3Writer, owner: KeySigner
) -> None:
    chain.rpc.request("evm_setAutomine", [False])
    tx = writer.prepare(PAYMENT)
    writer.broadcast(tx)
    fields = parse_fields(tx.raw).as_dict() | {"maxFeePerGas": tx.max_fee_wei * 109 // 100}
    raw = owner.sign_transaction(fields)

    with pytest.raises(RejectedError) as caught:
        writer.broadcast(_resigned(tx, raw))

    assert caught.value.code == "underpriced"
    assert "12.5 %" in caught.value.fix


def test_lost_answer_to_a_broadcast_does_not_pay_twice(tools: ChainTools, proxy: Proxy, writer: Web3Writer) -> None:
    proxy.swallow.add("eth_sendRawTransaction")
    sent: list[SignedTx] = []

    outcome = send_and_wait(writer, PAYMENT, SystemClock(), store=sent.append, policy=QUICK)

    assert [tx.hash for tx in sent] == [outcome.hash]
    assert _balance(tools) == 5


def test_endpoint_that_goes_away_while_waiting_leaves_an_unknown_outcome(
    tools: ChainTools, proxy: Proxy, writer: Web3Writer
) -> None:
    proxy.refuse["eth_getTransactionReceipt"] = {"code": -32603, "message": "backend gone"}

    with pytest.raises(UnavailableError) as caught:
        send_and_wait(writer, PAYMENT, SystemClock(), policy=WaitPolicy(timeout_ms=200, poll_ms=20))

    assert (caught.value.code, caught.value.exit_code) == ("outcome_unknown", 7)
    assert _balance(tools) == 5


def test_nonce_too_low_for_a_mined_transaction_counts_as_sent(proxy: Proxy, writer: Web3Writer) -> None:
    tx = writer.prepare(PAYMENT)
    writer.broadcast(tx)
    mined(writer, tx.hash)
    proxy.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "nonce too low: next nonce 99, tx nonce 1"}

    writer.broadcast(tx)

    assert mined(writer, tx.hash).succeeded


def test_account_without_coins_is_refused_before_anything_is_sent(tools: ChainTools, proxy: Proxy) -> None:
    poor = FakeSigner("poor")
    writer = Web3Writer(Web3Reader(proxy.url, tools.net.deployment), poor)
    call = ContractCall(contract="SwarmToken", function="transfer", args=(poor.address, 0))

    with pytest.raises(RejectedError) as caught:
        send_and_wait(writer, call, SystemClock())

    assert (caught.value.code, caught.value.exit_code) == ("insufficient_funds", 5)
    assert poor.address in caught.value.fix
    assert "eth_sendRawTransaction" not in proxy.calls


def test_base_fee_above_the_cap_asks_to_wait(chain: Devnet, proxy: Proxy, writer: Web3Writer) -> None:
    head = chain.rpc.request("eth_getBlockByNumber", ["latest", False])
    proxy.edit["eth_getBlockByNumber"] = head | {"baseFeePerGas": hex(501 * 10**9)}

    with pytest.raises(UnavailableError) as caught:
        writer.prepare(PAYMENT)

    assert caught.value.code == "fee_above_cap"
    assert "--max-fee" in caught.value.fix


def test_gas_above_the_ceiling_is_refused(tools: ChainTools, owner: KeySigner) -> None:
    writer = Web3Writer(tools.reader, owner, policy=FeePolicy(max_gas=30_000))

    with pytest.raises(RejectedError) as caught:
        writer.prepare(PAYMENT)

    assert caught.value.code == "gas_above_limit"


def test_transaction_that_runs_out_of_gas_says_so(chain: Devnet, tools: ChainTools, owner: KeySigner) -> None:
    writer = Web3Writer(tools.reader, owner)
    signed = writer.prepare(PAYMENT)
    raw = owner.sign_transaction(parse_fields(signed.raw).as_dict() | {"gas": 30_000})
    tx = _resigned(signed, raw)

    chain.rpc.request("eth_sendRawTransaction", ["0x" + raw.hex()])
    outcome = mined(writer, tx.hash)

    assert not outcome.succeeded
    assert writer.why_reverted(tx, outcome).code == "out_of_gas"


def test_every_custom_error_of_a_role_is_decoded_with_its_caller(tools: ChainTools) -> None:
    stranger = FakeSigner("stranger")
    tools.fund(stranger.address)

    with pytest.raises(RejectedError) as caught:
        tools.send(stranger, "RewardSettlement", "disableRoot", 0)

    assert caught.value.code == "AccessManagedUnauthorized"
    assert caught.value.values == {"caller": stranger.address}
    assert "role" in caught.value.fix


def _resigned(tx: SignedTx, raw: bytes) -> SignedTx:
    return replace(tx, hash=keccak(raw), raw=raw)
