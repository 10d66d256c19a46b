"""Wiring of a node: settings in, a running agent out. The one place that knows every part."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from secrets import randbelow
from typing import TYPE_CHECKING

import structlog

from node.agent import Agent
from node.audits.claims import ClaimGrounds, auditees
from node.audits.runner import AuditRunner
from node.chain_watch import first_block_of
from node.config import REGISTER, NodeSettings
from node.gateways.wiring import connected_gateways
from node.jobs.runner import RayJobRunner, RunnerOptions
from node.links.runner import Links, started_links
from node.logs import configure_logs
from node.oracle_client import HttpOracleAudits, HttpOracleInbox, HttpOracleReader, HttpOracleSpecs, JsonHttp
from node.ports import Auditee, Devices, RowTracer
from node.ray_connection import cluster_connection, cluster_labels, ray_connection
from node.serving.offers import Serving, started_serving
from node.state import only_agent, open_state
from node.tools import Member, Tools
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.connection import connect_chain
from swarm_chain.adapters.keystore import KeySigner, load_signer
from swarm_chain.adapters.panel import Dissent, Quorum
from swarm_chain.adapters.private_files import read_private
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import Deployment
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Wei
from swarm_chain.deploy import load_deployment
from swarm_chain.params import load_params
from swarm_chain.ports import Signer

if TYPE_CHECKING:
    from node.compute.ray_backend import RayDevices

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an agent is built from beside its settings; `workers` labels the Ray nodes its jobs may use."""

    signer: KeySigner
    devices: Devices
    tracer: RowTracer
    auditees: Mapping[Category, Auditee] = field(default_factory=dict)
    serving: Serving | None = None
    links: Links | None = None
    workers: Mapping[str, str] = field(default_factory=dict)


Wrap = Callable[[Parts], Parts]


def run_agent(settings: NodeSettings, wrap: Wrap = lambda parts: parts) -> None:
    """Runs a node until SIGTERM or SIGINT; the second one ends it at once.

    Args:
        settings: where everything is.
        wrap: puts something between agent and devices or tracer, as the tests' dishonest nodes do.

    Raises:
        InvalidInputError: settings, key or deployment are missing or wrong.
        UnavailableError: Ray or the chain cannot be reached at the start.
    """
    configure_logs(settings.log_level)
    with ExitStack() as stack:
        stack.enter_context(only_agent(settings.folder))
        signer = node_signer(settings)
        signal.signal(signal.SIGTERM, _leave)
        workers = stack.enter_context(_ray(settings, signer))
        signal.signal(signal.SIGTERM, _leave)  # Ray has put a handler of its own in its place
        devices = ray_devices(settings)
        log.info("devices_examined", backends=devices.examine())
        own = Parts(
            signer=signer,
            devices=devices,
            tracer=row_tracer(settings),
            auditees=auditees(claim_grounds(settings, signer)),
            serving=started_serving(claim_grounds(settings, signer), stack),
            links=started_links(claim_grounds(settings, signer), stack),
            workers=workers,
        )
        parts = wrap(own)
        agent = stack.enter_context(agent_of(settings, parts))
        stop = partial(_stop, agent)
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        agent.run()


@contextmanager
def agent_of(settings: NodeSettings, parts: Parts) -> Iterator[Agent]:
    """An agent with its connections and state file, closed on leaving. Ray must be connected."""
    deployment = node_deployment(settings)
    connection = connect_chain(
        settings.endpoints, deployment, Quorum(agree=settings.rpc_agree, on_dissent=_log_dissent)
    )
    chain = connection.reader
    with ExitStack() as stack:
        state = open_state(settings.folder / "state.sqlite", parts.signer.address)
        stack.callback(state.close)
        members = {url: _member(url, stack) for url in _members(settings)}
        tools = Tools(
            deployment=deployment,
            params=load_params(deployment.params),
            chain=chain,
            writer=connection.writer(parts.signer),
            signer=parts.signer,
            clock=SystemClock(),
            members=members,
            audits=_audits(parts, deployment, members),
            devices=parts.devices,
            tracer=parts.tracer,
            runner=_runner(settings, parts) if settings.jobs else None,
            state=state,
            home=settings.folder,
            reserve_wei=Wei(settings.reserve_wei),
            serving=parts.serving,
            links=parts.links,
            gateways=connected_gateways(settings, stack),
        )
        first_block = first_block_of(chain, deployment.block, settings.lookback_blocks, tools.params.compute_court)
        yield Agent(tools, first_block=first_block, poll_ms=settings.poll_ms)


