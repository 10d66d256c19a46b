"""The line as audits measure it: a member's payload is fetched once, hashed as it comes, and sent back in the drawn order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol

from node.ports import AuditQuestion
from swarm_chain.core.errors import InconsistentError, UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.network import BLOCK_BYTES, NetworkParams, payload_blocks
from swarm_chain.core.payload import PayloadRoot, upload_order
from swarm_chain.core.units import Address, EpochNumber, Hash32

HELD_BYTES = 16 * 2**20  # of a payload in memory; the rest of it lies in a nameless file meanwhile


class PayloadLine(Protocol):
    """The way to one member and back. Both raise UnavailableError where it breaks, and its refusals as they are."""

    def download(self, audit_id: Hash32) -> Iterator[bytes]:
        """The payload, in pieces of any size."""
        ...

    def upload(self, audit_id: Hash32, pieces: Iterator[bytes], size: int) -> None:
        """Sends `size` bytes."""
        ...


@dataclass(slots=True)
class _Kept:
    """A payload that goes back: `root` once it is whole."""

    audit_id: Hash32
    file: IO[bytes]
    root: Hash32 | None = None


class MeasuredLine:
    """Auditee of the network category: one line, whatever devices there are.

    Args:
        claim_mbps: what the line moves, 10^6 bit/s in both directions.
        params: the preset's numbers.
        line_to: the way to a member.

    Raises:
        InvalidInputError: nobody can claim so little or so much.
    """

    def __init__(self, claim_mbps: int, params: NetworkParams, line_to: Callable[[Address], PayloadLine]) -> None:
        payload_blocks(params, claim_mbps)
        self._claim_mbps = claim_mbps
        self._params = params
        self._line_to = line_to
        self._kept: _Kept | None = None

    def claim(self, _member: Address) -> int:
        """Mbit/s, before every member as much: they are not asked at the same moment."""
        return self._claim_mbps

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Nothing: what is moved does not exist before the audit."""

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root over the member's payload, which is kept until it was sent back.

        Raises:
            UnavailableError: the line broke, or the payload has another size than the claim asks for.
        """
        if self._kept is None or self._kept.root is None or self._kept.audit_id != question.audit_id:
            self.release()
            file: IO[bytes] = SpooledTemporaryFile(max_size=HELD_BYTES)  # noqa: SIM115  # closed by release
            self._kept = _Kept(question.audit_id, file)
            self._kept.root = self._fetched(question, file)
        return self._kept.root

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """Sends the payload back in the drawn order; nothing is left to open.

        Raises:
            InconsistentError: this audit's payload was not fetched (code "not_fetched").
            UnavailableError: the line broke.
        """
        if self._kept is None or self._kept.audit_id != question.audit_id:
            raise InconsistentError("no payload of this audit is here", code="not_fetched", fix="wait for the next one")
        blocks = payload_blocks(self._params, question.claim)
        pieces = _blocks(self._kept.file, upload_order(draw, question.audit_id, blocks))
        self._line_to(question.member).upload(question.audit_id, pieces, blocks * BLOCK_BYTES)
        self.release()
        return []

    def release(self) -> None:
        """Gives back what a payload took."""
        if self._kept is not None:
            self._kept.file.close()
            self._kept = None

    def _fetched(self, question: AuditQuestion, file: IO[bytes]) -> Hash32:
        left = payload_blocks(self._params, question.claim) * BLOCK_BYTES
        hashed = PayloadRoot(question.audit_id)
        for piece in self._line_to(question.member).download(question.audit_id):
            left -= len(piece)
            if left < 0:
                break
            hashed.update(piece)
            file.write(piece)
        if left:
            raise UnavailableError("the payload has another size than was claimed", code="bad_answer")
        return hashed.root


def _blocks(kept: IO[bytes], order: tuple[int, ...]) -> Iterator[bytes]:
    for index in order:
        kept.seek(index * BLOCK_BYTES)
        yield kept.read(BLOCK_BYTES)
