"""Volumes as audits ask for them: one for each member, grown from epoch to epoch, read when a member asks.

    prepare --open--> volume --confirm what is on disk--> a few blocks more, confirmed --> audits of this epoch
                                                     \\--> the rest in the background, confirmed by the next prepare

What is confirmed changes in `prepare` alone, so a claim holds for all windows of an epoch and no window waits for a download.
Source: docs/spec/storage.md.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread

import structlog

from node.measure.storage import VolumeFile
from node.ports import AuditQuestion, GivenVolume, OracleVolumes
from swarm_chain.core.errors import InconsistentError, SwarmError, UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.storageset import StorageAudit, StorageParams, blocks_of_mb, proven_mb
from swarm_chain.core.units import Address, EpochNumber, Hash32
from swarm_chain.core.volumes import (
    MAX_SENT_AT_ONCE,
    BlocksConfirmed,
    BlocksRequest,
    VolumeRequest,
    blocks_hash,
    confirmed_hash,
    request_hash,
    volume_id,
)
from swarm_chain.ports import Signer

log = structlog.get_logger()

FIRST_BLOCKS = 2048  # 8 MiB a member before the first audit of an epoch: a slow line must not cost a window
_TROUBLE = (SwarmError, OSError)  # of one member or its folder; the others go on


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageClaim:
    """How much this node keeps for all members together, MB of 10^6 bytes, and where; `domain` is that of its messages.

    `first_blocks` of a member are fetched before the first audit of an epoch may begin, the others beside it.
    """

    folder: Path
    claim_mb: int
    domain: Hash32
    params: StorageParams
    first_blocks: int = FIRST_BLOCKS


@dataclass(slots=True, kw_only=True)
class _Held:
    """A member's volume on this disk; the member has `confirmed` blocks of it noted and sends `left` more in this epoch."""

    member: OracleVolumes
    file: VolumeFile
    confirmed: int
    left: int


