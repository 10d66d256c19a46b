"""Wires a member and runs it: store, chain, key, clock, HTTP service."""

import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import structlog
import uvicorn
from sqlalchemy import Engine

from oracle.api.app import create_app
from oracle.api.server import http_config
from oracle.config import OracleSettings
from oracle.cron import start_cron
from oracle.model import Network, network_of
from oracle.pipeline.archive import Archive, PlansInForce
from oracle.pipeline.auditors import Grounds, auditors_of
from oracle.pipeline.backlog import Sender
from oracle.pipeline.desk import Desk
from oracle.pipeline.exchange import Exchange
from oracle.pipeline.follow import Follower
from oracle.pipeline.lease import LeaseKeeper
from oracle.pipeline.member import Member
from oracle.pipeline.metrics import Metrics
from oracle.pipeline.peers import HttpPeer
from oracle.pipeline.probe_process import ProbeProcess, Prober
from oracle.pipeline.replay_process import ReplayProcess
from oracle.pipeline.sign_log import SignLog
from oracle.pipeline.steady_compute import SteadyCompute
from oracle.pipeline.ticks import keep_lease
from oracle.pipeline.volume_secret import FILE_NAME as STORAGE_SECRET
from oracle.pipeline.volume_secret import VolumeSecret, open_secret, write_secret
from oracle.pipeline.volumes import Volumes, retire_all
from oracle.store.engine import open_store
from oracle.store.volumes import any_volume
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import ChainConnection
from swarm_chain.adapters.panel import Dissent
from swarm_chain.adapters.pinger import ping
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.rowchain import Compute, NumpyCompute
from swarm_chain.core.units import Timestamp
from swarm_chain.params import load_params
from swarm_chain.ports import ChainReader, Signer
from swarm_chain.reference.backends import candidates, choose
from swarm_chain.web.listening import listening, stopped_by_signals

log = structlog.get_logger()

JUDGE_THREADS = 1
SWITCH_S = (
    0.0005  # a request never waits long for a tick's computing; Python's own 5 ms would be felt at each signature
)
SIGN_LOG = "signed-observations"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The chain a member works on and the key it signs with; without a key it is a dry run."""

    chain: ChainConnection
    deployment: Deployment
    signer: Signer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a member follows from its settings: the other members, what it has told them, its lease, its judge, its secret."""

    peers: tuple[HttpPeer, ...]
    sign_log: SignLog
    lease_for: int
    compute: Compute
    secret: VolumeSecret | None
    prober: Prober


@contextmanager
def open_member(settings: OracleSettings, connection: Connection, home: Path) -> Iterator[Member]:
    """A wired member; its database and replay process are closed at the end.

    Args:
        settings: how it runs.
        connection: chain and key.
        home: folder of the default database.

    Raises:
        UnavailableError: chain or database do not answer.
        InvalidInputError: deployment and preset do not fit, or the home folder cannot be made (exit 3).
    """
    network = read_network(connection.chain.reader, connection.deployment)
    _make_home(home)
    with ExitStack() as stack:
        engine = open_store(settings.store_url(home))
        stack.callback(engine.dispose)
        replays = ReplayProcess(settings.replay_for)
        stack.callback(replays.close)
        peers = tuple(HttpPeer(url) for url in settings.peer_urls)
        for peer in peers:
            stack.callback(peer.close)
        prober = ProbeProcess()
        stack.callback(prober.close)
        parts = Parts(
            peers=peers,
            sign_log=SignLog(home / SIGN_LOG),
            lease_for=settings.lease_for,
            compute=_judging_backend(settings),
            secret=_storage_secret(engine, home),
            prober=prober,
        )
        member = _member(connection, network, engine, replays, parts)
        stack.callback(member.keeper.give_back)
        yield member


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"cannot make {home}: {error.strerror}",
            fix="set SWARM_HOME to a folder you may write",
            code="bad_home",
            exit_code=3,
        ) from error


def run_member(member: Member, settings: OracleSettings, deployment: Deployment) -> None:
    """Serves and works until SIGINT or SIGTERM; ticks under way are finished, only a replay is broken off.

    Raises:
        InvalidInputError: it cannot listen on host and port (exit 3).
        UnavailableError: the chain does not answer.
    """
    sys.setswitchinterval(SWITCH_S)
    with listening(settings.host, settings.port) as listener:
        keep_lease(member)
        sight = member.follower.poll()
        server = uvicorn.Server(http_config(create_app(member, deployment.contracts)))
        with stopped_by_signals(server), _working(member, settings.poll_ms):
            log.info("member_started", member=member.address, host=settings.host, port=listener.getsockname()[1])
            if member.signer is None:
                log.warning("dry_run", fix="it never votes or sends: name a key with --keystore or --account")
            elif member.address not in sight.state.members:
                log.warning("not_a_member", member=member.address, members=sight.state.members)
            server.run(sockets=[listener])
    log.info("member_stopped", member=member.address)


def read_network(reader: ChainReader, deployment: Deployment) -> Network:
    """The network of a deployment, with genesis as the contract has it.

    Raises:
        InvalidInputError: deployment and preset do not fit, or the contracts keep another length of an epoch (exit 3).
        UnavailableError: the chain does not answer.
    """
    params = load_params(deployment.params)
    ends = [_epoch_end(reader, epoch) for epoch in (0, 1)]
    if ends[1] - ends[0] != params.epoch.epoch_for:
        raise InvalidInputError(
            f"an epoch of this chain has {ends[1] - ends[0]} s, one of preset {params.name} {params.epoch.epoch_for} s",
            fix="use the deployment file that was written when these contracts were deployed",
            code="wrong_params",
            exit_code=3,
        )
    return network_of(deployment, params, Timestamp(ends[0] - params.epoch.epoch_for))


