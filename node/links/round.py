"""One look at an epoch's links: what each pair still needs, and doing it.

    no report   first pings, signs and leaves its proposal with every member
    proposal    second pings; if it found much the same it signs, and hands the report to every member
    report      whoever meets a member without it hands it over

Every step can be repeated: a pair has one proposal, and members are where both ends meet. Source: docs/spec/network.md "Links".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import structlog

from node.links.book import LinkPeer, OracleLinks
from node.links.iperf import Throughput, not_measured
from swarm_chain.adapters.pinger import PingCall
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.link_params import LinkParams
from swarm_chain.core.links import LinkReport, SignedLink, link_hash, pair_of, require_both_signed
from swarm_chain.core.pings import (
    LinkEndpoint,
    LinkFigures,
    agrees,
    endpoint_digest,
    figures_of,
    require_place,
    token_hash,
)
from swarm_chain.core.signing import require_signed_by, typed_digest
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature
from swarm_chain.ports import Signer

log = structlog.get_logger()

Pinger = Callable[[PingCall], tuple[int | None, ...]]
Admit = Callable[[EpochNumber, frozenset[Address]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGrounds:
    """What links are measured with: the node's key, the members by name, what pings, what lets callers in, and iperf3."""

    signer: Signer
    domain: Hash32
    params: LinkParams
    members: Mapping[str, OracleLinks]
    pinger: Pinger
    admit: Admit
    throughput: Throughput = not_measured


@dataclass(slots=True, kw_only=True)
class Pair:
    """A drawn pair as all members together know it: where the other end answers, the best report, who lacks it."""

    endpoint: LinkEndpoint
    link: SignedLink | None = None
    known_by: set[str] = field(default_factory=set)
    told_by: set[str] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        """True if every member that drew the pair has what both signed."""
        return self.link is not None and self.link.second is not None and self.known_by == self.told_by


def link_round(grounds: LinkGrounds, epoch: EpochNumber) -> bool:
    """Do what can be done now for all pairs of an epoch.

    Args:
        grounds: what it is done with.
        epoch: the running one, its first window over.

    Returns:
        True if nothing is left to do.
    """
    pairs, all_told = drawn(grounds, epoch)
    for pair in pairs.values():
        try:
            further(grounds, pair)
        except SwarmError as error:  # a peer that is away, or a member: the others go on
            log.info("link_open", peer=pair.endpoint.node, epoch=epoch, code=error.code, reason=error.message)
    return all_told and all(pair.is_done for pair in pairs.values())


def drawn(grounds: LinkGrounds, epoch: EpochNumber) -> tuple[dict[Address, Pair], bool]:
    """Pairs by the other end as the members that answer tell them, and whether all members did; lets callers in."""
    pairs: dict[Address, Pair] = {}
    all_told = True
    for name, member in grounds.members.items():
        try:
            peers = member.peers(epoch, grounds.signer.address)
            grounds.admit(epoch, frozenset({member.address(), *(peer.endpoint.node for peer in peers)}))
        except SwarmError as error:
            all_told = False
            log.info("link_member_away", member=name, code=error.code, reason=error.message)
            continue
        for peer in peers:
            _add(grounds, pairs, name, peer, epoch)
    return pairs, all_told


def further(grounds: LinkGrounds, pair: Pair) -> None:
    """Bring one pair as far as this end can.

    Raises:
        SwarmError: the peer is away, its proposal is another than what this end found, or no member takes the report.
    """
    node, peer = grounds.signer.address, pair.endpoint.node
    is_first = pair_of(node, peer)[0] == node
    if pair.link is None and is_first:
        pair.link = _proposal(grounds, pair.endpoint)
    elif pair.link is not None and pair.link.second is None and not is_first:
        pair.link = _agreed(grounds, pair.endpoint, pair.link)
        pair.known_by.clear()
    if pair.link is not None:
        _hand_in(grounds, pair, pair.link)


