"""What the contracts of a FakeChain do: functions over one plain dictionary, checked against the real ABIs.

def transfer(storage, sender, to, amount):
    have = storage.get(sender, 0)
    if have < amount:
        raise reject("ERC20InsufficientBalance", sender=sender, balance=have, needed=amount)
    storage[sender], storage[to] = have - amount, storage.get(to, 0) + amount
    return [("SwarmToken", "Transfer", {"from": sender, "to": to, "value": amount})]
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from swarm_chain.abi import error_named, load_artifact
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall, SignedTx
from swarm_chain.core.units import Hash32

Log = tuple[str, str, Mapping[str, object]]
Storage = dict[Any, Any]
View = Callable[..., object]
Action = Callable[..., Sequence[Log]]


class FakeProgram:
    """Views and actions by contract and function. A test registers only what it needs."""

    def __init__(self) -> None:
        self.storage: Storage = {}
        self._views: dict[tuple[str, str], View] = {}
        self._actions: dict[tuple[str, str], Action] = {}

    def view(self, contract: str, function: str, handler: View) -> None:
        """Registers what a view function answers: `handler(storage, *args)`."""
        self._views[contract, _declared(contract, "function", function)] = handler

    def action(self, contract: str, function: str, handler: Action) -> None:
        """Registers what a transaction does: `handler(storage, sender, *args)` changes storage and returns its logs."""
        self._actions[contract, _declared(contract, "function", function)] = handler

    def read(self, call: ContractCall, storage: Storage) -> object:
        """Answer of a view over a storage, which it cannot change."""
        return _registered(self._views, call)(deepcopy(storage), *call.args)

    def simulate(self, call: ContractCall, sender: str) -> None:
        """RejectedError if the action would revert now; nothing changes."""
        _registered(self._actions, call)(deepcopy(self.storage), sender, *call.args)

    def execute(self, tx: SignedTx) -> tuple[Log, ...]:
        """Carries out an action; on RejectedError nothing has changed."""
        trial = deepcopy(self.storage)
        logs = _registered(self._actions, tx.call)(trial, tx.sender, *tx.call.args)
        self.storage = trial
        return tuple(logs)


def reject(name: str, **values: object) -> RejectedError:
    """The error the real decoder would make of a custom error.

    Args:
        name: a custom error of any contract.
        values: exactly its arguments; integers from 2^53 on and bytes become text, as in the real one.

    Raises:
        InvalidInputError: no such error, or other arguments.
    """
    entry = error_named(name)
    names = [argument for argument, _ in entry.inputs]
    if set(names) != values.keys():
        raise InvalidInputError(f"{name} has the arguments {names}, got {sorted(values)}")
    shown = {argument: _json_ready(values[argument]) for argument in names}
    text = ", ".join(f"{argument} = {value}" for argument, value in shown.items())
    return RejectedError(f"{name}({text})", code=name, fix=entry.fix, values=shown)


def make_events(block: BlockRef, first_index: int, logs: Sequence[Log], tx_hash: Hash32) -> tuple[ChainEvent, ...]:
    """Events of logs at consecutive positions of a block; InvalidInputError if one does not fit its ABI."""
    return tuple(
        ChainEvent(
            contract=contract,
            name=_checked_event(contract, event, args),
            args=args,
            block=block.number,
            log_index=first_index + offset,
            tx_hash=tx_hash,
            timestamp=block.timestamp,
        )
        for offset, (contract, event, args) in enumerate(logs)
    )


def _registered(handlers: Mapping[tuple[str, str], Callable[..., Any]], call: ContractCall) -> Callable[..., Any]:
    _declared(call.contract, "function", call.function)
    if (call.contract, call.function) not in handlers:
        raise InvalidInputError(
            f"this FakeChain does not know {call.contract}.{call.function}", fix="register it first"
        )
    return handlers[call.contract, call.function]


def _declared(contract: str, kind: str, name: str) -> str:
    if not any(item["type"] == kind and item["name"] == name for item in load_artifact(contract).abi):
        raise InvalidInputError(f"{contract} has no {kind} {name!r}")
    return name


def _checked_event(contract: str, name: str, args: Mapping[str, object]) -> str:
    _declared(contract, "event", name)
    items = [item for item in load_artifact(contract).abi if item["type"] == "event" and item["name"] == name]
    names = {spec["name"] for spec in items[0]["inputs"]}
    if names != args.keys():
        raise InvalidInputError(f"{contract}.{name} has the arguments {sorted(names)}, got {sorted(args)}")
    return name


def _json_ready(value: object) -> object:
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 2**53 else value
