"""A small batch job, its honest contents, and nodes that would rather not compute it."""

from collections.abc import Callable, Mapping
from typing import Any

from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program

SIZES = {"width": 16, "layers": 2, "vocabulary": 64}
DRAWN = {"seed": 3, "tokens": 5, "vocabulary": 64}
WORK: dict[str, Any] = {
    "rows": 22,
    "rows_per_unit": 4,
    "drawn": DRAWN,
    "model": {"seed": 9, "sizes": SIZES, "tokens": 6},
}
PROMPTS = [[(7 * row + place) % 64 for place in range(1 + row % 5)] for row in range(22)]
BLOB = b"".join(canonical_json(prompt) + b"\n" for prompt in PROMPTS)
BLOBS: Mapping[Hash32, bytes] = {keccak(BLOB): BLOB}


def batch_spec(work: Mapping[str, Any] = WORK, **fields: Any) -> JobSpec:
    """Spec of a batch job with these fields."""
    return parse_job_spec({"kind": "batch", "program": "swarm-batch/1", "work": dict(work), **fields})


def input_spec(**fields: Any) -> JobSpec:
    """The same model over prompts of an input."""
    work = {name: value for name, value in WORK.items() if name != "drawn"}
    return batch_spec(work, inputs=[to_hex(keccak(BLOB))], **fields)


def program_of(spec: JobSpec, blobs: Mapping[Hash32, bytes] = BLOBS) -> Program:
    """Its program."""
    return open_program(spec, inputs_of(blobs))


def contents_of(program: Program) -> list[bytes]:
    """All contents, unit by unit."""
    first = program.first()
    return [first, *(program.compute(unit, first) for unit in range(program.units))]


def _other(**changes: Any) -> list[bytes]:
    return contents_of(program_of(batch_spec(WORK | changes)))[1:]


def _edited(edit: Callable[[list[bytes]], list[bytes]]) -> list[bytes]:
    return [b"".join(edit(content.splitlines(keepends=True))) for content in contents_of(program_of(batch_spec()))[1:]]


# What a dishonest node would name as contents 1, 2, …; each is wrong in every unit.
CHEATERS: Mapping[str, Callable[[], list[bytes]]] = {
    "canned answers": lambda: _edited(lambda lines: [b"[0,0,0,0,0,0]\n" for _ in lines]),
    "one output for all": lambda: _edited(lambda lines: [lines[0] for _ in lines]),
    "a smaller model": lambda: _other(model={"seed": 9, "sizes": SIZES | {"layers": 1}, "tokens": 6}),
    "another model's seed": lambda: _other(model={"seed": 8, "sizes": SIZES, "tokens": 6}),
    "rows of another seed": lambda: _other(drawn=DRAWN | {"seed": 4}),
    "truncated batch": lambda: _edited(lambda lines: lines[:-1]),
    "swapped rows": lambda: _edited(lambda lines: [lines[1], lines[0], *lines[2:]]),
    "answers cut short": lambda: _other(model={"seed": 9, "sizes": SIZES, "tokens": 5}),
    "the last line without its end": lambda: _edited(lambda lines: [*lines[:-1], lines[-1].rstrip(b"\n")]),
}
