"""A member as a program of its own on the test chain, and what tests ask that chain about its epochs."""

import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.cli.context import Session
from swarm_chain.cli.main import run
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.devnet import Devnet
from tests.chain_fixtures import ChainTools
from tests.integration.oracle.committee import MEMBER_KEY
from tests.integration.oracle.gate import Gate, running_gate
from tests.integration.oracle.process import PASSWORD, MemberProgram

EPOCH_FOR = 60  # minimal preset
FINAL_AFTER = 6

Here = Callable[..., tuple[int, Any]]
Launch = Callable[[str], MemberProgram]


@dataclass(frozen=True, slots=True, kw_only=True)
class Epochs:
    """The chain's word on epochs."""

    tools: ChainTools

    @property
    def current(self) -> int:
        """Epoch of the latest block."""
        return cast(int, self.tools.call("EpochOracle", "currentEpoch"))

    def begin(self) -> int:
        """Moves to the first seconds of the next epoch, so that a test has all of it; gives its number."""
        end = cast(int, self.tools.call("EpochOracle", "epochEnd", self.current))
        self.tools.net.warp(end - self.tools.reader.block("latest").timestamp + 1)
        return self.current

    def own_time(self) -> None:
        """A second a block from here on, however long the machine takes for it."""
        self.tools.net.rpc.request("anvil_setBlockTimestampInterval", [1])

    def end(self, epoch: int) -> None:
        """Moves past the end of an epoch and makes that final; chain time is the machine's again."""
        self.tools.net.rpc.request("anvil_removeBlockTimestampInterval")
        end = cast(int, self.tools.call("EpochOracle", "epochEnd", epoch))
        self.tools.net.warp(max(end - self.tools.reader.block("latest").timestamp, 0) + 1)
        self.tools.net.mine(FINAL_AFTER)

    def events(self, name: str, epoch: int) -> int:
        """How many logs of this name are about an epoch."""
        latest = self.tools.reader.block("latest").number
        return sum(e.name == name and e.args.get("epoch") == epoch for e in self.tools.reader.events(0, latest))

    def has_report(self, epoch: int) -> bool:
        """Whether the chain took a report."""
        return any(cast(bytes, self.tools.call("EpochOracle", "processedHash", epoch)))


@pytest.fixture
def epochs(tools: ChainTools) -> Epochs:
    """The chain's epochs."""
    return Epochs(tools=tools)


@pytest.fixture
def nodes(tools: ChainTools) -> tuple[KeySigner, KeySigner]:
    """Nodes of two staked providers."""
    signers = (KeySigner(keccak(b"node one")), KeySigner(keccak(b"node two")))
    for number, node in enumerate(signers):
        owner = KeySigner(keccak(b"owner %d" % number))
        tools.register(owner, node, stake_wei=2_000 * WEI_PER_SWM)
    return signers


@pytest.fixture
def gate(chain: Devnet) -> Iterator[Gate]:
    """The member's way to the chain."""
    with running_gate(chain.rpc_url) as found:
        yield found


@pytest.fixture
def launch(tmp_path: Path, chain: Devnet) -> Iterator[Callable[[str], MemberProgram]]:
    """Makes a member that works through an endpoint; whatever still runs is ended."""
    made: list[MemberProgram] = []

    def make(rpc_url: str) -> MemberProgram:
        home = tmp_path / f"member-{len(made)}"
        made.append(MemberProgram.at(home, chain, MEMBER_KEY, rpc_url))
        return made[-1]

    yield make
    for program in made:
        if program.process is not None and program.process.poll() is None:
            program.end(signal.SIGKILL)


@pytest.fixture
def program(chain: Devnet, launch: Launch) -> MemberProgram:
    """A member that is not started yet, its secrets for its own eyes only."""
    made = launch(chain.rpc_url)
    (made.home / "password").chmod(0o600)
    return made


@pytest.fixture
def here(program: MemberProgram, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """Runs a command with --json in this process, which has torch loaded already; gives exit code and document."""

    def run_here(*arguments: str, **environment: str) -> tuple[int, Any]:
        for name, value in (program.environment | environment).items():
            monkeypatch.setenv(name, value)
        code = run(["--json", *arguments], Session(as_json=True))
        said = capfd.readouterr()
        assert PASSWORD not in said.out + said.err
        assert MEMBER_KEY.hex() not in said.out + said.err
        return code, json.loads(said.out)

    return run_here