def _add(grounds: LinkGrounds, pairs: dict[Address, Pair], name: str, peer: LinkPeer, epoch: EpochNumber) -> None:
    try:
        _require_true(grounds, peer, epoch)
    except InvalidInputError as error:
        log.warning("link_refused", member=name, code=error.code, reason=error.message)
        return
    pair = pairs.setdefault(peer.endpoint.node, Pair(endpoint=peer.endpoint))
    pair.told_by.add(name)
    if peer.link is None:
        return
    if pair.link is None or (pair.link.second is None and peer.link.second is not None):
        pair.link, pair.known_by = peer.link, set()
    if pair.link == peer.link:
        pair.known_by.add(name)


def _require_true(grounds: LinkGrounds, peer: LinkPeer, epoch: EpochNumber) -> None:
    """Refuses what a member made up: endpoints and reports count by the nodes' signatures alone."""
    endpoint, link = peer.endpoint, peer.link
    require_place(endpoint, private=bool(grounds.params.private_hosts))
    require_signed_by(endpoint.node, endpoint_digest(grounds.domain, endpoint), peer.signature)
    if endpoint.epoch != epoch:
        raise InvalidInputError("this endpoint is of another epoch", code="other_epoch")
    if link is None:
        return
    if link.report.epoch != epoch or link.report.pair != pair_of(grounds.signer.address, endpoint.node):
        raise InvalidInputError("this report is of another pair or epoch", code="not_drawn")
    if link.second is None:
        require_signed_by(link.report.first, typed_digest(grounds.domain, link_hash(link.report)), link.first)
    else:
        require_both_signed(grounds.domain, link.report, link.first, link.second)


def _proposal(grounds: LinkGrounds, endpoint: LinkEndpoint) -> SignedLink:
    found = _measured(grounds, endpoint)
    first, second = pair_of(grounds.signer.address, endpoint.node)
    report = LinkReport(
        epoch=endpoint.epoch,
        first=first,
        second=second,
        rtt_us=found.rtt_us,
        jitter_us=found.jitter_us,
        loss_ppm=found.loss_ppm,
        throughput_mbps=grounds.throughput(endpoint.host, endpoint.port),
    )
    log.info("link_measured", peer=endpoint.node, rtt_us=found.rtt_us, loss_ppm=found.loss_ppm)
    return SignedLink(report=report, first=_signed(grounds, report))


def _agreed(grounds: LinkGrounds, endpoint: LinkEndpoint, proposed: SignedLink) -> SignedLink:
    found = _measured(grounds, endpoint)
    if proposed.report.throughput_mbps is not None:
        found = replace(found, throughput_mbps=grounds.throughput(endpoint.host, endpoint.port))
    if not agrees(found, proposed.report, grounds.params):
        raise UnavailableError(
            f"{proposed.report} is not what this end found: {found}",
            code="link_disputed",
            fix="nothing, if it is rare: links change; such a peer is away for both",
        )
    log.info("link_agreed", peer=endpoint.node, rtt_us=found.rtt_us, loss_ppm=found.loss_ppm)
    return SignedLink(report=proposed.report, first=proposed.first, second=_signed(grounds, proposed.report))


def _measured(grounds: LinkGrounds, endpoint: LinkEndpoint) -> LinkFigures:
    node, params = grounds.signer.address, grounds.params
    call = PingCall(
        host=endpoint.host,
        port=endpoint.port,
        epoch=endpoint.epoch,
        caller=node,
        token=grounds.signer.sign_typed(grounds.domain, token_hash(endpoint.epoch, node, endpoint.node)),
        probes=params.probes,
        gap_ms=params.gap_ms,
        timeout_ms=params.timeout_ms,
    )
    return figures_of(grounds.pinger(call))


def _signed(grounds: LinkGrounds, report: LinkReport) -> Signature:
    return grounds.signer.sign_typed(grounds.domain, link_hash(report))


def _hand_in(grounds: LinkGrounds, pair: Pair, link: SignedLink) -> None:
    for name in sorted(pair.told_by - pair.known_by):
        try:
            grounds.members[name].report(link)
            pair.known_by.add(name)
        except SwarmError as error:
            log.info("link_not_taken", member=name, code=error.code, reason=error.message)
