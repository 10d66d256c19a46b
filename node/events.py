"""Typed arguments of chain events; the adapter has decoded them by the ABI, so another type is our own mistake."""

from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import Address, Hash32


def integer_of(event: ChainEvent, name: str) -> int:
    """An integer argument.

    Raises:
        InconsistentError: the event has no such integer.
    """
    value = event.args.get(name)
    if not isinstance(value, int):
        raise _mismatch(event, name)
    return value


def hash_of(event: ChainEvent, name: str) -> Hash32:
    """A bytes32 argument.

    Raises:
        InconsistentError: the event has no such bytes.
    """
    value = event.args.get(name)
    if not isinstance(value, bytes) or len(value) != 32:
        raise _mismatch(event, name)
    return Hash32(value)


def address_of(event: ChainEvent, name: str) -> Address:
    """An address argument.

    Raises:
        InconsistentError: the event has no such address.
    """
    value = event.args.get(name)
    if not isinstance(value, str):
        raise _mismatch(event, name)
    return Address(value)


def _mismatch(event: ChainEvent, name: str) -> InconsistentError:
    return InconsistentError(
        f"{event.contract}.{event.name} carries no proper {name}",
        fix="check that node and contracts are of one version",
    )