def node_signer(settings: NodeSettings) -> KeySigner:
    """The node's hot key, unlocked with its password file.

    Raises:
        InvalidInputError: no key, no password, a wrong one, or files others may read (exit 3).
    """
    read_private(settings.key_file, "node key", REGISTER)
    return load_signer(settings.key_file, read_private(settings.password_file, "password of the node key", REGISTER))


def node_deployment(settings: NodeSettings) -> Deployment:
    """The deployment file of the settings, else of the endpoint's chain under SWARM_HOME.

    Raises:
        InvalidInputError: there is none (exit 3).
    """
    if settings.deployment is not None:
        return load_deployment(settings.deployment)
    from swarm_chain.cli.config import load_settings
    from swarm_chain.cli.connect import find_deployment

    return find_deployment(load_settings({"home": settings.home, "rpc_url": settings.rpc_url}))


def ray_devices(settings: NodeSettings) -> "RayDevices":
    """The devices of this machine; Ray must be connected."""
    from node.compute.ray_backend import DeviceOptions, RayDevices

    options = DeviceOptions(gpus=settings.gpus, threads=settings.threads, reserved_cpus=settings.reserved_cpus)
    return RayDevices(options, randbelow)


def claim_grounds(settings: NodeSettings, signer: Signer) -> ClaimGrounds:
    """What this machine's claims are made from; Ray must be connected."""
    deployment = node_deployment(settings)
    return ClaimGrounds(settings=settings, signer=signer, deployment=deployment, params=load_params(deployment.params))


def _audits(parts: Parts, deployment: Deployment, members: Mapping[str, Member]) -> AuditRunner:
    audits = {name: member.audits for name, member in members.items()}
    domain = domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])
    return AuditRunner(parts.auditees, audits, parts.signer, domain)


def row_tracer(settings: NodeSettings) -> RowTracer:
    """What computes accused rows again; Ray must be connected."""
    from node.court.tracer import RayRowTracer

    return RayRowTracer(settings.threads)


def _ray(settings: NodeSettings, signer: Signer) -> AbstractContextManager[Mapping[str, str]]:
    if not settings.cluster_address:
        return ray_connection(settings)
    deployment, quorum = node_deployment(settings), Quorum(agree=settings.rpc_agree, on_dissent=_log_dissent)
    chain = connect_chain(settings.endpoints, deployment, quorum).reader
    return cluster_connection(settings, cluster_labels(chain, settings.oracle_urls, signer.address))


def _runner(settings: NodeSettings, parts: Parts) -> RayJobRunner:
    options = RunnerOptions(directory=settings.folder / "jobs", cpus=settings.job_cpus, labels=parts.workers)
    return RayJobRunner(options)


def _members(settings: NodeSettings) -> tuple[str, ...]:
    if not settings.oracle_urls:
        raise InvalidInputError(
            "no oracle is named", fix="give --oracle-url or set SWARM_ORACLE_URL", code="no_oracle", exit_code=3
        )
    return settings.oracle_urls


def _member(url: str, stack: ExitStack) -> Member:
    http = JsonHttp(url)
    stack.callback(http.close)
    audits = HttpOracleAudits(http)
    stack.callback(audits.close)
    return Member(
        reader=HttpOracleReader(http), inbox=HttpOracleInbox(http), audits=audits, specs=HttpOracleSpecs(http)
    )


def _log_dissent(dissent: Dissent) -> None:
    log.warning("rpc_outvoted", rpc=dissent.endpoint, operation=dissent.operation, reason=dissent.reason)


def _leave(_number: int, _frame: object) -> None:
    """Ends a start that is not wanted any more: nothing is owed yet, and what was started is closed on the way out."""
    raise SystemExit(0)


def _stop(agent: Agent, number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)
    agent.drain()
