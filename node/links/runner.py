"""Links beside the agent: an echo that always answers, and rounds in a thread of their own, with rests between them."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

import structlog

from node.audits.claims import ClaimGrounds
from node.links.book import HttpOracleLinks
from node.links.echo import Doorkeeper, UdpEcho
from node.links.iperf import IperfServer, Throughput, not_measured, slower_way
from node.links.round import LinkGrounds, link_round
from node.oracle_client import JsonHttp
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.pinger import ping
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.pings import LinkEndpoint, endpoint_hash, require_place
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import EpochNumber, Timestamp

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTask:
    """What is due: say where this node answers in the epoch after `epoch`, and measure those of `epoch` if `measures`."""

    epoch: EpochNumber
    issued_at: Timestamp
    measures: bool


class Links(Protocol):
    """What measures links beside the agent."""

    @property
    def busy(self) -> bool:
        """True while a round is under way, and while it rests after one."""
        ...

    def start(self, task: LinkTask) -> None:
        """Begins a round and returns at once."""
        ...

    def finished(self) -> frozenset[EpochNumber]:
        """Epochs in which nothing is left to do."""
        ...


class LinkRunner:
    """Rounds in a thread, one at a time.

    Args:
        grounds: what links are measured with.
        place: host and port at which peers reach the echo.
        monotonic_ms: the clock.
    """

    def __init__(self, grounds: LinkGrounds, place: tuple[str, int], monotonic_ms: Callable[[], int]) -> None:
        self._grounds, self._place, self._now = grounds, place, monotonic_ms
        self._announced: set[tuple[EpochNumber, str]] = set()
        self._finished: frozenset[EpochNumber] = frozenset()
        self._rests_until_ms = 0
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """True while a round is under way, and while it rests after one."""
        return (self._thread is not None and self._thread.is_alive()) or self.rests

    @property
    def rests(self) -> bool:
        """True for a while after each round."""
        return self._now() < self._rests_until_ms

    def start(self, task: LinkTask) -> None:
        """Begins a round and returns at once; what fails is tried again in the next one."""
        self._thread = threading.Thread(target=self.work, args=(task,), name="links", daemon=True)
        self._thread.start()

    def finished(self) -> frozenset[EpochNumber]:
        """Epochs in which nothing is left to do."""
        return self._finished

    def work(self, task: LinkTask) -> None:
        """One round, in the thread of the caller."""
        try:
            told = self._announce(task)
            if task.measures and link_round(self._grounds, task.epoch) and told:
                self._finished |= {task.epoch}
        finally:
            self._rests_until_ms = self._now() + self._grounds.params.rest_for * 1000

    def _announce(self, task: LinkTask) -> bool:
        """Says where this node answers in the next epoch, to every member that was not told yet; True if all were."""
        grounds, following = self._grounds, EpochNumber(task.epoch + 1)
        host, port = self._place
        endpoint = LinkEndpoint(
            epoch=following, node=grounds.signer.address, host=host, port=port, issued_at=task.issued_at
        )
        signature = grounds.signer.sign_typed(grounds.domain, endpoint_hash(endpoint))
        for name, member in grounds.members.items():
            if (following, name) in self._announced:
                continue
            try:
                member.announce(endpoint, signature)
                self._announced.add((following, name))
                log.info("link_announced", epoch=following, member=name, host=host, port=port)
            except SwarmError as error:
                log.info("link_not_announced", member=name, code=error.code, reason=error.message)
        return all((following, name) in self._announced for name in grounds.members)


def started_links(grounds: ClaimGrounds, stack: ExitStack) -> LinkRunner | None:
    """Starts the echo if the settings name an address for it.

    Args:
        grounds: settings, node and params.
        stack: closes what was started.

    Raises:
        InvalidInputError: it cannot listen there, or nobody may be sent there (exit 3).
    """
    settings, clock = grounds.settings, SystemClock()
    if not settings.link_host:
        return None
    domain = domain_separator(grounds.deployment.chain_id, grounds.beacon)
    doorkeeper = Doorkeeper(domain, grounds.node, clock.monotonic_ms)
    echo = UdpEcho(settings.link_host, settings.link_port, doorkeeper)
    stack.callback(echo.close)
    place = (settings.link_public_host or settings.link_host, settings.link_public_port or echo.port)
    _require_announcable(grounds, place)
    members = {}
    for url in settings.oracle_urls:
        http = JsonHttp(url)
        stack.callback(http.close)
        members[url] = HttpOracleLinks(http)
    throughput: Throughput = not_measured
    if settings.link_iperf:
        stack.callback(IperfServer(settings.link_host, echo.port).close)
        throughput = slower_way
    measured = LinkGrounds(
        signer=grounds.signer,
        domain=domain,
        params=grounds.params.links,
        members=members,
        pinger=ping,
        admit=doorkeeper.admit,
        throughput=throughput,
    )
    return LinkRunner(measured, place, clock.monotonic_ms)


def _require_announcable(grounds: ClaimGrounds, place: tuple[str, int]) -> None:
    endpoint = LinkEndpoint(
        epoch=EpochNumber(0), node=grounds.node, host=place[0], port=place[1], issued_at=Timestamp(0)
    )
    try:
        require_place(endpoint, private=bool(grounds.params.links.private_hosts))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"links cannot be measured: {error.message}",
            fix="set SWARM_LINK_HOST, or SWARM_LINK_PUBLIC_HOST and SWARM_LINK_PUBLIC_PORT behind a router",
            code=error.code,
            exit_code=3,
        ) from error
