"""Transactions of the node key: stored before they are sent, sent again until the chain has them, one a purpose."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

import structlog

from swarm_chain.core.model import ContractCall, SignedTx
from swarm_chain.core.units import Address, Hash32, Wei
from swarm_chain.ports import ChainWriter, Clock

log = structlog.get_logger()

RESEND_MS = 30_000
_BYTES = "bytes"  # the one key of an object that stands for bytes; no struct of a call has such a member


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTx:
    """A transaction that may not be mined yet; `sent_ms` is the monotonic clock of its last broadcast."""

    purpose: str
    tx: SignedTx
    sent_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """Where transactions are kept and how they leave."""

    state: sqlite3.Connection
    writer: ChainWriter
    clock: Clock

    def send(self, purpose: str, call: ContractCall) -> None:
        """Simulates and signs a call, stores it under its purpose, and sends it.

        Raises:
            RejectedError: it would revert, or the key cannot pay for it.
            UnavailableError: no endpoint answers; once it is stored it will be sent again.
        """
        tx = self.writer.prepare(call)
        save_transaction(self.state, StoredTx(purpose=purpose, tx=tx, sent_ms=self.clock.monotonic_ms()))
        self.writer.broadcast(tx)
        log.info("transaction_sent", purpose=purpose, nonce=tx.nonce)

    def settle(self) -> None:
        """Forgets transactions that are mined, and sends again those that are not heard of for long."""
        for stored in pending_transactions(self.state):
            outcome = self.writer.outcome(stored.tx.hash)
            if outcome is not None:
                drop_transaction(self.state, stored.purpose)
                log.info("transaction_mined", purpose=stored.purpose, succeeded=outcome.succeeded, block=outcome.block)
            elif not 0 <= self.clock.monotonic_ms() - stored.sent_ms < RESEND_MS:
                self._resend(stored)

    def _resend(self, stored: StoredTx) -> None:
        now_ms = self.clock.monotonic_ms()
        raised = self.writer.bump(stored.tx)
        save_transaction(self.state, StoredTx(purpose=stored.purpose, tx=raised, sent_ms=now_ms))
        self.writer.broadcast(raised)
        log.info("transaction_resent", purpose=stored.purpose, nonce=raised.nonce)


def save_transaction(state: sqlite3.Connection, stored: StoredTx) -> None:
    """Keep a signed transaction before it is broadcast; the newest of a purpose replaces the older."""
    tx = stored.tx
    row = (stored.purpose, tx.hash, tx.raw, tx.sender, tx.nonce, str(tx.max_fee_wei))
    call = (tx.call.contract, tx.call.function, json.dumps(_plain(tx.call.args)))
    state.execute(
        "INSERT OR REPLACE INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, *call, stored.sent_ms)
    )


def drop_transaction(state: sqlite3.Connection, purpose: str) -> None:
    """Forget a transaction whose outcome is known."""
    state.execute("DELETE FROM transactions WHERE purpose = ?", (purpose,))


def pending_purposes(state: sqlite3.Connection) -> frozenset[str]:
    """Purposes of the transactions whose outcome is not known."""
    return frozenset(purpose for (purpose,) in state.execute("SELECT purpose FROM transactions"))


def pending_transactions(state: sqlite3.Connection) -> tuple[StoredTx, ...]:
    """Transactions whose outcome is not known, oldest nonce first."""
    rows = state.execute("SELECT * FROM transactions ORDER BY nonce")
    return tuple(
        StoredTx(
            purpose=purpose,
            tx=SignedTx(
                hash=Hash32(tx_hash),
                raw=raw,
                sender=Address(sender),
                nonce=nonce,
                max_fee_wei=Wei(int(max_fee)),
                call=ContractCall(contract=contract, function=function, args=tuple(_restored(json.loads(args)))),
            ),
            sent_ms=sent_ms,
        )
        for purpose, tx_hash, raw, sender, nonce, max_fee, contract, function, args, sent_ms in rows
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: value.hex()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_BYTES}:
        return bytes.fromhex(value[_BYTES])
    return {name: _restored(item) for name, item in value.items()}
