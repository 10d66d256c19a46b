"""Device memory as audits ask for it: a dataset of the newest epoch, held from its first window to its last."""

from dataclasses import dataclass
from secrets import randbelow

from node.measure.memory import HeldSet, Hold, MemoryRun, commitment_of, hold, open_lanes
from node.ports import AuditQuestion
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.memory import LaneOpening, MemoryChallenge, MemoryEpoch, draw_lanes
from swarm_chain.core.memory_plan import MemoryParams, planned_shape
from swarm_chain.core.memoryset import build_cache
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32

CHECKED_LANES = 2  # of every answer, before it is sent
KEPT_RUNS = 4  # of all devices: a member that never draws must not keep the next one from it


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryClaim:
    """Whose memory it is, and how many MiB each device claims."""

    chain_id: int
    beacon: Address
    node: Address
    claim_mib: int
    params: MemoryParams


class HeldMemory:
    """Auditee of the memory category, one dataset a device.

    Args:
        claim: whose memory, and how much.
        hold: builds a dataset where it is to be held.

    Raises:
        InvalidInputError: nobody can claim so few or so many MiB.
    """

    def __init__(self, claim: MemoryClaim, hold: Hold = hold) -> None:
        self._claim = claim
        self._hold = hold
        self._shape = planned_shape(claim.params, claim.claim_mib)
        self._held: dict[int, HeldSet] = {}
        self._runs: dict[AuditQuestion, MemoryRun] = {}

    def claim(self, _member: Address) -> int:
        """MiB a device claims, before every member as much."""
        return self._claim.claim_mib

    def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
        """Builds the dataset of an epoch in place of the one before; takes its whole size."""
        asked = MemoryEpoch(
            chain_id=self._claim.chain_id, beacon=self._claim.beacon, epoch=epoch, epoch_seed=epoch_seed
        )
        if device in self._held and self._held[device].epoch == asked:
            return
        self._held.pop(device, None)  # first: there is no room for two
        shared = (dataset.cache for dataset in self._held.values() if dataset.epoch == asked)
        cache = next(shared, None) or build_cache(asked, self._shape)
        self._held[device] = self._hold(cache, asked, self._claim.node, device, self._shape)

    def answer(self, question: AuditQuestion) -> Hash32:
        """Root over all lanes of a question.

        Raises:
            InconsistentError: nothing was prepared, or the memory no longer holds what was (code "memory_differs").
        """
        if question.device not in self._held:
            raise InconsistentError("the dataset was given back", code="not_prepared", fix="wait for the next epoch")
        dataset = self._held[question.device]
        challenge = MemoryChallenge(
            epoch=dataset.epoch,
            node=self._claim.node,
            device=question.device,
            shape=self._shape,
            nonce=question.nonce,
        )
        checked = [randbelow(self._shape.lanes) for _ in range(CHECKED_LANES)]
        run = dataset.answer(challenge, checked)
        for oldest in [*self._runs][: max(len(self._runs) - KEPT_RUNS + 1, 0)]:
            del self._runs[oldest]
        self._runs[question] = run
        return commitment_of(run).root

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        """The lanes a draw asks for of the answer to a question.

        Raises:
            InconsistentError: the draw came after too many other questions, or there was no answer.
        """
        run = self._runs.pop(question, None)
        if run is None:
            raise InconsistentError(
                "the answer was given back", code="answer_gone", fix="ask the member to draw sooner"
            )
        root = commitment_of(run).root
        lanes = draw_lanes(draw, run.challenge, root, self._claim.params.draws)
        return [opening_json(opening) for opening in open_lanes(run, lanes).openings]

    def release(self) -> None:
        """Gives all memory back."""
        self._held.clear()
        self._runs.clear()


def opening_json(opening: LaneOpening) -> Json:
    """A lane as an audit's openings name it (docs/spec/memory.md)."""
    return {
        "lane": opening.lane,
        "result": "0x" + opening.result.hex(),
        "path": [to_hex(sibling) for sibling in opening.path],
    }