def log_dissent(dissent: Dissent) -> None:
    """Tells the operator of an endpoint that was out-voted or did not answer."""
    log.warning("rpc_outvoted", rpc=dissent.endpoint, operation=dissent.operation, reason=dissent.reason)


def _epoch_end(reader: ChainReader, epoch: int) -> int:
    return cast(int, reader.call(ContractCall(contract="EpochOracle", function="epochEnd", args=(epoch,))))


@contextmanager
def _working(member: Member, poll_ms: int) -> Iterator[None]:
    scheduler = start_cron(member, poll_ms)
    try:
        yield
    finally:
        scheduler.remove_all_jobs()
        member.replays.close()
        if member.prober is not None:
            member.prober.close()
        scheduler.shutdown(wait=True)


def _member(connection: Connection, network: Network, engine: Engine, replays: ReplayProcess, parts: Parts) -> Member:
    clock = SystemClock()
    keeper = LeaseKeeper(engine, clock, holder=_process_name(), lasts_ms=parts.lease_for * 1000)
    reader, first = connection.chain.reader, connection.deployment.block
    follower = Follower(reader, first)
    signer, metrics = connection.signer, Metrics()
    compute = _steady(parts.compute, metrics)
    archive = Archive(reader, engine, network, first, compute)
    desk = _desk(network, engine, reader, follower)
    own = signer.address if signer else None
    volumes = Volumes(desk=desk, member=own, secret=parts.secret)
    exchange = Exchange(parts.peers, own)
    sender = _sender(connection.chain, signer, engine, keeper, metrics) if signer else None
    return Member(
        network=network,
        engine=engine,
        reader=reader,
        follower=follower,
        keeper=keeper,
        archive=archive,
        desk=desk,
        clock=clock,
        compute=compute,
        replays=replays,
        entropy=secrets.token_bytes,
        metrics=metrics,
        exchange=exchange,
        sign_log=parts.sign_log,
        volumes=volumes,
        auditors=auditors_of(
            Grounds(network=network, sight=lambda: follower.sight, engine=engine, replays=replays, volumes=volumes)
        ),
        prober=parts.prober,
        pinger=ping,
        signer=signer,
        sender=sender,
    )


def _desk(network: Network, engine: Engine, reader: ChainReader, follower: Follower) -> Desk:
    plans = PlansInForce(engine)
    return Desk(
        network=network,
        engine=engine,
        reader=reader,
        sight=lambda: follower.sight,
        plans=lambda: plans.at(follower.sight.state, network.epoch_at(follower.sight.now)),
        clock=SystemClock(),
        boot=_boot(),
    )


def _sender(chain: ChainConnection, signer: Signer, engine: Engine, keeper: LeaseKeeper, metrics: Metrics) -> Sender:
    return Sender(
        engine=engine,
        writer=chain.writer(signer),
        address=signer.address,
        clock=SystemClock(),
        fence=keeper.fence,
        count=metrics.tx.attempted,
    )


def _storage_secret(engine: Engine, home: Path) -> VolumeSecret | None:
    secret = open_secret(home / STORAGE_SECRET, secrets.token_bytes, has_volumes=any_volume(engine))
    if secret is None:
        log.error(
            "storage_secret_missing",
            path=str(home / STORAGE_SECRET),
            fix="put it back; if it is lost, `swarm oracle renew-storage` and every node begins anew",
        )
    return secret


def renew_secret(member: Member, home: Path) -> int:
    """Ends all volumes, shows their keys and puts a new secret in place of the one that made them.

    Args:
        member: no other process may act for it.
        home: folder of the secret.

    Returns:
        How many volumes were ended.

    Raises:
        UnavailableError: another process acts for this member.
    """
    keep_lease(member)
    member.keeper.require()
    retired = retire_all(member.volumes)  # first: afterwards nobody could show their keys
    write_secret(home / STORAGE_SECRET, secrets.token_bytes)
    return retired


def _process_name() -> str:
    return f"{socket.gethostname()[:32]}-{os.getpid()}-{secrets.token_hex(4)}"


def _boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return secrets.token_hex(16)  # where the system does not say, times of another process are never compared


def _judging_backend(settings: OracleSettings) -> Compute:
    if settings.ray_address is not None:
        return _ray_backend(settings.ray_address, settings.ray_auth_mode)
    backends = (NumpyCompute(),) if settings.judge == "numpy" else candidates("cpu", JUDGE_THREADS)
    choice = choose(backends, time.perf_counter_ns)
    rejected = {one.name: one.reason for one in choice.rejected}
    log.info("compute_backend", chosen=choice.compute.name, rejected=rejected)
    return choice.compute


def _ray_backend(address: str, auth_mode: str) -> Compute:
    if auth_mode != "token":
        raise InvalidInputError(
            "judging on a Ray cluster without a token would let anyone who reaches it run code there",
            fix="start the cluster and this member with RAY_AUTH_MODE=token and the same token",
            code="ray_without_token",
            exit_code=3,
        )
    try:
        from oracle.pipeline.ray_compute import RayCompute, connect
    except ImportError as error:
        raise InvalidInputError(
            "Ray is not installed", fix="pip install 'swarm[all]'", code="ray_missing", exit_code=3
        ) from error
    connect(address)
    log.info("compute_backend", chosen=RayCompute.name, address=address)
    return RayCompute()


def _steady(backend: Compute, metrics: Metrics) -> Compute:
    def tell(name: str, why: str) -> None:
        metrics.backend_failed(name)
        log.error("judge_backend_failed", backend=name, why=why)

    return SteadyCompute(backend, tell)
