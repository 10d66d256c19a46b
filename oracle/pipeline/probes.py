"""Serving, as a member measures it: nodes offer, and in its turn the member climbs a ladder of rates at each of them.

    take_offer --> serving_offers --my turn, nobody computes--> rung, rung, … --judge--> probes --> probe_measurements

A rung during which a window opened says nothing and ends the attempt; the next turn begins anew. Source: docs/spec/serving.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from oracle.economy import Service
from oracle.judge.serving import ServingCase, ServingFinding, judge_serving, rung_fault
from oracle.model import Measurement, Network
from oracle.pipeline.desk import Desk, require_node
from oracle.pipeline.probe_process import ProbeAsk, Prober
from oracle.pipeline.probe_turns import epoch_seed, is_busy, may_begin, turn_of
from oracle.pipeline.sight import Sight
from oracle.store import serving as store
from oracle.store.serving import Probe
from swarm_chain.adapters.completions import Shot
from swarm_chain.core.economics import ServiceLevel
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.probing import Rung, rates_of, rung_seed
from swarm_chain.core.serving import (
    ServingOffer,
    model_name,
    model_seed,
    offer_digest,
    require_endpoint,
    require_rate,
)
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature

AT_ONCE = 4  # nodes probed side by side: a member must keep up with the sum of their rates
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """What probing needs: where offers arrive, who probes, unpredictable bytes, and what measures (None: this one does not)."""

    desk: Desk
    member: Address | None
    entropy: Callable[[int], bytes]
    prober: Prober | None

    @property
    def network(self) -> Network:
        """Numbers of the preset."""
        return self.desk.network


@dataclass(slots=True, kw_only=True)
class _Ladder:
    offer: ServingOffer
    secret: Hash32
    rates: Iterator[int]
    rungs: list[Rung] = field(default_factory=list)


def take_offer(probing: Probing, offer: ServingOffer, signature: Signature) -> None:
    """Takes an offer in; of several for an epoch the latest counts.

    Raises:
        InvalidInputError: not a live node's, for another member or epoch, an impossible rate, a URL no member would ask,
            from the future, or not signed by the node.
        UnavailableError: the epoch has no seed here yet.
    """
    desk, network = probing.desk, probing.network
    sight, serving = desk.sight(), network.params.serving
    require_node(sight, offer.node)
    if offer.member != probing.member:
        raise InvalidInputError(
            f"the offer is for member {offer.member}", code="other_member", fix="ask the member that /v1/status names"
        )
    if offer.epoch != network.epoch_at(sight.now):
        raise InvalidInputError(f"epoch {offer.epoch} is not the running one", code="other_epoch")
    if offer.issued_at > sight.now + network.params.liveness.message_for:
        raise InvalidInputError("the offer is from the future", code="expired", fix="sign it with current chain time")
    require_rate(serving, offer.rate)
    require_endpoint(offer.url, private=bool(serving.private_hosts))
    require_signed_by(offer.node, offer_digest(desk.domain, offer), signature)
    if epoch_seed(sight.state.windows, offer.epoch) is None:
        raise UnavailableError(f"epoch {offer.epoch} has no seed here yet", code="no_epoch_seed", retry_after=1)
    store.keep_offer(desk.engine, offer, signature)


def probe_due(probing: Probing) -> tuple[Probe, ...]:
    """Probes the nodes whose turn it is, a few side by side; takes as long as their ladders.

    Returns:
        What was found; nothing where a window opened meanwhile.

    Raises:
        UnavailableError: this machine cannot probe now.
    """
    begun = probing.desk.sight()
    if probing.prober is None:
        return ()
    ladders = [
        _Ladder(
            offer=offer,
            secret=Hash32(probing.entropy(SECRET_BYTES)),
            rates=rates_of(probing.network.params.serving, offer.rate),
        )
        for offer in _due(probing, begun)[:AT_ONCE]
    ]
    climbing = ladders
    while climbing:
        climbing = _climb(probing, probing.prober, begun, climbing)
        if _is_disturbed(probing, begun):
            return ()
    return tuple(found for ladder in ladders for found in _judged(probing, begun, ladder))


def probe_measurements(probing: Probing, epoch: EpochNumber) -> tuple[Measurement, ...]:
    """What this member's probes of an epoch come to: one measurement a node that offered, also where nothing was proven."""
    engine = probing.desk.engine
    findings = {probe.node: probe.finding for probe in store.probes_in(engine, epoch)}
    return tuple(_measurement(offer.node, findings.get(offer.node)) for offer in store.offers_in(engine, epoch))


