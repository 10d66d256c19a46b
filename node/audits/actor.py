"""A claim in a process of its own on Ray: what it holds is not the agent's memory, and what it computes stops no heartbeat."""

from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from node.ports import Auditee, AuditQuestion
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32

RESTARTS = -1  # without end: what was held is lost and prepared again with the next epoch


class RayAuditee:
    """Auditee that lives in an actor on this machine; it starts when something is prepared, and ends with `release`.

    Args:
        make: makes the auditee, there and here.
    """

    def __init__(self, make: Callable[[], Auditee]) -> None:
        self._make = make
        self._here = make()  # says what is claimed; what it takes is held in the actor alone
        self._actor: Any = None

    def claim(self, member: Address) -> int:
        """Units a device claims before a member."""
        return self._here.claim(member)

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Makes ready what an epoch's questions are about."""
        if self._actor is None:
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            options = {"num_cpus": 0, "max_restarts": RESTARTS, "scheduling_strategy": here}
            self._actor = ray.remote(_Holder).options(**options).remote(self._make)
        _result(self._actor.prepare.remote(epoch, epoch_seed, device))

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root or digest of the work a question asks for."""
        return Hash32(_result(self._require().answer.remote(question)))

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """What a draw asks for of the last answer."""
        found: list[Json] = _result(self._require().openings.remote(question, draw))
        return found

    def release(self) -> None:
        """Ends the actor and with it everything it holds, and removes what it left on disk."""
        if self._actor is not None:
            ray.kill(self._actor)
            self._actor = None
            self._here.release()  # what it left on disk

    def _require(self) -> Any:
        if self._actor is None:
            raise UnavailableError("nothing is prepared", code="not_prepared")
        return self._actor


class _Holder:
    """The actor's side: the real auditee."""

    def __init__(self, make: Callable[[], Auditee]) -> None:
        self._auditee = make()

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        self._auditee.prepare(epoch, epoch_seed, device)

    def answer(self, question: AuditQuestion) -> Hash32:
        return self._auditee.answer(question)

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        return self._auditee.openings(question, draw)


def _result(pending: Any) -> Any:
    try:
        return ray.get(pending)
    except RayTaskError as error:
        if isinstance(error.cause, SwarmError):
            raise error.cause from None
        raise UnavailableError(f"a claim could not be worked with: {error.cause!r}", code="audit_crashed") from error
    except RayError as error:
        raise UnavailableError("the process that holds a claim is gone", code="claim_lost") from error
