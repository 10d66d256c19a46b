"""What sandboxed code may use. Pure."""

from dataclasses import dataclass
from typing import Final

from swarm_chain.core.checkpoints import MAX_CHECKPOINT_BYTES

UNIT_SECONDS: Final = 300
FEWEST_PROCESSES: Final = 32  # threads count as processes: the interpreter's own, and pools that libraries start
_THREADS_PER_CPU: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What one call may use; MB are 10^6 bytes.

    Args:
        memory_mb: of all its processes together; its files lie in memory too, in at most as much again.
        disk_mb: of all its files together.
        cpus: threads that numeric libraries start, so that they split work alike wherever the call runs.
        gpus: above 0 it sees the machine's GPUs.
        processes: processes and threads at one time.
        seconds: wall clock of the whole call.
        answer_bytes: length of what it may give.
    """

    memory_mb: int = 2048
    disk_mb: int = 1024
    cpus: int = 1
    gpus: int = 0
    processes: int = FEWEST_PROCESSES + _THREADS_PER_CPU
    seconds: int = UNIT_SECONDS
    answer_bytes: int = MAX_CHECKPOINT_BYTES

    @staticmethod
    def of(memory_mb: int, disk_mb: int, cpus: int, gpus: int, seconds: int = UNIT_SECONDS) -> "SandboxLimits":
        """Limits of a worker with these resources."""
        processes = FEWEST_PROCESSES + _THREADS_PER_CPU * cpus
        return SandboxLimits(
            memory_mb=memory_mb, disk_mb=disk_mb, cpus=cpus, gpus=gpus, processes=processes, seconds=seconds
        )
