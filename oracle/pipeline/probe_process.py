"""Probes endpoints in a process of their own: what a stranger sends, and the load of asking, stay away from the member's API.

member --(rungs to ask for)--> worker with an event loop and the reference model
       <--samples, drawn answers recomputed | error----
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from time import monotonic_ns
from typing import Protocol, cast

from swarm_chain.adapters.completions import Shot, fire
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.probing import Rung
from swarm_chain.core.units import Hash32

STOP_WITHIN_S = 5
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
        self._lock = Lock()
        self._closed = False
        self._worker: tuple[SpawnProcess, Connection] | None = None

    def measure(self, asks: Sequence[ProbeAsk]) -> tuple[Rung, ...]:
        """`measure` in the worker; called by one thread at a time.

        Raises:
            UnavailableError: it took too long, or the worker died or was closed.
        """
        pipe = self._pipe()
        takes_s = max(ask.shot.params.rung_for + ask.shot.params.timeout_ms // 1000 for ask in asks)
        try:
            pipe.send(tuple(asks))
            answer = pipe.recv() if pipe.poll(takes_s + RECOMPUTE_S) else None
        except (EOFError, OSError):
            answer = None
        if answer is None:
            self._stop()
            raise UnavailableError("the probe did not finish", code="probe_lost", retry_after=30)
        if isinstance(answer, SwarmError):
            raise answer
        return cast(tuple[Rung, ...], answer)

    def close(self) -> None:
        """Ends the worker for good; a probe under way raises UnavailableError in its thread."""
        self._closed = True
        self._stop()

    def _pipe(self) -> Connection:
        with self._lock:
            if self._closed:
                raise UnavailableError("this member is stopping", code="stopping")
            if self._worker is None:
                context = get_context("spawn")
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs,), daemon=True)
                process.start()
                theirs.close()  # else this end would never see that the worker is gone
                self._worker = (process, ours)
            return self._worker[1]

    def _stop(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker[0].kill()
            worker[0].join(STOP_WITHIN_S)


def _work(pipe: Connection) -> None:
    """The worker's life: answers until the member hangs up."""
    while True:
        try:
            asks = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(measure(asks))
        except SwarmError as error:
            pipe.send(error)


def _now_us() -> int:
    return monotonic_ns() // 1000
