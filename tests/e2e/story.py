"""The whole life of the network once, on real parts: `make demo`.

alice, bob   prove honestly, earn and claim              carol   silent for an epoch: penalised, not slashed;
                                                                 lies in all else she claims: gets nothing for it
mallory      invents most of her rows, and defends them   dave    posts a training job, bob's node runs it and is paid
erin         computes again what is published, accuses mallory at ComputeCourt, and proves one byte false: mallory is slashed
"""

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.e2e import acts, court, summary
from tests.e2e.claims import HONEST, claims_facts
from tests.e2e.world import World, open_world

WIDTH = 132
EPOCHS_AT_MOST = 3


def tell(folder: Path, console: Console) -> dict[str, Any]:
    """Plays the story in a fresh folder.

    Returns:
        The document of demo.json.
    """
    started = time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}", highlight=False)

    shutil.rmtree(folder, ignore_errors=True)
    say("a chain starts and every contract is deployed")
    with open_world(folder) as world:
        world.started = started
        return _play(world, say)


def _play(world: World, say: acts.Say) -> dict[str, Any]:
    acts.arrive(world, say)
    acts.open_for_work(world, say)
    purse = court.balance_of(world, court.WATCHER)
    court.start_watch(world, say)
    job_id = acts.post_job(world, say)
    first = acts.next_epoch(world)
    acts.pass_epoch(world, first, say)
    court.wait_for_conviction(world, acts.provider_of(world, "mallory"), say)
    acts.wait_for_job(world, job_id, say)
    silent = acts.next_epoch(world)
    _silence_carol(world, silent, say)
    last = _audited_epoch(world, say)
    acts.activate(world, last)
    job = acts.outcome_of_job(world, job_id)
    say("the escrow has paid bob")
    acts.close_for_work(world, say)
    acts.look_around(world, first, job_id, say)
    rewarded = court.collect_reward(world)
    say(f"erin has {rewarded / 10**18:,.2f} SWM for her trouble")
    more = {
        "court": court.court_facts(world, acts.provider_of(world, "mallory"), purse),
        "silence": summary.silence_facts(world, "carol", silent),
        "claims": claims_facts(world, last, first),
    }
    return _settle(world, last, job, more, say)


def _audited_epoch(world: World, say: acts.Say) -> int:
    """An epoch in which everything claimed was judged; on a machine so slow that only its first window fits, the next one."""
    for _ in range(EPOCHS_AT_MOST):
        epoch = acts.next_epoch(world)
        if acts.pass_epoch(world, epoch, say):
            break
    return epoch


def _silence_carol(world: World, epoch: int, say: acts.Say) -> None:
    """Carol is away for one epoch and no part of another: a second absence would not be forgiven."""
    say("carol's node falls silent")
    world.processes.stop("carol")
    acts.live_windows(world, epoch, say, awake=[HONEST])
    acts.bring_back(world, "carol")
    say("carol is back")
    acts.end_epoch(world, epoch, say)


def _settle(world: World, last: int, job: acts.Job, more: dict[str, Any], say: acts.Say) -> dict[str, Any]:
    claimed = acts.each(acts.PROVIDERS, lambda name: acts.claim(world, name))
    say("everybody has claimed; every epoch is audited from published data")
    listed = [int(one["epoch"]) for one in world.oracle("/v1/epochs")["epochs"] if one["epoch"] <= last]
    audited = summary.audited(world, listed)
    epochs = acts.each(listed, lambda epoch: summary.epoch_facts(world, epoch, audited[epoch]))
    providers = acts.each(acts.PROVIDERS, lambda name: summary.provider_facts(world, name, last, claimed[name]))
    return summary.demo_document(world, list(epochs.values()), providers, job, more)


def main() -> int:
    """Plays the story, shows the tables, writes demo.json; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description="Play the whole life of the network once.")
    parser.add_argument("--build", type=Path, default=Path("build"), help="folder of demo.json and of the demo's files")
    build: Path = parser.parse_args().build
    console = Console(width=WIDTH)
    document = tell(build / "demo", console)
    summary.write(document, build / "demo.json")
    summary.show(console, document)
    broken = summary.broken_promises(document)
    for promise in broken:
        console.print(f"[red]not so: {promise}[/red]")
    console.print(f"{build / 'demo.json'} written after {document['durationS']} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
