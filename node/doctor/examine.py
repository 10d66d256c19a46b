"""Every probe with its judgement, side by side; one that fails or hangs becomes a line of its own and ends no other.

settings --probes--> facts --judgements--> checks
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from node.config import NodeSettings, ray_temporary_folder
from node.doctor import (
    computing,
    gpus,
    judge_machine,
    judge_network,
    judge_ports,
    probe_machine,
    probe_network,
    reach,
)
from node.doctor.checks import Check
from node.doctor.facts import Endpoint
from node.main import node_signer
from node.registration import known_address
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.core.checkup import fail, unknown
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.model import Deployment
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Timestamp
from swarm_chain.params import load_params

LONGEST_S = computing.LONGEST_S + 10
PROGRAMS = {"fio": "fio", "iperf3": "iperf3", "systemd": "systemctl"}
SHM = Path("/dev/shm")  # noqa: S108  # where Ray keeps its object store

Probe = Callable[[], Iterable[Check]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A probe by the id of the line it becomes if it fails; `needed` probes block then."""

    id: str
    run: Probe
    needed: bool = False


def examine(settings: NodeSettings, *, deep: bool = True, ports: Sequence[int] = ()) -> tuple[Check, ...]:
    """Looks at everything a node needs; changes nothing, sends nothing but questions.

    Args:
        settings: where the node's things are.
        deep: also computes the known answers, which takes seconds.
        ports: members are asked to call them back; each is listened on meanwhile.

    Returns:
        The rows, always in the same order.
    """
    probes = [*_machine(settings, deep), *_outside(settings, ports), *_tools()]
    pool = ThreadPoolExecutor(max_workers=len(probes), thread_name_prefix="doctor")
    found: list[list[Check]] = [[] for _ in probes]
    running = [pool.submit(_collect, probe, rows) for probe, rows in zip(probes, found, strict=True)]
    wait(running, timeout=LONGEST_S)
    # Not waited for: a probe that hangs in the kernel may not keep the table back.
    pool.shutdown(wait=False, cancel_futures=True)
    return tuple(
        row
        for probe, rows, future in zip(probes, found, running, strict=True)
        for row in (*rows, *_fault(probe, future))
    )


def _collect(probe: Named, rows: list[Check]) -> None:
    rows.extend(probe.run())  # row by row: what was found before a fault stays


def _fault(probe: Named, future: "Future[None]") -> Iterator[Check]:
    """The line of a probe that did not end well."""
    error = future.exception() if future.done() else None
    if not future.done():
        yield _failed(probe, f"no answer in {LONGEST_S} s", "look at the machine's log")
    elif isinstance(error, SwarmError):
        yield _failed(probe, error.message, error.fix or "try again")
    elif error is not None:
        # Messages of other people's errors may quote a URL with a password in it: only the system's are shown.
        shown = str(error) if isinstance(error, OSError) else ""
        yield _failed(probe, f"{type(error).__name__} {shown}".strip(), "repair what it names, then ask again")


def _failed(probe: Named, found: str, remedy: str) -> Check:
    return Check(line=(fail if probe.needed else unknown)(probe.id, found, remedy), required="measured")


def _machine(settings: NodeSettings, deep: bool) -> tuple[Named, ...]:
    home = settings.folder
    rooms = {
        "disk.home": (home, judge_machine.LEAST_HOME, judge_machine.GOOD_HOME),
        "disk.ray": (ray_temporary_folder(), judge_machine.LEAST_RAY, judge_machine.GOOD_RAY),
        "disk.shm": (SHM, judge_machine.LEAST_SHM, judge_machine.GOOD_SHM),
    }
    return (
        Named(id="python", run=lambda: map(judge_machine.judge_package, probe_machine.packages()), needed=True),
        Named(id="driver", run=lambda: _devices(settings, deep), needed=True),
        Named(id="memory", run=lambda: [judge_machine.judge_memory(*probe_machine.memory())]),
        *(Named(id=what, run=partial(_free, what, *where)) for what, where in rooms.items()),
        Named(id="disk.kind", run=lambda: [judge_machine.judge_kind(probe_machine.disk(home))]),
        Named(id="clock.sync", run=lambda: [judge_machine.judge_sync(probe_machine.clock_sync())]),
    )


def _free(what: str, folder: Path, least_bytes: int, good_bytes: int) -> Iterator[Check]:
    yield judge_machine.judge_free(what, probe_machine.room(folder, least_bytes, good_bytes))


def _devices(settings: NodeSettings, deep: bool) -> Iterable[Check]:
    found = gpus.read_gpus()
    yield judge_machine.judge_driver(found)
    if deep:
        compute = computing.ask_compute(settings.gpus, settings.threads)
        yield judge_machine.judge_devices(found, compute, settings.gpus)
        yield from judge_machine.judge_compute(compute)
    yield from judge_machine.judge_toolchain(probe_machine.toolchain(), max(settings.gpus, len(found.devices)))
    yield judge_machine.judge_ecc(found)
    try:
        faults, problem = (probe_machine.xids() if found.devices else ()), ""
    except OSError as error:
        faults, problem = (), error.strerror or type(error).__name__
    yield judge_machine.judge_xids(found, faults, problem)


