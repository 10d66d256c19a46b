"""Where a node stands, and what to do next: a pure function of what the chain, the doctor and the agent say. The chain wins.

NEW --doctor--> CHECKED --register--> REGISTERED --run--> ACTIVE <--announced--> MAINTENANCE --SIGTERM--> DRAINING --> REGISTERED
any of them --removed, or the provider retires--> RETIRED; --a court--> SUSPENDED, which ends by itself, or EXCLUDED
"""

from dataclasses import dataclass
from enum import StrEnum

from node.model import Absence
from swarm_chain.core.units import UINT64_MAX, ProviderId, Timestamp, Wei


class NodeState(StrEnum):
    """A node's states."""

    NEW = "new"
    CHECKED = "checked"
    REGISTERED = "registered"
    ACTIVE = "active"
    MAINTENANCE = "maintenance"
    DRAINING = "draining"
    RETIRED = "retired"
    SUSPENDED = "suspended"
    EXCLUDED = "excluded"


_NEXT = {
    NodeState.NEW: "swarm node doctor",
    NodeState.CHECKED: "swarm node register",
    NodeState.REGISTERED: "swarm node run",
    NodeState.ACTIVE: "swarm node why-idle",
    NodeState.MAINTENANCE: "swarm node maintenance list",
    NodeState.DRAINING: "swarm node run",
    NodeState.RETIRED: "swarm stake unbond --all",
    NodeState.SUSPENDED: "swarm slash list",
    NodeState.EXCLUDED: "swarm slash list",
}
REMOVED_NEXT = "swarm node register --folder DIR"  # a removed key never returns: this machine needs another one


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainNodeView:
    """What the chain says of the node; times are unix s. `provider_id` is who added it, for ever; zero: nobody did."""

    provider_id: ProviderId
    suspended_until: Timestamp
    retired: bool
    balance_wei: Wei
    now: Timestamp
    removed_at: Timestamp = Timestamp(0)
    maintenance_starts_at: Timestamp = Timestamp(0)
    maintenance_ends_at: Timestamp = Timestamp(0)

    @property
    def in_maintenance(self) -> bool:
        """True while the node is away as announced."""
        return Absence(starts_at=self.maintenance_starts_at, ends_at=self.maintenance_ends_at).covers(self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSide:
    """What this machine says: nothing blocks the doctor, an agent runs here, and it has been told to stop."""

    is_checked: bool = False
    is_running: bool = False
    is_draining: bool = False


def state_of(chain: ChainNodeView, here: AgentSide) -> NodeState:
    """Where the node stands; what the chain says of it for good or for a time goes before what the machine does.

    Args:
        chain: the chain's view.
        here: the machine's.
    """
    if not chain.provider_id:
        return NodeState.CHECKED if here.is_checked else NodeState.NEW
    if chain.suspended_until > chain.now:
        return NodeState.EXCLUDED if chain.suspended_until >= UINT64_MAX else NodeState.SUSPENDED
    if chain.retired or chain.removed_at:
        return NodeState.RETIRED
    if here.is_running and here.is_draining:
        return NodeState.DRAINING
    if chain.in_maintenance:
        return NodeState.MAINTENANCE
    return NodeState.ACTIVE if here.is_running else NodeState.REGISTERED


def next_command(state: NodeState, chain: ChainNodeView) -> str:
    """What to type next.

    Args:
        state: what `state_of` said.
        chain: the view it said it of; tells a removed node from a retired provider.
    """
    removed = state is NodeState.RETIRED and not chain.retired
    return REMOVED_NEXT if removed else _NEXT[state]
