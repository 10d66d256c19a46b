"""What one key has on its way: transactions nobody asks for any more are still brought to their end.

A chain mines a key's transactions in the order of their nonces. One that stays behind, its action perhaps done by another
member or no longer wanted, holds up all that follow: it is looked up, sent again, and the first in line is bumped.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby

import structlog
from sqlalchemy import Engine

from oracle.store.leases import Fence
from oracle.store.outbox import REVERTED, SUCCEEDED, SUPERSEDED, Attempt, mark_intent, open_attempts, store_intent
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.model import SignedTx
from swarm_chain.core.units import Address, Hash32
from swarm_chain.ports import ChainWriter, Clock

log = structlog.get_logger()

BUMP_AFTER_MS = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The outbox and the key it sends with; `sent_ms` is when this process last sent each transaction."""

    engine: Engine
    writer: ChainWriter
    address: Address
    clock: Clock
    fence: Fence  # raises once another process of this member has taken over
    patience_ms: int = 45_000
    sent_ms: dict[Hash32, int] = field(default_factory=dict)
    count: Callable[[str], None] = lambda _outcome: None  # told what became of each attempt

    def broadcast(self, tx: SignedTx) -> None:
        """Sends a stored transaction and notes when."""
        self.sent_ms[tx.hash] = self.clock.monotonic_ms()
        self.writer.broadcast(tx)

    def sign(self, key: str, tx: SignedTx) -> SignedTx:
        """Keeps a signed transaction before anybody else sees it."""
        store_intent(self.engine, key, tx, self.fence)
        self.count("signed")
        log.info("tx_signed", intent=key, tx=to_hex(tx.hash), nonce=tx.nonce)
        return tx

    def bumped(self, key: str, stuck: SignedTx) -> SignedTx:
        """A replacement that pays an eighth more, or the same transaction at the fee cap."""
        try:
            return self.sign(key, self.writer.bump(stuck))
        except InvalidInputError as error:
            self.count("fee_cap")
            log.warning("tx_fee_cap_reached", intent=key, message=error.message)
            return stuck


def bring_forward(sender: Sender, but: str = "") -> None:
    """Looks after every nonce of the key that is still open, each at most once in BUMP_AFTER_MS.

    Args:
        sender: the outbox and its key.
        but: the intent its caller looks after itself.

    Raises:
        UnavailableError: no endpoint answers, or another process acts for this member.
    """
    is_first, waiting = True, open_attempts(sender.engine, sender.address)
    if not waiting:
        sender.sent_ms.clear()
    for _, same_nonce in groupby(waiting, key=lambda attempt: attempt.tx.nonce):
        attempts = tuple(same_nonce)
        last = max(sender.sent_ms.get(attempt.tx.hash, -BUMP_AFTER_MS) for attempt in attempts)
        is_due = sender.clock.monotonic_ms() - last >= BUMP_AFTER_MS
        if is_due and attempts[-1].key != but and not _is_mined(sender, attempts):
            _resend(sender, attempts, bump=is_first and last >= 0)
        is_first = False


def _is_mined(sender: Sender, attempts: Iterable[Attempt]) -> bool:
    for attempt in attempts:
        outcome = sender.writer.outcome(attempt.tx.hash)
        if outcome is not None:
            state = SUCCEEDED if outcome.succeeded else REVERTED
            mark_intent(sender.engine, attempt.key, attempt.tx, state)
            sender.count(state)
            log.info("tx_mined", intent=attempt.key, tx=to_hex(attempt.tx.hash), state=state, gas=outcome.gas_used)
            return True
    return False


def _resend(sender: Sender, attempts: tuple[Attempt, ...], *, bump: bool) -> None:
    key, tx = attempts[-1].key, attempts[-1].tx
    try:
        sender.broadcast(sender.bumped(key, tx) if bump else tx)
    except RejectedError as error:
        if error.code == "nonce_used":
            _close(sender, attempts)
            return
        # "underpriced": one that pays more waits already. "insufficient_funds": the operator's to mend, seen in the log.
        log.warning("tx_held_up", intent=key, tx=to_hex(tx.hash), nonce=tx.nonce, code=error.code)
        return
    log.info("tx_brought_forward", intent=key, tx=to_hex(tx.hash), nonce=tx.nonce, bumped=bump)


def _close(sender: Sender, attempts: tuple[Attempt, ...]) -> None:
    if _is_mined(sender, attempts):
        return  # between the look and the broadcast
    for attempt in attempts:
        mark_intent(sender.engine, attempt.key, attempt.tx, SUPERSEDED)
    sender.count(SUPERSEDED)
    log.warning("tx_superseded", intent=attempts[-1].key, nonce=attempts[-1].tx.nonce)
