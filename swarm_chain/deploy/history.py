"""Roles as the events of AccessManager, timelock and oracle tell them: getters answer only what one thinks of asking. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import Address

# The only contracts whose past decides the wiring.
TELLING = ("AccessManager", "TimelockController", "EpochOracle", "StakeVault")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is in force after all events.

    `members` are (role id, account, execution delay), `functions` role ids by (contract, selector) other than ADMIN,
    `timelock` (role, account), `last` the last argument by (contract, event, field).
    """

    members: frozenset[tuple[int, Address, int]]
    functions: dict[tuple[Address, bytes], int]
    timelock: frozenset[tuple[bytes, Address]]
    last: dict[tuple[str, str, str], object]


def fold_history(events: Iterable[ChainEvent]) -> History:
    """Fold events of the TELLING contracts, in chain order."""
    members: dict[tuple[int, Address], int] = {}
    functions: dict[tuple[Address, bytes], int] = {}
    timelock: set[tuple[bytes, Address]] = set()
    last: dict[tuple[str, str, str], object] = {}
    for event in events:
        last |= {(event.contract, event.name, field): value for field, value in event.args.items()}
        match (event.contract, event.name):
            case ("AccessManager", "RoleGranted" | "RoleRevoked"):
                _note_member(members, event)
            case ("AccessManager", "TargetFunctionRoleUpdated"):
                _note_function(functions, event.args)
            case ("TimelockController", "RoleGranted" | "RoleRevoked"):
                _note_timelock(timelock, event)
    return History(
        members=frozenset((role, account, delay) for (role, account), delay in members.items()),
        functions=functions,
        timelock=frozenset(timelock),
        last=last,
    )


def _note_member(members: dict[tuple[int, Address], int], event: ChainEvent) -> None:
    args: Any = event.args
    key = (args["roleId"], args["account"])
    if event.name == "RoleGranted":
        members[key] = args["delay"]
    else:
        members.pop(key, None)


def _note_function(functions: dict[tuple[Address, bytes], int], args: Any) -> None:
    key = (args["target"], bytes(args["selector"]))
    if args["roleId"]:
        functions[key] = args["roleId"]
    else:
        functions.pop(key, None)


def _note_timelock(timelock: set[tuple[bytes, Address]], event: ChainEvent) -> None:
    args: Any = event.args
    entry = (bytes(args["role"]), args["account"])
    if event.name == "RoleGranted":
        timelock.add(entry)
    else:
        timelock.discard(entry)
