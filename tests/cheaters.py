"""Dishonest nodes for tests and the demo, as processes: `python -m tests.cheaters half --folder DIR`.

They share all wiring with an honest node and put a lie between agent and devices. Everything else comes from the
environment, as for `swarm node run` (SWARM_RPC_URL, SWARM_DEPLOYMENT, SWARM_ORACLE_URL, SWARM_RAY_ADDRESS, …).
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from node.config import load_settings
from node.main import run_agent
from node.ports import Devices, FinishedRun
from swarm_chain.core.compute import HEAD_BYTES, ComputeChallenge
from swarm_chain.core.encoding import keccak


class HalfWorker:
    """Computes the first half of the rows honestly and commits to invented heads for the rest.

    Rows do not depend on how many there are, so half a run is a run of half as many rows.

    Args:
        devices: the devices that do the half.
        halvings: 1 does a half, 2 a quarter, and so on.
    """

    def __init__(self, devices: Devices, halvings: int = 1) -> None:
        self._devices = devices
        self._halvings = halvings
        self._asked: dict[int, ComputeChallenge] = {}

    def indices(self) -> tuple[int, ...]:
        """Numbers of the devices, ascending."""
        return self._devices.indices()

    def start(self, challenge: ComputeChallenge) -> None:
        """Starts a run over fewer rows."""
        self._devices.start(replace(challenge, shape=replace(challenge.shape, m=challenge.shape.m >> self._halvings)))
        self._asked[challenge.device] = challenge

    def finished(self) -> tuple[FinishedRun, ...]:
        """Runs that ended, dressed up as whole ones."""
        return tuple(self._dressed(run) for run in self._devices.finished())

    def close(self) -> None:
        """Stops what runs."""
        self._devices.close()

    def _dressed(self, run: FinishedRun) -> FinishedRun:
        challenge = self._asked.pop(run.challenge.device)
        if run.error:
            return replace(run, challenge=challenge)
        first, m = len(run.heads) // HEAD_BYTES, challenge.shape.m
        return FinishedRun(challenge=challenge, heads=run.heads + b"".join(map(invented_head, range(first, m))))


class SilentWorker:
    """Lives and sends heartbeats, but answers no challenge."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def indices(self) -> tuple[int, ...]:
        """Numbers of the devices, ascending."""
        return self._devices.indices()

    def start(self, challenge: ComputeChallenge) -> None:
        """Takes the challenge and forgets it."""

    def finished(self) -> tuple[FinishedRun, ...]:
        """Nothing, ever."""
        return ()

    def close(self) -> None:
        """Stops what runs."""
        self._devices.close()


CHEATERS: Mapping[str, Callable[[Devices], Devices]] = {
    "half": HalfWorker,
    "silent": SilentWorker,
}


def invented_head(row: int) -> bytes:
    """64 bytes that look like any other head."""
    return keccak(b"low" + row.to_bytes(4, "big")) + keccak(b"high" + row.to_bytes(4, "big"))


def main() -> None:
    """Runs one cheater until SIGTERM."""
    parser = argparse.ArgumentParser(description="Run a dishonest node.")
    parser.add_argument("kind", choices=sorted(CHEATERS))
    parser.add_argument(
        "--folder", type=Path, required=True, help="folder of the node, as `swarm node register` made it"
    )
    arguments = parser.parse_args()
    run_agent(load_settings({"node_folder": arguments.folder}), wrap=CHEATERS[arguments.kind])


if __name__ == "__main__":
    main()
