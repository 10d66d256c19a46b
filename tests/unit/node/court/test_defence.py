"""The agent under accusation, over a chain in memory whose court checks what a real one would: restarts, losses, lies."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from node.agent import Agent
from node.court.board import EVENT_OF_STATE, purpose_of
from node.records import kept_heads
from node.state import open_state
from node.transactions import pending_transactions
from swarm_chain.core.court import accusation_id, offence_id, opens_row
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import AccusationState
from swarm_chain.core.model import Commitment
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_ADDRESS, ZERO_HASH, Hash32, Wei, WindowId
from swarm_chain.court.calls import commitment_args
from swarm_chain.court.fold import commitment_from_args
from swarm_chain.court.model import MoveKind
from swarm_chain.testing import FakeSigner, reject
from tests.court_world import true_trace
from tests.node_world import PARAMS, PROVIDER, SHAPE, NodeWorld

WINDOW, SEED, ROW = WindowId(1 << 16), keccak(b"seed"), 41
ACCUSER = FakeSigner("accuser").address
Log = tuple[str, str, Mapping[str, object]]
Logs = list[Any]


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    """A node that has committed in a window."""
    made = NodeWorld(tmp_path)
    for move, action in (("answer", _answer), ("reveal", _reveal), ("timeout", _timeout)):
        made.chain.program.action("ComputeCourt", move, action)
    return made


@pytest.fixture
def logs() -> Iterator[Logs]:
    """What was logged so far."""
    with capture_logs() as captured:
        yield captured


def test_wrongly_accused_node_answers_reveals_and_wins_across_restarts(world: NodeWorld, logs: Logs) -> None:
    accused = _accuse(world, _committed(world))
    _ticks(world.agent(), 3)
    assert _state(world) is AccusationState.ANSWERED

    _pick(world, accused, SHAPE.steps)
    _ticks(world.agent(), 3)
    assert _state(world) is AccusationState.REVEALED
    assert world.chain.program.storage["revealed"] == _trace(world).states[SHAPE.steps]

    last = world.agent()
    last.tick()
    world.chain.mine(seconds=PARAMS.compute_court.move_for + 1)
    _ticks(last, 2)
    assert _state(world) is AccusationState.ACQUITTED
    last.tick()
    told = [entry["event"] for entry in logs if entry["event"] in EVENT_OF_STATE.values()]
    assert told == [
        "accused",
        "accusation_answered",
        "step_picked",
        "row_revealed",
        "row_revealed",  # the third agent meets it open
        "accusation_won",
    ]


def test_answer_is_stored_before_it_is_sent_and_not_made_twice(world: NodeWorld) -> None:
    accused = _accuse(world, _committed(world))
    world.chain.automine = False
    _ticks(world.agent(), 3)
    _ticks(world.agent(), 3)

    state = open_state(world.folder / "state.sqlite", world.signer.address)
    (stored,) = pending_transactions(state)
    assert stored.purpose == purpose_of(MoveKind.ANSWER, accused)
    assert (stored.tx.call.contract, stored.tx.call.function) == ("ComputeCourt", "answer")
    args: Any = stored.tx.call.args
    found_id, commitment, hashes, head, path = args
    assert (found_id, commitment_from_args(commitment)) == (accused, world.member.commitments[0].commitment)
    assert (hashes, head) == (list(_trace(world).hashes), _trace(world).head)
    assert all(isinstance(sibling, bytes) for sibling in path)

    world.chain.mine()
    _ticks(world.agent(), 2)
    assert _state(world) is AccusationState.ANSWERED
    assert pending_transactions(state) == ()


def test_row_is_answered_also_when_the_heads_are_gone(world: NodeWorld) -> None:
    commitment = _committed(world)
    state = open_state(world.folder / "state.sqlite", world.signer.address)
    state.execute("DELETE FROM commitments")
    assert kept_heads(state, commitment) == b""
    _accuse(world, commitment)
    _ticks(world.agent(), 3)
    assert [accused.heads for accused in world.tracer.started] == [b""]
    assert _state(world) is AccusationState.ANSWERED


def test_proving_goes_on_while_the_row_is_traced(world: NodeWorld) -> None:
    agent = world.agent()
    _accuse(world, _committed(world, agent))
    world.tracer.busy = True
    later = WindowId(WINDOW + 1)
    world.open(later, SEED)
    _ticks(agent, 2)
    assert [signed.commitment.window_id for signed in world.member.commitments] == [WINDOW, later]
    assert _state(world) is None

    world.tracer.busy = False
    _ticks(agent, 1)
    assert _state(world) is AccusationState.ANSWERED
    assert len(world.tracer.started) == 1


def test_trace_that_fails_is_made_again_later(world: NodeWorld, logs: Logs) -> None:
    agent = world.agent()
    _accuse(world, _committed(world, agent))
    world.tracer.fault = "worker died"
    _ticks(agent, 3)
    assert len(world.tracer.started) == 1
    assert any(entry["event"] == "trace_failed" and entry["reason"] == "worker died" for entry in logs)

    world.tracer.fault = ""
    world.clock.advance(30)
    _ticks(agent, 1)
    assert _state(world) is AccusationState.ANSWERED


def test_node_whose_device_was_wrong_says_so_and_pays_no_gas(world: NodeWorld, logs: Logs) -> None:
    world.devices.forget_work = True
    _accuse(world, _committed(world))
    agent = world.agent()
    _ticks(agent, 4)
    assert _state(world) is None
    (told,) = [entry for entry in logs if entry["event"] == "accusation_indefensible"]
    assert "does not open the committed leaf" in told["reason"]


def test_key_without_gas_money_is_warned_about_before_it_matters(world: NodeWorld, logs: Logs) -> None:
    world.reserve_wei = Wei(2 * 10**18)
    agent = world.agent()
    _ticks(agent, 2)
    (warning,) = [entry for entry in logs if entry["event"] == "defence_underfunded"]
    assert (warning["have_wei"], warning["want_wei"]) == (str(10**18), str(2 * 10**18))
    assert str(10**18) in warning["fix"]

    world.reserve_wei = Wei(10**16)
    _ticks(world.agent(), 2)
    assert len([entry for entry in logs if entry["event"] == "defence_underfunded"]) == 1


def test_accusation_of_another_node_of_the_provider_is_told_with_what_to_do(world: NodeWorld, logs: Logs) -> None:
    commitment = _committed(world)
    sister = FakeSigner("sister").address
    _accuse(world, replace(commitment, node=sister))
    _ticks(world.agent(), 3)
    assert _state(world) is None
    (told,) = [entry for entry in logs if entry["event"] == "accused"]
    assert (told["own"], told["node"]) == (False, sister)
    assert "swarm court defend" in told["fix"]


def _committed(world: NodeWorld, agent: Agent | None = None) -> Commitment:
    """What the node signs in a window that is then drawn."""
    agent = agent or world.agent()
    world.open(WINDOW, SEED)
    _ticks(agent, 2)
    world.close(WINDOW)
    world.draw(WINDOW, SEED)
    _ticks(agent, 2)
    (signed,) = world.member.commitments
    return signed.commitment


def _accuse(world: NodeWorld, commitment: Commitment) -> Hash32:
    offence = offence_id(commitment.window_id, commitment.node, commitment.device)
    found = accusation_id(offence, commitment_hash(commitment), ROW, ACCUSER)
    who = {"accusationId": found, "providerId": PROVIDER, "accuser": ACCUSER, "member": ZERO_ADDRESS}
    what = {"commitment": commitment_args(commitment), "row": ROW, "bond": 10**20}
    world.chain.append("ComputeCourt", "Accused", **who, **what, deadline=_deadline(world))
    world.chain.mine()
    world.chain.program.storage["commitment"] = commitment
    return found


def _pick(world: NodeWorld, accused: Hash32, step: int) -> None:
    hashes = {"hashBefore": ZERO_HASH, "hashAt": ZERO_HASH}
    world.chain.program.storage["step"] = step
    world.chain.append(
        "ComputeCourt", "StepPicked", accusationId=accused, step=step, **hashes, deadline=_deadline(world)
    )
    world.chain.mine()


def _answer(storage: dict[str, Any], sender: str, accused: bytes, commitment: Any, *shown: Any) -> list[Log]:
    hashes, head, path = shown
    said = commitment_from_args(commitment)
    if said != storage["commitment"]:
        raise reject("WrongCommitment", have=commitment_hash(said), want=commitment_hash(storage["commitment"]))
    if len(hashes) != said.steps + 1:
        raise reject("WrongLength", have=len(hashes), want=said.steps + 1)
    if not opens_row(said.root, SHAPE, ROW, head, path):
        raise reject("RowNotCommitted", row=ROW)
    storage["hashes"], storage["state"] = hashes, AccusationState.ANSWERED
    args = {"accusationId": accused, "by": sender, "hashes": hashes, "head": head, "deadline": 2**40}
    return [("ComputeCourt", "AccusationAnswered", args)]


def _reveal(storage: dict[str, Any], sender: str, accused: bytes, row: bytes) -> list[Log]:
    if keccak(row) != storage["hashes"][storage["step"]]:
        raise reject("WrongRow", have=keccak(row), want=storage["hashes"][storage["step"]])
    storage["revealed"], storage["state"] = row, AccusationState.REVEALED
    args = {"accusationId": accused, "by": sender, "row": row, "deadline": storage["reveal_until"]}
    return [("ComputeCourt", "RowRevealed", args)]


def _timeout(storage: dict[str, Any], _: str, accused: bytes) -> list[Log]:
    storage["state"] = AccusationState.ACQUITTED
    ended = {"accusationId": accused, "providerId": PROVIDER, "state": AccusationState.ACQUITTED.value}
    return [("ComputeCourt", "AccusationEnded", ended)]


def _deadline(world: NodeWorld) -> int:
    until = world.chain.block("latest").timestamp + PARAMS.compute_court.move_for
    world.chain.program.storage["reveal_until"] = until
    return until


def _state(world: NodeWorld) -> AccusationState | None:
    return world.chain.program.storage.get("state")


def _trace(world: NodeWorld) -> Any:
    return true_trace(world.challenge(WINDOW, SEED), ROW)


def _ticks(agent: Agent, count: int) -> None:
    for _ in range(count):
        agent.tick()
