"""A whole network on one machine that stays until it is told to end: `make network`.

chain, oracle member, gateway and the nodes of alice, bob and carol     as processes of their own, settled in real time
<build>/network/env     what a terminal sources to talk to them
"""

import argparse
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path
from threading import Event

from rich.console import Console

from tests.e2e.examples import open_for_work
from tests.e2e.world import World, open_world

# What people need; the rest is the processes' own.
TOLD = (
    "SWARM_HOME",
    "SWARM_KEYSTORE_DIR",
    "SWARM_RPC_URL",
    "SWARM_DEPLOYMENT",
    "SWARM_ORACLE_URL",
    "SWARM_GATEWAY_URL",
)
LOOK_EVERY_S = 1.0


def run(folder: Path, console: Console) -> None:
    """Opens a network and keeps it until SIGINT or SIGTERM.

    Args:
        folder: of its files; what was there is removed.
        console: what it says goes there.

    Raises:
        RuntimeError: one of its processes ended by itself.
    """
    started, stop = time.monotonic(), Event()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}", highlight=False)

    shutil.rmtree(folder, ignore_errors=True)
    say("a chain starts and every contract is deployed")
    with open_world(folder.absolute()) as world:
        for number in (signal.SIGINT, signal.SIGTERM):  # Ray, which runs by now, has put handlers of its own there
            signal.signal(number, lambda *_: stop.set())
        open_for_work(world, say)
        write_environment(world, folder / "env")
        say(f"ready; in another terminal: . .venv/bin/activate && . {folder / 'env'}   (Ctrl-C ends it)")
        while not stop.wait(LOOK_EVERY_S):
            world.processes.require_alive()
        say("everything ends")


def write_environment(world: World, path: Path) -> None:
    """Writes the variables that lead a command line to this network; its passwords are for playing."""
    named = {name: world.processes.environment[name] for name in (*TOLD, "ETH_PASSWORD")}
    lines = (f"export {name}={shlex.quote(value)}" for name, value in named.items())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Opens it and keeps it."""
    parser = argparse.ArgumentParser(description="Run a whole network on this machine until Ctrl-C.")
    parser.add_argument("--build", type=Path, default=Path("build"), help="folder of the network's files")
    run(parser.parse_args().build / "network", Console(soft_wrap=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
