"""Compares a chain with a plan, all at one block: code, immutables, getters, and every role the events tell of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, TypeVar

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.adapters.events import BlockRange, read_logs
from swarm_chain.adapters.rpc import Web3Reader, bytes_of
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.model import BlockRef, ChainEvent
from swarm_chain.core.units import Timestamp
from swarm_chain.deploy.expected import (
    expected_answers,
    expected_functions,
    expected_members,
    expected_timelock,
    expected_wiring,
    immutable_words,
)
from swarm_chain.deploy.history import TELLING, fold_history
from swarm_chain.deploy.plan import DeploymentPlan
from swarm_chain.deploy.words import Names, names_of

WORD = 32
Key = TypeVar("Key", bound=tuple[object, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as planned, in words."""

    what: str
    want: str
    have: str


class _Chain(NamedTuple):
    plan: DeploymentPlan
    reader: Web3Reader
    head: BlockRef
    names: Names


def verify_plan(plan: DeploymentPlan, reader: Web3Reader) -> int:
    """Compare everything on the chain with the plan.

    Returns:
        Number of facts compared.

    Raises:
        InconsistentError: anything differs (code "deployment_differs"); `values` lists all differences.
    """
    compared, found = compare(plan, reader)
    if found:
        raise differing(found)
    return compared


def differing(found: Sequence[Difference]) -> InconsistentError:
    """The refusal of a chain that differs; `values` lists all differences."""
    first = found[0]
    return InconsistentError(
        f"the deployment is not as planned: {first.what} is {first.have}, planned {first.want}",
        code="deployment_differs",
        fix="do not use it: find out who changed it, or deploy again from a fresh account into another file",
        values={"differences": [asdict(difference) for difference in found]},
    )


def compare(plan: DeploymentPlan, reader: Web3Reader) -> tuple[int, tuple[Difference, ...]]:
    """Number of facts compared and every difference; wrong code is reported alone, for its answers mean nothing."""
    chain = _Chain(plan, reader, reader.block("latest"), names_of(plan))
    code = list(_compare_code(chain, CONTRACTS))
    if any(code):
        return len(code), tuple(difference for difference in code if difference)
    rest = [*_compare_answers(chain), *_compare_history(chain)]
    return len(code) + len(rest), tuple(difference for difference in rest if difference)


def compare_created(plan: DeploymentPlan, reader: Web3Reader, created: int) -> tuple[Difference, ...]:
    """Differences in the code of the first `created` contracts of a plan that was cut off."""
    chain = _Chain(plan, reader, reader.block("latest"), names_of(plan))
    return tuple(difference for difference in _compare_code(chain, CONTRACTS[:created]) if difference)


def _compare_code(chain: _Chain, contracts: tuple[str, ...]) -> Iterator[Difference | None]:
    for contract in contracts:
        address = chain.reader.address_of(contract)
        code = bytes_of(chain.reader.rpc.request("eth_getCode", [address, hex(chain.head.number)]) or "0x")
        artifact = load_artifact(contract)
        places = [place for offsets in artifact.immutables.values() for place in offsets]
        masked = _masked(code, places)
        if masked != artifact.runtime_code:
            have = f"code with hash {to_hex(keccak(masked))}" if code else "no code"
            want = f"ours, hash {to_hex(keccak(artifact.runtime_code))} with immutables zero"
            yield Difference(what=f"{contract} {address}", want=want, have=have)
            continue
        yield None
        yield from _compare_immutables(chain, contract, code)


def has_our_code(reader: Web3Reader, contract: str) -> bool:
    """Whether a contract of the reader's deployment has the code of this version, whatever its immutables.

    Raises:
        UnavailableError: no endpoint answers.
    """
    code = bytes_of(reader.rpc.request("eth_getCode", [reader.address_of(contract), "latest"]) or "0x")
    artifact = load_artifact(contract)
    return (
        _masked(code, [place for offsets in artifact.immutables.values() for place in offsets]) == artifact.runtime_code
    )


def _masked(code: bytes, places: list[int]) -> bytes:
    blank = bytearray(code)
    for place in places:
        blank[place : place + WORD] = bytes(len(blank[place : place + WORD]))
    return bytes(blank)


def _compare_immutables(chain: _Chain, contract: str, code: bytes) -> Iterator[Difference | None]:
    wanted = immutable_words(chain.plan, contract)
    for name, places in load_artifact(contract).immutables.items():
        have = {code[place : place + WORD] for place in places}
        yield _same(chain, f"{contract}.{name} (immutable)", wanted[name], have.pop() if len(have) == 1 else have)


def _compare_answers(chain: _Chain) -> Iterator[Difference | None]:
    for call, want in expected_answers(chain.plan):
        shown = ", ".join(chain.names.shown(argument) for argument in call.args)
        what = f"{call.contract}.{call.function}({shown})"
        yield _same(chain, what, want, chain.reader.call(call, chain.head))


def _compare_history(chain: _Chain) -> Iterator[Difference | None]:
    plan, names = chain.plan, chain.names
    yield from _compare_birth(chain)
    history = fold_history(_events(chain))
    members, timelock = expected_members(plan), expected_timelock(plan)
    for entry in sorted(members | history.members):
        role, account, delay = entry
        what = f"{names.role(role)} of {names.shown(account)} with delay {delay} s"
        yield _presence(what, want=entry in members, have=entry in history.members)
    for granted in sorted(timelock | history.timelock):
        what = f"timelock role {to_hex(granted[0])} of {names.shown(granted[1])}"
        yield _presence(what, want=granted in timelock, have=granted in history.timelock)
    yield from _compare_maps(chain, "role of function", expected_functions(plan), history.functions)
    wiring = expected_wiring(plan)
    yield from _compare_maps(chain, "last event", wiring, {key: history.last.get(key) for key in wiring})


def _compare_birth(chain: _Chain) -> Iterator[Difference | None]:
    # A role granted before the first block that is read would stay unseen.
    before = hex(chain.plan.deployment.block - 1)
    for contract in TELLING:
        code = chain.reader.rpc.request("eth_getCode", [chain.reader.address_of(contract), before])
        have = "no code" if code in {"0x", None} else "code"
        yield _same(chain, f"{contract} before block {chain.plan.deployment.block}", "no code", have)


def _events(chain: _Chain) -> tuple[ChainEvent, ...]:
    addresses = [chain.reader.address_of(contract) for contract in TELLING]
    logs = read_logs(chain.reader.rpc.ask, addresses, BlockRange(chain.plan.deployment.block, chain.head.number))
    return chain.reader.decoder.decode(
        logs, lambda _number: Timestamp(0)
    )  # when something happened decides nothing here


def _compare_maps(
    chain: _Chain, what: str, want: Mapping[Key, object], have: Mapping[Key, object]
) -> Iterator[Difference | None]:
    for key in sorted({*want, *have}, key=str):
        shown = ", ".join(chain.names.shown(part) for part in key)
        yield _same(chain, f"{what} {shown}", want.get(key, "nothing"), have.get(key, "nothing"))


def _same(chain: _Chain, what: str, want: object, have: object) -> Difference | None:
    if want == have:
        return None
    return Difference(what=what, want=chain.names.shown(want), have=chain.names.shown(have))


def _presence(what: str, *, want: bool, have: bool) -> Difference | None:
    words = {True: "given", False: "not given"}
    return None if want == have else Difference(what=what, want=words[want], have=words[have])
