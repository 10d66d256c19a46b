"""What a launcher is told: the files that are shown inside, limits, environment and command of the worker."""

import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from swarm_chain.core.errors import InconsistentError
from swarm_chain.sandbox.limits import SandboxLimits

WALLS: Final = Path(__file__).with_name("walls.py")
# Users of short-lived services, as systemd hands them out; each sandbox has another one, so that limits count it alone.
FIRST_USER, USERS = 61184, 4336
_SYSTEM: Final = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system",
)  # fmt: skip
_GPU_FILES: Final = ("/sys", "/proc/driver/nvidia")
_SPARE_BYTES: Final = 1_000_000_000  # of address space per process: libraries map more than they touch
_MB: Final = 1_000_000
SCRATCH: Final = "/tmp"  # noqa: S108 - of the sandbox, not of the machine
_WORKER: Final = (
    "import sys; sys.path[:] = {paths!r}; from swarm_chain.sandbox.worker import serve; serve({function!r})"
)


def launch_command(function: str, limits: SandboxLimits, root: Path, number: int) -> list[str]:
    """Command line of a launcher.

    Args:
        function: what answers, as "module:name"; a module below swarm_chain or in an installed package.
        limits: of the call.
        root: an empty folder, on which the file tree is mounted inside.
        number: tells sandboxes that run at one time apart.
    """
    paths = [os.path.realpath(path) for path in (_package_root(), *sys.path) if path]
    python = [os.path.realpath(sys.executable), "-P", "-s", "-S"]
    plan = {
        "root": str(root),
        "disk": min(limits.disk_mb, limits.memory_mb) * _MB,
        "show": _shown(limits),
        "user": FIRST_USER + number % USERS,
        "limits": _limits(limits),
        "environment": _environment(limits),
        "command": [*python, "-c", _WORKER.format(paths=list(dict.fromkeys(paths)), function=function)],
    }
    return [*python, "-E", str(WALLS), json.dumps(plan)]


def _package_root() -> str:
    found = find_spec("swarm_chain")
    if found is None or not found.submodule_search_locations:
        raise InconsistentError("the package swarm_chain is not to be found")
    return str(Path(next(iter(found.submodule_search_locations))).parent)


def _shown(limits: SandboxLimits) -> Sequence[str]:
    """Absolute paths; folders of a package that lie beside other files are shown alone."""
    package = os.path.realpath(Path(_package_root()) / "swarm_chain")
    packages = [path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}]
    python = [os.path.realpath(path) for path in (sys.base_prefix, sys.prefix, *packages)]
    gpus = [*_GPU_FILES, *(str(path) for path in Path("/dev").glob("nvidia*"))] if limits.gpus else []
    return [*gpus, *_SYSTEM, *python, package]


def _limits(limits: SandboxLimits) -> dict[str, int]:
    lids = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": limits.seconds * limits.cpus + limits.cpus,
        "RLIMIT_FSIZE": limits.disk_mb * _MB,
        "RLIMIT_NOFILE": 512,
        "RLIMIT_NPROC": limits.processes,
    }
    # What a GPU's driver maps is far more than what it uses; there the watcher's lid on memory held must be enough.
    return lids if limits.gpus else lids | {"RLIMIT_DATA": limits.memory_mb * _MB + _SPARE_BYTES}


def _environment(limits: SandboxLimits) -> dict[str, str]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(limits.cpus))
    return threads | {
        "PATH": "/usr/bin:/bin",
        "HOME": SCRATCH,
        "TMPDIR": SCRATCH,
        "USER": "job",
        "LOGNAME": "job",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",  # the order of sets is part of what must come out alike everywhere
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
