"""All programs by name. A name never changes what it means: what computes other bytes gets a new one."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from swarm_chain.core.jobs import JobSpec, invalid_spec
from swarm_chain.reference.programs.base import Inputs, Program, ProgramEntry

# Where a program's ProgramEntry is, as "module:name"; loaded when asked for.
PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "swarm-finetune/1": "swarm_chain.reference.programs.finetune:ENTRY",
        "swarm-train-code/1": "swarm_chain.reference.programs.train_code:ENTRY",
        "swarm-train/1": "swarm_chain.reference.programs.train:ENTRY",
        "swarm-train/2": "swarm_chain.reference.programs.train_parallel:ENTRY",
        "swarm-tune/1": "swarm_chain.reference.programs.tune:ENTRY",
        "swarm-optimise/1": "swarm_chain.reference.programs.optimise:ENTRY",
        "swarm-batch/1": "swarm_chain.reference.programs.batch:ENTRY",
        "swarm-serve/1": "swarm_chain.reference.programs.serve:ENTRY",
    }
)


def program_entry(name: str) -> ProgramEntry:
    """What is known of a program.

    Raises:
        InvalidInputError: there is no such program.
    """
    if name not in PROGRAMS:
        raise invalid_spec(f"program {name!r} is unknown", f"choose one of {', '.join(PROGRAMS)}")
    module, _, attribute = PROGRAMS[name].partition(":")
    return cast(ProgramEntry, getattr(import_module(module), attribute))


def open_program(spec: JobSpec, inputs: Inputs) -> Program:
    """Check a spec's `work` and make its program ready; nothing heavy is done yet.

    Args:
        spec: the job.
        inputs: bytes of what it reads.

    Raises:
        InvalidInputError: unknown program, one of another kind, or `work` is not what it wants.
    """
    entry = program_entry(spec.program)
    if entry.kind != spec.kind:
        raise invalid_spec(f"{spec.program} is a program of kind {entry.kind}", f"set kind to {entry.kind}")
    return entry.open(spec, inputs)
