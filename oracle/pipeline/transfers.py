"""The two transfers of a bandwidth audit: a payload goes down, and comes back in a drawn order.

    begin_download --clock--> pieces … --> take_answer (down is over) --> begin_upload --> check … --> end_upload (up is over)

Only so many are under way at a time, for they share this member's own line; a seat is the audit's from its first byte
down to its last byte up. Source: docs/spec/network.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock

from oracle.pipeline.audits import Auditing, require_time
from oracle.pipeline.desk import require_node
from oracle.store.audits import Audit, audit_of, keep_openings
from oracle.store.evidence import Instant
from oracle.store.transfers import Transfer, begin_transfer, keep_landed, keep_sent, transfer_of
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.network import BLOCK_BYTES, payload_blocks
from swarm_chain.core.payload import (
    SECRET_BYTES,
    PayloadKey,
    PayloadRoot,
    UploadCheck,
    payload_block,
    payload_key,
    upload_order,
)
from swarm_chain.core.units import Hash32

PIECE_BLOCKS = 16  # blocks made at a time: 256 KiB
SEEN = b"[]"  # as openings: what came back was looked at as it came, and nothing of it is kept
OTHER_CLOCK, WRONG_BYTES = "other_clock", "wrong_bytes"
_TRANSFERS = 2  # down and up


@dataclass(slots=True)
class _Seat:
    until_ms: int
    sending: bool = True


class Seats:
    """Audits whose payload is under way, so many at most; a seat that was not given back lapses.

    Args:
        at_once: how many.
        lasts_ms: how long a seat is kept.
        monotonic_ms: the member's clock.
    """

    def __init__(self, at_once: int, lasts_ms: int, monotonic_ms: Callable[[], int]) -> None:
        self._at_once = at_once
        self._lasts_ms = lasts_ms
        self._now = monotonic_ms
        self._taken: dict[Hash32, _Seat] = {}
        self._lock = Lock()

    def take(self, audit_id: Hash32) -> None:
        """Takes a seat to send from, or goes on from the one the audit has.

        Raises:
            UnavailableError: all are taken, or this audit's payload is being sent (code "line_busy").
        """
        with self._lock:
            now = self._now()
            self._taken = {one: seat for one, seat in self._taken.items() if seat.until_ms > now}
            seat = self._taken.get(audit_id)
            if seat.sending if seat else len(self._taken) >= self._at_once:
                raise UnavailableError("this member's line is in use", code="line_busy", retry_after=1)
            until_ms = seat.until_ms if seat else now + self._lasts_ms
            self._taken[audit_id] = _Seat(until_ms=until_ms)

    def sent(self, audit_id: Hash32) -> None:
        """Nothing more is being sent for now; the seat is kept for the way back."""
        with self._lock:
            if audit_id in self._taken:
                self._taken[audit_id].sending = False

    def give_back(self, audit_id: Hash32) -> None:
        """Frees a seat before it lapses."""
        with self._lock:
            self._taken.pop(audit_id, None)


def seats_of(auditing: Auditing) -> Seats:
    """The seats of a member."""
    network = auditing.desk.network.params.network
    return Seats(network.at_once, _TRANSFERS * network.limit_ms, auditing.desk.clock.monotonic_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A payload to be sent: `blocks` blocks of its key."""

    key: PayloadKey
    blocks: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.blocks * BLOCK_BYTES

    def pieces(self) -> Iterator[bytes]:
        """All of it, a piece at a time."""
        for first in range(0, self.blocks, PIECE_BLOCKS):
            last = min(first + PIECE_BLOCKS, self.blocks)
            yield b"".join([payload_block(self.key, index) for index in range(first, last)])


