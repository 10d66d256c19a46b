"""What happens in the campaign, when, and what must be true of it afterwards."""

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak, sha256_digest, to_hex
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.params import load_params
from tests.chain_fixtures import ChainTools
from tests.integration.oracle.committee import Committee, found_committee
from tests.integration.oracle.process import MemberProgram
from tests.integration.oracle.worker import Worker

WORK_EVERY = 4  # blocks between two looks of a node at every member
BLOCK_S = 0.25  # least real time between two blocks; a block is a second of chain time
FOLLOWED_WITHIN_S = 10  # a member that has not seen a block after so long is stuck, and time goes on without it
DOCUMENTS = ("manifest", "bundle", "state", "shards/0")
AT_ONCE = 2  # members that may be away at a time: seven less the quorum of five
SETTLED_WITHIN_S = 240
FORGET_EVERY = 10  # every so many kills the member's database is gone as well
REORG_EVERY = 4  # every so many epochs two blocks are replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how hard; the same seed kills the same members after the same blocks."""

    epochs: int
    kills: int
    members: int
    quorum: int
    nodes: int
    seed: int


@dataclass(slots=True, kw_only=True)
class Campaign:
    """The committee, its nodes, the chain they work on, and what was done to them."""

    tools: ChainTools
    plan: Plan
    committee: Committee
    workers: list[Worker]
    draw: random.Random
    first_epoch: int = 0
    done: Counter[str] = field(default_factory=Counter)
    starting: list[MemberProgram] = field(default_factory=list)

    @classmethod
    def founded(cls, tools: ChainTools, folder: Path, plan: Plan) -> "Campaign":
        """A committee on a fresh chain with staked providers, nothing started yet."""
        committee = found_committee(tools, folder, plan.members, plan.quorum)
        for program in committee.programs:
            program.settings["POLL_MS"] = "400"
        nodes = [KeySigner(keccak(b"node %d" % number)) for number in range(plan.nodes)]
        for number, node in enumerate(nodes):
            tools.register(KeySigner(keccak(b"owner %d" % number)), node, stake_wei=2_000 * WEI_PER_SWM)
        params = load_params("minimal")
        workers = [Worker(signer=node, members=committee.programs, params=params) for node in nodes]
        return cls(tools=tools, plan=plan, committee=committee, workers=workers, draw=random.Random(plan.seed))

    def run(self) -> None:
        """Twenty epochs with kills, then peace until all have the same."""
        self.committee.start()
        self.first_epoch = self._begin_epoch()
        self.tools.net.rpc.request("anvil_setBlockTimestampInterval", [1])
        last = self.first_epoch + self.plan.epochs - 1
        blocks = self.plan.epochs * load_params("minimal").epoch.epoch_for
        kill_after = sorted(self.draw.sample(range(5, blocks), self.plan.kills))
        begun = self._head()
        while self._epoch() <= last + 1:
            self._block()
            while (
                kill_after
                and self._head() - begun >= kill_after[0]
                and len(self._down()) + len(self.starting) < AT_ONCE
            ):
                kill_after.pop(0)
                self._kill()
            self._restart()
            self._maybe_reorganise()
            self._progress(last)
        self._settle(last)

    def figures(self) -> dict[str, Any]:
        """What the chain and the members say about the campaign."""
        epochs = range(self.first_epoch, self.first_epoch + self.plan.epochs)
        events = self.tools.reader.events(0, self._head())
        submitted = Counter(e.args["epoch"] for e in events if e.name == "ReportSubmitted")
        voted = Counter((e.args["epoch"], e.args["member"]) for e in events if e.name == "Voted")
        withdrawn = sum(e.name == "VoteWithdrawn" and e.args["epoch"] in epochs for e in events)
        reports = [self._published(epoch) for epoch in epochs]
        figures: dict[str, Any] = {
            "campaign": "soak",
            "members": self.plan.members,
            "quorum": self.plan.quorum,
            "epochs": self.plan.epochs,
            "kills": self.done["kill"],
            "databasesDeleted": self.done["forget"],
            "reorganisations": self.done["reorg"],
            "reports": sum(submitted[epoch] > 0 for epoch in epochs),
            "submittedTwice": sum(submitted[epoch] > 1 for epoch in epochs),
            "votedTwice": sum(count > 1 for (epoch, _), count in voted.items() if epoch in epochs) - withdrawn,
            "votesMovedToTheQuorum": withdrawn,
            "epochsWithOtherBytesSomewhere": sum(len(found) != 1 for found in reports),
            "crashes": sum(len(program.said("tick_crashed")) for program in self.committee.programs),
            "manualSteps": 0,
        }
        wanted = {"kills": self.plan.kills, "reports": self.plan.epochs, "submittedTwice": 0, "votedTwice": 0}
        wanted |= {"epochsWithOtherBytesSomewhere": 0}
        figures["faults"] = [name for name, value in wanted.items() if figures[name] != value]
        return figures

    def close(self) -> None:
        """Ends what still runs."""
        for program in self.committee.running():
            program.kill()

    def _block(self) -> None:
        started = time.monotonic()
        self.done["block"] += 1
        if self.done["block"] % WORK_EVERY == 0:
            for worker in self.workers:
                worker.step()
        time.sleep(max(BLOCK_S - (time.monotonic() - started), 0))
        self._wait_for_followers()
        self.tools.net.mine()

    def _wait_for_followers(self) -> None:
        """Chain time stands still until members that are up have seen it: a busy machine makes this longer, not harder."""
        head, end = self._head(), time.monotonic() + FOLLOWED_WITHIN_S
        waiting = [program for program in self.committee.running() if program not in self.starting]
        while waiting and time.monotonic() < end:
            waiting = [program for program in waiting if _seen(program) < head]
            time.sleep(0.05 if waiting else 0)

    def _kill(self) -> None:
        victim = self.draw.choice([program for program in self.committee.running() if program not in self.starting])
        victim.kill()
        self.done["kill"] += 1
        if self.done["kill"] % FORGET_EVERY == 0:
            self.committee.forget(self.committee.programs.index(victim))
            self.done["forget"] += 1

    def _down(self) -> list[MemberProgram]:
        return [program for program in self.committee.programs if program.process is None]

    def _restart(self) -> None:
        """What a service manager does: whoever is down is started again, once the machine has room for it."""
        self.starting = [program for program in self.starting if not _answers(program)]
        for program in self._down():
            if len(self.starting) < AT_ONCE:
                program.launch()
                self.starting.append(program)

    def _maybe_reorganise(self) -> None:
        due = (self._epoch() - self.first_epoch) // REORG_EVERY
        if due > self.done["reorg"]:
            self.tools.net.rpc.request("anvil_reorg", [2, []])
            self.done["reorg"] += 1

    def _settle(self, last: int) -> None:
        """No more faults: everybody comes back and has every report."""
        end = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < end:
            self._restart()
            self._block()
            if not self._down() and all(len(self._published(epoch)) == 1 for epoch in self._reported(last)):
                return

    def _reported(self, last: int) -> list[int]:
        """Epochs of the campaign with a report, newest first; the newest is waited for even without one."""
        events = self.tools.reader.events(0, self._head())
        submitted = {cast(int, event.args["epoch"]) for event in events if event.name == "ReportSubmitted"}
        return [epoch for epoch in range(last, self.first_epoch - 1, -1) if epoch in submitted or epoch == last]

    def _published(self, epoch: int) -> set[str]:
        """Different sets of bytes the members publish of an epoch; one that has none counts as different."""
        return {_document_hash(program, epoch) for program in self.committee.programs}

    def _begin_epoch(self) -> int:
        end = cast(int, self.tools.call("EpochOracle", "epochEnd", self._epoch()))
        self.tools.net.warp(end - self.tools.reader.block("latest").timestamp + 1)
        return self._epoch()

    def _epoch(self) -> int:
        return cast(int, self.tools.call("EpochOracle", "currentEpoch"))

    def _head(self) -> int:
        return self.tools.reader.block("latest").number

    def _progress(self, last: int) -> None:
        epoch = self._epoch()
        if epoch > self.first_epoch + self.done["said"]:
            self.done["said"] = epoch - self.first_epoch
            up, kills = len(self.committee.running()), self.done["kill"]
            sys.stderr.write(
                f"epoch {self.done['said']} of {last - self.first_epoch + 2}: {kills} kills, {up} members up\n"
            )


def _answers(program: MemberProgram) -> bool:
    try:
        return httpx2.get(f"{program.url}/healthz", timeout=5).status_code == 200
    except httpx2.TransportError:
        return False


def _seen(program: MemberProgram) -> int:
    """Latest block a member has seen; one that does not answer is dead or dying, and nobody waits for it."""
    try:
        return cast(int, httpx2.get(f"{program.url}/v1/status", timeout=5).json()["block"])
    except (httpx2.TransportError, KeyError, ValueError):
        return sys.maxsize


def _document_hash(program: MemberProgram, epoch: int) -> str:
    try:
        parts = [httpx2.get(f"{program.url}/v1/epochs/{epoch}/{name}", timeout=20) for name in DOCUMENTS]
    except httpx2.TransportError:
        return f"silent {program.settings['PORT']}"
    if any(part.status_code != 200 for part in parts):
        return f"nothing {program.settings['PORT']}"
    return to_hex(sha256_digest(b"".join(part.content for part in parts)))
