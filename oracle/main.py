"""Wires a member and runs it: store, chain, key, clock, HTTP service."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import structlog
import uvicorn
from sqlalchemy import Engine

from oracle.api.app import create_app
from oracle.config import OracleSettings
from oracle.cron import start_cron
from oracle.model import Network, network_of
from oracle.pipeline.archive import Archive, plans_in_force
from oracle.pipeline.desk import Desk
from oracle.pipeline.follow import Follower
from oracle.pipeline.member import Member
from oracle.pipeline.metrics import Metrics
from oracle.pipeline.replayer import ReplayProcess
from oracle.pipeline.transact import Sender
from oracle.store.engine import open_store
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.rpc import Web3Reader
from swarm_chain.adapters.sender import Web3Writer
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.rowchain import Compute
from swarm_chain.core.units import Timestamp
from swarm_chain.params import load_params
from swarm_chain.ports import ChainReader, Signer
from swarm_chain.reference.backends import candidates, choose

log = structlog.get_logger()

JUDGE_THREADS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The chain a member works on and the key it signs with; without a key it is a dry run."""

    reader: Web3Reader
    deployment: Deployment
    signer: Signer | None


@contextmanager
def open_member(settings: OracleSettings, connection: Connection, home: Path) -> Iterator[Member]:
    """A wired member; its database and replay process are closed at the end.

    Args:
        settings: how it runs.
        connection: chain and key.
        home: folder of the default database.

    Raises:
        UnavailableError: chain or database do not answer.
        InvalidInputError: deployment and preset do not fit.
    """
    network = read_network(connection.reader, connection.deployment)
    home.mkdir(parents=True, exist_ok=True)
    engine = open_store(settings.store_url(home))
    replays = ReplayProcess(settings.replay_for)
    try:
        yield _member(connection, network, engine, replays)
    finally:
        replays.close()
        engine.dispose()


def run_member(member: Member, settings: OracleSettings, deployment: Deployment) -> None:
    """Serves and works until SIGINT or SIGTERM; ticks under way are finished."""
    member.follower.poll()
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(member, deployment.contracts),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )
    scheduler = start_cron(member, settings.poll_ms)
    log.info("member_started", member=member.address, host=settings.host, port=settings.port)
    try:
        server.run()
    finally:
        scheduler.shutdown(wait=True)
        log.info("member_stopped", member=member.address)


def read_network(reader: ChainReader, deployment: Deployment) -> Network:
    """The network of a deployment, with genesis as the contract has it."""
    params = load_params(deployment.params)
    end = cast(int, reader.call(ContractCall(contract="EpochOracle", function="epochEnd", args=(0,))))
    return network_of(deployment, params, Timestamp(end - params.epoch.epoch_for))


def _member(connection: Connection, network: Network, engine: Engine, replays: ReplayProcess) -> Member:
    clock = SystemClock()
    reader, first = connection.reader, connection.deployment.block
    follower = Follower(reader, first)
    archive = Archive(reader, engine, network, first)
    desk = Desk(
        network=network,
        engine=engine,
        reader=reader,
        sight=lambda: follower.sight,
        plans=lambda: plans_in_force(engine, follower.sight.state),
        clock=clock,
    )
    signer = connection.signer
    writer = Web3Writer(reader, signer) if signer else None
    return Member(
        network=network,
        engine=engine,
        reader=reader,
        follower=follower,
        archive=archive,
        desk=desk,
        clock=clock,
        compute=_judging_backend(),
        replay=replays.replay,
        entropy=secrets.token_bytes,
        metrics=Metrics(),
        signer=signer,
        sender=Sender(engine=engine, writer=writer, clock=clock) if writer else None,
    )


def _judging_backend() -> Compute:
    choice = choose(candidates("cpu", JUDGE_THREADS), time.perf_counter_ns)
    log.info("compute_backend", chosen=choice.compute.name, rejected=choice.rejected)
    return choice.compute
