"""Group commit: what arrives while one batch is being kept waits, and is kept as the next one."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from swarm_chain.core.errors import SwarmError

MAX_BATCH = 256

In = TypeVar("In")
Checked = TypeVar("Checked")
Out = TypeVar("Out")


class Batches(Generic[In, Checked, Out]):
    """Keeps items together, one batch after the other in a thread, and answers each after its own batch is durable.

    One fsync is shared by all items of a batch, and an item that is refused spoils no other. Used by one event loop.

    Args:
        check: looks at one item before the store is asked; raises SwarmError to refuse it.
        keep: keeps items in one transaction; gives for each, in order, its outcome or the error to raise for it alone.
    """

    def __init__(
        self, check: Callable[[In], Checked], keep: Callable[[Sequence[Checked]], Sequence[Out | SwarmError]]
    ) -> None:
        self._check = check
        self._keep = keep
        self._waiting: deque[tuple[In, asyncio.Future[Out]]] = deque()
        self._keeper: asyncio.Task[None] | None = None

    async def put(self, item: In) -> Out:
        """Keeps an item with the next batch; what it gives is durable.

        Raises:
            SwarmError: the item was refused.
            OperationalError: the batch could not be kept; nothing of it was.
        """
        answer: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep_all())
        return await answer

    async def _keep_all(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(MAX_BATCH, len(self._waiting)))]
            work = asyncio.to_thread(self._outcomes, [item for item, _ in batch])
            (outcomes,) = await asyncio.gather(work, return_exceptions=True)
            for position, (_, answer) in enumerate(batch):
                _give(answer, outcomes if isinstance(outcomes, BaseException) else outcomes[position])

    def _outcomes(self, items: Sequence[In]) -> list[Out | SwarmError]:
        found = [self._checked(item) for item in items]
        sound = [one for one in found if not isinstance(one, SwarmError)]
        kept = iter(self._keep(sound) if sound else ())
        return [one if isinstance(one, SwarmError) else next(kept) for one in found]

    def _checked(self, item: In) -> Checked | SwarmError:
        try:
            return self._check(item)
        except SwarmError as refusal:
            return refusal


def _give(answer: asyncio.Future[Out], outcome: Out | BaseException) -> None:
    if answer.done():
        return  # its request was given up; it is kept all the same
    if isinstance(outcome, BaseException):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
