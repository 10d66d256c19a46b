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

from node.jobs.work import JobOrder, brings_workers, run_job
from swarm_chain.client.spec_files import read_spec_file
from swarm_chain.core.kinds import JobState
from tests.e2e import acts
from tests.e2e.world import SWARM, World, open_world

NODES = ("alice", "bob", "carol")
MAX_COST_SWM = "50"
WIDTH = 132
BPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """An example that a node completed: from the command's end to completion on chain, and the same on bare Ray; ms."""

    file: Path
    job_id: int
    run_ms: int
    bare_ms: int

    @property
    def overhead_bps(self) -> int:
        """Time beyond that on bare Ray, over it: assignment, acceptance, uploads, canaries and receipt."""
        return (self.run_ms - self.bare_ms) * BPS // max(self.bare_ms, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of an example."""

    ran: Ran
    kind: str
    program: str
    judged: str
    paid_wei: int


def tell(folder: Path, files: Sequence[Path], console: Console) -> list[Done]:
    """Plays examples in a fresh folder, one after the other, since they share one machine."""
    started = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}", highlight=False)

    shutil.rmtree(folder, ignore_errors=True)
    say("a chain starts and every contract is deployed")
    with open_world(folder) as world:
        open_for_work(world, say)
        ran = [run_example(world, file, say) for file in files]
        for one in ran:
            found = world.wait_for(f"the verdict on {one.file.name}", partial(verdict, world, one.job_id))
            why = found["reason"] or f"units {found['drawnUnits']} computed again"
            say(f"{one.file.name}: {found['verdict']} ({why})")
        settle(world, [one.job_id for one in ran], say)
        return [_done(world, one) for one in ran]


def open_for_work(world: World, say: acts.Say) -> None:
    """Starts oracle member, gateway and three nodes, and waits until the gateway knows them."""
    world.swarm("dev", "accounts", "--import", "1", "--as", "oracle")
    acts.each((*NODES, acts.CUSTOMER), lambda name: acts.move_in(world, name))
    world.processes.start("oracle", SWARM, "oracle", "run", "--account", "oracle")
    world.wait_for("the oracle", lambda: world.oracle("/readyz"))
    gateway = world.open_gateway()
    say(f"gateway {gateway} and the nodes of {', '.join(NODES)} start as processes of their own")
    for name in NODES:
        world.processes.start(name, SWARM, "node", "run", "--folder", str(acts.node_folder(world, name)), "--jobs")
    world.wait_for("three nodes at the gateway", lambda: len(world.gateway("/v1/nodes")) == len(NODES))


def run_example(world: World, file: Path, say: acts.Say) -> Ran:
    """Dave submits a job and waits until a node has completed it; then it runs once more without the network."""
    job_id, started = submit(world, file), time.monotonic()
    world.wait_for(f"{file.name} to be completed", partial(is_completed, world, job_id))
    run_ms = int((time.monotonic() - started) * 1000)
    bare_ms = _bare_ms(world, file)
    say(f"{file.name}: job {job_id} completed in {run_ms / 1000:.1f} s, on bare Ray in {bare_ms / 1000:.1f} s")
    return Ran(file=file, job_id=job_id, run_ms=run_ms, bare_ms=bare_ms)


def submit(world: World, file: Path) -> int:
    """Dave posts a job through the gateway; gives its id."""
    done = world.swarm("job", "submit", str(file), "--max-cost", MAX_COST_SWM, account=acts.CUSTOMER)
    return int(done["jobId"])


def is_completed(world: World, job_id: int) -> bool:
    """Whether a node has brought its receipt to the escrow."""
    return bool(world.view("JobEscrow", "job", job_id)["state"] >= JobState.COMPLETED)


def _bare_ms(world: World, file: Path) -> int:
    """The same job as a task of the same Ray, with no chain, gateway or oracle about it; ms.

    Raises:
        RuntimeError: it fails.
    """
    import ray

    spec, folder = read_spec_file(file), world.folder / "bare" / file.stem
    inputs = {one.content_hash: one.read() for one in spec.inputs}
    order = JobOrder(document=spec.spec.document(), folder=str(folder.absolute()), inputs=inputs)
    started = time.monotonic()
    result = ray.get(ray.remote(run_job).options(num_cpus=0 if brings_workers(spec.spec) else 1).remote(order))
    if result.exit_code:
        raise RuntimeError(f"{file.name} failed on bare Ray: {result.reason}")
    return int((time.monotonic() - started) * 1000)


def verdict(world: World, job_id: int) -> dict[str, Any] | None:
    """What the member says of a job, None before it has judged it."""
    shown: dict[str, Any] = world.oracle(f"/v1/jobs/{job_id}")
    return shown if shown["verdict"] else None


def settle(world: World, jobs: Sequence[int], say: acts.Say) -> None:
    """Ends the epoch, lets its report be activated, and waits until the escrow has paid or refunded."""
    epoch = int(world.oracle("/v1/status")["epoch"])
    acts.end_epoch(world, epoch, say)
    acts.activate(world, epoch)
    over = (JobState.PAID, JobState.REFUNDED)
    world.wait_for("the escrow", lambda: all(world.view("JobEscrow", "job", job)["state"] in over for job in jobs))


def _done(world: World, ran: Ran) -> Done:
    spec = yaml.safe_load(ran.file.read_text(encoding="utf-8"))
    paid = world.events("JobEscrow", "JobPaid", jobId=ran.job_id)
    return Done(
        ran=ran,
        kind=spec["kind"],
        program=spec["program"],
        judged=str(world.oracle(f"/v1/jobs/{ran.job_id}")["verdict"]),
        paid_wei=sum(int(str(one.args[name])) for one in paid for name in ("toProvider", "toOracle", "burned")),
    )


def show(console: Console, found: Sequence[Done]) -> None:
    """Prints what came of each."""
    table = Table(title="examples")
    for column in ("example", "kind", "program", "job", "time", "bare Ray", "overhead", "judged", "paid, SWM"):
        table.add_column(column)
    for one in found:
        ran = one.ran
        times = (f"{ran.run_ms / 1000:.1f} s", f"{ran.bare_ms / 1000:.1f} s", f"{ran.overhead_bps / 100:.1f} %")
        cells = (ran.file.name, one.kind, one.program, str(ran.job_id), *times)
        table.add_row(*cells, one.judged, f"{one.paid_wei / 10**18:.4f}")
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
