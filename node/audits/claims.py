"""What this machine claims beside its rate, category by category, as the settings say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from node.config import NodeSettings
from node.ports import Auditee
from swarm_chain.core.kinds import Category
from swarm_chain.core.model import Deployment
from swarm_chain.core.params import Params
from swarm_chain.core.units import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimGrounds:
    """What claims are made from: what the operator claims, whose they are, on which network."""

    settings: NodeSettings
    node: Address
    deployment: Deployment
    params: Params

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
    from node.audits.memory import HeldMemory, MemoryClaim

    claim = MemoryClaim(
        chain_id=grounds.deployment.chain_id,
        beacon=grounds.beacon,
        node=grounds.node,
        claim_mib=grounds.settings.memory_mib,
        params=grounds.params.memory,
    )
    return RayAuditee(partial(HeldMemory, claim))


def _network(grounds: ClaimGrounds) -> Auditee | None:
    if not grounds.settings.network_mbps:
        return None
    from node.audits.line import MemberLines
    from node.audits.network import MeasuredLine

    lines = MemberLines(grounds.settings.oracle_urls)
    return MeasuredLine(grounds.settings.network_mbps, grounds.params.network, lines.of)


_MAKERS: Mapping[Category, Callable[[ClaimGrounds], Auditee | None]] = {
    Category.MEMORY: _memory,
    Category.NETWORK: _network,
}
