"""The outbox: every signed transaction is here before it is anywhere else."""

from dataclasses import dataclass

from sqlalchemy import Engine, RowMapping, and_, func, select, update

from oracle.store.engine import insert_new, writing
from oracle.store.leases import Fence
from oracle.store.tables import intents
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.units import Address, Wei

STORED, SUCCEEDED, REVERTED, SUPERSEDED = "stored", "succeeded", "reverted", "superseded"


def store_intent(engine: Engine, key: str, tx: SignedTx, fence: Fence) -> None:
    """Keeps one more signed attempt at an intent, before its first broadcast.

    Args:
        engine: the store.
        key: names the intent.
        tx: signed, sent nowhere yet.
        fence: raises if this process may not act any more; asked in the transaction that keeps the attempt.

    Raises:
        UnavailableError: another process has taken over, or kept an attempt at the same time.
    """
    with writing(engine) as connection:
        fence(connection)
        attempts = connection.execute(
            select(func.count()).select_from(intents).where(intents.c.key == key)
        ).scalar_one()
        row = {
            "key": key,
            "attempt": attempts,
            "tx_hash": to_hex(tx.hash),
            "raw": tx.raw,
            "sender": tx.sender,
            "nonce": tx.nonce,
            "max_fee_wei": str(tx.max_fee_wei),
            "contract": tx.call.contract,
            "function": tx.call.function,
            "state": STORED,
        }
        if not insert_new(connection, intents, row):
            raise UnavailableError(f"another process signs {key} too", code="intent_raced", retry_after=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One signed attempt at an intent; its call has no arguments, the raw bytes do."""

    key: str
    tx: SignedTx


def attempts_of(engine: Engine, key: str) -> tuple[tuple[SignedTx, str], ...]:
    """Signed attempts at an intent with their states, oldest first; their calls have no arguments, the raw bytes do."""
    query = select(intents).where(intents.c.key == key).order_by(intents.c.attempt)
    with engine.connect() as connection:
        rows = connection.execute(query).mappings().all()
    return tuple((_transaction(row), row["state"]) for row in rows)


def open_attempts(engine: Engine, sender: Address) -> tuple[Attempt, ...]:
    """Attempts of a key with nonces that no transaction is known to have used, by nonce, the one that pays most last."""
    mine = intents.c.sender == sender
    used = select(intents.c.nonce).where(and_(mine, intents.c.state != STORED))
    query = select(intents).where(and_(mine, intents.c.nonce.not_in(used)))
    with engine.connect() as connection:
        rows = connection.execute(query).mappings().all()
    found = (Attempt(key=row["key"], tx=_transaction(row)) for row in rows)
    return tuple(sorted(found, key=lambda attempt: (attempt.tx.nonce, attempt.tx.max_fee_wei)))


def was_signed(engine: Engine, prefix: str) -> bool:
    """Whether any attempt at an intent whose key begins like this was ever kept."""
    query = select(intents.c.key).where(intents.c.key.startswith(prefix, autoescape=True)).limit(1)
    with engine.connect() as connection:
        return connection.execute(query).first() is not None


def mark_intent(engine: Engine, key: str, tx: SignedTx, state: str) -> None:
    """Records what the chain said of an attempt."""
    with writing(engine) as connection:
        connection.execute(
            update(intents).where(and_(intents.c.key == key, intents.c.tx_hash == to_hex(tx.hash))).values(state=state)
        )


def _transaction(row: RowMapping) -> SignedTx:
    return SignedTx(
        hash=hash_from_hex(row["tx_hash"]),
        raw=bytes(row["raw"]),
        sender=Address(row["sender"]),
        nonce=row["nonce"],
        max_fee_wei=Wei(int(row["max_fee_wei"])),
        call=ContractCall(contract=row["contract"], function=row["function"]),
    )
