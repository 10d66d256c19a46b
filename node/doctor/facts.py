"""What the doctor's probes found, as frozen values. A `problem` says why something could not be asked; empty if it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from node.standing import ChainNodeView
from swarm_chain.core.units import Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An installed version and the one this version of Swarm wants; `fits` is None where nothing is pinned."""

    name: str
    have: str
    wanted: str
    fits: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as NVML shows it; `ecc_errors` are uncorrected ones since the last reset, None without ECC."""

    index: int
    name: str
    memory_bytes: int
    ecc_errors: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """The GPUs of this machine; without a driver there are none."""

    driver: str = ""
    devices: tuple[Gpu, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """Backends of one device that gave the known answers, and those that did not, each with the reason.

    The reference is among the backends of every device; it computes on the CPU.
    """

    device: str
    trusted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    """What torch and Ray say in a process of their own; a count is None where they could not be asked."""

    torch_gpus: int | None = None
    ray_gpus: int | None = None
    answers: tuple[KnownAnswers, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The disk below a folder; `is_rotational` is None where the kernel does not say."""

    folder: str
    is_rotational: bool | None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSync:
    """Whether the kernel calls its clock synchronised, and which programs that would do it are installed."""

    is_synchronised: bool | None
    programs: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What one chain endpoint answered; `name` shows no secret of its URL."""

    name: str
    chain_id: int = 0
    block: int = 0
    block_at: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSaid:
    """Status of an oracle member; `ahead_s` is its clock minus ours, None if it names no time."""

    name: str
    said: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    ahead_s: int | None = None
    took_ms: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file or folder of the node; `mode` is None if it is not there."""

    path: str
    mode: int | None
    owner: int = -1
    reader: int = -1  # user this process is


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """What Triton needs to build its kernels' launchers; paths, empty where missing."""

    triton: str
    compiler: str
    headers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What came of one member's call: it connected, its greeting arrived here; or why not, or why it did not try."""

    member: str
    is_reached: bool = False
    came_through: bool = False
    problem: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A port that members called; `is_free` unless a program listened there already."""

    port: int
    is_free: bool
    called: tuple[Called, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the chain sees the node and its provider."""

    node: ChainNodeView
    active_stake_wei: Wei
