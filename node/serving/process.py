"""The process that decodes for a replica: started, spoken to over a socket, and gone with whoever started it.

python -m node.serving.process DESCRIPTOR      of a socket; what comes first is the sizes and the bounds
"""

import contextlib
import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Sequence
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from node.serving.batches import Batching
from node.serving.decoding import Asked, Decoding, Gone, Told
from swarm_chain.core.errors import UnavailableError
from swarm_chain.reference.tokenmodel import ModelSizes

START_S: Final = 60  # it loads torch
STOP_S: Final = 5
_READY: Final = "ready"


class DecodingProcess:
    """A process of its own; it ends when this object does, or whoever holds it, however that ends.

    Args:
        sizes: of the models.
        batching: bounds.
    """

    def __init__(self, sizes: ModelSizes, batching: Batching) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "node.serving.process", str(theirs.fileno())]
        # Not by multiprocessing: it would run Ray's worker program once more in there.
        with theirs:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        self._pipe: Connection[Any, Any] = Connection(ours.detach())
        self.close = weakref.finalize(self, _end, self._pipe, process)
        self.pid = process.pid
        self.send((sizes, batching))

    def wait(self) -> None:
        """Waits until it can decode.

        Raises:
            UnavailableError: it ended, or took more than START_S.
        """
        try:
            ready = self._pipe.poll(START_S) and self._pipe.recv() == _READY
        except (EOFError, OSError):
            ready = False
        if not ready:
            self.close()
            raise UnavailableError("the process that decodes did not start", code="no_decoding", retry_after=1)

    def fileno(self) -> int:
        """Readable when something was told, or when it has ended."""
        return self._pipe.fileno()

    def send(self, message: Asked | Gone | tuple[ModelSizes, Batching]) -> None:
        """Asks, or says that nobody waits any more; before that, what it decodes with."""
        with contextlib.suppress(OSError):  # it has ended: `told` says so
            self._pipe.send(message)

    def told(self) -> Sequence[Told] | None:
        """What is told next, or None: it has ended."""
        try:
            told: Sequence[Told] | str = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return [] if isinstance(told, str) else told


def _end(pipe: "Connection[Any, Any]", process: "subprocess.Popen[bytes]") -> None:
    pipe.close()
    process.kill()
    process.wait(STOP_S)


def work(pipe: "Connection[Any, Any]") -> None:
    """Decodes what is asked, as long as somebody is at the other end."""
    decoding, messages = Decoding(*pipe.recv()), SimpleQueue[Asked | Gone]()
    Thread(target=_listen, args=(pipe, messages), name="listen", daemon=True).start()
    pipe.send(_READY)
    while True:
        while not decoding or not messages.empty():
            decoding.take(messages.get())
        if told := decoding.burst():
            pipe.send(told)


def _listen(pipe: "Connection[Any, Any]", messages: "SimpleQueue[Asked | Gone]") -> None:
    """Always listens: else each end could wait for the other to take what it says."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv())
    os._exit(0)  # nobody is at the other end, whatever is being decoded


if __name__ == "__main__":
    import torch  # noqa: F401  # takes seconds: now, not while the first request waits

    with contextlib.suppress(EOFError, ConnectionError):
        work(Connection(int(sys.argv[1])))
