"""Wiring of a gateway: settings in, a running service out. The one place that knows every part."""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import structlog
import uvicorn

from gateway.api.app import create_app
from gateway.canaries import CanaryDesk, in_workers
from gateway.chain import ChainWatch
from gateway.config import MB, START, GatewaySettings
from gateway.desk import Desk, Lids
from gateway.head import running_head
from gateway.lock import Running, only_gateway, say_running
from gateway.logs import configure_logs
from gateway.members import HttpMembers
from gateway.model import Terms
from gateway.receipts import Canaries
from gateway.service import Gateway
from gateway.store.engine import Database, meta, open_database
from gateway.store.files import Files
from gateway.turns import ERRANDS_S, Measurements, errands, follow, repeated
from gateway.worker import WarmWorkers
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.keystore import KeySigner, create_keystore, load_signer
from swarm_chain.adapters.panel import Dissent, Quorum
from swarm_chain.adapters.private_files import read_private, write_private
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.model import Deployment
from swarm_chain.core.signing import domain_separator
from swarm_chain.deploy import load_deployment
from swarm_chain.params import load_params
from swarm_chain.reference.train import machine_kind
from swarm_chain.web.listening import listening, stopped_by_signals

log = structlog.get_logger()

CANARY_WAIT_S = 2.0  # a node on the line waits so long; it asks again
MAX_CONNECTIONS = 1024


def run_gateway(settings: GatewaySettings) -> None:
    """Runs a gateway until SIGTERM or SIGINT; the Ray head goes on.

    Args:
        settings: where everything is.

    Raises:
        InvalidInputError: settings, key or deployment are missing or wrong, or the port is taken.
        UnavailableError: the chain or Ray cannot be reached at the start.
    """
    configure_logs(settings.log_level)
    folder = settings.own_folder
    with ExitStack() as stack:
        stack.enter_context(only_gateway(folder))
        signer = gateway_signer(settings)
        listener = stack.enter_context(listening(settings.host, settings.port))
        gateway = stack.enter_context(working(settings, signer))
        config = uvicorn.Config(
            create_app(gateway),
            log_config=None,
            access_log=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        port = listener.getsockname()[1]
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        say_running(folder, Running(pid=os.getpid(), url=f"http://{shown}:{port}"))
        with stopped_by_signals(server):
            log.info("gateway_started", address=signer.address, port=port, ray_address=gateway.ray_address)
            server.run(sockets=[listener])
    log.info("gateway_stopped", address=signer.address)


@contextmanager
def working(settings: GatewaySettings, signer: KeySigner) -> Iterator[Gateway]:
    """A gateway with its store, its connections and its turns, all closed on leaving.

    Args:
        settings: where everything is.
        signer: its key.
    """
    deployment = gateway_deployment(settings)
    quorum = Quorum(agree=settings.rpc_agree, on_dissent=_log_dissent)
    watch = ChainWatch(connect_chain(settings.endpoints, deployment, quorum).reader, deployment.block)
    with ExitStack() as stack:
        database = open_database(settings.own_folder / "gateway.sqlite", signer.address)
        stack.callback(database.close)
        members = HttpMembers(settings.oracle_urls, database)
        stack.callback(members.close)
        measurements = Measurements()
        desk = Desk(
            domain=domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"]),
            signer=signer,
            sight=watch.sight,
            database=database,
            files=Files(folder=settings.own_folder),
            terms=_terms(settings, deployment),
            lids=_lids(settings),
            measured=measurements.known,
        )
        desk.files.forget_incoming()
        workers = WarmWorkers(machine_kind)
        stack.callback(workers.close)
        if settings.canary_units:
            workers.warm()
        canaries = _canaries(settings, database, workers)
        stack.callback(canaries.desk.close)
        follow(watch, desk)
        ray_address = settings.ray_address or running_head(settings).address
        stack.enter_context(repeated("follow", partial(follow, watch, desk), settings.poll_ms / 1000))
        stack.enter_context(repeated("errands", partial(errands, desk, members, measurements), ERRANDS_S))
        yield Gateway(
            desk=desk,
            canaries=canaries,
            members=members,
            clock=SystemClock(),
            chain_id=deployment.chain_id,
            ray_address=ray_address,
        )


def gateway_signer(settings: GatewaySettings) -> KeySigner:
    """The gateway's key; made together with a random password on first use, both readable by their owner only.

    Raises:
        InvalidInputError: a wrong password, or files others may read (exit 3).
    """
    if not settings.key_file.exists():
        write_private(settings.password, secrets.token_urlsafe(32))
        password = read_private(settings.password, "password of the gateway's key", START)
        create_keystore(settings.key_file.parent, settings.key_file.name, password)
    read_private(settings.key_file, "gateway's key", START)
    return load_signer(settings.key_file, read_private(settings.password, "password of the gateway's key", START))


def gateway_deployment(settings: GatewaySettings) -> Deployment:
    """The deployment file of the settings, else of the endpoint's chain under SWARM_HOME.

    Raises:
        InvalidInputError: there is none (exit 3).
    """
    if settings.deployment is not None:
        return load_deployment(settings.deployment)
    from swarm_chain.cli.config import load_settings
    from swarm_chain.cli.connect import find_deployment

    return find_deployment(load_settings({"home": settings.home, "rpc_url": settings.rpc_url}))


def _canaries(settings: GatewaySettings, database: Database, workers: WarmWorkers) -> Canaries:
    return Canaries(
        desk=CanaryDesk(in_workers(workers, settings.canary_for)),
        secret=hash_from_hex(meta(database, "canary_secret", "0x" + secrets.token_hex(32))),
        units=settings.canary_units,
        wait_s=CANARY_WAIT_S,
    )


def _terms(settings: GatewaySettings, deployment: Deployment) -> Terms:
    escrow = load_params(deployment.params).escrow
    return Terms(fee_bps=settings.fee_bps, min_price_wei=escrow.min_budget_wei)


def _lids(settings: GatewaySettings) -> Lids:
    return Lids(
        blob_bytes=settings.blob_mb * MB,
        job_bytes=settings.job_mb * MB,
        log_bytes=settings.log_mb * MB,
        store_bytes=settings.store_mb * MB,
        specs=settings.specs,
    )


def _log_dissent(dissent: Dissent) -> None:
    log.warning("rpc_outvoted", rpc=dissent.endpoint, operation=dissent.operation, reason=dissent.reason)
