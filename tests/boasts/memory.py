"""Device memory that is not there: a root over nothing, and openings that are made up."""

from node.ports import Auditee, AuditQuestion
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32


class EmptyMemory:
    """Claims memory it does not hold: commits to nothing and opens what it makes up.

    Args:
        auditee: what claims as much.
    """

    def __init__(self, auditee: Auditee) -> None:
        self._auditee = auditee

    def claim(self, member: Address) -> int:
        """As much as the honest one."""
        return self._auditee.claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Nothing is prepared."""

    def answer(self, question: AuditQuestion) -> Hash32:
        """A root over nothing."""
        return keccak(question.nonce)

    def openings(self, _question: AuditQuestion, draw: Hash32) -> list[Json]:
        """Lanes that look like lanes."""
        return [{"lane": number, "result": to_hex(keccak(draw)), "path": [to_hex(draw)] * 10} for number in range(4)]

    def release(self) -> None:
        """There is nothing to give back."""
