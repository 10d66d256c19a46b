"""Everything an agent acts through, wired once in main."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import structlog

from node.gateways.ports import Gateways
from node.links.runner import Links
from node.ports import Audits, Devices, JobRunner, OracleAudits, OracleInbox, OracleReader, OracleSpecs, RowTracer
from node.serving.offers import Serving
from node.transactions import Outbox
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.model import Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.ports import ChainReader, ChainWriter, Clock, Signer

log = structlog.get_logger()

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One oracle member, by its sides: what it tells, what it takes, what it asks, what it keeps of jobs."""

    reader: OracleReader
    inbox: OracleInbox
    audits: OracleAudits
    specs: OracleSpecs


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Ports, records and settings of an agent. `members` are named by their URL; `runner` is None if jobs are refused,
    `serving` if nothing is served, `links` if they are not measured, `gateways` if it works for none.

    `reserve_wei` is what the node key should hold of the native coin to pay for a defence.
    """

    deployment: Deployment
    params: Params
    chain: ChainReader
    writer: ChainWriter
    signer: Signer
    clock: Clock
    members: Mapping[str, Member]
    devices: Devices
    tracer: RowTracer
    audits: Audits
    runner: JobRunner | None
    state: sqlite3.Connection
    home: Path
    reserve_wei: Wei
    serving: Serving | None = None
    links: Links | None = None
    gateways: Gateways | None = None

    @property
    def node(self) -> Address:
        """Address of the node key."""
        return self.signer.address

    @property
    def outbox(self) -> Outbox:
        """Transactions of the node key."""
        return Outbox(state=self.state, writer=self.writer, clock=self.clock)

    @property
    def beacon(self) -> Address:
        """ChallengeBeacon: names the domain of node messages."""
        return self.deployment.contracts["ChallengeBeacon"]

    @property
    def domain(self) -> Hash32:
        """EIP-712 domain of node messages."""
        return domain_separator(self.deployment.chain_id, self.beacon)


def ask_any(tools: Tools, question: Callable[[OracleReader], Answer]) -> Answer:
    """Answer of the first member that gives one.

    Raises:
        UnavailableError: none does.
    """
    reasons = []
    for name, member in tools.members.items():
        try:
            return question(member.reader)
        except SwarmError as error:
            reasons.append(f"{name}: {error.message}")
    raise UnavailableError(f"no oracle member answers: {'; '.join(reasons)}", code="oracle_unreachable")


def tell_all(tools: Tools, message: Callable[[OracleInbox], None]) -> Iterator[tuple[str, SwarmError]]:
    """Hand a message to every member; one that refuses does not keep it from the others.

    Returns:
        The members that did not take it, and why; nothing is sent before this is consumed.
    """
    for name, member in tools.members.items():
        try:
            message(member.inbox)
        except SwarmError as error:
            yield name, error
