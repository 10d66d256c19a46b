"""Sends what the cycle decided, once: stored before broadcast, looked up before anything is sent again, bumped when stuck.

    stored --mined--> succeeded | reverted
    stored --another transaction took its nonce--> superseded; still looked up, never sent again

Every look asks the chain about all attempts, so a kill at any point is like a long wait.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import structlog

from oracle.pipeline.backlog import BUMP_AFTER_MS, Sender, bring_forward
from oracle.store.outbox import (
    REVERTED,
    SUCCEEDED,
    SUPERSEDED,
    attempts_of,
    mark_intent,
)
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError, RejectedError, UnavailableError
from swarm_chain.core.model import ContractCall, SignedTx, TxOutcome

log = structlog.get_logger()

POLL_SECONDS = 0.25
MAX_REVERTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Intent:
    """What is to happen once, by its name in the outbox."""

    key: str
    call: ContractCall


def transact(sender: Sender, key: str, call: ContractCall) -> TxOutcome:
    """Brings one intent to its end, whatever happened to earlier attempts.

    Args:
        sender: the outbox.
        key: names the intent, (epoch, action, subject); each succeeds at most once.
        call: what to send; asked of the chain again by `prepare`, which refuses what is already done.

    Returns:
        The outcome that succeeded.

    Raises:
        RejectedError: the chain would refuse it, or mined and reverted it; decoded.
        UnavailableError: not mined in time, or its nonce went to another transaction; the next call goes on from here.
        InconsistentError: it passed its preflight and was reverted again and again.
    """
    intent = _Intent(key=key, call=call)
    mined = _mined(sender, intent)
    if mined is not None:
        return mined
    pending = _pending(sender, intent)
    if pending is None:
        _require_few_reverts(sender, key)
        bring_forward(sender, but=key)
        pending = sender.sign(key, sender.writer.prepare(call))
    return _push(sender, intent, pending)


def _push(sender: Sender, intent: _Intent, tx: SignedTx) -> TxOutcome:
    started = bumped = sender.clock.monotonic_ms()
    _broadcast(sender, intent, tx)
    while sender.clock.monotonic_ms() - started < sender.patience_ms:
        mined = _mined(sender, intent)
        if mined is not None:
            return mined
        if sender.clock.monotonic_ms() - bumped >= BUMP_AFTER_MS:
            bumped = sender.clock.monotonic_ms()
            bring_forward(sender, but=intent.key)
            tx = sender.bumped(intent.key, tx)
            _broadcast(sender, intent, tx)
        sender.clock.sleep(POLL_SECONDS)
    sender.count("unknown")
    raise UnavailableError(f"{intent.key} is not mined yet", code="tx_unknown", retry_after=5)


def _broadcast(sender: Sender, intent: _Intent, tx: SignedTx) -> None:
    try:
        sender.broadcast(tx)
    except RejectedError as error:
        if error.code == "underpriced":
            return  # one with this nonce waits already: it is mined, or the next bump outbids it
        if error.code != "nonce_used":
            raise
        if _mined(sender, intent) is None:
            _supersede(sender, intent, tx)


def _supersede(sender: Sender, intent: _Intent, tx: SignedTx) -> None:
    same_nonce = (one for one, state in attempts_of(sender.engine, intent.key) if one.nonce == tx.nonce)
    for one in same_nonce:
        mark_intent(sender.engine, intent.key, one, SUPERSEDED)
    sender.count("superseded")
    log.warning("tx_superseded", intent=intent.key, tx=to_hex(tx.hash), nonce=tx.nonce)
    raise UnavailableError(
        f"{intent.key}: another transaction of this key took nonce {tx.nonce}", code="tx_superseded", retry_after=1
    )


def _pending(sender: Sender, intent: _Intent) -> SignedTx | None:
    """The newest attempt that may still be mined; one that succeeded and was undone by a reorganisation is one too."""
    attempts = [(tx, state) for tx, state in attempts_of(sender.engine, intent.key) if tx.sender == sender.address]
    used = {tx.nonce for tx, state in attempts if state in (REVERTED, SUPERSEDED)}
    return next((replace(tx, call=intent.call) for tx, _ in reversed(attempts) if tx.nonce not in used), None)


def _mined(sender: Sender, intent: _Intent) -> TxOutcome | None:
    """Outcome of the attempt that succeeded, None if the chain knows of none.

    Raises:
        RejectedError: an attempt was reverted since the last look.
    """
    for tx, state in _worth_a_look(attempts_of(sender.engine, intent.key)):
        outcome = sender.writer.outcome(tx.hash)
        if outcome is None:
            continue
        found = SUCCEEDED if outcome.succeeded else REVERTED
        if found != state:
            mark_intent(sender.engine, intent.key, tx, found)
            sender.count(found)
            log.info("tx_mined", intent=intent.key, tx=to_hex(tx.hash), state=found, gas=outcome.gas_used)
        if outcome.succeeded:
            return outcome
        raise sender.writer.why_reverted(tx, outcome)
    return None


def _worth_a_look(attempts: Iterable[tuple[SignedTx, str]]) -> Iterable[tuple[SignedTx, str]]:
    return ((tx, state) for tx, state in attempts if state != REVERTED)


def _require_few_reverts(sender: Sender, key: str) -> None:
    if sum(state == REVERTED for _, state in attempts_of(sender.engine, key)) >= MAX_REVERTS:
        raise InconsistentError(
            f"{key} was reverted {MAX_REVERTS} times although its preflight passed",
            fix="compare this member's endpoints: one of them does not show the chain as it is",
            code="reverted_again",
        )
