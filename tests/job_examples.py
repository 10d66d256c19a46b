"""A small job of every program, for tests that hold for all of them; whoever adds a program adds its row to EXAMPLES."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program

Contents = tuple[bytes, ...]


def run_honestly(program: Program) -> Contents:
    """Contents of a run, unit after unit, as an honest node makes them."""
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[program.source(unit)]))
    return tuple(contents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A job that takes milliseconds: its spec, the bytes of its inputs, and an honest run, where contents state their own
    questions another one than `run_honestly`."""

    spec: JobSpec
    inputs: Mapping[Hash32, bytes] = field(default_factory=dict)
    run: Callable[[Program], Contents] = run_honestly

    @property
    def program(self) -> Program:
        """The program, ready."""
        return open_program(self.spec, inputs_of(self.inputs))

    @property
    def contents(self) -> Contents:
        """What an honest node leaves behind."""
        return self.run(self.program)


def train(seed: int) -> Example:
    """Twelve segments of one step."""
    sizes = {"vocabulary": 8, "width": 8, "heads": 1, "layers": 1, "learning_rate_micro": 3000}
    work = {"model": "mlp", "seed": seed, "steps": 12, "segment_steps": 1, "batch": 1, "context": 2}
    return Example(spec=parse_job_spec({"kind": "train", "program": "swarm-train/1", "work": work | sizes}))


# By the name of the program: the job of a seed.
EXAMPLES: Mapping[str, Callable[[int], Example]] = {"swarm-train/1": train}


def chance_to_miss(units: int, wrong: int, draws: int) -> Fraction:
    """How often a draw of distinct units hits none of the wrong ones: hypergeometric, exact."""
    return Fraction(comb(units - wrong, draws), comb(units, draws))
