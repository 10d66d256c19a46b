"""A member as a program with three endpoints of which some lie, and with its key in a remote signer."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.devnet import Devnet
from tests.integration.oracle.committee import MEMBER_KEY
from tests.integration.oracle.conftest import Epochs
from tests.integration.oracle.process import MemberProgram, wait_until
from tests.integration.proxy import Proxy, running_proxy
from tests.integration.signer_server import running_signer

Launch = Callable[[str], MemberProgram]


@pytest.fixture
def proxies(chain: Devnet) -> Iterator[list[Proxy]]:
    """Three endpoints of the chain."""
    with ExitStack() as stack:
        yield [stack.enter_context(running_proxy(chain.rpc_url)) for _ in range(3)]


def lie(proxy: Proxy) -> None:
    """Other hashes, no events, no receipts."""
    proxy.twist["eth_getBlockByNumber"] = lambda header: header | {"hash": to_hex(keccak(header["hash"].encode()))}
    proxy.edit |= {"eth_getLogs": [], "eth_getTransactionReceipt": None}


def test_member_when_one_of_three_endpoints_lies_and_its_key_is_remote_then_the_epoch_is_reported(
    chain: Devnet, epochs: Epochs, launch: Launch, proxies: list[Proxy]
) -> None:
    lie(proxies[1])
    epoch = epochs.begin()
    epochs.end(epoch)
    with running_signer(MEMBER_KEY) as server:
        member = launch(",".join(proxy.url for proxy in proxies))
        member.extra = {"SWARM_KEYSTORE": "", "SWARM_SIGNER_URL": server.url}
        member.start()
        wait_until(lambda: epochs.has_report(epoch), chain.mine)

        assert member.end(signal.SIGTERM) == 0
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)
    assert {data[:1] for data in server.signed} == {b"\x02", b"\x19"}
    liars = {said["rpc"] for said in member.said("rpc_outvoted") if said["reason"] == "another answer"}
    assert liars == {proxies[1].url}


@pytest.mark.long
def test_member_when_no_two_of_three_endpoints_agree_then_it_does_nothing_until_they_do(
    chain: Devnet, epochs: Epochs, launch: Launch, proxies: list[Proxy]
) -> None:
    member = launch(",".join(proxy.url for proxy in proxies))
    member.start()
    header = chain.rpc.request("eth_getBlockByNumber", ["latest", False])
    for proxy in proxies[:2]:
        proxy.edit["eth_getBlockByNumber"] = header | {"hash": to_hex(keccak(proxy.url.encode()))}
    wait_until(lambda: any(said["code"] == "rpc_disagree" for said in member.said("tick_failed")))
    epoch = epochs.begin()
    epochs.end(epoch)
    failed = len(member.said("tick_failed"))
    wait_until(lambda: len(member.said("tick_failed")) > failed + 5, chain.mine)
    assert epochs.events("Voted", epoch) == 0

    for proxy in proxies:
        proxy.edit.clear()
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    assert member.end(signal.SIGTERM) == 0
