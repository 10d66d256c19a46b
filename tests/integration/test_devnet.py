"""The development chain: its clock, its faucet, its life and its end."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swarm_chain.adapters.rpc import RpcPool
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.units import Wei
from swarm_chain.devnet import Devnet, attach_devnet, start_devnet, stop_devnet
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import ChainTools

CHILD = """
import sys, time
from pathlib import Path
from swarm_chain.devnet import start_devnet
net = start_devnet(state_dir=Path(sys.argv[1]))
print(net.rpc_url, flush=True)
time.sleep(60)
"""


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process like `swarm dev up` in another terminal, its chain ready."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    yield child
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


def _url(child: "subprocess.Popen[str]") -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def _goes_down(url: str) -> bool:
    pool = RpcPool([url], timeout_s=1)
    for _ in range(100):
        try:
            pool.request("eth_chainId")
        except UnavailableError:
            return True
        time.sleep(0.1)
    return False


def test_warp_moves_the_chains_clock_and_mine_makes_blocks(chain: Devnet, tools: ChainTools) -> None:
    before = tools.reader.block("latest")

    chain.warp(3600)
    chain.mine(5)

    after = tools.reader.block("latest")
    assert after.number == before.number + 6
    assert 3600 <= after.timestamp - before.timestamp < 3700


def test_faucet_adds_coins_and_tokens(chain: Devnet, tools: ChainTools) -> None:
    bob = FakeSigner("bob").address

    for _ in range(2):
        chain.faucet(bob, eth_wei=Wei(10**18), swm_wei=Wei(7))

    assert tools.reader.balance(bob) == 2 * 10**18
    assert tools.call("SwarmToken", "balanceOf", bob) == 14


def test_faucet_when_asked_by_many_at_once_then_everyone_gets_theirs(chain: Devnet, tools: ChainTools) -> None:
    # Its account is everybody's: between drafting and sending, somebody else may have taken the nonce.
    chain.automine(False)
    names = [FakeSigner(f"guest {number}").address for number in range(6)]

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: chain.faucet(name, swm_wei=Wei(7)), names))

    assert [tools.call("SwarmToken", "balanceOf", name) for name in names] == [7] * len(names)


def test_blocks_come_every_second_without_transactions(chain: Devnet, tools: ChainTools) -> None:
    chain.automine(False)
    before, until = tools.reader.block("latest").number, time.monotonic() + 30

    while tools.reader.block("latest").number < before + 2 and time.monotonic() < until:
        time.sleep(0.1)

    assert tools.reader.block("latest").number >= before + 2


def test_chain_dies_with_a_process_that_is_killed(other_process: "subprocess.Popen[str]") -> None:
    url = _url(other_process)

    other_process.send_signal(signal.SIGKILL)

    assert _goes_down(url)


def test_chain_of_another_process_is_found_used_and_stopped(
    other_process: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    url = _url(other_process)

    with attach_devnet(tmp_path) as net:
        net.faucet(FakeSigner("bob").address, eth_wei=Wei(5))
    assert net.rpc_url == url
    with pytest.raises(InvalidInputError, match="already runs"):
        start_devnet(state_dir=tmp_path)

    assert stop_devnet(tmp_path)
    assert _goes_down(url)
    assert not stop_devnet(tmp_path)
    with pytest.raises(UnavailableError) as caught:
        attach_devnet(tmp_path)
    assert caught.value.code == "devnet_down"


@pytest.mark.parametrize("text", ["", "{", '{"pid": 1, "rpcUrl": "http://127.0.0.1:9"}', "[]"])
def test_stale_or_broken_state_file_names_no_victim(tmp_path: Path, text: str) -> None:
    (tmp_path / "devnet.json").write_text(text)

    assert not stop_devnet(tmp_path)


def test_port_that_is_taken_is_unavailable_and_nothing_is_deployed_there(chain: Devnet) -> None:
    port = int(chain.rpc_url.rsplit(":", 1)[1])

    before = chain.rpc.request("eth_getTransactionCount", [chain.accounts[0].address, "latest"])

    with pytest.raises(UnavailableError) as caught:
        start_devnet(port=port)

    assert chain.rpc.request("eth_getTransactionCount", [chain.accounts[0].address, "latest"]) == before

    assert caught.value.code == "port_taken"
