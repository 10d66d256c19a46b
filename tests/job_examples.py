"""A small job of every program, for tests that hold for all of them; whoever adds a program adds its row to EXAMPLES."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.serve import dump_log
from swarm_chain.reference.programs.tune import TuneProgram
from tests import batch_world, optimise_world, serve_world, tune_world

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


def train_parallel(seed: int) -> Example:
    """Twelve segments of two workers."""
    work = {"model": "mlp", "seed": seed, "steps": 12, "segment_steps": 1, "batch": 1, "context": 2, "vocabulary": 8}
    work |= {"width": 8, "heads": 1, "layers": 1, "learning_rate_micro": 3000, "workers": 2}
    document = {"kind": "train", "program": "swarm-train/2", "work": work, "resources": {"workers": 2}}
    return Example(spec=parse_job_spec(document))


def batch(seed: int) -> Example:
    """Rows of an input."""
    work = {name: value for name, value in batch_world.WORK.items() if name != "drawn"}
    model = {"seed": seed, "sizes": batch_world.SIZES, "tokens": 6}
    inputs = [to_hex(content) for content in batch_world.BLOBS]
    return Example(spec=batch_world.batch_spec(work | {"model": model}, inputs=inputs), inputs=batch_world.BLOBS)


def serve(seed: int) -> Example:
    """A log of requests to one version, others for each seed."""
    work = {"versions": [serve_world.version(seed)]}

    def run(program: Program) -> Contents:
        logs = [
            dump_log(unit, [serve_world.entry(seed, [seed % 64, unit, place], 4) for place in range(2)])
            for unit in range(program.units)
        ]
        return (program.first(), *logs)

    return Example(spec=serve_world.serve_spec(work), run=run)


def tune(seed: int) -> Example:
    """A search of nine trials."""

    def run(program: Program) -> Contents:
        assert isinstance(program, TuneProgram)
        return tuple(tune_world.contents_of(program, tune_world.searched(program)))

    return Example(spec=tune_world.tune_spec(seed=seed), run=run)


def optimise(seed: int) -> Example:
    """A small model and three variants of it."""
    trained = optimise_world.TRAIN | {"seed": seed, "steps": 20, "segment_steps": 5}
    return Example(spec=optimise_world.optimise_spec(train=trained))


FINETUNE: Mapping[str, object] = {
    "architecture": "gpt2",
    "vocabulary": 16,
    "context": 8,
    "width": 16,
    "heads": 2,
    "layers": 1,
    "batch": 2,
    "segment_steps": 1,
    "pretrain_steps": 2,
    "pretrain_rate_micro": 10_000,
    "rank": 2,
    "alpha": 4,
    "data_seed": 7,
    "steps": 12,
    "learning_rate_micro": 20_000,
}


def finetune(seed: int) -> Example:
    """Twelve segments of one step over a base of two."""
    document = {"kind": "finetune", "program": "swarm-finetune/1", "work": {**FINETUNE, "seed": seed}}
    return Example(spec=parse_job_spec(document))


# By the name of the program: the job of a seed.
EXAMPLES: Mapping[str, Callable[[int], Example]] = {
    "swarm-train/1": train,
    "swarm-train/2": train_parallel,
    "swarm-batch/1": batch,
    "swarm-serve/1": serve,
    "swarm-tune/1": tune,
    "swarm-optimise/1": optimise,
    "swarm-finetune/1": finetune,
}
# Their units are computed behind walls alone, which takes a second each: tests/integration/test_train_examples.py.
WALLED_OFF = frozenset({"swarm-train-code/1"})
# What takes long fifty times over: `make soak` has all of it.
SLOW = frozenset({"swarm-train/2", "swarm-tune/1", "swarm-optimise/1", "swarm-finetune/1"})


def chance_to_miss(units: int, wrong: int, draws: int) -> Fraction:
    """How often a draw of distinct units hits none of the wrong ones: hypergeometric, exact."""
    return Fraction(comb(units - wrong, draws), comb(units, draws))
