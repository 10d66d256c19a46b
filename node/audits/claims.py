"""What this machine claims beside its rate, category by category, as the settings say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from node.audits.storage import HeldStorage, StorageClaim
from node.config import NodeSettings
from node.measure.memory import Hold, hold
from node.oracle_client import JsonHttp
from node.ports import Auditee
from node.volume_client import HttpOracleVolumes
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Address
from swarm_chain.ports import Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGrounds:
    """What claims are made from: what the operator claims, whose they are, on which network."""

    settings: NodeSettings
    signer: Signer
    deployment: Deployment
    params: Params

    @property
    def node(self) -> Address:
        """Address of the node key."""
        return self.signer.address

    @property
    def beacon(self) -> Address:
        """Contract that opens windows."""
        return self.deployment.contracts["ChallengeBeacon"]


def auditees(grounds: ClaimGrounds) -> Mapping[Category, Auditee]:
    """Auditees of all that is claimed; what is not claimed has none. Ray must be connected.

    Raises:
        InvalidInputError: a claim that nobody can make.
    """
    made = {category: make(grounds) for category, make in _MAKERS.items()}
    return {category: auditee for category, auditee in made.items() if auditee is not None}


def _memory(grounds: ClaimGrounds) -> Auditee | None:
    if not grounds.settings.memory_mib:
        return None
    from node.audits.actor import RayAuditee
    from node.audits.each_device import EachDevice
    from node.audits.memory import HeldMemory, MemoryClaim

    claim = MemoryClaim(
        chain_id=grounds.deployment.chain_id,
        beacon=grounds.beacon,
        node=grounds.node,
        claim_mib=grounds.settings.memory_mib,
        params=grounds.params.memory,
    )
    return EachDevice(lambda device: RayAuditee(partial(HeldMemory, claim, holder_of(grounds.settings, device))))


def holder_of(settings: NodeSettings, device: int) -> Hold:
    """Where a device's memory is: on the GPU of its number, which the actor sees among all; without GPUs the machine's own."""
    if not settings.gpus:
        return hold
    from node.measure.memory_torch import hold_on

    return partial(hold_on, f"cuda:{device}")


def _training(grounds: ClaimGrounds) -> Auditee | None:
    settings = grounds.settings
    if not settings.training_rate:
        return None
    from node.audits.actor import RayAuditee
    from node.audits.each_device import EachDevice
    from node.audits.trainers import make_trainee
    from node.audits.training import TrainingClaim

    def make(device: int) -> Auditee:
        claim = TrainingClaim(
            node=grounds.node,
            rate=settings.training_rate,
            params=grounds.params.training,
            folder=settings.folder / "training" / str(device),
        )
        return RayAuditee(partial(make_trainee, claim, training_workers(settings)))

    return EachDevice(make)


def training_workers(settings: NodeSettings) -> int:
    """Runs a device trains side by side: its share of the machine's threads, at least one."""
    return max(1, settings.threads // max(1, settings.gpus))


def _storage(grounds: ClaimGrounds) -> Auditee | None:
    if not grounds.settings.storage_mb:
        return None
    members = [HttpOracleVolumes(JsonHttp(url), grounds.deployment) for url in grounds.settings.oracle_urls]
    domain = domain_separator(grounds.deployment.chain_id, grounds.beacon)
    claim = StorageClaim(
        folder=grounds.settings.volumes_folder,
        claim_mb=grounds.settings.storage_mb,
        domain=domain,
        params=grounds.params.storage,
    )
    return HeldStorage(claim, grounds.signer, members)


def _network(grounds: ClaimGrounds) -> Auditee | None:
    if not grounds.settings.network_mbps:
        return None
    from node.audits.line import MemberLines
    from node.audits.network import MeasuredLine

    lines = MemberLines(grounds.settings.oracle_urls)
    return MeasuredLine(grounds.settings.network_mbps, grounds.params.network, lines.of)


# In the order in which the audits of a device are asked for: memory has less time than training takes.
_MAKERS: Mapping[Category, Callable[[ClaimGrounds], Auditee | None]] = {
    Category.MEMORY: _memory,
    Category.TRAINING: _training,
    Category.STORAGE: _storage,
    Category.NETWORK: _network,
}
