"""Reads through real endpoints: several in order, faults, wrong chains, pinned calls, chunks of logs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import BlockRef, ContractCall
from swarm_chain.devnet import Devnet
from tests.chain_fixtures import ChainTools
from tests.integration.proxy import Proxy, running_proxy

DEAD = "http://user:secret@127.0.0.1:9/v1/my-api-key"


@pytest.fixture
def proxy(chain: Devnet) -> Iterator[Proxy]:
    with running_proxy(chain.rpc_url) as made:
        yield made


def test_dead_endpoint_is_unavailable_and_its_secrets_stay_hidden(chain: Devnet) -> None:
    with pytest.raises(UnavailableError) as caught:
        Web3Reader(DEAD, chain.deployment).block("latest")

    assert "http://127.0.0.1:9 (connection refused or lost)" in caught.value.message
    assert "secret" not in caught.value.message
    assert "my-api-key" not in caught.value.message
    assert "swarm dev up" in caught.value.fix


def test_second_endpoint_answers_when_the_first_is_dead_and_is_asked_first_afterwards(chain: Devnet) -> None:
    pool = RpcPool([DEAD, chain.rpc_url], chain_id=chain.deployment.chain_id)

    assert pool.request("eth_chainId") == "0x7a69"
    assert pool.endpoints[0] == chain.rpc_url


def test_endpoint_of_another_chain_is_refused_with_both_ids(chain: Devnet) -> None:
    reader = Web3Reader(chain.rpc_url, replace(chain.deployment, chain_id=1))

    with pytest.raises(InvalidInputError) as caught:
        reader.block("latest")

    assert (caught.value.code, caught.value.exit_code) == ("wrong_chain", 3)
    assert caught.value.values == {"have": 31337, "want": 1}


@pytest.mark.parametrize("url", ["localhost:8545", "ws://127.0.0.1:8545", "", "http://"])
def test_url_that_is_none_is_refused(chain: Devnet, url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Web3Reader(url, chain.deployment)

    assert caught.value.exit_code == 3


def test_http_error_status_is_unavailable_and_named(chain: Devnet, proxy: Proxy) -> None:
    proxy.status = 429

    with pytest.raises(UnavailableError, match="HTTP status 429"):
        Web3Reader(proxy.url, chain.deployment).block("latest")


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b"[1]", b"5", b"null", b'{"jsonrpc": "2.0", "id": 1}'])
def test_answer_that_is_no_json_rpc_is_unavailable(chain: Devnet, proxy: Proxy, body: bytes) -> None:
    proxy.body = body

    with pytest.raises(UnavailableError, match="its answer is no JSON-RPC"):
        Web3Reader(proxy.url, chain.deployment).block("latest")


def test_fault_that_is_no_revert_is_unavailable(chain: Devnet, proxy: Proxy) -> None:
    proxy.refuse["eth_call"] = {"code": -32005, "message": "daily request count exceeded"}
    call = ContractCall(contract="EpochOracle", function="quorum")

    with pytest.raises(UnavailableError, match="daily request count exceeded"):
        Web3Reader(proxy.url, chain.deployment).call(call)


def test_view_that_reverts_is_rejected_with_its_values(tools: ChainTools) -> None:
    previous = {"epochs": 3, "leafCount": 0, "refBlock": 0, "reward": 0, "penalty": 0}
    words, numbers = (
        ("refBlockHash", "root", "outcomesRoot", "manifestHash"),
        ("refBlock", "paramsVersion", "leafCount"),
    )
    report: dict[str, object] = {"epoch": 2, "totalReward": 0, "totalPenalty": 0}
    report |= dict.fromkeys(words, b"\1" * 32) | dict.fromkeys(numbers, 1)

    with pytest.raises(RejectedError) as caught:
        tools.call("ReportLimits", "check", previous, report)

    assert caught.value.code == "EpochNotLater"
    assert caught.value.values == {"epoch": 2, "minEpoch": 3}
    assert caught.value.message == "EpochNotLater(epoch = 2, minEpoch = 3)"


def test_struct_comes_as_a_dict_by_its_solidity_names(tools: ChainTools) -> None:
    pool = tools.call("StakeVault", "pool", 1)

    assert pool == dict.fromkeys(("tokens", "thawTokens", "thawShares", "nonce", "openCases", "settledRoots"), 0)


def test_call_pinned_to_a_block_that_left_the_chain_fails_instead_of_answering(tools: ChainTools) -> None:
    head = tools.reader.block("latest")
    gone = BlockRef(number=head.number, hash=type(head.hash)(bytes(32)), timestamp=head.timestamp)

    with pytest.raises(UnavailableError):
        tools.reader.call(ContractCall(contract="EpochOracle", function="quorum"), at=gone)


def test_answer_without_code_behind_it_is_inconsistent(chain: Devnet) -> None:
    nobody = chain.accounts[9].address
    elsewhere = replace(chain.deployment, contracts={**chain.deployment.contracts, "EpochOracle": nobody})

    with pytest.raises(InconsistentError) as caught:
        Web3Reader(chain.rpc_url, elsewhere).call(ContractCall(contract="EpochOracle", function="quorum"))

    assert "deployment file" in caught.value.fix


def test_logs_an_endpoint_refuses_in_one_piece_are_read_in_halves(chain: Devnet, proxy: Proxy) -> None:
    last = Web3Reader(chain.rpc_url, chain.deployment).block("latest").number
    whole = Web3Reader(chain.rpc_url, chain.deployment).events(0, last)
    proxy.max_log_blocks = 10

    pieces = Web3Reader(proxy.url, chain.deployment).events(0, last)

    assert len(whole) > 20
    assert pieces == whole
    assert proxy.calls.count("eth_getLogs") > 4


def test_logs_refused_even_for_one_block_are_unavailable(chain: Devnet, proxy: Proxy) -> None:
    proxy.refuse["eth_getLogs"] = {"code": -32000, "message": "no logs today"}

    with pytest.raises(UnavailableError, match="no logs today"):
        Web3Reader(proxy.url, chain.deployment).events(0, 3)


def test_reorganisation_while_logs_are_read_is_noticed(chain: Devnet, proxy: Proxy) -> None:
    reader = Web3Reader(proxy.url, chain.deployment)
    proxy.after_logs = lambda: proxy.edit.update(eth_getBlockByNumber=_other_block())

    with pytest.raises(UnavailableError) as caught:
        reader.events(0, 3)

    assert caught.value.code == "reorganised"


def test_log_without_a_timestamp_gets_its_blocks(chain: Devnet, proxy: Proxy) -> None:
    direct = Web3Reader(chain.rpc_url, chain.deployment)
    last = direct.block("latest").number
    proxy.without_log_timestamps = True

    assert Web3Reader(proxy.url, chain.deployment).events(0, last) == direct.events(0, last)
    assert proxy.calls.count("eth_getBlockByNumber") > last // 2


def _other_block() -> dict[str, str]:
    return {"number": "0x3", "hash": to_hex(bytes(31) + b"\1"), "timestamp": "0x1"}
