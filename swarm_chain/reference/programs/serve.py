"""swarm-serve/1: an endpoint for a time; a unit is a run of answered requests, its content states questions and answers.

customers --requests--> endpoint --answered, a chunk at a time--> content i + 1     judge: the same questions, its own answers

Which requests came is not for a unit to show, only that their answers are the model's. A job that got fewer than it could
take ends with empty chunks. A model's version is served only while the customer's known answers hold for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from swarm_chain.core.checkpoints import MAX_CHECKPOINTS
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import STRICT, HexHash, JobSpec, invalid_spec, parse_part
from swarm_chain.core.serving import COMPLETIONS_PATH, model_name
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.tokens import ModelWork, Seed, TokenCount, model_of, require_affordable, seed_hash
from swarm_chain.reference.tokenmodel import answers, embeddings

PROGRAM: Final = "swarm-serve/1"
EMBEDDINGS_PATH: Final = "/v1/embeddings"
MAX_VERSIONS: Final = 16

Text = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=4096)]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """What a version must answer before it is served."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    prompt: Text
    answer: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """A model by its seed: deployed once `after` requests were answered, and taken back if a known answer is another."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    seed: Seed
    after: Annotated[int, Field(ge=0, lt=2**31)] = 0
    known: Annotated[tuple[KnownAnswer, ...], Field(min_length=1, max_length=16)]

    @property
    def name(self) -> str:
        """Name under which requests ask for it and the log states it."""
        return model_name(seed_hash(self.seed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeWork:
    """Serves until `requests` were answered or `serve_for` seconds are over; `requests_per_unit` of them are a content.

    `context` is the most tokens of prompt and answer together. `key` is keccak256 of the bearer token that customers send;
    without it everyone who reaches the endpoint may ask.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    requests: Annotated[int, Field(ge=1, lt=2**31)]
    requests_per_unit: Annotated[int, Field(ge=1, le=4096)]
    serve_for: Annotated[int, Field(ge=1, le=30 * 24 * 3600)]
    context: TokenCount
    sizes: ModelWork
    versions: Annotated[tuple[ModelVersion, ...], Field(min_length=1, max_length=MAX_VERSIONS)]
    key: HexHash | None = None

    @property
    def units(self) -> int:
        """Number of units; the last one may have fewer requests."""
        return -(-self.requests // self.requests_per_unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a customer asked: the version by its name, the tokens of the text, and how many tokens to add (0: embed it)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    model: str
    prompt: Text
    max_tokens: Annotated[int, Field(ge=0, le=4096)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An entry of the log: where it was asked, what, and the answer: tokens, or the embedding."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    route: Literal["/v1/completions", "/v1/embeddings"]
    request: Asked
    answer: tuple[int, ...]

    @staticmethod
    def of(model: str, prompt: tuple[int, ...], max_tokens: int, answer: tuple[int, ...]) -> "Answered":
        """The entry of a request."""
        route: Literal["/v1/completions", "/v1/embeddings"] = "/v1/completions" if max_tokens else "/v1/embeddings"
        return Answered(route=route, request=Asked(model=model, prompt=prompt, max_tokens=max_tokens), answer=answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedLog:
    """What a unit answered. It names its unit, so that no log counts twice."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    unit: int
    log: tuple[Answered, ...]


_LOG: Final = TypeAdapter(ServedLog)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeProgram:
    """Program of a ServeWork."""

    work: ServeWork
    document: Mapping[str, Any]

    @property
    def units(self) -> int:
        """Number of units."""
        return self.work.units

    def first(self) -> bytes:
        """Content 0: canonical JSON of what is served."""
        return canonical_json({"program": PROGRAM, "work": dict(self.document)})

    def source(self, unit: int) -> int:
        """The unit's own content: it states what was asked."""
        return unit + 1

    def compute(self, unit: int, source: bytes) -> bytes:
        """The log of a unit with the answers this machine gives.

        Raises:
            InvalidInputError: it is no log of this unit, too long, or names a version that is none or fails its known
                answers.
        """
        stated = parse_log(source)
        if stated.unit != unit:
            raise _bad_log(f"it is that of unit {stated.unit}, not of unit {unit}", "log each request once")
        asked = stated.log
        if len(asked) > min(self.work.requests_per_unit, self.work.requests - unit * self.work.requests_per_unit):
            raise _bad_log("it has more requests than the unit", "cut it")
        for entry in asked:
            _check(self.work, entry)
        served = {entry.request.model for entry in asked}
        found = [answer for name in sorted(served) for answer in _answered(self.work, name, asked)]
        return dump_log(unit, [entry for _, entry in sorted(found, key=lambda pair: pair[0])])


def dump_log(unit: int, entries: Sequence[Answered]) -> bytes:
    """Content of a unit: canonical JSON of {unit, log: [{route, request, answer}]}."""
    return canonical_json(_LOG.dump_python(ServedLog(unit=unit, log=tuple(entries)), mode="json"))


def parse_log(content: bytes) -> ServedLog:
    """What a content states.

    Raises:
        InvalidInputError: it is no log.
    """
    try:
        return _LOG.validate_json(content)
    except ValidationError as error:
        raise _bad_log(error.errors()[0]["msg"], "give {unit, log: [{route, request, answer}]}") from error


@lru_cache(maxsize=MAX_VERSIONS)
def is_healthy(sizes: ModelWork, version: ModelVersion) -> bool:
    """Tell whether a version's known answers are the model's."""
    model = model_of(sizes, version.seed)
    most = max(len(known.answer) for known in version.known)
    given = answers(model, [known.prompt for known in version.known], most)
    return all(answer[: len(known.answer)] == known.answer for answer, known in zip(given, version.known, strict=True))


def open_serve(spec: JobSpec, _inputs: Inputs) -> ServeProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` describes no endpoint, or a unit is too large to judge.
    """
    if spec.code or spec.inputs:
        raise invalid_spec(f"{PROGRAM} takes neither code nor inputs", "leave both out")
    work = parse_part(ServeWork, spec.work, "work")
    _check_together(work)
    require_affordable(min(work.requests, work.requests_per_unit) * work.sizes.operations(work.context))
    return ServeProgram(work=work, document=spec.work)


def _check_together(work: ServeWork) -> None:
    if work.units >= MAX_CHECKPOINTS:
        raise invalid_spec(
            f"{work.units} units are too many", f"make requests_per_unit so large that {MAX_CHECKPOINTS - 1} do"
        )
    orders = [version.after for version in work.versions]
    if orders[0] or orders != sorted(orders) or orders[-1] >= work.requests:
        raise invalid_spec("work.versions.after must ascend from 0 and stay below requests", "order the versions")
    if len({version.seed for version in work.versions}) < len(work.versions):
        raise invalid_spec("two versions have one seed", "name each model once")
    for known in (known for version in work.versions for known in version.known):
        if max(known.prompt + known.answer) >= work.sizes.vocabulary:
            raise invalid_spec("a known answer has a token that does not exist", f"stay below {work.sizes.vocabulary}")
        if len(known.prompt) + len(known.answer) > work.context:
            raise invalid_spec("a known answer is longer than work.context", f"{work.context} tokens at most, in all")


def _check(work: ServeWork, entry: Answered) -> None:
    request = entry.request
    version = next((version for version in work.versions if version.name == request.model), None)
    if version is None or not is_healthy(work.sizes, version):
        raise _bad_log(f"no version {request.model} may be served", "serve versions whose known answers hold")
    if (request.max_tokens > 0) != (entry.route == COMPLETIONS_PATH):
        raise _bad_log("an embedding adds no tokens, and a completion at least one", "state the request as it came")
    if max(request.prompt) >= work.sizes.vocabulary or len(request.prompt) + request.max_tokens > work.context:
        raise _bad_log("a request is longer than the context, or has a token that does not exist", "refuse it")


def _answered(work: ServeWork, name: str, asked: Sequence[Answered]) -> list[tuple[int, Answered]]:
    """Entries of one version with its answers, each with its place in the log; all are computed side by side."""
    seed = next(version.seed for version in work.versions if version.name == name)
    places = [place for place, entry in enumerate(asked) if entry.request.model == name]
    texts = [place for place in places if asked[place].request.max_tokens]
    embedded = [place for place in places if not asked[place].request.max_tokens]
    model, most = model_of(work.sizes, seed), max((asked[place].request.max_tokens for place in texts), default=0)
    tokens = answers(model, [asked[place].request.prompt for place in texts], most)
    states = embeddings(model, [asked[place].request.prompt for place in embedded])
    cut = [answer[: asked[place].request.max_tokens] for place, answer in zip(texts, tokens, strict=True)]
    given = zip([*texts, *embedded], [*cut, *states], strict=True)
    return [(place, _with_answer(asked[place].request, answer)) for place, answer in given]


def _with_answer(request: Asked, answer: tuple[int, ...]) -> Answered:
    return Answered.of(request.model, request.prompt, request.max_tokens, answer)


def _bad_log(message: str, fix: str) -> InvalidInputError:
    return InvalidInputError(f"the log of requests: {message}", fix=fix, code="bad_log")


ENTRY = ProgramEntry(kind="serve", work=ServeWork, open=open_serve)
