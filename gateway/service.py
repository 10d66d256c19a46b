"""A gateway put together: what answers requests."""

from dataclasses import dataclass

from gateway.desk import Desk
from gateway.members import Members
from gateway.receipts import Canaries
from swarm_chain.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Desk, canaries and members of a gateway; `ray_address` is the head that nodes join."""

    desk: Desk
    canaries: Canaries
    members: Members
    clock: Clock
    chain_id: int
    ray_address: str
