"""What one endpoint answered, whether it counts, and which answers are alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

from eth_abi.exceptions import DecodingError

from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.model import BlockRef

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# What code that reads an answer raises when the answer is not what JSON-RPC promises.
_GARBLED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, DecodingError)
# Values of these errors quote prices and balances of one moment: endpoints may differ in them.
_OF_THE_MOMENT = frozenset({"insufficient_funds", "gas_above_limit"})
_BEHIND = "unknown_block"
_AWAY = frozenset({"unavailable", "rpc_unavailable", "rpc_unreadable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T_co]):
    """What one endpoint said: `value`, or `error`; an UnavailableError is silence."""

    endpoint: str
    value: T_co | None = None
    error: SwarmError | None = None

    @property
    def spoke(self) -> bool:
        """Whether it counts as an answer."""
        return not isinstance(self.error, UnavailableError)

    @property
    def reason(self) -> str:
        """In a few words why it is not the answer of the others."""
        if self.error is None:
            return "another answer"
        if isinstance(self.error, UnavailableError):
            return self.error.message
        return "behind the others" if self.error.code == _BEHIND else self.error.code

    def matches(self, other: "Answer[object]") -> bool:
        """Whether both say the same."""
        if self.error is None or other.error is None:
            return self.error is other.error and self.value == other.value
        if type(self.error) is not type(other.error) or self.error.code != other.error.code:
            return False
        return self.error.code in _OF_THE_MOMENT or self.error.values == other.error.values


def alike(answers: Sequence[Answer[T]]) -> list[Answer[T]]:
    """The largest group of answers that say the same; silence says nothing."""
    groups: list[list[Answer[T]]] = []
    for answer in (one for one in answers if one.spoke):
        fitting = next((group for group in groups if group[0].matches(answer)), None)
        if fitting is None:
            groups.append([answer])
        else:
            fitting.append(answer)
    return max(groups, key=len, default=[])


def ask_into(came: "SimpleQueue[Answer[T]]", name: str, question: Callable[[], T]) -> None:
    """Asks one endpoint and puts down what it said, whatever that was."""
    try:
        came.put(Answer(endpoint=name, value=question()))
    except SwarmError as error:
        came.put(Answer(endpoint=name, error=error))
    except _GARBLED as error:
        unreadable = UnavailableError(f"unreadable answer: {type(error).__name__}", code="rpc_unreadable")
        came.put(Answer(endpoint=name, error=unreadable))


def silence(name: str, was_asked: bool) -> Answer[T]:
    """No answer: in time, or because earlier requests still wait."""
    message = "no answer in time" if was_asked else "earlier requests are still unanswered"
    return Answer(endpoint=name, error=UnavailableError(message))


def shown(answer: Answer[object]) -> str:
    """What an endpoint said, short enough for a log line; answers that show alike are alike."""
    value = answer.value
    if answer.error is not None:
        return answer.reason
    if isinstance(value, BlockRef):
        return f"block {value.number} {to_hex(value.hash)}"
    return str(value) if isinstance(value, int) else f"answer with hash {keccak(repr(value).encode()).hex()[:16]}"


def is_behind(answer: Answer[object]) -> bool:
    """Whether it has not reached the block it was asked about."""
    return answer.error is not None and answer.error.code == _BEHIND


def shared_reason(answers: Sequence[Answer[object]], agree: int) -> SwarmError | None:
    """What k endpoints give as their reason to wait, such as fees above the cap."""
    named = [error for one in answers if (error := one.error) is not None and not one.spoke and error.code not in _AWAY]
    codes = [error.code for error in named]
    return next((error for error in named if codes.count(error.code) >= agree), None)
