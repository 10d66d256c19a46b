"""Several epochs of a network on a chain in memory, and shelves that publish them honestly or not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from oracle.audit import Auditor
from oracle.consensus.bundle import EvidencePool, assemble_bundle
from oracle.history import advance_to, before
from oracle.mirror import Mirrors, Source
from oracle.model import Network, Observation, PreviousEpoch, RollCall, SignedObservation, network_of
from oracle.publish.observation import content_hash, ordered_observation
from oracle.publish.report import PublishedEpoch, build_report
from oracle.publish.verdicts import sign_verdicts
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import ChainState
from swarm_chain.core.signing import domain_separator, observation_hash
from swarm_chain.core.units import ZERO_HASH, BlockNumber, EpochNumber
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeSigner
from tests.oracle_world import previous_of

MEMBER = FakeSigner("oracle")
Damage = Callable[[bytes], bytes]


@dataclass(slots=True, kw_only=True)
class Shelf:
    """What one member publishes; `damaged` changes bytes by (epoch, name), `lacks` leaves them out."""

    name: str
    epochs: dict[int, dict[str, bytes]]
    signed: dict[int, bytes]
    damaged: dict[tuple[int, str], Damage] = field(default_factory=dict)
    lacks: set[tuple[int, str]] = field(default_factory=set)
    away: bool = False
    asked: list[tuple[int, str]] = field(default_factory=list)

    def document(self, epoch: int, name: str, most: int) -> bytes:
        """A document as this member gives it."""
        self.asked.append((epoch, name))
        if self.away:
            raise UnavailableError("no answer", code="oracle_unreachable")
        if (epoch, name) in self.lacks or name not in self.epochs.get(epoch, {}):
            raise InvalidInputError(f"epoch {epoch} has no {name} here", code="unknown_document")
        content = self.epochs[epoch][name]
        return self.damaged.get((epoch, name), bytes)(content)[:most]

    def verdicts(self, epoch: int) -> tuple[bytes, ...]:
        """The verdicts it signed."""
        if self.away:
            raise UnavailableError("no answer", code="oracle_unreachable")
        return (self.signed[epoch],) if epoch in self.signed else ()


class AuditWorld:
    """A network of one member whose providers are only alive; every epoch that is settled is on chain."""

    def __init__(self) -> None:
        self.chain = FakeChain()
        now = self.chain.block("latest").timestamp
        self.network: Network = network_of(self.chain.deployment, load_params("minimal"), now)
        self.published: dict[int, PublishedEpoch] = {}
        self.states: dict[int, ChainState] = {}
        self.signed: dict[int, bytes] = {}
        self._roots = count(1)
        self.ground: PreviousEpoch | None = None  # what the next report builds on
        self.chain.program.view("EpochOracle", "processedHash", _processed_hash)
        self.chain.append("EpochOracle", "MemberAdded", member=MEMBER.address, members=1, quorum=1)
        for number in (1, 2):
            self.register(number)
        self.chain.mine()

    @property
    def epoch(self) -> EpochNumber:
        """Epoch of the latest block."""
        return self.network.epoch_at(self.chain.block("latest").timestamp)

    def register(self, number: int) -> None:
        """A provider with a node."""
        owner = FakeSigner(f"owner {number}").address
        identity = {"owner": owner, "operator": owner, "payout": owner, "hardwareClass": 1, "region": b"eu-west\0"}
        self.chain.append("ProviderRegistry", "ProviderRegistered", providerId=number, **identity)
        node = FakeSigner(f"node {number}").address
        self.chain.append("ProviderRegistry", "NodeAdded", providerId=number, node=node)

    def pass_epoch(self) -> None:
        """Ends the running epoch without a report."""
        end = self.network.epoch_end(self.epoch)
        self.chain.mine(seconds=end - 1 - self.chain.block("latest").timestamp)
        self.chain.mine(blocks=2)

    def settle(self) -> PublishedEpoch:
        """Ends the running epoch and puts its honest report on chain."""
        epoch = self.epoch
        self.pass_epoch()
        ref_block = self.chain.block(self.chain.block("latest").number - 2)
        state = advance_to(self.chain, before(self.chain, BlockNumber(0)), ref_block)
        ground = self.ground.manifest_hash if self.ground else ZERO_HASH
        pool = EvidencePool(observations=(self._observed(epoch, state),))
        bundle = assemble_bundle(pool, epoch, state, ground, self.network)
        published = build_report(state, bundle, self.ground, self.network)
        self._accept(published)
        self.signed[epoch] = sign_verdicts(epoch, published.passed, self.network, MEMBER)
        self.published[epoch], self.states[epoch] = published, state
        return published

    def shelf(self, name: str = "first") -> Shelf:
        """A member that publishes all that was settled."""
        epochs = {epoch: published.documents() for epoch, published in self.published.items()}
        return Shelf(name=name, epochs=epochs, signed=dict(self.signed))

    def auditor(self, *sources: Source) -> Auditor:
        """An audit that knows nothing yet."""
        return Auditor(self.chain, self.chain.deployment, self.network, Mirrors(sources))

    def _observed(self, epoch: EpochNumber, state: ChainState) -> SignedObservation:
        calls = tuple(RollCall(node=node, present=9, total=10) for one in state.providers for node in one.nodes)
        observation = ordered_observation(Observation(epoch=epoch, member=MEMBER.address, roll_calls=calls))
        domain = domain_separator(self.network.chain_id, self.network.beacon)
        hashed = observation_hash(epoch, MEMBER.address, content_hash(observation))
        return SignedObservation(observation=observation, signature=MEMBER.sign_typed(domain, hashed))

    def _accept(self, published: PublishedEpoch) -> None:
        report = published.report
        self.chain.program.storage["processed", report.epoch] = published.report_hash
        self.chain.append(
            "RewardSettlement",
            "ReportAccepted",
            rootIndex=next(self._roots),
            epoch=report.epoch,
            root=report.root,
            outcomesRoot=report.outcomes_root,
            manifestHash=report.manifest_hash,
            leafCount=report.leaf_count,
            totalReward=report.total_reward_wei,
            totalPenalty=report.total_penalty_wei,
            activatesAt=self.chain.block("latest").timestamp,
        )
        self.chain.mine()
        self.ground = previous_of(published)


def flip(at: int) -> Damage:
    """One bit of one byte changed."""
    return lambda content: content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _processed_hash(storage: dict[object, object], epoch: int) -> object:
    return storage.get(("processed", epoch), ZERO_HASH)
