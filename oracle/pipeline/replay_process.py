"""Replays training segments in a process of their own, so that the member stays small and a crash stays outside.

member --(spec, start, segment)--> worker with torch
       <--content hash | error----
"""

from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.units import Hash32

STOP_WITHIN_S = 5


def replay_segment(spec: bytes, start: bytes, segment: int) -> Hash32:
    """Runs one segment again, in whatever process it is called in.

    Args:
        spec: canonical JSON of the job spec.
        start: bytes of checkpoint `segment`.
        segment: number of the segment.

    Returns:
        Content hash of checkpoint `segment` + 1 as this machine computes it.

    Raises:
        InvalidInputError: spec or checkpoint are not what they should be, or the run diverges.
        UnavailableError: this machine is of another kind than the one that trained.
    """
    import json

    from swarm_chain.reference.spec import parse_train_spec
    from swarm_chain.reference.train import run_segment

    return content_hash(run_segment(parse_train_spec(json.loads(spec)), start, segment))


class ReplayProcess:
    """The worker; it is started by the first replay, so that a member without jobs never pays for torch.

    Args:
        timeout_for: seconds one segment may take.
    """

    def __init__(self, timeout_for: int) -> None:
        self._timeout_for = timeout_for
        self._lock = Lock()
        self._turn = Lock()  # jobs and audits are judged side by side, and the worker does one thing after the other
        self._closed = False
        self._worker: tuple[SpawnProcess, Connection] | None = None

    def replay(self, spec: bytes, start: bytes, segment: int) -> Hash32:
        """`replay_segment` in the worker; threads wait for each other, and none longer for its own segment than it may take.

        Raises:
            InvalidInputError: as `replay_segment`.
            UnavailableError: it took too long, or the worker died or was closed; what it was for stays unjudged.
        """
        with self._turn:
            answer = self._asked(spec, start, segment)
        if answer is None:
            raise UnavailableError(f"replay of segment {segment} did not finish", code="replay_lost", retry_after=30)
        if isinstance(answer, SwarmError):
            raise answer
        return Hash32(answer)

    def close(self) -> None:
        """Ends the worker for good, whatever it is doing; a replay under way raises UnavailableError in its thread."""
        self._closed = True
        self._stop()

    def _asked(self, spec: bytes, start: bytes, segment: int) -> Hash32 | SwarmError | None:
        pipe = self._pipe()
        try:
            pipe.send((spec, start, segment))
            answer: Hash32 | SwarmError | None = pipe.recv() if pipe.poll(self._timeout_for) else None
        except (EOFError, OSError):
            answer = None
        if answer is None:
            self._stop()
        return answer

    def _pipe(self) -> Connection:
        with self._lock:
            if self._closed:
                raise UnavailableError("this member is stopping", code="stopping")
            if self._worker is None:
                context = get_context("spawn")
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs,), daemon=True)
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


def _serve(pipe: Connection) -> None:
    """The worker's life: answers until the member hangs up."""
    while True:
        try:
            spec, start, segment = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(replay_segment(spec, start, segment))
        except SwarmError as error:
            pipe.send(error)
