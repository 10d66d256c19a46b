"""Follows the chain: folds final blocks once, the few blocks above them anew each time, so that a reorg needs no undo."""

from dataclasses import dataclass
from threading import Lock

from oracle.history import CHUNK
from oracle.pipeline.sight import CycleFacts, Sight, advance_sight, see
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainState
from swarm_chain.core.units import BlockNumber
from swarm_chain.ports import ChainReader


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """The fold up to a final block."""

    block: BlockRef
    state: ChainState
    facts: CycleFacts


class Follower:
    """Keeps the latest sight of the chain. `poll` is called by one thread, `sight` may be read by any."""

    def __init__(self, reader: ChainReader, first_block: BlockNumber) -> None:
        self._reader = reader
        self._first_block = first_block
        self._base: _Base | None = None
        self._sight: Sight | None = None
        self._polling = Lock()

    @property
    def sight(self) -> Sight:
        """The latest sight.

        Raises:
            UnavailableError: nothing was seen yet.
        """
        if self._sight is None:
            raise UnavailableError("this member has not seen the chain yet", retry_after=1)
        return self._sight

    def poll(self) -> Sight:
        """Looks at the chain once more.

        Raises:
            UnavailableError: no endpoint answers.
            InconsistentError: a final block changed.
        """
        with self._polling:
            latest = self._reader.block("latest")
            if self._sight is None or latest.hash != self._sight.latest.hash:
                self._sight = self._look(latest)
            return self._sight

    def _look(self, latest: BlockRef) -> Sight:
        finalized = self._reader.block("finalized")
        base = self._advance_base(finalized)
        if latest.number <= base.block.number:
            raise UnavailableError("the deployment is not final yet", retry_after=2)
        events = self._reader.events(base.block.number + 1, latest.number)
        state, facts = advance_sight(base.state, base.facts, events, latest)
        return see(state, facts, latest, finalized)

    def _advance_base(self, finalized: BlockRef) -> _Base:
        base = self._base or self._start()
        if base.block.number and self._reader.block(base.block.number).hash != base.block.hash:
            raise InconsistentError(
                f"final block {base.block.number} changed its hash", fix="stop the member and compare RPC endpoints"
            )
        while base.block.number < finalized.number:
            last = min(base.block.number + CHUNK, finalized.number)
            block = finalized if last == finalized.number else self._reader.block(last)
            events = self._reader.events(base.block.number + 1, last)
            state, facts = advance_sight(base.state, base.facts, events, block)
            base = _Base(block=block, state=state, facts=facts)
        self._base = base
        return base

    def _start(self) -> _Base:
        block = self._reader.block(max(self._first_block - 1, 0))
        return _Base(block=block, state=ChainState(block=block), facts=CycleFacts())
