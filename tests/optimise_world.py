"""A small model and its variants, made without Ray."""

from typing import Any

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.optimise import OptimiseProgram
from swarm_chain.reference.programs.registry import open_program

TRAIN = {
    "model": "transformer",
    "seed": 3,
    "steps": 40,
    "segment_steps": 20,
    "batch": 8,
    "context": 8,
    "vocabulary": 16,
    "width": 32,
    "heads": 2,
    "layers": 1,
    "learning_rate_micro": 5000,
}
VARIANTS = [{"method": "int8"}, {"method": "int4", "group": 16}, {"method": "prune", "pruned_bps": 6000}]


def optimise_spec(checkpoint: bytes = b"", **changes: Any) -> JobSpec:
    """Spec of the job; `changes` are fields of `work`, a checkpoint becomes its input."""
    work = {"train": TRAIN, "variants": VARIANTS} | changes
    inputs = [to_hex(content_hash(checkpoint))] if checkpoint else []
    document = {"kind": "optimise", "program": "swarm-optimise/1", "work": work, "inputs": inputs}
    return parse_job_spec(document | {"resources": {"workers": 2}})


def optimise_program(checkpoint: bytes = b"", **changes: Any) -> OptimiseProgram:
    """Its program, with the checkpoint at hand."""
    blobs: dict[Hash32, bytes] = {content_hash(checkpoint): checkpoint}
    program = open_program(optimise_spec(checkpoint, **changes), inputs_of(blobs))
    assert isinstance(program, OptimiseProgram)
    return program


def contents_of(program: OptimiseProgram) -> list[bytes]:
    """What a node keeps of the job."""
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[program.source(unit)]))
    return contents
