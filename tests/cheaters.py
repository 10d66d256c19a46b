"""Dishonest nodes for tests and the demo, as processes: `python -m tests.cheaters most --folder DIR`.

They share all wiring with an honest node and put a lie between agent and devices, or agent and court. Everything else comes
from the environment, as for `swarm node run` (SWARM_RPC_URL, SWARM_DEPLOYMENT, SWARM_ORACLE_URL, SWARM_RAY_ADDRESS, …).
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from node.config import load_settings
from node.main import Parts, run_agent
from node.ports import AccusedRow, Devices, FinishedRun, RowTracer, TracedRow
from swarm_chain.core.compute import HEAD_BYTES, ComputeChallenge
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import Hash32
from swarm_chain.court.model import RowEvidence


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


class InventingTracer:
    """Defends invented heads: all states of a row are true but the last, which begins with the head that was committed.

    The answer then opens the committed leaf, and only the last step is false.

    Args:
        tracer: what computes the true states.
    """

    def __init__(self, tracer: RowTracer) -> None:
        self._tracer = tracer
        self._heads: dict[Hash32, bytes] = {}

    def start(self, accused: AccusedRow) -> None:
        """Starts an honest trace."""
        self._tracer.start(accused)
        self._heads[accused.accusation_id] = accused.heads[accused.row * HEAD_BYTES : (accused.row + 1) * HEAD_BYTES]

    def finished(self) -> tuple[TracedRow, ...]:
        """Traces that ended, with the committed head at their end."""
        return tuple(self._dressed(traced) for traced in self._tracer.finished())

    def close(self) -> None:
        """Stops what runs."""
        self._tracer.close()

    def _dressed(self, traced: TracedRow) -> TracedRow:
        if traced.evidence is None:
            return traced
        return replace(traced, evidence=with_head(traced.evidence, self._heads.pop(traced.accusation_id)))


def most(parts: Parts) -> Parts:
    """A node that computes one row of sixteen, and defends the others as long as it can.

    Eight drawn rows miss what it invents in one window of four billion; with half of the rows it would be one of 256.
    """
    return replace(parts, devices=HalfWorker(parts.devices, halvings=4), tracer=InventingTracer(parts.tracer))


def silent(parts: Parts) -> Parts:
    """A node that answers no challenge."""
    return replace(parts, devices=SilentWorker(parts.devices))


# What the settings claim is taken by boasting alone; it starts no honest endpoint beside its canned one.
CHEATERS: Mapping[str, Callable[[Parts], Parts]] = {"most": most, "silent": silent}
BOAST = "boast"


def invented_head(row: int) -> bytes:
    """64 bytes that look like any other head."""
    return keccak(b"low" + row.to_bytes(4, "big")) + keccak(b"high" + row.to_bytes(4, "big"))


def with_head(evidence: RowEvidence, head: bytes) -> RowEvidence:
    """Evidence whose last state begins with another head."""
    *states, last = evidence.trace.states
    return replace(evidence, trace=replace(evidence.trace, states=(*states, head + last[HEAD_BYTES:])))


def run(kind: str, folder: Path) -> None:
    """Runs one cheater until SIGTERM.

    Args:
        kind: a name of `CHEATERS`, or `BOAST`.
        folder: of the node, as `swarm node register` made it.
    """
    settings = load_settings({"node_folder": folder})
    if kind == BOAST:
        from tests.boasts.everything import boasting

        run_agent(settings.model_copy(update={"serving_rate": 0}), wrap=partial(boasting, settings))
    else:
        run_agent(settings, wrap=CHEATERS[kind])


def main() -> None:
    """Runs the cheater the command line names."""
    parser = argparse.ArgumentParser(description="Run a dishonest node.")
    parser.add_argument("kind", choices=sorted([*CHEATERS, BOAST]))
    parser.add_argument(
        "--folder", type=Path, required=True, help="folder of the node, as `swarm node register` made it"
    )
    arguments = parser.parse_args()
    run(arguments.kind, arguments.folder)


if __name__ == "__main__":
    main()
