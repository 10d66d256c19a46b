"""Signs of life: the last heartbeat of each node, and the roll calls of an epoch."""

from collections.abc import Mapping

from sqlalchemy import Engine, and_, func, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.evidence import Instant
from oracle.store.tables import heartbeats, roll_calls
from swarm_chain.core.units import Address, EpochNumber


def save_heartbeat(engine: Engine, node: Address, sequence: int, arrived: Instant) -> bool:
    """Keeps a sign of life if its sequence is newer than the last one's; a replayed heartbeat keeps nobody alive."""
    values = {"sequence": sequence, "arrived_ms": arrived.ms, "boot": arrived.boot}
    with writing(engine) as connection:
        if insert_new(connection, heartbeats, {"node": node, **values}):
            return True
        newer = and_(heartbeats.c.node == node, heartbeats.c.sequence < sequence)
        return connection.execute(update(heartbeats).where(newer).values(**values)).rowcount == 1


def adopt_heartbeats(engine: Engine, now: Instant) -> int:
    """Counts heartbeats that arrived under another boot as arrived now: how old they are nobody can say any more.

    Returns:
        How many there were.
    """
    foreign = update(heartbeats).where(heartbeats.c.boot != now.boot)
    with writing(engine) as connection:
        return connection.execute(foreign.values(arrived_ms=now.ms, boot=now.boot)).rowcount


def last_heartbeats(engine: Engine, boot: str) -> Mapping[Address, int]:
    """Monotonic milliseconds of each node's last heartbeat that arrived under a boot."""
    query = select(heartbeats.c.node, heartbeats.c.arrived_ms).where(heartbeats.c.boot == boot)
    with engine.connect() as connection:
        return {Address(node): arrived for node, arrived in connection.execute(query)}


def save_roll_call(engine: Engine, epoch: EpochNumber, present: Mapping[Address, bool]) -> None:
    """Counts one roll call of an epoch: each node's total goes up, and its present if it answered lately."""
    with writing(engine) as connection:
        for node, here in sorted(present.items()):
            insert_new(connection, roll_calls, {"epoch": epoch, "node": node, "present": 0, "total": 0})
            connection.execute(
                update(roll_calls)
                .where(and_(roll_calls.c.epoch == epoch, roll_calls.c.node == node))
                .values(present=roll_calls.c.present + int(here), total=roll_calls.c.total + 1)
            )


def roll_call_counts(engine: Engine, epoch: EpochNumber) -> tuple[tuple[Address, int, int], ...]:
    """(node, present, total) of an epoch, ordered by node."""
    query = (
        select(roll_calls.c.node, roll_calls.c.present, roll_calls.c.total)
        .where(roll_calls.c.epoch == epoch)
        .order_by(func.lower(roll_calls.c.node))
    )
    with engine.connect() as connection:
        return tuple((Address(node), present, total) for node, present, total in connection.execute(query))