def _outside(settings: NodeSettings, ports: Sequence[int]) -> tuple[Named, ...]:
    return (
        Named(id="rpc", run=lambda: _network(settings), needed=True),
        Named(id="ports", run=lambda: _ports(settings, ports)),
        Named(id="mesh", run=lambda: [judge_network.judge_mesh()]),
        Named(id="folder", run=lambda: [judge_network.judge_folder(probe_network.file(settings.folder))]),
        Named(id="key", run=lambda: _keys(settings), needed=True),
    )


def _ports(settings: NodeSettings, ports: Sequence[int]) -> Iterable[Check]:
    if not ports:
        return [judge_ports.judge_unasked()]
    if not settings.oracle_urls or not settings.key_file.is_file():
        return [judge_ports.judge_unasked("needs a member (SWARM_ORACLE_URL) and a node key")]
    endpoints = tuple(map(probe_network.endpoint, settings.endpoints))
    where, problem = _deployment(settings, endpoints)
    if where is None:
        return [judge_ports.judge_unasked(problem)]
    asker = reach.Asker(
        signer=node_signer(settings),
        domain=domain_separator(where.chain_id, where.contracts["ChallengeBeacon"]),
        now=Timestamp(max(one.block_at for one in endpoints)),
    )
    return judge_ports.judge_ports([reach.reach(port, settings.oracle_urls, asker) for port in ports])


def _tools() -> tuple[Named, ...]:
    walls = Named(id="sandbox", run=lambda: [judge_machine.judge_sandbox(*probe_machine.sandbox())])
    return (walls, *(Named(id=name, run=partial(_tool, name, file)) for name, file in PROGRAMS.items()))


def _tool(name: str, file: str) -> Iterator[Check]:
    yield judge_machine.judge_tool(name, probe_machine.program(file))


def _keys(settings: NodeSettings) -> Iterable[Check]:
    key, password = probe_network.file(settings.key_file), probe_network.file(settings.password_file)
    yield judge_network.judge_secret("key", key)
    yield judge_network.judge_secret("password", password)
    if key.mode is None or password.mode is None:
        return
    try:
        yield judge_network.judge_unlock(node_signer(settings).address, "", "")
    except SwarmError as error:
        yield judge_network.judge_unlock("", error.message, error.fix)


def _network(settings: NodeSettings) -> Iterable[Check]:
    """Endpoints, deployment, members and the node's standing: each needs what the one before it found."""
    with ThreadPoolExecutor() as pool:
        asked = pool.map(probe_network.member, settings.oracle_urls)
        endpoints = tuple(pool.map(probe_network.endpoint, settings.endpoints))
        members = tuple(asked)
    where, problem = _deployment(settings, endpoints)
    yield from judge_network.judge_endpoints(endpoints, None if where is None else where.chain_id)
    yield judge_network.judge_deployment(_described(where), problem)
    yield judge_network.judge_chain_clock(SystemClock().now(), endpoints)
    yield from judge_network.judge_members(members, _wanted(where))
    good = [
        url for url, one in zip(settings.endpoints, endpoints, strict=True) if where and one.chain_id == where.chain_id
    ]
    yield from _standing(settings, where, good)


def _standing(settings: NodeSettings, where: Deployment | None, good: Sequence[str]) -> Iterator[Check]:
    if where is None or not good:
        return _unasked("needs an endpoint that answers and a deployment", "see the lines rpc and deployment")
    if not settings.key_file.is_file():
        return _unasked("needs a node key", judge_network.REGISTER)
    try:
        node = known_address(settings)
        found = probe_network.standing(good[0], where, node)
    except SwarmError as error:
        return _unasked(error.message, error.fix or "see the lines rpc and key")
    return iter(
        (
            judge_network.judge_registration(found.node),
            judge_network.judge_stake(found, load_params(where.params).stake),
            judge_network.judge_gas(node, found.node.balance_wei, settings.reserve_wei),
        )
    )


def _unasked(found: str, fix: str) -> Iterator[Check]:
    return (Check(line=unknown(what, found, fix), required="known") for what in ("registration", "stake", "gas"))


def _deployment(settings: NodeSettings, endpoints: Sequence[Endpoint]) -> tuple[Deployment | None, str]:
    try:
        return probe_network.deployment(settings, endpoints), ""
    except SwarmError as error:
        return None, error.message


def _described(where: Deployment | None) -> str:
    return "" if where is None else f"chain {where.chain_id}, params {where.params}"


def _wanted(where: Deployment | None) -> Mapping[str, object]:
    if where is None:
        return {}
    return {"chainId": where.chain_id, "paramsVersion": load_params(where.params).version}
