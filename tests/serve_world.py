"""A small serving job, an honest log of it, and nodes that would rather not compute it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from swarm_chain.core.jobs import JobSpec, parse_job_spec
from swarm_chain.core.serving import model_name
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.reference.programs.serve import Answered, ServeProgram, dump_log
from swarm_chain.reference.programs.tokens import ModelWork, model_of, seed_hash
from swarm_chain.reference.tokenmodel import answers, embeddings

SIZES = {"width": 16, "layers": 2, "vocabulary": 64}
FIRST, SECOND = 5, 6  # seeds of the versions
WRONG = [0, 0, 0, 0]


def given(seed: int, prompt: Sequence[int], tokens: int, sizes: Mapping[str, int] = SIZES) -> tuple[int, ...]:
    """What a model answers; no tokens: the embedding."""
    model = model_of(ModelWork(**sizes), seed)
    return answers(model, [prompt], tokens)[0] if tokens else embeddings(model, [prompt])[0]


def name_of(seed: int) -> str:
    """Name of a version."""
    return model_name(seed_hash(seed))


def version(seed: int, after: int = 0, answer: Sequence[int] | None = None) -> dict[str, Any]:
    """A version with one known answer, its own unless another is given."""
    known = {"prompt": [1, 2, 3], "answer": list(answer or given(seed, [1, 2, 3], 4))}
    return {"seed": seed, "after": after, "known": [known]}


WORK: dict[str, Any] = {
    "requests": 10,
    "requests_per_unit": 4,
    "serve_for": 60,
    "context": 64,
    "sizes": SIZES,
    "versions": [version(FIRST), version(SECOND, after=4)],
}


def serve_spec(changes: Mapping[str, Any] | None = None, **fields: Any) -> JobSpec:
    """Spec of a serving job."""
    work = WORK | dict(changes or {})
    return parse_job_spec({"kind": "serve", "program": "swarm-serve/1", "work": work, **fields})


def program_of(spec: JobSpec) -> ServeProgram:
    """Its program."""
    program = open_program(spec, inputs_of({}))
    assert isinstance(program, ServeProgram)
    return program


def entry(seed: int, prompt: Sequence[int], tokens: int) -> Answered:
    """A request with its right answer."""
    return Answered.of(name_of(seed), tuple(prompt), tokens, given(seed, prompt, tokens))


LOG = (entry(FIRST, [1, 2], 5), entry(SECOND, [3], 2), entry(FIRST, [9, 8, 7], 0), entry(SECOND, [4, 4], 9))


def _answers(edit: Callable[[Answered], Sequence[int]]) -> bytes:
    return dump_log(0, [replace(one, answer=tuple(edit(one))) for one in LOG])


def _smaller(one: Answered) -> tuple[int, ...]:
    seed = FIRST if one.request.model == name_of(FIRST) else SECOND
    return given(seed, one.request.prompt, one.request.max_tokens, SIZES | {"layers": 1})


# Logs of a unit a dishonest node would name; none of them is what a judge computes from it.
CHEATERS: Mapping[str, Callable[[], bytes]] = {
    "canned answers": lambda: _answers(lambda one: [7] * len(one.answer)),
    "a smaller model": lambda: _answers(_smaller),
    "the version before": lambda: _answers(lambda one: given(FIRST, one.request.prompt, one.request.max_tokens)),
    "an answer cut short": lambda: _answers(lambda one: one.answer[:-1]),
    "a token too many": lambda: _answers(lambda one: (*one.answer, 0)),
    "one answer changed": lambda: dump_log(0, [replace(LOG[0], answer=(*LOG[0].answer[:-1], 63)), *LOG[1:]]),
    "answers swapped": lambda: dump_log(
        0, [replace(LOG[0], answer=LOG[3].answer), *LOG[1:3], replace(LOG[3], answer=LOG[0].answer)]
    ),
    "another spelling of the same": lambda: dump_log(0, LOG).replace(b",", b", "),
}
