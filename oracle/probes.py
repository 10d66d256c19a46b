"""Measurements of the preflight: asks chain, key, database, machine and peers, and changes none of them."""

import resource
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from sqlalchemy import create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from oracle import preflight as judge
from oracle.committee import Status
from oracle.config import OracleSettings
from oracle.main import read_network
from oracle.preflight import Endpoint
from oracle.store.revisions import revisions
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.cli.keys import KeyChoice
from swarm_chain.core.checkup import Line, fail, judge_clock, ok, warn
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.units import Address
from swarm_chain.deploy.verify import has_our_code
from swarm_chain.params import load_params
from swarm_chain.ports import ChainReader, Clock
from swarm_chain.reference.backends import candidates, choose

NO_ANSWER = (InvalidInputError, UnavailableError, InconsistentError, RejectedError)
Probe = Callable[[], Iterable[Line]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The chain a member would work on: each endpoint by name, and all of them together."""

    endpoints: dict[str, Web3Reader]
    agree: int
    reader: ChainReader
    deployment: Deployment


def guarded(what: str, probe: Probe) -> tuple[Line, ...]:
    """Lines of a probe; one that ends in an error is a failure of its own, and the others go on.

    Args:
        what: name of the probe.
        probe: takes nothing, gives lines.
    """
    try:
        return tuple(probe())
    except NO_ANSWER as error:
        return (fail(what, error.message, error.fix),)


def probe_chain(ground: Ground, clock: Clock) -> Iterator[Line]:
    """Endpoints, contracts, numbers, committee, clock."""
    first = ground.deployment.block
    found = _asked(ground.endpoints, first)
    yield from judge.judge_endpoints(found, ground.deployment.chain_id, ground.agree)
    sound = next((ground.endpoints[one.name] for one in found if not one.problem), None)
    if sound is None:
        return
    names = ground.deployment.contracts
    yield judge.judge_code([name for name in names if not has_our_code(sound, name)], len(names))
    network = read_network(ground.reader, ground.deployment)
    yield ok("params", f"preset {network.params.name}, version {network.params.version}")
    governance = network.params.governance
    members, quorum = committee_of(ground.reader)
    yield judge.judge_committee(members, quorum, (governance.members, governance.quorum))
    yield judge_clock("clock", clock.now(), ground.reader.block("latest").timestamp)


def probe_key(ground: Ground, choice: KeyChoice, address: Callable[[], Address]) -> Iterator[Line]:
    """The key: whether it is there, private, unlocked by its password, a member's, and able to pay."""
    if not choice.configured:
        yield warn("key", "none is configured: `run` would be a dry run", "name one with --keystore or --account")
        return
    for what, path in (("keystore", choice.keystore), ("password file", choice.password_file)):
        if path is not None and path.is_file():
            yield judge.judge_file(what, str(path), path.stat().st_mode)
    if choice.remote is not None:
        yield ok("remote signer", choice.remote)
    own = address()
    members, _ = committee_of(ground.reader)
    voices = ground.reader.call(ContractCall(contract="EpochOracle", function="isMember", args=(own,)))
    yield judge.judge_seat(own, members, bool(voices))
    yield judge.judge_balance(ground.reader.balance(own), gas_price(ground))


def probe_store(settings: OracleSettings, home: Path) -> Iterator[Line]:
    """The database: reachable, of this version, writable; and the room where it is."""
    url = settings.store_url(home)
    try:
        parsed = make_url(url)
    except ArgumentError:
        yield fail(
            "database", "its URL cannot be read", "use sqlite:///path/oracle.db or postgresql+psycopg://user@host/name"
        )
        return
    is_file = parsed.get_backend_name() == "sqlite"
    path = Path(parsed.database or "") if is_file else home
    if is_file and not path.exists():
        yield ok("database", f"{path} does not exist yet: `run` makes it")
    else:
        yield from _reached(parsed)
    folder = next(one for one in (path, *path.absolute().parents) if one.is_dir())
    yield judge.judge_disk(shutil.disk_usage(folder).free, str(folder))


def probe_machine(settings: OracleSettings) -> Iterator[Line]:
    """Port, open files, and whether the judging backend knows its answers."""
    yield _port(settings.host, settings.port)
    yield judge.judge_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    choice = choose(candidates("cpu", 1), time.perf_counter_ns)
    if choice.rejected:
        remedy = "this machine's arithmetic or its torch is broken: reinstall torch"
        rejected = "; ".join(f"{one.name} is rejected: {one.reason}" for one in choice.rejected)
        yield warn("judge", f"{choice.compute.name}; {rejected}", remedy)
    else:
        yield ok("judge", f"{choice.compute.name} gives the known answers")


def probe_peers(peers: Sequence[Status], deployment: Deployment) -> Iterator[Line]:
    """The other members: there, and of the same network and version."""
    want = {"chainId": deployment.chain_id, "paramsVersion": load_params(deployment.params).version}
    if not peers:
        yield ok("peers", "none are named (SWARM_ORACLE_PEERS)")
    for peer in peers:
        try:
            yield judge.judge_peer(peer.name, "", peer.get("/v1/status"), want)
        except NO_ANSWER as error:
            yield judge.judge_peer(peer.name, error.message, {}, want)


def committee_of(reader: ChainReader) -> tuple[tuple[Address, ...], int]:
    """Members and quorum.

    Raises:
        UnavailableError: the chain does not answer.
    """
    members = reader.call(ContractCall(contract="EpochOracle", function="members"))
    quorum = reader.call(ContractCall(contract="EpochOracle", function="quorum"))
    return tuple(cast(Sequence[Address], members)), cast(int, quorum)


def gas_price(ground: Ground) -> int:
    """Price of a gas unit now, wei, as the first endpoint that answers has it.

    Raises:
        UnavailableError: none answers.
    """
    for reader in ground.endpoints.values():
        try:
            return int(reader.rpc.request("eth_gasPrice"), 16)
        except UnavailableError:
            continue
    raise UnavailableError("no endpoint tells the price of gas", code="rpc_unavailable")


def _asked(endpoints: Mapping[str, Web3Reader], first_block: int) -> list[Endpoint]:
    """What each endpoint answers, and its hash of the newest block that all of them call final."""
    found = [_endpoint(name, reader, first_block) for name, reader in endpoints.items()]
    common = min((one.finalized for one in found if one.finalized is not None), default=first_block)
    return [one if one.problem else _with_checkpoint(one, endpoints[one.name], common) for one in found]


def _endpoint(name: str, reader: Web3Reader, first_block: int) -> Endpoint:
    try:
        return Endpoint(
            name=name,
            chain_id=reader.chain_id(),
            latest=reader.block("latest").number,
            finalized=_finalized(reader),
            has_archive=_has_archive(reader, first_block),
        )
    except NO_ANSWER as error:
        return Endpoint(name=name, problem=error.message)


def _with_checkpoint(one: Endpoint, reader: Web3Reader, block: int) -> Endpoint:
    try:
        return replace(one, checkpoint_hash=reader.block(block).hash.hex())
    except NO_ANSWER as error:
        return replace(one, problem=error.message)


def _finalized(reader: Web3Reader) -> int | None:
    try:
        return reader.block("finalized").number
    except (InvalidInputError, UnavailableError):
        return None


def _has_archive(reader: Web3Reader, block: int) -> bool:
    address = reader.address_of("EpochOracle")
    try:
        reader.rpc.request("eth_getBalance", [address, hex(block)])
    except (UnavailableError, RejectedError):
        return False
    return True


def _reached(url: URL) -> Iterator[Line]:
    shown, engine = url.render_as_string(hide_password=True), create_engine(url)
    try:
        with engine.connect() as connection:
            have, want, known = revisions(connection)
            yield ok("database", shown)
            yield judge.judge_revision(have, want, known)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # By hand, because the driver of SQLite begins no transaction before it makes a table.
            connection.exec_driver_sql("BEGIN IMMEDIATE" if engine.dialect.name == "sqlite" else "BEGIN")
            connection.exec_driver_sql("CREATE TABLE swarm_preflight (x INTEGER)")
            connection.exec_driver_sql("ROLLBACK")
        yield ok("writing", "a table can be made")
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__)
        yield fail("database", f"{shown}: {reason}", "check that it runs, that it may be written, and its name")
    finally:
        engine.dispose()


def _port(host: str, port: int) -> Line:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family):
            return ok("port", f"{host} port {port} is free")
    except OSError as error:
        remedy = "stop the program that uses it (a member that runs?), or give another --host or --port"
        return fail("port", f"{host} port {port}: {error.strerror or error}", remedy)
