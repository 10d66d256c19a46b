"""Spec of a job: what every kind has in common, checked before anything is paid or run. Integers and text only. Pure.

kind, program     what is done, and by which of the programs that judges know
work              the program's own fields
code              Python text with the customer's hooks, or none; it runs in a sandbox, at the node and at the judges
inputs            content hashes of what the program reads; whoever runs it fetches them by hash
gateway           whose signature the receipt needs beside the node's
placement         which nodes may run it
resources         what one worker gets, and how many there are
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from swarm_chain.core.encoding import canonical_json, checksum_address, hash_from_hex, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, HardwareClass, JobKind
from swarm_chain.core.units import Address, Hash32

MAX_SPEC_BYTES: Final = 64 * 1024
MAX_CODE_BYTES: Final = 32 * 1024
MAX_NAMES: Final = 64  # regions, providers, nodes or inputs a spec names
# What a dataclass of a spec is checked by: no field that is unknown, no text where a number belongs, nothing mended.
STRICT: Final = ConfigDict(extra="forbid", strict=True, title="Swarm job")

Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
HexAddress = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{40}$")]
HexHash = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{64}$")]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_NAMES)]
Hashes = Annotated[tuple[HexHash, ...], Field(max_length=MAX_NAMES)]
Addresses = Annotated[tuple[HexAddress, ...], Field(max_length=MAX_NAMES)]
Providers = Annotated[tuple[Annotated[int, Field(ge=1, lt=2**64)], ...], Field(max_length=MAX_NAMES)]
Units = Annotated[int, Field(ge=0, lt=2**53)]
KindName = Annotated[str, StringConstraints(pattern="^(" + "|".join(kind.name.lower() for kind in JobKind) + ")$")]
ClassName = Annotated[
    str, StringConstraints(pattern="^(" + "|".join(kind.name.lower() for kind in HardwareClass) + ")$")
]
CategoryName = Annotated[str, StringConstraints(pattern="^(" + "|".join(Category) + ")$")]

T = TypeVar("T")
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which nodes may run a job; what is empty allows all. `measured` are least units that were measured in a category."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    regions: Names = ()
    classes: Annotated[tuple[ClassName, ...], Field(max_length=len(HardwareClass))] = ()
    providers: Providers = ()
    nodes: Addresses = ()
    measured: dict[CategoryName, Units] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one worker gets, and how many workers there are; memory and disk in MB (10^6 bytes).

    The highest values are the network's limits of one user and one node (design, spec-facts 4.14).
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    workers: Annotated[int, Field(ge=1, le=64)] = 1
    cpus: Annotated[int, Field(ge=1, le=64)] = 1
    gpus: Annotated[int, Field(ge=0, le=16)] = 0
    memory_mb: Annotated[int, Field(ge=64, le=512_000)] = 2048
    disk_mb: Annotated[int, Field(ge=16, le=10_000_000)] = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """A job as its customer describes it; `work` is checked by its program (swarm_chain.reference.programs)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    kind: KindName
    program: Name
    work: dict[str, Any]
    code: Annotated[str, StringConstraints(max_length=MAX_CODE_BYTES)] = ""
    inputs: Hashes = ()
    gateway: HexAddress | None = None
    placement: Placement = field(default_factory=Placement)
    resources: Resources = field(default_factory=Resources)

    @property
    def job_kind(self) -> JobKind:
        """Kind as the escrow numbers it."""
        return JobKind[self.kind.upper()]

    @property
    def gateway_address(self) -> Address | None:
        """The gateway, checksummed; None: the node's signature is enough."""
        return None if self.gateway is None else checksum_address(bytes.fromhex(self.gateway[2:]))

    @property
    def input_hashes(self) -> tuple[Hash32, ...]:
        """Content hashes of the inputs."""
        return tuple(map(hash_from_hex, self.inputs))

    def document(self) -> dict[str, Any]:
        """The whole spec as it is posted: every field, so that one job has one hash."""
        document: dict[str, Any] = _adapter(JobSpec).dump_python(self, mode="json")
        return document


def parse_job_spec(document: object) -> JobSpec:
    """Check what every job spec must have; the program checks `work`.

    Args:
        document: parsed JSON or YAML; `kind`, `program` and `work` must be there, the other fields have defaults.

    Raises:
        InvalidInputError: a field is missing, unknown, of the wrong type or out of range, or it is all too large.
    """
    spec = parse_part(JobSpec, document)
    if len(canonical_json(spec.document())) > MAX_SPEC_BYTES:
        raise invalid_spec(f"the spec has more than {MAX_SPEC_BYTES} bytes", "shorten code or work")
    return spec


def parse_part(kind: type[T], document: object, where: str = "") -> T:
    """Check a part of a spec, such as a program's `work`.

    Args:
        kind: frozen dataclass whose fields say what is allowed; with `__pydantic_config__ = STRICT`.
        document: parsed JSON or YAML.
        where: name of the part, for the error.

    Raises:
        InvalidInputError: names the first field that is wrong, and what would be right (code invalid_spec).
    """
    try:
        return _adapter(kind).validate_json(_json_of(document))
    except ValidationError as error:
        first, others = error.errors()[0], error.error_count() - 1
        path = ".".join([*([where] if where else []), *map(str, first["loc"])]) or "the spec"
        more = f" (and {others} more)" if others else ""
        raise invalid_spec(f"{path}: {first['msg']}{more}", f"correct {path}") from error


def spec_hash(document: object) -> Hash32:
    """keccak256 of the spec's canonical JSON, as JobEscrow.post takes it."""
    return keccak(canonical_json(document))


def spec_schema(work: type[object] | None = None) -> dict[str, Any]:
    """JSON schema of a job spec.

    Args:
        work: the program's own dataclass, for `work`; None leaves it open.
    """
    schema = _adapter(JobSpec).json_schema()
    if work is not None:
        part = _adapter(work).json_schema(ref_template="#/$defs/{model}")
        schema["$defs"] = schema.get("$defs", {}) | part.pop("$defs", {}) | {"Work": part}
        schema["properties"]["work"] = {"$ref": "#/$defs/Work"}
    return schema


def _json_of(document: object) -> bytes:
    try:
        return canonical_json(document)
    except InvalidInputError as error:
        raise invalid_spec(error.message, "use whole numbers, text, lists and objects only") from error


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """What checks documents of a kind, and gives its JSON schema; made once."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def invalid_spec(message: str, fix: str) -> InvalidInputError:
    """The error of a spec that is none."""
    return InvalidInputError(message, fix=fix, code="invalid_spec")
