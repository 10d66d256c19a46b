"""Probes endpoints in a process of their own: what a stranger sends, and the load of asking, stay away from the member's API.

member --(rungs to ask for)--> worker with an event loop and the reference model
       <--samples, drawn answers recomputed | error----
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic_ns
from typing import Protocol

from oracle.pipeline.worker import WorkerProcess
from swarm_chain.adapters.completions import Shot, fire
from swarm_chain.core.probing import Rung
from swarm_chain.core.units import Hash32

RECOMPUTE_S = 60  # for drawn answers, on a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAsk:
    """One rung to be measured, and the seed of the weights its answers must come from."""

    shot: Shot
    model: Hash32


class Prober(Protocol):
    """What measures rungs."""

    def measure(self, asks: Sequence[ProbeAsk]) -> tuple[Rung, ...]:
        """Rungs of several endpoints at the same time; UnavailableError where this machine cannot."""
        ...

    def close(self) -> None:
        """Ends what is under way and takes nothing more."""
        ...


def measure(asks: Sequence[ProbeAsk]) -> tuple[Rung, ...]:
    """Fires rungs at several endpoints at once, in whatever process it is called in, and recomputes drawn answers."""
    from swarm_chain.reference.rescoring import rescored

    async def all_of_them() -> list[Rung]:
        fired = await asyncio.gather(*(fire(ask.shot, _now_us) for ask in asks))
        rungs = []
        for ask, answered in zip(asks, fired, strict=True):
            shot = ask.shot
            samples = rescored(
                [one.sample for one in answered], [one.tokens for one in answered], shot.params, ask.model, shot.seed
            )
            rungs.append(Rung(rate=shot.rate, timeout_us=shot.params.timeout_ms * 1000, samples=samples))
        return rungs

    return tuple(asyncio.run(all_of_them()))


class ProbeProcess:
    """The worker; it is started by the first probe, so that a member nobody serves to never pays for it."""

    def __init__(self) -> None:
        self._worker = WorkerProcess(measure, what="the probe", lost="probe_lost")

    def measure(self, asks: Sequence[ProbeAsk]) -> tuple[Rung, ...]:
        """`measure` in the worker.

        Raises:
            UnavailableError: it took too long, or the worker died or was closed.
        """
        takes_s = max(ask.shot.params.rung_for + ask.shot.params.timeout_ms // 1000 for ask in asks)
        return self._worker.ask(tuple(asks), takes_s + RECOMPUTE_S)

    def close(self) -> None:
        """Ends the worker for good; a probe under way raises UnavailableError in its thread."""
        self._worker.close()


def _now_us() -> int:
    return monotonic_ns() // 1000
