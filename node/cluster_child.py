"""The process that holds a Ray node of a cluster and ends with its parent. Run as a program by node.cluster.

It is what `ray start --address --block` does, which refuses a head on loopback, and asks Ray for nothing else.
"""

import ctypes
import json
import signal
import sys
import time
from typing import Any

PR_SET_PDEATHSIG = 1
JOINED = "joined"


def main() -> None:
    """Starts the node that the first argument describes, says so, and holds it until SIGTERM or the parent's end."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    node = _started(json.loads(sys.argv[1]))
    sys.stdout.write(f"{JOINED}\n")
    sys.stdout.flush()
    # Not sigwait: the kernel may give the signal to a thread of Ray's, and Python runs handlers in this one only.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            time.sleep(1)
    finally:
        node.kill_all_processes(check_alive=False, allow_graceful=False)


def _started(options: dict[str, Any]) -> Any:
    from ray._private.node import Node
    from ray._private.parameter import RayParams

    return Node(RayParams(**options), head=False, shutdown_at_exit=True, spawn_reaper=True)


if __name__ == "__main__":
    main()
