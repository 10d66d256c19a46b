"""Links, as a member takes them in: endpoints before an epoch, reports during it, and its own way to every node.

    endpoint of epoch e, sent in e - 1 --> ring of e --seed of e--> pairs --pings--> proposal, report --judge--> link_measurements

Whoever is on the ring said so before the seed was known: nobody can choose his peers. Source: docs/spec/network.md "Links".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from oracle.economy import Service
from oracle.judge.links import LinkFinding, LinkFindings, LinkRound, judge_links
from oracle.model import Measurement
from oracle.pipeline.desk import Desk, require_node
from oracle.pipeline.probe_turns import epoch_seed
from oracle.pipeline.sight import Sight
from oracle.store import links as store
from oracle.store.links import Announced
from swarm_chain.adapters.pinger import PingCall
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category, WindowState
from swarm_chain.core.links import Pair, SignedLink, drawn_pairs, link_hash, require_both_signed
from swarm_chain.core.pings import LinkEndpoint, endpoint_digest, require_place, token_hash
from swarm_chain.core.signing import require_signed_by, typed_digest
from swarm_chain.core.units import Address, EpochNumber, Hash32, ProviderId, Signature, window_id
from swarm_chain.ports import Signer

PROBES = 8  # the shortest of them counts
AT_ONCE = 32  # nodes a tick: one that is away costs some seconds

Pinger = Callable[[PingCall], tuple[int | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """What links need: where messages arrive, the key this member pings with, and what pings (None: this one does not)."""

    desk: Desk
    signer: Signer | None
    pinger: Pinger | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPeer:
    """A peer of a node in an epoch, and what is known of their link."""

    peer: Announced
    link: SignedLink | None


def take_endpoint(linking: Linking, endpoint: LinkEndpoint, signature: Signature) -> None:
    """Takes in where a node answers pings in the next epoch; of several the latest counts.

    Raises:
        InvalidInputError: not a live node's, for another epoch than the next, from the future, at a place nobody pings, or
            not signed by the node.
    """
    desk = linking.desk
    sight, params = desk.sight(), desk.network.params
    provider = require_node(sight, endpoint.node)
    if endpoint.epoch != desk.network.epoch_at(sight.now) + 1:
        raise InvalidInputError(
            f"epoch {endpoint.epoch} is not the next one", code="other_epoch", fix="announce before the epoch begins"
        )
    if endpoint.issued_at > sight.now + params.liveness.message_for:
        raise InvalidInputError("the endpoint is from the future", code="expired", fix="sign it with chain time")
    require_place(endpoint, private=bool(params.links.private_hosts))
    require_signed_by(endpoint.node, endpoint_digest(desk.domain, endpoint), signature)
    announced = Announced(
        endpoint=endpoint, signature=signature, provider_id=provider.provider_id, region=provider.region
    )
    store.keep_endpoint(desk.engine, announced)


def peers_of(linking: Linking, epoch: EpochNumber, node: Address) -> tuple[DrawnPeer, ...]:
    """The peers the epoch's seed draws for a node, with what is known of each link.

    Raises:
        UnavailableError: the epoch has no seed here yet.
    """
    engine = linking.desk.engine
    ring = {one.endpoint.node: one for one in store.endpoints_in(engine, epoch)}
    links = store.links_of(engine, epoch, node)
    others = sorted(
        (other, pair) for pair in _pairs(linking, epoch, ring) if node in pair for other in pair if other != node
    )
    return tuple(DrawnPeer(peer=ring[other], link=links.get(pair)) for other, pair in others)


def take_link(linking: Linking, signed: SignedLink) -> None:
    """Takes in a report: proposed by its first end, or signed by both.

    Raises:
        InvalidInputError: of another epoch than the running one, of a pair that was not drawn, or wrongly signed.
        UnavailableError: the epoch has no seed here yet.
    """
    desk, report = linking.desk, signed.report
    if report.epoch != desk.network.epoch_at(desk.sight().now):
        raise InvalidInputError(f"epoch {report.epoch} is not the running one", code="other_epoch")
    ring = {one.endpoint.node: one for one in store.endpoints_in(desk.engine, report.epoch)}
    if report.pair not in _pairs(linking, report.epoch, ring):
        raise InvalidInputError("this pair was not drawn", code="not_drawn", fix="see /v1/links/{epoch}/peers/{node}")
    if signed.second is None:
        require_signed_by(report.first, typed_digest(desk.domain, link_hash(report)), signed.first)
    else:
        require_both_signed(desk.domain, report, signed.first, signed.second)
    store.keep_link(desk.engine, signed)


def ping_due(linking: Linking) -> Mapping[Address, int]:
    """Pings nodes on the running epoch's ring that have not answered yet, once devices are done with its first window.

    Returns:
        Shortest round trips in us of those that answered now.
    """
    desk, signer, pinger = linking.desk, linking.signer, linking.pinger
    sight = desk.sight()
    epoch = desk.network.epoch_at(sight.now)
    if signer is None or pinger is None or not _is_quiet(sight, epoch):
        return {}
    known = store.trips_in(desk.engine, epoch)
    waiting = [one.endpoint for one in store.endpoints_in(desk.engine, epoch) if one.endpoint.node not in known]
    found = {}
    for endpoint in _turn(waiting, desk.clock.monotonic_ms()):
        trips = _trips(pinger, _call(linking, signer, endpoint))
        if trips:
            found[endpoint.node] = min(trips)
            store.keep_trip(desk.engine, epoch, endpoint.node, min(trips))
    return found


def link_measurements(linking: Linking, sight: Sight, epoch: EpochNumber) -> tuple[Measurement, ...]:
    """How the links of every node on an epoch's ring did, as network services; units bound what others prove.

    Args:
        linking: this member.
        sight: the chain.
        epoch: an ended epoch; without a seed nothing was drawn.
    """
    seed = epoch_seed(sight.state.windows, epoch)
    ring = {one.endpoint.node: one for one in store.endpoints_in(linking.desk.engine, epoch)}
    if seed is None or not ring:
        return ()
    params = linking.desk.network.params.links
    links = LinkRound(
        epoch=epoch,
        pairs=_drawn(seed, _providers(ring), params.ahead),
        announced=frozenset(ring),
        reports=store.reports_in(linking.desk.engine, epoch),
        member_rtt_us=store.trips_in(linking.desk.engine, epoch),
        share_bps=params.share_bps,
        slack_us=params.slack_us,
    )
    return _measured(links, {node: one.region for node, one in ring.items()}, params.least_peers)


def _measured(links: LinkRound, regions: Mapping[Address, bytes], least: int) -> tuple[Measurement, ...]:
    near = frozenset(pair for pair in links.pairs if regions[pair[0]] == regions[pair[1]])
    whole, here, there = (_judged(links, pairs, least) for pairs in (links.pairs, near, links.pairs - near))
    return tuple(
        Measurement(
            node=node,
            category=Category.NETWORK,
            units=found.mbps,
            service=Service(
                error_bps=found.error_bps,
                response_us=_rtt(here.get(node)),
                far_response_us=_rtt(there.get(node)),
                jitter_us=found.jitter_us,
            ),
        )
        for node, found in whole.items()
    )


def _judged(links: LinkRound, pairs: frozenset[Pair], least: int) -> Mapping[Address, LinkFinding]:
    """Findings of nodes that have enough peers among some pairs."""
    found: LinkFindings = judge_links(replace(links, pairs=pairs))
    peers = Counter(node for pair in pairs for node in pair)
    return {node: one for node, one in found.nodes.items() if peers[node] >= least}


def _rtt(found: LinkFinding | None) -> int | None:
    return None if found is None else found.rtt_us


def _pairs(linking: Linking, epoch: EpochNumber, ring: Mapping[Address, Announced]) -> frozenset[Pair]:
    seed = epoch_seed(linking.desk.sight().state.windows, epoch)
    if seed is None:
        raise UnavailableError(f"epoch {epoch} has no seed here yet", code="no_epoch_seed", retry_after=1)
    return _drawn(seed, _providers(ring), linking.desk.network.params.links.ahead)


def _providers(ring: Mapping[Address, Announced]) -> tuple[tuple[Address, ProviderId], ...]:
    return tuple((node, one.provider_id) for node, one in ring.items())


@lru_cache(maxsize=4)
def _drawn(seed: Hash32, providers: tuple[tuple[Address, ProviderId], ...], ahead: int) -> frozenset[Pair]:
    return drawn_pairs(seed, dict(providers), ahead)


def _is_quiet(sight: Sight, epoch: EpochNumber) -> bool:
    first = next((one for one in sight.state.windows if one.window_id == window_id(epoch, 0)), None)
    return first is not None and first.state in (WindowState.CLOSED, WindowState.DRAWN)


def _turn(waiting: Sequence[LinkEndpoint], now_ms: int) -> Iterable[LinkEndpoint]:
    """Some of those that wait, others each time: nodes that are away keep nobody from being pinged."""
    start = now_ms // 1000 % max(len(waiting), 1)
    return [*waiting[start:], *waiting[:start]][:AT_ONCE]


def _call(linking: Linking, signer: Signer, endpoint: LinkEndpoint) -> PingCall:
    params = linking.desk.network.params.links
    return PingCall(
        host=endpoint.host,
        port=endpoint.port,
        epoch=endpoint.epoch,
        caller=signer.address,
        token=signer.sign_typed(linking.desk.domain, token_hash(endpoint.epoch, signer.address, endpoint.node)),
        probes=PROBES,
        gap_ms=params.gap_ms,
        timeout_ms=params.timeout_ms,
    )


def _trips(pinger: Pinger, call: PingCall) -> list[int]:
    try:
        return [one for one in pinger(call) if one is not None]
    except UnavailableError:
        return []  # away: it is tried again until the epoch ends
