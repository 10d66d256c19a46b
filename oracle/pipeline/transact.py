"""Sends what the cycle decided, once: stored before broadcast, looked up before anything is sent again, bumped when stuck."""

from dataclasses import dataclass

import structlog
from sqlalchemy import Engine

from oracle.store.outbox import REVERTED, STORED, SUCCEEDED, attempts_of, mark_intent, store_intent
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome
from swarm_chain.ports import ChainWriter, Clock

log = structlog.get_logger()

POLL_SECONDS = 0.25
BUMP_AFTER_MS = 15_000
MAX_REVERTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The outbox and the key it sends with."""

    engine: Engine
    writer: ChainWriter
    clock: Clock
    patience_ms: int = 45_000


def transact(sender: Sender, key: str, call: ContractCall) -> TxOutcome:
    """Brings one intent to its end, whatever happened to earlier attempts.

    Args:
        sender: the outbox.
        key: names the intent, (epoch, action, subject); each succeeds at most once.
        call: what to send; asked of the chain again by `prepare`, which refuses what is already done.

    Returns:
        The outcome that succeeded.

    Raises:
        RejectedError: the chain would refuse it, decoded.
        UnavailableError: not mined in time; the next call goes on where this one stopped.
        InconsistentError: it passed its preflight and was reverted again and again.
    """
    attempts = attempts_of(sender.engine, key)
    settled = _settled(sender, key, tuple(tx for tx, state in attempts if state != REVERTED))
    if settled is not None:
        return settled
    pending = [tx for tx, state in attempts if state == STORED and sender.writer.outcome(tx.hash) is None]
    if sum(state == REVERTED for _, state in attempts) >= MAX_REVERTS:
        raise InconsistentError(
            f"{key} was reverted {MAX_REVERTS} times", fix="read the logs of this member, then restart it"
        )
    if not pending:
        pending = [_sign(sender, key, sender.writer.prepare(call))]
    return _push(sender, key, pending, call)


def _push(sender: Sender, key: str, pending: list[SignedTx], call: ContractCall) -> TxOutcome:
    started = bumped = sender.clock.monotonic_ms()
    sender.writer.broadcast(pending[-1])
    while sender.clock.monotonic_ms() - started < sender.patience_ms:
        settled = _settled(sender, key, tuple(pending))
        if settled is not None:
            return settled
        if sender.clock.monotonic_ms() - bumped >= BUMP_AFTER_MS:
            bumped = sender.clock.monotonic_ms()
            _bump(sender, key, pending, call)
        sender.clock.sleep(POLL_SECONDS)
    raise UnavailableError(f"{key} is not mined yet", code="tx_unknown", retry_after=5)


def _bump(sender: Sender, key: str, pending: list[SignedTx], call: ContractCall) -> None:
    stuck = pending[-1]
    full = SignedTx(
        hash=stuck.hash, raw=stuck.raw, sender=stuck.sender, nonce=stuck.nonce, max_fee_wei=stuck.max_fee_wei, call=call
    )
    try:
        pending.append(_sign(sender, key, sender.writer.bump(full)))
    except InvalidInputError as error:
        log.warning("tx_fee_cap_reached", intent=key, message=error.message)
    sender.writer.broadcast(pending[-1])


def _sign(sender: Sender, key: str, tx: SignedTx) -> SignedTx:
    store_intent(sender.engine, key, tx)
    log.info("tx_signed", intent=key, tx="0x" + tx.hash.hex(), nonce=tx.nonce)
    return tx


def _settled(sender: Sender, key: str, attempts: tuple[SignedTx, ...]) -> TxOutcome | None:
    for tx in attempts:
        outcome = sender.writer.outcome(tx.hash)
        if outcome is None:
            continue
        mark_intent(sender.engine, key, tx, SUCCEEDED if outcome.succeeded else REVERTED)
        log.info("tx_mined", intent=key, tx="0x" + tx.hash.hex(), succeeded=outcome.succeeded, gas=outcome.gas_used)
        if outcome.succeeded:
            return outcome
        raise UnavailableError(f"{key} was reverted", code="tx_reverted", retry_after=2)
    return None
