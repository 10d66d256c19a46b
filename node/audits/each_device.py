"""Auditees of which every device has its own, so that what one device is asked never waits for another's."""

from collections.abc import Callable

from node.ports import Auditee, AuditQuestion
from swarm_chain.core.errors import UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32


class EachDevice:
    """Auditee that passes on to one made for the device.

    Args:
        make: makes the auditee of a device.
    """

    def __init__(self, make: Callable[[int], Auditee]) -> None:
        self._make = make
        self._devices = {0: make(0)}  # every machine has a first device: it says what is claimed

    def claim(self, member: Address) -> int:
        """Units a device claims before a member."""
        return self._devices[0].claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Makes ready what an epoch's questions are about."""
        if device not in self._devices:
            self._devices[device] = self._make(device)
        self._devices[device].prepare(epoch, epoch_seed, device)

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root or digest of the work a question asks for."""
        return self._of(question).answer(question)

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """What a draw asks for of the last answer."""
        return self._of(question).openings(question, draw)

    def release(self) -> None:
        """Gives everything back."""
        for auditee in self._devices.values():
            auditee.release()

    def _of(self, question: AuditQuestion) -> Auditee:
        if question.device not in self._devices:
            raise UnavailableError(f"nothing is prepared for device {question.device}", code="not_prepared")
        return self._devices[question.device]
