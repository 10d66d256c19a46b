"""Endpoints that lie, lag, hang or serve another chain, and what the honest ones still make of it."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_bytes
from threading import Event
from typing import Any

import pytest

from swarm_chain.adapters.panel import Dissent, Quorum
from swarm_chain.adapters.quorum import QuorumReader
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall
from swarm_chain.core.units import Address, BlockNumber, Hash32, Wei
from swarm_chain.ports import ChainReader
from swarm_chain.testing import FakeChain, FakeSigner, reject

ALICE = FakeSigner("alice").address
CALL = ContractCall(contract="SwarmToken", function="balanceOf", args=(ALICE,))
HEAD = 12
OPERATIONS = ("chain_id", "block", "events", "call", "balance")


@dataclass(slots=True)
class Endpoint:
    """Shows a chain as it is, but `before` may refuse an operation and `twists` change its answer."""

    chain: FakeChain
    twists: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    before: Callable[[str], object] = str

    def chain_id(self) -> int:
        return int(self._said("chain_id", self.chain.chain_id()))

    def block(self, which: int | str | Hash32) -> BlockRef:
        found: BlockRef = self._said("block", self.chain.block(which))
        return self.twists["head"](found) if isinstance(which, str) and "head" in self.twists else found

    def events(self, first: int, last: int) -> tuple[ChainEvent, ...]:
        return tuple(self._said("events", self.chain.events(first, last)))

    def call(self, call: ContractCall, at: BlockRef | None = None) -> object:
        return self._said("call", self.chain.call(call, at))

    def balance(self, address: Address) -> Wei:
        return Wei(self._said("balance", self.chain.balance(address)))

    def _said(self, operation: str, honest: Any) -> Any:
        self.before(operation)
        return self.twists[operation](honest) if operation in self.twists else honest


Make = Callable[[FakeChain], ChainReader]
over = Event()


def forges_hashes(chain: FakeChain) -> Endpoint:
    own = token_bytes(8)
    return Endpoint(chain, {"block": lambda ref: replace(ref, hash=keccak(own + ref.hash))})


def forges_events(chain: FakeChain) -> Endpoint:
    own = token_bytes(8)
    return Endpoint(chain, {"events": lambda events: [replace(event, args={"value": own}) for event in events]})


def hides_events(chain: FakeChain) -> Endpoint:
    return Endpoint(chain, {"events": lambda _: ()})


def forges_views(chain: FakeChain) -> Endpoint:
    own = token_bytes(8)
    return Endpoint(chain, {"call": lambda _: own})


def runs_ahead(chain: FakeChain) -> Endpoint:
    return Endpoint(chain, {"head": lambda ref: replace(ref, number=BlockNumber(ref.number + 1000))})


def lags(_: FakeChain) -> Endpoint:
    return Endpoint(made_chain(5))


def claims_to_revert(chain: FakeChain) -> Endpoint:
    no = reject("SameVote", epoch=3, reportHash=b"\1" * 32)
    return _raises(chain, {"call": no})


def garbles(chain: FakeChain) -> Endpoint:
    first = {"block": KeyError("hash"), "events": ValueError("non-hexadecimal number"), "chain_id": IndexError("range")}
    return _raises(
        chain, first | {"call": TypeError("int() needs a string"), "balance": AttributeError("removeprefix")}
    )


def elsewhere(chain: FakeChain) -> Endpoint:
    values = {"have": 1, "want": chain.deployment.chain_id}
    no = InvalidInputError("serves chain 1", code="wrong_chain", values=values, exit_code=3)
    return _raises(chain, dict.fromkeys(OPERATIONS, no))


def is_away(chain: FakeChain) -> Endpoint:
    gone = UnavailableError("the line broke", code="rpc_unavailable")
    reorganised = UnavailableError("replaced while it was read", code="reorganised")
    return _raises(chain, dict.fromkeys(OPERATIONS, gone) | {"events": reorganised})


def hangs(chain: FakeChain) -> Endpoint:
    return Endpoint(chain, before=lambda _: over.wait(60))


def _raises(chain: FakeChain, errors: Mapping[str, Exception]) -> Endpoint:
    def before(operation: str) -> None:
        if operation in errors:
            raise errors[operation]

    return Endpoint(chain, before=before)


FAULTY: list[Make] = [
    forges_hashes,
    forges_events,
    hides_events,
    forges_views,
    claims_to_revert,
    runs_ahead,
    lags,
    garbles,
    elsewhere,
    is_away,
    hangs,
]


def made_chain(blocks: int) -> FakeChain:
    """A chain with a transfer; a shorter one is the beginning of a longer one."""
    made = FakeChain()
    made.program.view("SwarmToken", "balanceOf", lambda storage, account: storage.get(account, 0))
    made.program.storage[ALICE] = 7
    made.append("SwarmToken", "Transfer", **{"from": ALICE, "to": ALICE, "value": 3})
    made.mine(blocks)
    return made


@pytest.fixture
def chain() -> Iterator[FakeChain]:
    over.clear()
    yield made_chain(HEAD)
    over.set()


@pytest.fixture
def dissents() -> list[Dissent]:
    return []


def panel(chain: FakeChain, dissents: list[Dissent], makes: list[Make], agree: int | None = None) -> QuorumReader:
    quorum = Quorum(agree=agree, timeout_s=0.4, grace_s=0.05, on_dissent=dissents.append)
    return QuorumReader({f"http://rpc-{i}": make(chain) for i, make in enumerate(makes)}, quorum)


def everything(reader: ChainReader) -> list[object]:
    """One answer of every kind."""
    latest = reader.block("latest")
    answers: list[object] = [reader.chain_id(), latest, reader.block("finalized"), reader.block("earliest")]
    answers += [reader.block(3), reader.block(latest.hash), reader.events(0, latest.number), reader.balance(ALICE)]
    return [*answers, reader.call(CALL), reader.call(CALL, latest)]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("faulty", FAULTY, ids=lambda kind: kind.__name__)
def test_one_bad_endpoint_of_three_when_two_are_honest_then_nothing_changes_and_it_is_reported(
    chain: FakeChain, dissents: list[Dissent], faulty: Make, place: int
) -> None:
    makes: list[Make] = [Endpoint, Endpoint]
    makes.insert(place, faulty)

    assert everything(panel(chain, dissents, makes)) == everything(chain)
    reported = {dissent.endpoint for dissent in dissents}
    assert reported <= {f"http://rpc-{place}"}
    assert reported or faulty is runs_ahead, "a head nobody else has is passed over, not compared"


@pytest.mark.parametrize(
    ("faulty", "operation", "reason"),
    [
        (forges_hashes, "block", "another answer"),
        (forges_events, "events", "another answer"),
        (forges_views, "call", "another answer"),
        (claims_to_revert, "call", "SameVote"),
        (lags, "events", "behind the others"),
        (garbles, "balance", "unreadable answer: AttributeError"),
        (elsewhere, "chain_id", "wrong_chain"),
        (is_away, "block", "the line broke"),
        (hangs, "call", "no answer in time"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_report_when_an_endpoint_is_out_voted_then_names_operation_and_reason_once(
    chain: FakeChain, dissents: list[Dissent], faulty: Make, operation: str, reason: str
) -> None:
    reader = panel(chain, dissents, [Endpoint, faulty, Endpoint])

    everything(reader)
    everything(reader)

    expected = Dissent(endpoint="http://rpc-1", operation=operation, reason=reason)
    assert dissents.count(expected) == 1


@pytest.mark.parametrize("faulty", [forges_hashes, forges_events, forges_views], ids=lambda kind: kind.__name__)
def test_liars_when_two_of_three_differ_from_each_other_then_it_stops(
    chain: FakeChain, dissents: list[Dissent], faulty: Make
) -> None:
    with pytest.raises(InconsistentError) as caught:
        everything(panel(chain, dissents, [faulty, Endpoint, faulty]))

    assert caught.value.code == "rpc_disagree"
    assert "\\x" not in caught.value.message, "hashes are shown as hex"
    assert len(caught.value.message) < 500
    assert caught.value.values["endpoints"] == ["http://rpc-0", "http://rpc-1", "http://rpc-2"]


@pytest.mark.parametrize("faulty", [garbles, is_away, hangs], ids=lambda kind: kind.__name__)
def test_answers_when_fewer_than_agree_are_left_then_unavailable_with_every_reason(
    chain: FakeChain, dissents: list[Dissent], faulty: Make
) -> None:
    with pytest.raises(UnavailableError) as caught:
        panel(chain, dissents, [faulty, Endpoint, faulty]).block("latest")

    assert "1 of 3 RPC endpoints answer block latest, 2 must agree" in caught.value.message
    assert all(f"http://rpc-{i} (" in caught.value.message for i in range(3))


def test_laggard_when_it_must_agree_then_the_head_is_where_all_have_been(chain: FakeChain) -> None:
    reader = panel(chain, [], [Endpoint, lags], agree=2)

    assert reader.block("latest") == chain.block(5)
    with pytest.raises(UnavailableError):
        reader.block(HEAD)


def test_head_when_every_endpoint_is_on_another_block_then_the_one_agree_of_them_have_reached(
    chain: FakeChain,
) -> None:
    makes: list[Make] = [lags, Endpoint, runs_ahead]
    assert panel(chain, [], makes).block("latest") == chain.block(HEAD)
    assert panel(chain, [], makes, agree=3).block("latest") == chain.block(5)


def test_revert_when_all_say_so_then_it_is_the_answer(chain: FakeChain) -> None:
    with pytest.raises(RejectedError) as caught:
        panel(chain, [], [claims_to_revert, hangs, claims_to_revert]).call(CALL, chain.block(3))

    assert caught.value.code == "SameVote"


def test_block_when_no_endpoint_has_it_then_invalid_input(chain: FakeChain) -> None:
    with pytest.raises(InvalidInputError) as caught:
        panel(chain, [], [Endpoint, Endpoint, hangs]).block(HEAD + 1)

    assert caught.value.code == "unknown_block"


def test_chain_when_most_serve_another_one_then_said_as_by_a_single_endpoint(chain: FakeChain) -> None:
    with pytest.raises(InvalidInputError) as caught:
        panel(chain, [], [elsewhere, Endpoint, elsewhere]).block("latest")

    assert (caught.value.code, caught.value.exit_code) == ("wrong_chain", 3)


def test_reorganisation_when_all_are_in_it_then_it_is_said_so(chain: FakeChain) -> None:
    with pytest.raises(UnavailableError) as caught:
        panel(chain, [], [is_away, is_away, is_away]).events(0, 3)

    assert caught.value.code == "reorganised"


@pytest.mark.parametrize(("lies", "agree", "expected"), [((9 * 10**18,), 2, 10**18), ((0,), 2, 10**18), ((0, 0), 2, 0)])
def test_balance_when_some_lie_then_the_agreeth_lowest(
    chain: FakeChain, lies: tuple[int, ...], agree: int, expected: int
) -> None:
    makes: list[Make] = [partial(Endpoint, twists={"balance": partial(max if wei else min, wei)}) for wei in lies]
    assert panel(chain, [], [*makes, Endpoint, Endpoint], agree=agree).balance(ALICE) == expected


def test_endpoint_when_it_hangs_then_it_is_waited_for_once(chain: FakeChain) -> None:
    dissents: list[Dissent] = []
    quorum = Quorum(timeout_s=30, grace_s=0.5, on_dissent=dissents.append)
    reader = QuorumReader({"a": Endpoint(chain), "b": hangs(chain), "c": Endpoint(chain)}, quorum)
    started = time.monotonic()
    for _ in range(40):
        assert reader.block(3) == chain.block(3)
    elapsed = time.monotonic() - started

    assert elapsed < 5, "forty waits would have taken twenty seconds"
    assert [dissent.endpoint for dissent in dissents] == ["b"]


def test_endpoint_when_it_answers_again_then_it_counts_again(chain: FakeChain) -> None:
    reader = panel(chain, [], [Endpoint, hangs])
    with pytest.raises(UnavailableError):
        reader.block(3)
    over.set()

    assert reader.block(3) == chain.block(3)


def test_single_endpoint_when_it_is_alone_then_its_word_counts(chain: FakeChain) -> None:
    assert everything(panel(chain, [], [Endpoint])) == everything(chain)
    with pytest.raises(UnavailableError):
        panel(chain, [], [is_away]).block("latest")


@pytest.mark.parametrize(("endpoints", "majority"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_agreement_when_not_said_then_a_majority(endpoints: int, majority: int) -> None:
    assert Quorum().of(endpoints) == majority


@pytest.mark.parametrize("agree", [-1, 0, 4])
def test_agreement_when_there_are_not_as_many_endpoints_then_refused(chain: FakeChain, agree: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        panel(chain, [], [Endpoint] * 3, agree=agree)

    assert (caught.value.code, caught.value.exit_code) == ("bad_rpc_agree", 3)
    assert "from 1 to 3" in caught.value.fix


def test_panel_when_without_endpoints_then_refused() -> None:
    with pytest.raises(InvalidInputError, match="no RPC endpoint"):
        QuorumReader({})
