"""Every kind of job once, as a customer would: `make examples`.

dave     plans and submits each file of examples/ through a gateway, and pays from escrow
alice, bob, carol     their nodes take what the gateway assigns, run it on Ray, hand in contents and receipts
the oracle member     computes drawn units again; the escrow pays by its report
"""

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from swarm_chain.core.kinds import JobState
from tests.e2e import acts
from tests.e2e.world import SWARM, World, open_world

NODES = ("alice", "bob", "carol")
MAX_COST_SWM = "50"
WIDTH = 132
BPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of an example: times in ms of chain and devices, judgement, pay."""

    name: str
    kind: str
    program: str
    job_id: int
    run_ms: int
    device_ms: int
    judged: str
    paid_wei: int

    @property
    def overhead_bps(self) -> int:
        """Time between acceptance and completion that no device worked, over the time devices worked."""
        return max(self.run_ms - self.device_ms, 0) * BPS // max(self.device_ms, 1)


def tell(folder: Path, files: Sequence[Path], console: Console) -> list[Done]:
    """Plays all examples in a fresh folder."""
    started = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}", highlight=False)

    shutil.rmtree(folder, ignore_errors=True)
    say("a chain starts and every contract is deployed")
    with open_world(folder) as world:
        _open_for_work(world, say)
        jobs = {file: _submit(world, file, say) for file in files}
        for file, job_id in jobs.items():
            found = world.wait_for(f"the verdict on {file.name}", partial(_verdict, world, job_id))
            say(f"{file.name}: {found['verdict']} ({found['reason'] or 'drawn units ' + str(found['drawnUnits'])})")
        _settle(world, list(jobs.values()), say)
        return [_done(world, file, job_id) for file, job_id in jobs.items()]


def _open_for_work(world: World, say: acts.Say) -> None:
    world.swarm("dev", "accounts", "--import", "1", "--as", "oracle")
    acts.each((*NODES, acts.CUSTOMER), lambda name: acts.move_in(world, name))
    world.processes.start("oracle", SWARM, "oracle", "run", "--account", "oracle")
    world.wait_for("the oracle", lambda: world.oracle("/readyz"))
    gateway = world.open_gateway()
    say(f"gateway {gateway} and the nodes of {', '.join(NODES)} start as processes of their own")
    for name in NODES:
        world.processes.start(name, SWARM, "node", "run", "--folder", str(acts.node_folder(world, name)), "--jobs")
    world.wait_for("three nodes at the gateway", lambda: len(world.gateway("/v1/nodes")) == len(NODES))


def _submit(world: World, file: Path, say: acts.Say) -> int:
    done = world.swarm("job", "submit", str(file), "--max-cost", MAX_COST_SWM, account=acts.CUSTOMER)
    say(f"dave submits {file.name} as job {done['jobId']}: {int(done['budgetWei']) / 10**18:.4f} SWM in escrow")
    return int(done["jobId"])


def _verdict(world: World, job_id: int) -> dict[str, Any] | None:
    shown: dict[str, Any] = world.oracle(f"/v1/jobs/{job_id}")
    return shown if shown["verdict"] else None


def _settle(world: World, jobs: Sequence[int], say: acts.Say) -> None:
    """Ends the epoch, lets its report be activated, and waits until the escrow has paid or refunded."""
    epoch = int(world.oracle("/v1/status")["epoch"])
    acts.end_epoch(world, epoch, say)
    acts.activate(world, epoch)
    over = (JobState.PAID, JobState.REFUNDED)
    world.wait_for("the escrow", lambda: all(world.view("JobEscrow", "job", job)["state"] in over for job in jobs))


def _done(world: World, file: Path, job_id: int) -> Done:
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    paid = world.events("JobEscrow", "JobPaid", jobId=job_id)
    shown = world.oracle(f"/v1/jobs/{job_id}")
    receipt = shown["receipt"]
    return Done(
        name=file.name,
        kind=spec["kind"],
        program=spec["program"],
        job_id=job_id,
        run_ms=(receipt["finishedAt"] - receipt["startedAt"]) * 1000,
        device_ms=receipt["deviceSeconds"] * 1000,
        judged=str(shown["verdict"]),
        paid_wei=sum(int(str(one.args[name])) for one in paid for name in ("toProvider", "toOracle", "burned")),
    )


def show(console: Console, found: Sequence[Done]) -> None:
    """Prints what came of each."""
    table = Table(title="examples")
    for column in ("example", "kind", "program", "job", "time", "overhead", "judged", "paid, SWM"):
        table.add_column(column)
    for one in found:
        paid = f"{one.paid_wei / 10**18:.4f}"
        cells = (one.name, one.kind, one.program, str(one.job_id), f"{one.run_ms / 1000:.0f} s")
        table.add_row(*cells, f"{one.overhead_bps / 100:.1f} %", one.judged, paid)
    console.print(table)


def main() -> int:
    """Plays the examples; 1 if one was not judged right or not paid."""
    parser = argparse.ArgumentParser(
        description="Run every example through escrow, gateway, nodes, judgement and payment."
    )
    parser.add_argument("files", nargs="*", type=Path, help="specs; default: all of examples/")
    parser.add_argument("--build", type=Path, default=Path("build"), help="folder of the examples' files")
    arguments = parser.parse_args()
    console = Console(width=WIDTH)
    found = tell(arguments.build / "examples", arguments.files or sorted(Path("examples").glob("*.yaml")), console)
    show(console, found)
    return 0 if all(one.judged == "passed" and one.paid_wei for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