def begin_download(auditing: Auditing, seats: Seats, audit_id: Hash32) -> Payload:
    """Starts the clock of the way down, unless it runs.

    Raises:
        InvalidInputError: no such audit, not of bandwidth, its node is gone, or the time after the close is over.
        RejectedError: it was answered (code "answered"), or its time is over (code "too_late").
        UnavailableError: too many payloads are under way.
    """
    audit = _bandwidth_audit(auditing, audit_id)
    require_node(auditing.desk.sight(), audit.node)
    require_time(auditing.desk, audit.window_id, auditing.desk.network.params.network.ask_for)
    if audit.root is not None:
        raise RejectedError("this audit was answered", code="answered", fix="send the payload back in the drawn order")
    seats.take(audit_id)
    now = auditing.desk.instant
    fresh = Transfer(audit_id=audit_id, secret=auditing.entropy(SECRET_BYTES), began=now)
    transfer = begin_transfer(auditing.desk.engine, fresh)
    if transfer.began.boot != now.boot or now.ms - transfer.began.ms > auditing.desk.network.params.network.limit_ms:
        seats.give_back(audit_id)
        raise RejectedError("this payload was asked for long ago", code="too_late", fix="claim what the line moves")
    return _payload(auditing, audit, transfer)


def sent_pieces(auditing: Auditing, seats: Seats, payload: Payload) -> Iterator[bytes]:
    """The pieces of a payload; its root is kept before the last one leaves, for the answer may follow at once."""
    audit_id = payload.key.audit_id
    hashed, left = PayloadRoot(audit_id), payload.size
    try:
        for piece in payload.pieces():
            hashed.update(piece)
            left -= len(piece)
            if not left:
                keep_sent(auditing.desk.engine, audit_id, hashed.root)
            yield piece
    finally:
        seats.sent(audit_id)


def begin_upload(auditing: Auditing, audit_id: Hash32) -> UploadCheck:
    """What to hold an upload against; its clock runs since the answer.

    Raises:
        InvalidInputError: no such audit, not of bandwidth, or not answered (code "no_draw").
        RejectedError: the answer was wrong, or an upload came before (code "not_due").
    """
    audit = _bandwidth_audit(auditing, audit_id)
    if audit.root is None:
        raise InvalidInputError("nothing is drawn before the answer", code="no_draw", fix="answer it first")
    transfer = transfer_of(auditing.desk.engine, audit_id)
    if transfer is None or transfer.over or transfer.sent_root != audit.root:
        _look_at(auditing, audit_id)  # nothing that comes now can change what the judge will find
        raise RejectedError("this audit waits for no upload", code="not_due", fix="see GET /v1/audits/{node}")
    payload = _payload(auditing, audit, transfer)
    return UploadCheck(payload.key, upload_order(audit.draw, audit_id, payload.blocks))


def end_upload(auditing: Auditing, audit_id: Hash32, at: Instant, *, right: bool) -> None:
    """Stops the clock of the way up; the first upload that comes to an end counts.

    Args:
        auditing: the member.
        audit_id: an audit whose upload was begun.
        at: when the last byte came in.
        right: whether all of it was what it should be.

    Raises:
        InvalidInputError: it was not (code "wrong_bytes").
    """
    engine = auditing.desk.engine
    transfer = transfer_of(engine, audit_id)
    same_clock = transfer is not None and transfer.began.boot == at.boot
    fault = "" if right and same_clock else OTHER_CLOCK if right else WRONG_BYTES
    keep_landed(engine, audit_id, at.ms if same_clock else None, fault)
    _look_at(auditing, audit_id)
    if not right:
        raise InvalidInputError("other bytes than were drawn", code=WRONG_BYTES, fix="check the line and its proxies")


def _look_at(auditing: Auditing, audit_id: Hash32) -> None:
    keep_openings(auditing.desk.engine, audit_id, SEEN)


def _payload(auditing: Auditing, audit: Audit, transfer: Transfer) -> Payload:
    blocks = payload_blocks(auditing.desk.network.params.network, audit.claim)
    return Payload(key=payload_key(transfer.secret, audit.audit_id), blocks=blocks)


def _bandwidth_audit(auditing: Auditing, audit_id: Hash32) -> Audit:
    audit = audit_of(auditing.desk.engine, audit_id)
    if audit is None or audit.category is not Category.NETWORK:
        raise InvalidInputError(
            "no such audit of bandwidth", code="unknown_audit", fix="ask for one after a window closed"
        )
    return audit
