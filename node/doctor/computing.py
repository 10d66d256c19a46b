"""What torch and Ray say, asked in a process of its own: a broken build of either can crash or hang without the doctor.

python -P -m node.doctor.computing GPUS THREADS   prints one JSON object
"""

import json
import subprocess
import sys
from typing import Any

from node.doctor.facts import Compute, KnownAnswers
from swarm_chain.core.checkup import SHOWN

LONGEST_S = 90  # a cold start of torch and its GPU libraries from a slow disk


def ask_compute(gpus: int, threads: int) -> Compute:
    """Device counts of torch and Ray, and the known answers of every device's backends.

    Args:
        gpus: devices to examine, in [0, 16]; 0 examines the CPU.
        threads: CPU threads to use.
    """
    command = [sys.executable, "-P", "-m", __name__, str(gpus), str(threads)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
        said = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return Compute(problem=f"no answer in {LONGEST_S} s")
    except (IndexError, ValueError):
        return Compute(problem=f"the test process ended with code {done.returncode}")
    return Compute(
        torch_gpus=said["torchGpus"],
        ray_gpus=said["rayGpus"],
        answers=tuple(
            KnownAnswers(
                device=one["device"],
                trusted=tuple(one["trusted"]),
                rejected=tuple(one["rejected"]),
                problem=one["problem"],
            )
            for one in said["answers"]
        ),
    )


def examine(gpus: int, threads: int) -> dict[str, Any]:
    """The same facts in this process, JSON-ready."""
    devices = [f"cuda:{index}" for index in range(gpus)] or ["cpu"]
    return {
        "torchGpus": _torch_gpus(),
        "rayGpus": _ray_gpus(),
        "answers": [_answers(device, threads) for device in devices],
    }


def _torch_gpus() -> int | None:
    try:
        import torch
    except (ImportError, OSError):
        return None
    return torch.cuda.device_count()


def _ray_gpus() -> int | None:
    try:
        # Ray shows its count only to a running cluster; this is what a cluster asks when it starts.
        from ray._private.accelerators import NvidiaGPUAcceleratorManager
    except (ImportError, OSError):
        return None
    return int(NvidiaGPUAcceleratorManager.get_current_node_num_accelerators())


def _answers(device: str, threads: int) -> dict[str, Any]:
    from swarm_chain.reference.backends import candidates, fault_of

    try:
        backends = candidates(device, threads)
    except (ImportError, OSError, RuntimeError) as error:  # RuntimeError is torch's own for a device that fails
        return {"device": device, "trusted": [], "rejected": [], "problem": f"{type(error).__name__}: {error}"[:200]}
    faults = {backend.name: fault_of(backend) for backend in backends}
    trusted = [name for name, fault in faults.items() if not fault]
    rejected = [f"{name} ({fault[:SHOWN]})" for name, fault in faults.items() if fault]
    return {"device": device, "trusted": trusted, "rejected": rejected, "problem": ""}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(examine(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