def _due(probing: Probing, sight: Sight) -> list[ServingOffer]:
    network, member = probing.network, probing.member
    if member is None:
        return []
    epoch, windows = network.epoch_at(sight.now), sight.state.windows
    probed = {probe.node for probe in store.probes_in(probing.desk.engine, epoch)}
    offers = (offer for offer in store.offers_in(probing.desk.engine, epoch) if offer.node not in probed)
    return [
        offer
        for offer in offers
        if offer.node in sight.nodes
        and may_begin(
            turn_of(windows, network, sight.now, offer.node, sight.state.members),
            member,
            offer.rate,
            network,
            sight.now,
        )
    ]


def _climb(probing: Probing, prober: Prober, begun: Sight, ladders: Sequence[_Ladder]) -> list[_Ladder]:
    """One rung further on every ladder; gives those that go on."""
    params = probing.network.params
    wanted = [(ladder, rate) for ladder in ladders for rate in (next(ladder.rates, None),) if rate is not None]
    if not wanted:
        return []
    model = _model_seed(probing.network, begun)
    rungs = prober.measure([_ask(probing.network, ladder, rate, model) for ladder, rate in wanted])
    for (ladder, _), rung in zip(wanted, rungs, strict=True):
        ladder.rungs.append(rung)
    return [
        ladder
        for ladder, _ in wanted
        if not rung_fault(ladder.rungs[-1], _level(probing.network, begun, ladder.offer.node), params.serving)
    ]


def _ask(network: Network, ladder: _Ladder, rate: int, model: Hash32) -> ProbeAsk:
    shot = Shot(
        endpoint=ladder.offer.url,
        model=model_name(model),
        seed=rung_seed(ladder.secret, rate),
        rate=rate,
        params=network.params.serving,
    )
    return ProbeAsk(shot=shot, model=model)


def _level(network: Network, sight: Sight, node: Address) -> ServiceLevel:
    """What answers of a node are held against: the level of its provider's class."""
    provider = sight.nodes.get(node)
    return network.params.services.judged(provider.hardware_class if provider else 0, Category.SERVING)


def _model_seed(network: Network, sight: Sight) -> Hash32:
    epoch = network.epoch_at(sight.now)
    seed = epoch_seed(sight.state.windows, epoch)
    if seed is None:
        raise UnavailableError(f"epoch {epoch} has no seed here", code="no_epoch_seed")
    return model_seed(network.chain_id, network.beacon, epoch, seed)


def _is_disturbed(probing: Probing, begun: Sight) -> bool:
    sight, network = probing.desk.sight(), probing.network
    elsewhere = network.epoch_at(sight.now) != network.epoch_at(begun.now)
    return elsewhere or is_busy(sight.state.windows, sight.now, network.params.serving.busy_for)


def _judged(probing: Probing, begun: Sight, ladder: _Ladder) -> Iterator[Probe]:
    params, offer = probing.network.params, ladder.offer
    case = ServingCase(claim=offer.rate, rungs=tuple(ladder.rungs))
    finding = judge_serving(case, _level(probing.network, begun, offer.node), params.serving)
    if finding is not None:  # else this member could not measure: it tries again in its next turn
        probe = Probe(epoch=offer.epoch, node=offer.node, claim=offer.rate, probed_at=begun.now, finding=finding)
        store.keep_probe(probing.desk.engine, probe)
        yield probe


def _measurement(node: Address, found: ServingFinding | None) -> Measurement:
    if found is None:
        return Measurement(node=node, category=Category.SERVING, units=0)
    service = Service(error_bps=found.error_bps, response_us=found.p95_us)
    return Measurement(node=node, category=Category.SERVING, units=found.units, service=service)
