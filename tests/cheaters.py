"""Dishonest nodes for tests and the demo, as processes: `python -m tests.cheaters half --folder DIR`.

They share all wiring with an honest node and put a lie between agent and devices, or agent and court. Everything else comes
from the environment, as for `swarm node run` (SWARM_RPC_URL, SWARM_DEPLOYMENT, SWARM_ORACLE_URL, SWARM_RAY_ADDRESS, …).
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from node.config import load_settings
from node.main import Parts, run_agent
from node.ports import AccusedRow, Auditee, AuditQuestion, Devices, FinishedRun, RowTracer, TracedRow
from swarm_chain.core.compute import HEAD_BYTES, ComputeChallenge
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32
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


def half(parts: Parts) -> Parts:
    """A node that computes half of the rows, and defends the others as long as it can."""
    return replace(parts, devices=HalfWorker(parts.devices), tracer=InventingTracer(parts.tracer))


def silent(parts: Parts) -> Parts:
    """A node that answers no challenge."""
    return replace(parts, devices=SilentWorker(parts.devices))


class EmptyMemory:
    """Claims memory it does not hold: commits to nothing and opens what it makes up.

    Args:
        auditee: what claims as much.
    """

    def __init__(self, auditee: Auditee) -> None:
        self._auditee = auditee

    def claim(self, member: Address) -> int:
        """As much as the honest one."""
        return self._auditee.claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Nothing is prepared."""

    def answer(self, question: AuditQuestion) -> Hash32:
        """A root over nothing."""
        return keccak(question.nonce)

    def openings(self, _question: AuditQuestion, draw: Hash32) -> list[Json]:
        """Lanes that look like lanes."""
        return [{"lane": number, "result": to_hex(keccak(draw)), "path": [to_hex(draw)] * 10} for number in range(4)]

    def release(self) -> None:
        """There is nothing to give back."""


def boast(parts: Parts) -> Parts:
    """A node that computes honestly and claims memory it does not have."""
    return replace(parts, auditees={category: EmptyMemory(auditee) for category, auditee in parts.auditees.items()})


CHEATERS: Mapping[str, Callable[[Parts], Parts]] = {"half": half, "silent": silent, "boast": boast}


def invented_head(row: int) -> bytes:
    """64 bytes that look like any other head."""
    return keccak(b"low" + row.to_bytes(4, "big")) + keccak(b"high" + row.to_bytes(4, "big"))


def with_head(evidence: RowEvidence, head: bytes) -> RowEvidence:
    """Evidence whose last state begins with another head."""
    *states, last = evidence.trace.states
    return replace(evidence, trace=replace(evidence.trace, states=(*states, head + last[HEAD_BYTES:])))


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
