"""A line that is not there: ten times the claim, and answers without a payload."""

from node.ports import Auditee, AuditQuestion
from swarm_chain.core.encoding import keccak
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32

TIMES = 10


class BoastedLine:
    """Claims ten times its line and downloads nothing.

    Args:
        auditee: the honest one.
        most_mbps: nobody can claim more.
    """

    def __init__(self, auditee: Auditee, most_mbps: int) -> None:
        self._auditee = auditee
        self._most_mbps = most_mbps

    def claim(self, member: Address) -> int:
        """Ten times as much as the honest one, as far as that can be claimed."""
        return min(TIMES * self._auditee.claim(member), self._most_mbps)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Nothing is prepared."""

    def answer(self, question: AuditQuestion) -> Hash32:
        """A root over nothing."""
        return keccak(question.nonce)

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[Json]:
        """Says that everything came, in no time; nothing of it is looked at."""
        return [{"downMs": 1, "upMs": 1}]

    def release(self) -> None:
        """There is nothing to give back."""
