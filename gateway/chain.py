"""Eyes of a gateway on the chain: jobs, nodes, stakes and suspensions, folded from events; starts over after a rewrite."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import Any

from gateway.model import JobTimes
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ChainState, JobRecord
from swarm_chain.core.state import advance, fold
from swarm_chain.core.units import BlockNumber, JobId, Timestamp
from swarm_chain.ports import ChainReader

Times = Mapping[JobId, JobTimes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The chain at a block."""

    state: ChainState
    times: Times = field(default_factory=lambda: MappingProxyType({}))

    @property
    def now(self) -> Timestamp:
        """Chain time."""
        return self.state.block.timestamp

    def job(self, job_id: int) -> JobRecord:
        """A job.

        Raises:
            InvalidInputError: the chain has no such job (code unknown_job).
        """
        found = next((one for one in self.state.jobs if one.job_id == job_id), None)
        if found is None:
            raise InvalidInputError(
                f"job {job_id} is unknown at block {self.state.block.number}",
                fix="ask again once it is mined, or check the number",
                code="unknown_job",
            )
        return found


class ChainWatch:
    """Follows one chain.

    Args:
        chain: where to read.
        first_block: block of the deployment.
    """

    def __init__(self, chain: ChainReader, first_block: BlockNumber) -> None:
        self._chain = chain
        self._first_block = first_block
        self._sight: Sight | None = None
        self._turn = Lock()

    def sight(self) -> Sight:
        """The chain as it was looked at last.

        Raises:
            UnavailableError: it was not looked at yet.
        """
        if self._sight is None:
            raise UnavailableError("this gateway has not seen the chain yet", code="no_chain", retry_after=1)
        return self._sight

    def look(self) -> Sight:
        """The chain at its latest block.

        Raises:
            UnavailableError: no endpoint answers.
        """
        with self._turn:
            latest = self._chain.block("latest")
            before = self._sight if self._sight is not None and self._still_there(self._sight.state.block) else None
            if before is None or before.state.block.hash != latest.hash:
                self._sight = self._read(before, latest)
            return self.sight()

    def _read(self, before: Sight | None, latest: BlockRef) -> Sight:
        if before is None:
            events = self._chain.events(self._first_block, latest.number)
            return Sight(state=fold(events, latest), times=fold_times({}, events))
        events = self._chain.events(before.state.block.number + 1, latest.number)
        return Sight(state=advance(before.state, events, latest), times=fold_times(before.times, events))

    def _still_there(self, block: BlockRef) -> bool:
        try:
            return self._chain.block(block.number).hash == block.hash
        except InvalidInputError:
            return False


def fold_times(known: Times, events: Iterable[ChainEvent]) -> dict[JobId, JobTimes]:
    """Add the escrow's events to the deadlines known before.

    Args:
        known: deadlines known before.
        events: further events, in chain order; other contracts' are ignored.
    """
    times = dict(known)
    for event in events:
        arguments: Any = event.args
        if event.contract != "JobEscrow":
            continue
        if event.name == "JobPosted":
            times[arguments["jobId"]] = JobTimes(accept_by=arguments["acceptBy"])
        elif event.name == "JobAccepted":
            job_id = arguments["jobId"]
            times[job_id] = replace(times[job_id], complete_by=arguments["completeBy"])
    return times
