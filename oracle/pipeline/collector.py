"""A report of a large network makes millions of values without a cycle among them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Lets reference counting do alone what it can do alone: looking for cycles costs a fifth of a report's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
