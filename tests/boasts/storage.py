"""Claims storage and keeps none: downloads and confirms like an honest node, then answers from a generator of its own."""

import os
from pathlib import Path

from node.audits.storage import HeldStorage
from node.ports import AuditQuestion
from swarm_chain.core.encoding import keccak
from swarm_chain.core.messages import Json
from swarm_chain.core.storageset import VolumeKey, block, walk
from swarm_chain.core.units import Address, EpochNumber, Hash32


class EmptyStorage:
    """Auditee of the storage category that gives the room of every block back as soon as it is confirmed.

    Args:
        auditee: what fetches and confirms.
        folder: where that keeps its volumes.
    """

    def __init__(self, auditee: HeldStorage, folder: Path) -> None:
        self._auditee = auditee
        self._folder = folder

    def claim(self, member: Address) -> int:
        """As much as the honest one."""
        return self._auditee.claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Files keep their length and lose what is in them."""
        self._auditee.prepare(epoch, epoch_seed, device)
        self._auditee.join()
        for path in self._folder.glob("*/*/blocks.bin"):
            size = path.stat().st_size
            os.truncate(path, 0)
            os.truncate(path, size)

    def answer(self, question: AuditQuestion) -> Hash32:
        """Walks blocks that it makes up with a key of its own."""
        audit = self._auditee.audit_of(question)
        key = VolumeKey(volume=audit.volume, raw=keccak(b"a key like any other"))
        return walk(audit, lambda index: block(key, index))

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """Nothing, as from the honest one."""
        return self._auditee.openings(question, draw)

    def release(self) -> None:
        """Gives the rest back."""
        self._auditee.release()
