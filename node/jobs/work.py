"""A job as the module of its kind gets it: in a process of Ray, with the files of the job."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from node.jobs.folder import JobFolder
from node.jobs.workers import selector_of
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Inputs, Program, inputs_of
from swarm_chain.reference.programs.registry import open_program

EXIT_OK, EXIT_FAILED, EXIT_INVALID_SPEC = 0, 1, 2

# What runs a kind of job, as "module:function" of `Run`; units one after the other where a kind has nothing of its own.
RUNS: Mapping[str, str] = MappingProxyType(
    {
        "swarm-train/2": "node.jobs.kinds.train:run_train",
        "swarm-tune/1": "node.jobs.kinds.tune:run_tune",
        "swarm-optimise/1": "node.jobs.kinds.optimise:run_optimise",
        "swarm-batch/1": "node.jobs.kinds.batch:run_batch",
        "swarm-serve/1": "node.jobs.kinds.serve:run_serve",
    }
)
DEFAULT_RUN = "node.jobs.units:run_units"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be run: fill `folder` with contents 0 to `program.units`. `labels` select the Ray nodes it may use."""

    spec: JobSpec
    program: Program
    inputs: Inputs
    folder: JobFolder
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


Run = Callable[[Work], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """What the agent asks a process of Ray for: spec and inputs as posted, folder of the job, labels of its Ray nodes."""

    document: object
    folder: str
    inputs: Mapping[Hash32, bytes] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What came of it: content hashes in order, time spent, exit code and the reason of a failure."""

    contents: tuple[bytes, ...]
    device_ms: int
    exit_code: int
    reason: str = ""


def run_job(order: JobOrder) -> JobResult:
    """Runs a job from where its folder stands.

    Args:
        order: what to run.

    Returns:
        The result; the customer's errors are exit codes, not exceptions.
    """
    folder = JobFolder(path=Path(order.folder))
    try:
        spec = parse_job_spec(order.document)
        inputs = inputs_of(order.inputs)
        program = open_program(spec, inputs)
    except InvalidInputError as error:
        return JobResult(contents=(), device_ms=0, exit_code=EXIT_INVALID_SPEC, reason=error.message)
    labels = selector_of(order.labels, spec)
    try:
        run_of(spec)(Work(spec=spec, program=program, inputs=inputs, folder=folder, labels=labels))
    except InvalidInputError as error:
        folder.say(f"failed: {error.message}\n{error.values.get('stderr', '')}")
        return JobResult(contents=(), device_ms=folder.spent_ms(), exit_code=EXIT_FAILED, reason=error.message)
    hashes = tuple(folder.hashes(program.units + 1))
    return JobResult(contents=hashes, device_ms=folder.spent_ms(), exit_code=EXIT_OK)


class JobProcess:
    """Runs one job: what an actor of Ray's is made of."""

    def run(self, order: JobOrder) -> JobResult:
        """See `run_job`."""
        return run_job(order)


def brings_workers(spec: JobSpec) -> bool:
    """Tell whether a job computes in Ray workers of its own, so that its task reserves nothing but only waits for them."""
    return spec.program in RUNS


def run_of(spec: JobSpec) -> Run:
    """What runs a job."""
    module, _, name = RUNS.get(spec.program, DEFAULT_RUN).partition(":")
    found: Run = getattr(import_module(module), name)
    return found
