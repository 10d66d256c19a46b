"""Three endpoints in front of one chain, of which some lie, hang or are away: what is read, followed and sent all the same."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from oracle.pipeline.follow import Follower
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import ChainConnection, connect_chain
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.adapters.panel import Dissent, Quorum
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import WaitPolicy, send_and_wait
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall
from swarm_chain.devnet import Devnet
from swarm_chain.ports import ChainReader
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools
from tests.contract.worlds import mined
from tests.integration.proxy import Proxy, running_proxy

BOB = FakeSigner("bob").address
PAYMENT = ContractCall(contract="SwarmToken", function="transfer", args=(BOB, 5))
HOLDS = ContractCall(contract="SwarmToken", function="balanceOf", args=(BOB,))
QUICK = WaitPolicy(timeout_ms=10_000, poll_ms=20)


@pytest.fixture
def proxies(chain: Devnet) -> Iterator[list[Proxy]]:
    with ExitStack() as stack:
        made = [stack.enter_context(running_proxy(chain.rpc_url)) for _ in range(3)]
        yield made
        for proxy in made:
            if proxy.stall is not None:
                proxy.stall.set()


@pytest.fixture
def dissents() -> list[Dissent]:
    return []


@pytest.fixture
def connection(chain: Devnet, proxies: list[Proxy], dissents: list[Dissent]) -> ChainConnection:
    quorum = Quorum(timeout_s=10, grace_s=1, on_dissent=dissents.append)
    return connect_chain([proxy.url for proxy in proxies], chain.deployment, quorum)


def everything(reader: ChainReader) -> list[object]:
    latest = reader.block("latest")
    found: list[object] = [reader.chain_id(), latest, reader.block("finalized"), reader.block(latest.hash)]
    return [
        *found,
        reader.events(0, latest.number),
        reader.call(HOLDS),
        reader.call(HOLDS, latest),
        reader.balance(BOB),
    ]


def forge_hashes(proxy: Proxy) -> None:
    """Every block has a hash of this endpoint's own."""

    def forged(header: Any) -> Any:
        return header | {"hash": to_hex(keccak((proxy.url + header["hash"]).encode()))}

    proxy.twist |= {"eth_getBlockByNumber": forged, "eth_getBlockByHash": forged}


def forge_events(proxy: Proxy) -> None:
    """Every amount and word in the logs is this endpoint's own."""
    proxy.twist["eth_getLogs"] = lambda logs: [
        log | {"data": "0x" + proxy.url.encode().hex().zfill(len(log["data"]) - 2)[-(len(log["data"]) - 2) :]}
        for log in logs
        if len(log["data"]) > 2
    ]


def hide_events(proxy: Proxy) -> None:
    """Nothing ever happened."""
    proxy.edit["eth_getLogs"] = []


def forge_views(proxy: Proxy) -> None:
    """Every view returns one large number."""
    proxy.edit["eth_call"] = to_hex(bytes(31) + b"\7")


def claim_a_revert(proxy: Proxy) -> None:
    """Every call reverts."""
    proxy.refuse["eth_call"] = {"code": 3, "message": "execution reverted", "data": "0x"}


def promise_a_fortune(proxy: Proxy) -> None:
    """Everybody is rich."""
    proxy.edit["eth_getBalance"] = hex(10**30)


def serve_another_chain(proxy: Proxy) -> None:
    """Mainnet, it says."""
    proxy.edit["eth_chainId"] = "0x1"


def answer_with_a_page(proxy: Proxy) -> None:
    """What a captive portal says."""
    proxy.body = b"<html>hello</html>"


def answer_without_fields(proxy: Proxy) -> None:
    """JSON-RPC, but nothing in it."""
    empty: dict[str, object] = {"eth_getBlockByNumber": {}, "eth_getBlockByHash": {}, "eth_getLogs": [{}]}
    proxy.edit |= empty | {"eth_call": "0xzz", "eth_getBalance": None}


def hang(proxy: Proxy) -> None:
    """Takes the request and says nothing."""
    proxy.stall = threading.Event()


