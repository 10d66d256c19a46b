"""What a gateway does by itself beside answering, each in a thread of its own, so that none waits for another.

follow    look at the chain -> assign posted jobs
errands   hand members the specs they lack -> ask what was measured -> forget what is over
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from types import MappingProxyType

import structlog

from gateway.candidates import Measured
from gateway.chain import ChainWatch
from gateway.desk import Desk
from gateway.members import HttpMembers
from gateway.planning import assign_jobs
from gateway.store import nodes as node_store
from gateway.sweep import sweep
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.units import Address

log = structlog.get_logger()

ERRANDS_S = 10.0
STOP_WITHIN_S = 10.0


class Measurements:
    """What members last said of the nodes announced here."""

    def __init__(self) -> None:
        self._known: Mapping[Address, Mapping[str, int]] = MappingProxyType({})

    def known(self) -> Measured:
        """Units by node and category."""
        return self._known

    def ask(self, desk: Desk, members: HttpMembers) -> None:
        """Asks the members again."""
        announced = [one.node for one in node_store.announcements(desk.database)]
        self._known = {node: members.measured(node) for node in announced}


def follow(watch: ChainWatch, desk: Desk) -> None:
    """One look and what follows from it.

    Raises:
        UnavailableError: the chain does not answer.
    """
    watch.look()
    assign_jobs(desk)


def errands(desk: Desk, members: HttpMembers, measurements: Measurements) -> None:
    """One round of what is not urgent."""
    members.hand_all()
    measurements.ask(desk, members)
    sweep(desk)


@contextmanager
def repeated(name: str, turn: Callable[[], None], every_s: float) -> Iterator[None]:
    """Repeats a turn in a thread until the context is left; one that fails is logged and tried again.

    Args:
        name: of the turn, for the log.
        turn: what to do.
        every_s: seconds between two turns.
    """
    stop = Event()

    def run() -> None:
        while not stop.wait(every_s):
            _guarded(name, turn)

    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(STOP_WITHIN_S)


def _guarded(name: str, turn: Callable[[], None]) -> None:
    try:
        turn()
    except SwarmError as error:
        log.warning("turn_failed", turn=name, code=error.code, reason=error.message)
    except Exception as error:  # the one loop that logs: the next turn may do what this one could not
        log.error("turn_crashed", turn=name, exc_info=error)
