"""The devices of this machine as Ray tasks: one task a run, pinned to this machine, never two on one device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from node.compute.worker import backend_name, run_challenge
from node.ports import FinishedRun
from swarm_chain.core.compute import ComputeChallenge
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError

CHECKED_ROWS = 2
# A worker that died is replaced and the run starts again: late is better than never, and nothing was signed yet.
_WORKER_RETRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """What this machine proves with: its GPUs, one device each, or if there are none its CPU as device 0.

    `threads` are the CPU threads of a run, `reserved_cpus` what Ray sets aside for one: less than `threads` lets a job
    that is already running not delay a window.
    """

    gpus: int = 0
    threads: int = 1
    reserved_cpus: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    challenge: ComputeChallenge
    task: Any


class RayDevices:
    """Devices port on the Ray cluster this process is connected to.

    Args:
        options: devices and reservations.
        below: random integer below a bound; draws the rows each run is checked by before it is handed out.
    """

    def __init__(self, options: DeviceOptions, below: Callable[[int], int]) -> None:
        self._options = options
        self._below = below
        self._running: dict[int, _Running] = {}

    def indices(self) -> tuple[int, ...]:
        """Numbers of the devices, ascending."""
        return tuple(range(max(1, self._options.gpus)))

    def examine(self) -> tuple[str, ...]:
        """Run the known answers where the devices are, which also warms their workers up.

        Returns:
            Name of the backend each device will use.

        Raises:
            InconsistentError: a device has no backend that gives the known answers.
            UnavailableError: Ray could not run the tasks.
        """
        task = self._task(backend_name)
        tasks = [task.remote(self._torch_device, self._options.threads) for _ in self.indices()]
        try:
            return tuple(ray.get(tasks))
        except RayTaskError as error:
            raise InconsistentError(
                f"known-answer test failed: {_reason(error)}", fix="run `swarm node doctor`", code="known_answer_failed"
            ) from error
        except RayError as error:
            raise UnavailableError(f"Ray could not examine the devices: {_reason(error)}") from error

    def start(self, challenge: ComputeChallenge) -> None:
        """Starts a run and returns at once.

        Raises:
            InvalidInputError: there is no such device, or it works on another challenge.
        """
        if challenge.device not in self.indices() or challenge.device in self._running:
            raise InvalidInputError(
                f"device {challenge.device} cannot start window {challenge.window.window_id}",
                fix=f"use an idle device of {self.indices()}",
                code="device_not_free",
            )
        check_rows = [self._below(challenge.shape.m) for _ in range(CHECKED_ROWS)]
        task = self._task(run_challenge).remote(challenge, self._torch_device, self._options.threads, check_rows)
        self._running[challenge.device] = _Running(challenge=challenge, task=task)

    def finished(self) -> tuple[FinishedRun, ...]:
        """Runs that ended since the last call."""
        if not self._running:
            return ()
        tasks = [running.task for running in self._running.values()]
        done, _ = ray.wait(tasks, num_returns=len(tasks), timeout=0)
        ended = [device for device, running in self._running.items() if running.task in done]
        return tuple(_finished(self._running.pop(device)) for device in ended)

    def close(self) -> None:
        """Stops what runs."""
        for running in self._running.values():
            ray.cancel(running.task, force=True)
        self._running.clear()

    @property
    def _torch_device(self) -> str:
        return "cuda:0" if self._options.gpus else "cpu"  # Ray shows a task only the GPU it was given

    def _task(self, function: Callable[..., object]) -> Any:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        return ray.remote(function).options(
            num_cpus=self._options.reserved_cpus,
            num_gpus=1 if self._options.gpus else 0,
            max_retries=_WORKER_RETRIES,
            scheduling_strategy=here,
        )


def _finished(running: _Running) -> FinishedRun:
    try:
        heads: bytes = ray.get(running.task)
    except RayError as error:
        return FinishedRun(challenge=running.challenge, error=_reason(error))
    return FinishedRun(challenge=running.challenge, heads=heads)


def _reason(error: RayError) -> str:
    cause = error.cause if isinstance(error, RayTaskError) else error
    return str(cause).strip().splitlines()[0]