class HeldStorage:
    """Auditee of the storage category.

    Args:
        claim: how much, and where.
        signer: the node's key.
        members: who give out volumes; each gets the same part of what is claimed.
    """

    def __init__(self, claim: StorageClaim, signer: Signer, members: Sequence[OracleVolumes]) -> None:
        self._claim = claim
        self._signer = signer
        self._members = tuple(members)
        self._target = blocks_of_mb(claim.claim_mb // max(1, len(self._members)))
        self._held: dict[Address, _Held] = {}
        self._reading = Lock()  # a file is not closed while an audit reads it
        self._stop = Event()
        self._growth: Thread | None = None

    def claim(self, member: Address) -> int:
        """MB of the blocks this node has confirmed to a member.

        Raises:
            UnavailableError: the member was away when the epoch began, and gives no volume now.
        """
        if member not in self._held:
            found = next((one for one in self._members if _address(one) == member), None)
            if found is None:
                return 0
            self._held[member] = self._confirmed(self._open(found, member))
        return proven_mb(self._held[member].confirmed)

    def prepare(self, _epoch: EpochNumber, _epoch_seed: Hash32, _device: int) -> None:
        """Confirms to every member what is on disk and begins to fetch this epoch's share; one that is away stops no other.

        Raises:
            UnavailableError: no member gives a volume.
        """
        self._end_growth()
        reasons = []
        for one in self._members:
            try:
                self._prepare(one)
            except _TROUBLE as error:
                reasons.append(str(error))
                log.warning("volume_not_ready", reason=str(error), code=getattr(error, "code", "disk"))
        if not self._held:
            raise UnavailableError(f"no member gives a volume: {'; '.join(reasons)}", code="no_volume")
        self._stop = Event()
        self._growth = Thread(target=self._grow_all, args=(self._stop,), name="volumes", daemon=True)
        self._growth.start()

    def answer(self, question: AuditQuestion) -> Hash32:
        """Digest over the blocks a question leads to, read from the disk one after the other.

        Raises:
            InconsistentError: nothing is prepared for this member, or the disk lost blocks (code "lost_blocks").
        """
        with self._reading:
            held = self._held.get(question.member)
            if held is None:
                raise InconsistentError("no volume of this member", code="not_prepared", fix="wait for the next epoch")
            return held.file.answer(self.audit_of(question)).digest

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[Json]:
        """Nothing: the digest is all there is."""
        return []

    def release(self) -> None:
        """Stops fetching and gives the files back; blocks stay on disk. What is at work now closes with the process."""
        self._stop.set()
        if (self._growth is None or not self._growth.is_alive()) and self._reading.acquire(blocking=False):
            for held in self._held.values():
                held.file.close()
            self._held.clear()
            self._reading.release()
            for one in self._members:
                one.close()

    def audit_of(self, question: AuditQuestion) -> StorageAudit:
        """What a question asks of this node's volume: the fewest blocks that hold the claim."""
        return StorageAudit(
            volume=self._held[question.member].file.volume,
            blocks=blocks_of_mb(question.claim),
            nonce=question.nonce,
            reads=self._claim.params.reads,
        )

    def join(self) -> None:
        """Waits until this epoch's share is fetched."""
        if self._growth is not None:
            self._growth.join()

    def _prepare(self, one: OracleVolumes) -> None:
        member = one.address()
        held = self._held[member] = self._confirmed(self._open(one, member))
        try:
            self._grow(held, held.confirmed + self._claim.first_blocks, self._stop)
        finally:
            self._confirmed(held)

    def _open(self, one: OracleVolumes, member: Address) -> _Held:
        """The member's volume with its file; a new one where blocks that were confirmed are not on this disk."""
        given = self._ask(one, member, 0)
        if given.confirmed and not (self._claim.folder / member).exists():
            raise _not_there(self._claim.folder / member)
        try:
            file: VolumeFile | None = self._file(given)
        except InconsistentError as error:
            log.error("volume_lost", member=member, index=given.volume.index, reason=error.message)
            self._forget(member, given.volume.index + 1)
            file = None
        if file is None or file.blocks < given.confirmed:
            if file is not None:
                file.close()
            given = self._ask(one, member, given.volume.index + 1)
            file = self._file(given)
        self._forget(member, given.volume.index)
        return _Held(member=one, file=file, confirmed=given.confirmed, left=given.left)

    def _ask(self, one: OracleVolumes, member: Address, index: int) -> GivenVolume:
        request = VolumeRequest(node=self._signer.address, member=member, index=index)
        return one.open(request, self._signer.sign_typed(self._claim.domain, request_hash(request)))

    def _file(self, given: GivenVolume) -> VolumeFile:
        held = self._held.pop(given.volume.member, None)
        if held is not None and held.file.volume == given.volume:
            return held.file
        if held is not None:
            held.file.close()
        return VolumeFile(self._folder(given), given.volume)

    def _folder(self, given: GivenVolume) -> Path:
        volume = given.volume
        return self._claim.folder / volume.member / f"{volume.index}-{volume_id(volume).hex()[:16]}"

    def _forget(self, member: Address, below: int) -> None:
        """Deletes a member's volumes that it has ended: those with a lower index."""
        for folder in (self._claim.folder / member).glob("*-*"):
            if int(folder.name.partition("-")[0]) < below:
                shutil.rmtree(folder)
                log.info("volume_deleted", member=member, folder=folder.name)

    def _confirmed(self, held: _Held) -> _Held:
        if held.file.blocks > held.confirmed:
            said = BlocksConfirmed(volume_id=volume_id(held.file.volume), blocks=held.file.blocks)
            signature = self._signer.sign_typed(self._claim.domain, confirmed_hash(said))
            held.confirmed = held.member.confirm(said, signature)
        return held

    def _grow_all(self, stop: Event) -> None:
        for held in tuple(self._held.values()):
            try:
                self._grow(held, self._target, stop)
            except _TROUBLE as error:
                log.warning("volume_not_grown", reason=str(error), code=getattr(error, "code", "disk"))

    def _grow(self, held: _Held, most: int, stop: Event) -> None:
        """Fetches blocks until a volume has `most`, or this epoch's share is there."""
        while not stop.is_set():
            first = held.file.blocks
            count = min(MAX_SENT_AT_ONCE, held.left, min(most, self._target) - first)
            if count <= 0:
                return
            request = BlocksRequest(volume_id=volume_id(held.file.volume), first=first, count=count)
            content = held.member.blocks(request, self._signer.sign_typed(self._claim.domain, blocks_hash(request)))
            held.left -= count
            held.file.append(first, content)

    def _end_growth(self) -> None:
        self._stop.set()
        self.join()
        self._stop = Event()


def _not_there(folder: Path) -> InconsistentError:
    return InconsistentError(
        f"{folder} is not there, though its member has blocks of it as confirmed",
        fix=f"mount the disk of SWARM_STORAGE_FOLDER; to give the volume up, make {folder} empty",
        code="volume_missing",
    )


def _address(one: OracleVolumes) -> Address | None:
    try:
        return one.address()
    except SwarmError:
        return None
