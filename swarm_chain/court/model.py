"""Values of the dispute: accusations as the chain tells them, and the evidence a side holds about one row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow
from swarm_chain.core.court import RowTrace, offence_id
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import BlockRef, ChainState, Commitment, ContractCall, Deployment, Opening
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Address, BlockNumber, Hash32, ProviderId, Timestamp, Wei

CONTRACT = "ComputeCourt"
OPEN_STATES = frozenset(
    {
        AccusationState.ACCUSED,
        AccusationState.ANSWERED,
        AccusationState.PICKED,
        AccusationState.REVEALED,
        AccusationState.PROVEN,
    }
)
_BEFORE_ALL = BlockRef(number=BlockNumber(-1), hash=ZERO_HASH, timestamp=Timestamp(0))


class Side(StrEnum):
    """The two sides of an accusation."""

    ACCUSER = "accuser"
    ACCUSED = "accused"


class MoveKind(StrEnum):
    """What a side has to do now. The last four send nothing."""

    ANSWER = "answer"
    PICK = "pick"
    CONTRADICT = "contradict"
    REVEAL = "reveal"
    PROVE = "prove"
    EXECUTE = "execute"
    TIMEOUT = "timeout"
    DISMISS = "dismiss"
    WAIT = "wait"  # the other side has time left
    LATE = "late"  # the own deadline passed
    GIVE_UP = "give up"  # the own evidence says that the other side is right
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accusation:
    """One accused row as the court's events tell it. `member` is zero when the node itself is accused.

    `hashes` and `head` are the answer, `step` what was picked, `revealed` the row behind it; empty before that move.
    """

    accusation_id: Hash32
    provider_id: ProviderId
    accuser: Address
    commitment: Commitment
    row: int
    member: Address
    bond_wei: Wei
    deadline: Timestamp
    state: AccusationState = AccusationState.ACCUSED
    hashes: tuple[Hash32, ...] = ()
    head: bytes = b""
    step: int = 0
    revealed: bytes = b""

    @property
    def is_open(self) -> bool:
        """Whether it still has to end."""
        return self.state in OPEN_STATES

    @property
    def offence_id(self) -> Hash32:
        """What it would convict of."""
        return offence_of(self.commitment, self.member)


@dataclass(frozen=True, slots=True, kw_only=True)
class CourtView:
    """The chain at a block, the court included. Accusations are by id, in the order they were made."""

    chain: ChainState = field(default_factory=lambda: ChainState(block=_BEFORE_ALL))
    accusations: Mapping[Hash32, Accusation] = field(default_factory=dict)
    convicted: frozenset[Hash32] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "accusations", MappingProxyType(dict(self.accusations)))

    @property
    def now(self) -> Timestamp:
        """Timestamp of the block: the only time deadlines know."""
        return self.chain.block.timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEvidence:
    """What a side holds about a row: its states, and the path of their head to the committed root for whoever answers.

    The accuser's trace is the true one; `opening` is what the node opened of the row before, which its answer must not
    contradict. A liar's trace may say anything: the court finds out.
    """

    trace: RowTrace
    path: tuple[Hash32, ...] = ()
    opening: Opening | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What a side does now: the call to send, None where nothing is sent; `effect` says it in words."""

    kind: MoveKind
    effect: str
    call: ContractCall | None = None


def offence_of(commitment: Commitment, member: Address = ZERO_ADDRESS) -> Hash32:
    """Offence a false commitment is: the node's own, or that of the member that passed it."""
    return offence_id(commitment.window_id, commitment.node, commitment.device, member)


def challenge_of(commitment: Commitment, deployment: Deployment) -> ComputeChallenge:
    """The challenge a commitment answers on a chain.

    Raises:
        InvalidInputError: it has a shape no challenge can have.
    """
    window = ComputeWindow(
        chain_id=deployment.chain_id,
        beacon=deployment.contracts["ChallengeBeacon"],
        window_id=commitment.window_id,
        window_seed=commitment.window_seed,
    )
    shape = ComputeShape(m=commitment.m, n=commitment.n, steps=commitment.steps)
    return ComputeChallenge(window=window, node=commitment.node, device=commitment.device, shape=shape)