FAULTS = [
    forge_hashes,
    forge_events,
    hide_events,
    forge_views,
    claim_a_revert,
    promise_a_fortune,
    serve_another_chain,
    answer_with_a_page,
    answer_without_fields,
    hang,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_reads_when_one_of_three_is_faulty_then_they_are_those_of_an_honest_endpoint(
    tools: ChainTools,
    connection: ChainConnection,
    proxies: list[Proxy],
    dissents: list[Dissent],
    fault: Callable[[Proxy], None],
) -> None:
    fault(proxies[1])
    started = time.monotonic()

    assert everything(connection.reader) == everything(tools.reader)
    assert time.monotonic() - started < 8, "a hanging endpoint is waited for once, not for every answer"
    assert {dissent.endpoint for dissent in dissents} == ({proxies[1].url} if fault is not promise_a_fortune else set())


def test_follower_when_one_of_three_lies_then_it_sees_the_chain_and_stops_when_nobody_agrees(
    chain: Devnet, tools: ChainTools, owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    follower, honest = (Follower(reader, chain.deployment.block) for reader in (connection.reader, tools.reader))
    forge_hashes(proxies[0])
    hide_events(proxies[0])
    assert follower.poll() == honest.poll()
    tools.register(FakeSigner("provider"))
    chain.mine(6)
    assert follower.poll() == honest.poll()
    assert len(follower.sight.state.providers) == 1

    forge_hashes(proxies[1])
    tools.send(owner, "SwarmToken", "transfer", BOB, 1)
    with pytest.raises(InconsistentError) as caught:
        follower.poll()

    assert caught.value.code == "rpc_disagree"
    assert all(proxy.url in caught.value.message for proxy in proxies)
    proxies[1].twist.clear()
    assert follower.poll() == honest.poll()


def test_payment_when_one_endpoint_lies_about_nonce_fee_and_gas_then_it_is_mined_once(
    chain: Devnet, tools: ChainTools, owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    proxies[2].edit |= {"eth_getTransactionCount": hex(10**6), "eth_estimateGas": hex(15_000_000)}
    proxies[2].twist["eth_getBlockByNumber"] = lambda header: header | {"baseFeePerGas": hex(400 * 10**9)}

    outcome = send_and_wait(connection.writer(owner), PAYMENT, SystemClock(), policy=QUICK)

    assert outcome.succeeded
    assert tools.call("SwarmToken", "balanceOf", BOB) == 5
    head = chain.rpc.request("eth_getTransactionByHash", [to_hex(outcome.hash)])
    assert int(head["gas"], 16) < 1_000_000
    assert int(head["maxFeePerGas"], 16) < 100 * 10**9


def test_payment_when_only_one_endpoint_takes_transactions_then_it_is_sent(
    tools: ChainTools, owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    proxies[0].refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "read-only endpoint"}
    proxies[1].swallow.add("eth_sendRawTransaction")

    assert send_and_wait(connection.writer(owner), PAYMENT, SystemClock(), policy=QUICK).succeeded
    assert tools.call("SwarmToken", "balanceOf", BOB) == 5


def test_broadcast_when_nobody_takes_it_for_one_reason_then_refused_and_for_many_then_unavailable(
    owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    writer = connection.writer(owner)
    tx = writer.prepare(PAYMENT)
    for proxy in proxies:
        proxy.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": "insufficient funds for gas"}
    with pytest.raises(RejectedError) as refused:
        writer.broadcast(tx)
    for proxy, message in zip(proxies, ("txpool is full", "nonce too low", "replacement underpriced"), strict=True):
        proxy.refuse["eth_sendRawTransaction"] = {"code": -32000, "message": message}
    with pytest.raises(UnavailableError) as split:
        writer.broadcast(tx)

    assert refused.value.code == "insufficient_funds"
    assert "txpool is full" in split.value.message


def test_nonce_when_two_of_three_call_it_used_then_one_that_pretends_to_take_it_is_out_voted(
    tools: ChainTools, owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    writer = connection.writer(owner)
    tx = writer.prepare(PAYMENT)
    proxies[0].edit["eth_sendRawTransaction"] = to_hex(tx.hash)
    tools.send(owner, "SwarmToken", "transfer", BOB, 1)

    with pytest.raises(RejectedError) as caught:
        writer.broadcast(tx)

    assert caught.value.code == "nonce_used"


def test_receipt_when_one_endpoint_fakes_it_then_the_transaction_stays_unknown(
    chain: Devnet, owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    chain.rpc.request("evm_setAutomine", [False])
    chain.rpc.request("evm_setIntervalMining", [0])
    writer = connection.writer(owner)
    tx = writer.prepare(PAYMENT)
    writer.broadcast(tx)
    proxies[1].edit["eth_getTransactionReceipt"] = {
        "blockNumber": "0x1",
        "gasUsed": "0x5208",
        "status": "0x1",
        "effectiveGasPrice": "0x1",
        "logs": [],
    }

    assert writer.outcome(tx.hash) is None
    chain.mine(1)
    found = mined(writer, tx.hash)
    assert found.block > 1
    assert found.events[0].args["value"] == 5


def test_receipt_when_one_endpoint_hides_or_another_turns_it_then_the_two_honest_ones_count(
    owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    writer = connection.writer(owner)
    tx = writer.prepare(PAYMENT)
    writer.broadcast(tx)
    honest = mined(writer, tx.hash)

    proxies[0].edit["eth_getTransactionReceipt"] = None
    assert writer.outcome(tx.hash) == honest
    proxies[0].edit.clear()
    proxies[0].twist["eth_getTransactionReceipt"] = lambda receipt: receipt | {"status": "0x0"}
    assert writer.outcome(tx.hash) == honest
    proxies[1].refuse["eth_getTransactionReceipt"] = {"code": -32603, "message": "backend gone"}
    proxies[2].refuse["eth_getTransactionReceipt"] = {"code": -32603, "message": "backend gone"}
    with pytest.raises(UnavailableError):
        writer.outcome(tx.hash)


def test_revert_when_an_endpoint_explains_it_otherwise_then_the_others_reason_is_told(
    tools: ChainTools, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    claim_a_revert(proxies[0])
    poor = FakeSigner("poor")
    tools.fund(poor.address, swm=0)

    with pytest.raises(RejectedError) as caught:
        connection.writer(poor).prepare(PAYMENT)

    assert caught.value.code == "ERC20InsufficientBalance"


def test_base_fee_when_above_the_cap_at_most_endpoints_then_it_asks_to_wait(
    owner: KeySigner, connection: ChainConnection, proxies: list[Proxy]
) -> None:
    for proxy in proxies[:2]:
        proxy.twist["eth_getBlockByNumber"] = lambda header: header | {"baseFeePerGas": hex(501 * 10**9)}

    with pytest.raises(UnavailableError) as caught:
        connection.writer(owner).prepare(PAYMENT)

    assert (caught.value.code, caught.value.retry_after) == ("fee_above_cap", 60)


def test_endpoints_when_one_is_listed_twice_then_refused_and_keys_stay_hidden(chain: Devnet) -> None:
    urls = ["http://127.0.0.1:9/v1/key-one", "http://127.0.0.1:9/v1/key-two"]
    with pytest.raises(InvalidInputError) as twice:
        connect_chain([*urls, urls[0]], chain.deployment)
    with pytest.raises(UnavailableError) as dead:
        connect_chain(urls, chain.deployment).reader.block("latest")

    assert twice.value.code == "duplicate_rpc"
    assert "http://127.0.0.1:9 (number 2)" in dead.value.message
    assert "key-" not in dead.value.message


def test_single_endpoint_when_it_is_alone_then_it_is_asked_directly(chain: Devnet) -> None:
    assert isinstance(connect_chain([chain.rpc_url], chain.deployment).reader, Web3Reader)
