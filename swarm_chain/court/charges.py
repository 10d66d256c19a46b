"""What somebody can be accused of, and the salt of its seal: the one thing of an accusation that nobody could find again."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from swarm_chain.core.court import accusation_id, seal_hash
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.model import ContractCall, SignedCommitment
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_ADDRESS, Address, Hash32
from swarm_chain.court.calls import PassedProof, accuse_call, accuse_member_call, equivocate_call
from swarm_chain.court.model import offence_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A row of a commitment, against its node or, with `passed`, against a member; with `second`, two commitments at odds.

    `accuser` is who brings it.
    """

    signed: SignedCommitment
    accuser: Address
    row: int = 0
    passed: PassedProof | None = None
    second: SignedCommitment | None = None

    @property
    def member(self) -> Address:
        """The accused member; zero when the node itself is accused."""
        return self.passed.signed.verdicts.member if self.passed else ZERO_ADDRESS

    @property
    def offence_id(self) -> Hash32:
        """What it would convict of."""
        return offence_of(self.signed.commitment, self.member)

    @property
    def subject(self) -> Hash32:
        """What is sealed: the accusation, or the offence of an equivocation."""
        if self.second is not None:
            return self.offence_id
        return accusation_id(self.offence_id, commitment_hash(self.signed.commitment), self.row, self.accuser)

    @property
    def name(self) -> str:
        """The charge in words."""
        c = self.signed.commitment
        where = f"of node {c.node}, device {c.device}, in window {c.window_id}"
        if self.second is not None:
            return f"two different commitments {where}"
        whom = f"member {self.member} for passing" if self.passed else "the false"
        return f"{whom} row {self.row} {where}"

    def call(self, salt: Hash32) -> ContractCall:
        """The call that opens it, one block after its seal."""
        if self.second is not None:
            return equivocate_call(self.signed, self.second, salt)
        if self.passed is not None:
            return accuse_member_call(self.signed, self.row, self.passed, salt)
        return accuse_call(self.signed, self.row, salt)


class SaltStore:
    """Salts of seals in files of their owner only, written before a seal is sent.

    Args:
        folder: made if absent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seal_of(self, accuser: Address, subject: Hash32) -> tuple[Hash32, Hash32]:
        """Seal and salt of a subject; the same ones every time, also after a restart."""
        salt = self._salt(accuser, subject)
        return seal_hash(accuser, subject, salt), salt

    def _salt(self, accuser: Address, subject: Hash32) -> Hash32:
        path = self._folder / f"{accuser}-{subject.hex()}"
        if not path.exists():
            self._write(path, to_hex(secrets.token_bytes(32)))
        return hash_from_hex(path.read_text(encoding="utf-8").strip())

    def _write(self, path: Path, text: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        with open(beside, "w", encoding="utf-8", opener=_private) as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        beside.rename(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
