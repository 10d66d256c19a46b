"""swarm-batch/1: a model over many rows; a unit is a run of rows, its content their outputs as JSON lines.

rows: drawn from a seed, or lines of an input  --unit i: rows [i·r, (i + 1)·r)-->  model | customer's predict  -->  content i + 1
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, ClassVar, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import STRICT, JobSpec, invalid_spec, parse_part
from swarm_chain.core.serving import MAX_CONTEXT
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.hooks import load_hooks
from swarm_chain.reference.programs.tokens import (
    DrawnRows,
    ModelWork,
    Seed,
    TokenCount,
    model_of,
    require_affordable,
)
from swarm_chain.reference.tokenmodel import answers

PROGRAM: Final = "swarm-batch/1"
MAX_ROWS_PER_UNIT: Final = 65_536
_PROMPT = TypeAdapter(
    Annotated[list[Annotated[int, Field(strict=True, ge=0)]], Field(min_length=1, max_length=MAX_CONTEXT)]
)

# Rows [start, stop) of the data set.
Rows = Callable[[int, int], list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedTokens:
    """What the built-in model does with a prompt: the weights of `seed` give its next `tokens` tokens."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    seed: Seed
    sizes: ModelWork
    tokens: TokenCount


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWork:
    """`rows` rows, `rows_per_unit` a unit; drawn, or lines of the input; for the built-in model, or the customer's code.

    `options` is what the code's `load` gets beside the rest.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    rows: Annotated[int, Field(ge=1, lt=2**31)]
    rows_per_unit: Annotated[int, Field(ge=1, le=MAX_ROWS_PER_UNIT)]
    drawn: DrawnRows | None = None
    model: GeneratedTokens | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """Number of units; the last one may have fewer rows."""
        return -(-self.rows // self.rows_per_unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgram:
    """Program of a BatchWork; `read` gives rows of the data set."""

    spec: JobSpec
    work: BatchWork
    read: Rows

    @property
    def units(self) -> int:
        """Number of units."""
        return self.work.units

    def first(self) -> bytes:
        """Content 0: canonical JSON of what all outputs follow from."""
        code = to_hex(keccak(self.spec.code.encode()))
        document = {"program": PROGRAM, "work": self.spec.work, "code": code, "inputs": list(self.spec.inputs)}
        return canonical_json(document)

    def source(self, _unit: int) -> int:
        """0: every unit follows from spec and inputs alone."""
        return 0

    def compute(self, unit: int, source: bytes) -> bytes:
        """Outputs of the unit's rows, one line of canonical JSON each.

        Raises:
            InvalidInputError: the source is not content 0, a row is none, or the customer's code fails.
        """
        if source != self.first():
            raise InvalidInputError("this is not content 0 of the job", code="wrong_source")
        start = unit * self.work.rows_per_unit
        stop = min(start + self.work.rows_per_unit, self.work.rows)
        rows = self.read(start, stop)
        outputs = _generated(self.work.model, rows) if self.work.model else _predicted(self.spec, rows)
        return b"".join(_line(start + place, output) for place, output in enumerate(outputs))


class LineRows:
    """Rows that are lines of JSON, read where they lie: nothing but the asked lines is copied.

    Args:
        blob: UTF-8 lines; bytes, or a view of memory that others share.
        count: lines there must be; an end of line behind the last one may be missing.

    Raises:
        InvalidInputError: another number of lines.
    """

    def __init__(self, blob: bytes | memoryview, count: int) -> None:
        self._view = memoryview(blob)
        self._ends = [found.start() for found in re.finditer(b"\n", self._view)]
        if len(self._view) > (self._ends[-1] + 1 if self._ends else 0):
            self._ends.append(len(self._view))
        if len(self._ends) != count:
            raise invalid_spec(f"the input has {len(self._ends)} lines, and rows is {count}", "set rows to its lines")

    def __call__(self, start: int, stop: int) -> list[Any]:
        """Rows [start, stop).

        Raises:
            InvalidInputError: a line is no JSON.
        """
        return [self._row(number) for number in range(start, stop)]

    def _row(self, number: int) -> Any:
        begin = self._ends[number - 1] + 1 if number else 0
        try:
            return _JSON.validate_json(bytes(self._view[begin : self._ends[number]]))
        except ValidationError as error:
            raise InvalidInputError(
                f"row {number} of the input is no JSON", fix="give one JSON value a line", code="bad_row"
            ) from error


_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def open_batch(spec: JobSpec, inputs: Inputs) -> BatchProgram:
    """Make the program of a spec; its input is not fetched before the first unit is computed.

    Raises:
        InvalidInputError: `work` is no batch, rows or model are missing or there twice, or a unit is too large to judge.
    """
    work = parse_part(BatchWork, spec.work, "work")
    _check_together(spec, work)
    return BatchProgram(spec=spec, work=work, read=_drawn(work.drawn) if work.drawn else _lines(spec, work, inputs))


def require_rows(program: BatchProgram) -> None:
    """Read the last row, so that a wrong input is known before all others are computed.

    Raises:
        InvalidInputError: the input has another number of rows, or its last one is none.
    """
    program.read(program.work.rows - 1, program.work.rows)


def _check_together(spec: JobSpec, work: BatchWork) -> None:
    if (work.drawn is None) == (not spec.inputs):
        raise invalid_spec("rows come from work.drawn or from an input, and from one of them", "give exactly one")
    if len(spec.inputs) > 1:
        raise invalid_spec(f"{PROGRAM} reads one input, and {len(spec.inputs)} are named", "join them into one")
    if (work.model is None) == (not spec.code):
        raise invalid_spec("outputs come from work.model or from code, and from one of them", "give exactly one")
    if work.options and not spec.code:
        raise invalid_spec("work.options is for code, and there is none", "leave options out")
    if work.units >= MAX_CHECKPOINTS:
        raise invalid_spec(
            f"{work.units} units are too many", f"make rows_per_unit so large that {MAX_CHECKPOINTS - 1} do"
        )
    if work.model is not None:
        _check_model(work, work.model)


def _check_model(work: BatchWork, model: GeneratedTokens) -> None:
    if work.drawn is not None and work.drawn.vocabulary > model.sizes.vocabulary:
        raise invalid_spec("work.drawn.vocabulary is larger than the model's", f"use {model.sizes.vocabulary} at most")
    prompt = work.drawn.tokens if work.drawn else MAX_CONTEXT - model.tokens
    if not 0 < prompt <= MAX_CONTEXT - model.tokens:
        raise invalid_spec("prompt and answer are too long", f"{MAX_CONTEXT} tokens at most, both together")
    rows = min(work.rows, work.rows_per_unit)
    require_affordable(rows * model.sizes.operations(prompt + model.tokens))


def _drawn(drawn: DrawnRows) -> Rows:
    return lambda start, stop: [drawn.row(number) for number in range(start, stop)]


def _lines(spec: JobSpec, work: BatchWork, inputs: Inputs) -> Rows:
    opened: list[LineRows] = []

    def read(start: int, stop: int) -> list[Any]:
        if not opened:
            opened.append(LineRows(inputs(spec.input_hashes[0]), work.rows))
        return opened[0](start, stop)

    return read


def _generated(model: GeneratedTokens, rows: Sequence[Any]) -> Sequence[Any]:
    try:
        prompts = [_PROMPT.validate_python(row) for row in rows]
    except ValidationError as error:
        raise InvalidInputError(
            "a row is no prompt", fix="give lists of token ids, at least one each", code="bad_row"
        ) from error
    if max(chain([0], map(len, prompts))) > MAX_CONTEXT - model.tokens:
        raise InvalidInputError(
            "a row is too long", fix=f"{MAX_CONTEXT} tokens at most with its answer", code="bad_row"
        )
    return answers(model_of(model.sizes, model.seed), prompts, model.tokens)


def _predicted(spec: JobSpec, rows: list[Any]) -> Sequence[Any]:
    hooks = load_hooks(spec.code)  # which refuses outside a sandbox
    for name in ("load", "predict"):
        if not callable(getattr(hooks, name, None)):
            raise _bad_code(f"the code has no function {name}")
    outputs = hooks.predict(hooks.load(spec.work), rows)
    if not isinstance(outputs, list) or len(outputs) != len(rows):
        raise _bad_code(f"predict gave something else than a list of {len(rows)} outputs")
    return outputs


def _bad_code(message: str) -> InvalidInputError:
    fix = "define load(work) and predict(state, rows: list) -> list, one output a row"
    return InvalidInputError(message, fix=fix, code="customer_code")


def _line(row: int, output: Any) -> bytes:
    try:
        return canonical_json(output) + b"\n"
    except InvalidInputError as error:
        raise InvalidInputError(
            f"the output of row {row} is not exact: {error.message}",
            fix="give whole numbers, text, lists and objects; scale and round what is a fraction",
            code="bad_output",
        ) from error


ENTRY = ProgramEntry(kind="batch", work=BatchWork, open=open_batch)
