"""A committee of real processes on loopback that know each other, and honest nodes that work for all of them."""

import random
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from eth_account.hdaccount import key_from_seed, seed_from_mnemonic

from swarm_chain.adapters.contracts import encode_call
from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Wei
from swarm_chain.devnet import Devnet
from swarm_chain.devnet.chain import MNEMONIC
from tests.chain_fixtures import ChainTools
from tests.integration.oracle.process import MemberProgram, pace

# Below the range the kernel hands out by itself, so that no other test is given one of these.
PORTS = range(20_000, 30_000)
GAS_MONEY = Wei(10**19)
MEMBER_KEY: bytes = key_from_seed(seed_from_mnemonic(MNEMONIC, passphrase=""), "m/44'/60'/0'/0/1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Committee:
    """Members 0 to n - 1, as programs."""

    programs: tuple[MemberProgram, ...]
    keys: tuple[KeySigner, ...]

    def start(self, *numbers: int) -> None:
        """Starts some members, or all, side by side."""
        chosen = [self.programs[number] for number in numbers] if numbers else list(self.programs)
        for program in chosen:
            program.launch()
        for program in chosen:
            program.wait_for_start()

    def running(self) -> list[MemberProgram]:
        """The members whose process lives."""
        return [program for program in self.programs if program.process is not None and not program.process_ended()]

    def pace(self, tools: ChainTools) -> None:
        """Mines a block once every member that runs has seen the one before, and leaves it time to act on it."""
        pace(tools.net, self.running)

    def forget(self, number: int) -> None:
        """Deletes the database of a member that does not run; key, password and the log of signatures stay."""
        home = self.programs[number].home
        for path in home.glob("oracle.db*"):
            path.unlink()

    def votes(self, tools: ChainTools, epoch: int) -> dict[str, bytes]:
        """Last vote of every member for an epoch, by address."""
        latest = tools.reader.block("latest").number
        voted = (e for e in tools.reader.events(0, latest) if e.name == "Voted" and e.args["epoch"] == epoch)
        return {str(event.args["member"]): cast(bytes, event.args["reportHash"]) for event in voted}


def free_ports(count: int, draw: random.Random) -> tuple[int, ...]:
    """Loopback ports nobody listens on."""
    found: list[int] = []
    while len(found) < count:
        port = draw.choice(PORTS)
        with socket.socket() as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)) != 0:
                found.append(port)
    return tuple(found)


def found_committee(tools: ChainTools, folder: Path, count: int, quorum: int) -> Committee:
    """Makes members 2 to `count` beside the first one of the development chain, and a home for each.

    Args:
        tools: the chain.
        folder: where the homes are made.
        count: members.
        quorum: votes a report needs.
    """
    raw = (MEMBER_KEY, *(bytes(keccak(b"member %d" % number)) for number in range(1, count)))
    keys = tuple(map(KeySigner, raw))
    for number, key in enumerate(keys[1:], start=2):
        tools.net.faucet(key.address, eth_wei=GAS_MONEY)
        _by_timelock(tools, "addMember", key.address, quorum if number == count else number // 2 + 1)
    ports = free_ports(count, random.Random())
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    programs = tuple(_program(tools.net, folder / f"member-{n}", key, urls, n) for n, key in enumerate(raw))
    return Committee(programs=programs, keys=keys)


def _program(net: Devnet, home: Path, key: bytes, urls: list[str], number: int) -> MemberProgram:
    program = MemberProgram.at(home, net, key)
    others = [url for index, url in enumerate(urls) if index != number]
    program.settings |= {"PORT": urls[number].rpartition(":")[2], "PEERS": ",".join(others), "JUDGE": "numpy"}
    return program


def _by_timelock(tools: ChainTools, function: str, *args: object) -> None:
    call = ContractCall(contract="EpochOracle", function=function, args=args)
    assert tools.impersonate(tools.address("TimelockController"), tools.address("EpochOracle"), encode_call(call))
