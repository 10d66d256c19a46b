"""A guard around imports that raise the interpreter's recursion limit.

eth-account brings py_ecc, which sets the limit to 100,000. At that depth the C stack ends before the limit does: a nested JSON
body of 100 KB would kill the process instead of raising RecursionError. So whoever imports eth-account or web3 does it in here.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def recursion_limit_kept() -> Iterator[None]:
    """Puts the recursion limit back to what it was at the start of the block."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
