"""A small job of every program, for tests that hold for all of them; whoever adds a program adds its row to EXAMPLES."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from pathlib import Path

from swarm_chain.core.encoding import to_hex
from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.units import Hash32
from swarm_chain.reference.programs.base import Program, inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.sandboxed import compute_unit, first_content
from swarm_chain.reference.programs.serve import dump_log
from swarm_chain.reference.programs.tune import TuneProgram
from tests import batch_world, optimise_world, serve_world, tune_world

Contents = tuple[bytes, ...]
CUSTOMERS = Path(__file__).parents[1] / "examples"


def run_honestly(program: Program) -> Contents:
    """Contents of a run, unit after unit, as an honest node makes them."""
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[program.source(unit)]))
    return tuple(contents)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalledProgram:
    """A program whose units are a customer's code: a sandbox for each of them, as at nodes and judges."""

    spec: JobSpec
    inputs: Mapping[Hash32, bytes]

    @property
    def units(self) -> int:
        """Number of units."""
        return self._opened.units

    def first(self) -> bytes:
        """Content 0."""
        return first_content(self.spec, self.inputs)

    def source(self, unit: int) -> int:
        """Number of the content a unit is computed from."""
        return self._opened.source(unit)

    def compute(self, unit: int, source: bytes) -> bytes:
        """Content `unit` + 1."""
        return compute_unit(self.spec, self.inputs, unit, source)

    @property
    def _opened(self) -> Program:
        return open_program(self.spec, inputs_of(self.inputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A job that takes milliseconds: its spec, the bytes of its inputs, and an honest run, where contents state their own
    questions another one than `run_honestly`."""

    spec: JobSpec
    inputs: Mapping[Hash32, bytes] = field(default_factory=dict)
    run: Callable[[Program], Contents] = run_honestly

    @property
    def program(self) -> Program:
        """The program, ready; it runs a customer's code in sandboxes only."""
        if self.spec.code:
            return WalledProgram(spec=self.spec, inputs=self.inputs)
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


def train_code(seed: int) -> Example:
    """Four segments of one step of the customer's module in examples/."""
    settings = {"width": 4, "batch": 4}
    work = {"seed": seed, "steps": 4, "segment_steps": 1, "learning_rate_micro": 5000, "settings": settings}
    return with_code("train", "swarm-train-code/1", work, customers("train_code.py"), memory_mb=4096)


def batch_code(seed: int) -> Example:
    """Eight rows through the customer's scoring in examples/, two a unit; other rows and weights for each seed."""
    drawn = {"seed": seed, "tokens": 5, "vocabulary": 1024}
    work = {"rows": 8, "rows_per_unit": 2, "drawn": drawn, "options": {"buckets": 60 + seed}}
    return with_code("batch", "swarm-batch/1", work, customers("batch_code.py"))


def with_code(kind: str, program: str, work: Mapping[str, object], code: str, memory_mb: int = 512) -> Example:
    """A job with code of its customer."""
    resources = {"memory_mb": memory_mb}
    document = {"kind": kind, "program": program, "work": work, "code": code, "resources": resources}
    return Example(spec=parse_job_spec(document))


def customers(file: str) -> str:
    """The customer's code that an example file posts."""
    return (CUSTOMERS / file).read_text(encoding="utf-8")


# By the name of the program, and what else is said of the job: the job of a seed.
EXAMPLES: Mapping[str, Callable[[int], Example]] = {
    "swarm-train/1": train,
    "swarm-train/2": train_parallel,
    "swarm-train-code/1": train_code,
    "swarm-batch/1": batch,
    "swarm-batch/1 with code": batch_code,
    "swarm-serve/1": serve,
    "swarm-tune/1": tune,
    "swarm-optimise/1": optimise,
    "swarm-finetune/1": finetune,
}
# A sandbox a unit: a quarter of a second each, three where it imports torch; none where a machine has no sandbox.
WALLED_OFF = frozenset({"swarm-train-code/1", "swarm-batch/1 with code"})
# What takes long fifty times over: `make soak` has all of it.
SLOW = frozenset({"swarm-train/2", "swarm-tune/1", "swarm-optimise/1", "swarm-finetune/1"}) | WALLED_OFF


def chance_to_miss(units: int, wrong: int, draws: int) -> Fraction:
    """How often a draw of distinct units hits none of the wrong ones: hypergeometric, exact."""
    return Fraction(comb(units - wrong, draws), comb(units, draws))
