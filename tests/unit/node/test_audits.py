"""What a node does for audits: it prepares with the epoch's seed and asks every member once after a later window."""

from dataclasses import replace
from pathlib import Path

import pytest

from node.audits.board import audit_steps
from node.audits.memory import HeldMemory, MemoryClaim
from node.model import AuditKey, ClaimKey, Own, PrepareClaim, StartAudit, View
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category, WindowState
from swarm_chain.core.model import BlockRef, WindowRecord
from swarm_chain.core.units import (
    ZERO_ADDRESS,
    BlockNumber,
    EpochNumber,
    Hash32,
    ProviderId,
    Timestamp,
    WindowId,
    window_id,
)
from tests.node_world import OTHER_URL, PARAMS, URL, NodeWorld

EPOCH = EpochNumber(3)
FIRST, SECOND = window_id(EPOCH, 0), window_id(EPOCH, 1)
SEED = Hash32(bytes(range(32)))
CLOSED_AT, ASK_FOR = 1000, PARAMS.memory.ask_for


def _window(number: WindowId, state: WindowState, closed_at: int = CLOSED_AT) -> WindowRecord:
    return WindowRecord(window_id=number, state=state, window_seed=SEED, closed_at=Timestamp(closed_at))


def _view(*windows: WindowRecord, now: int = CLOSED_AT) -> View:
    block = BlockRef(number=BlockNumber(9), hash=Hash32(bytes(32)), timestamp=Timestamp(now))
    return View(block=block, node=ZERO_ADDRESS, provider_id=ProviderId(1), windows=windows)


OWN = Own(now_ms=0, members=(URL, OTHER_URL), claims=(Category.MEMORY,))
CLAIM = ClaimKey(window_id=FIRST, device=0, category=Category.MEMORY)
READY = replace(OWN, prepared=frozenset({CLAIM}))


def _steps(view: View, own: Own) -> list[PrepareClaim | StartAudit]:
    return list(audit_steps(view, own, PARAMS))


def _audit(member: str, device: int = 0) -> StartAudit:
    return StartAudit(key=AuditKey(window_id=SECOND, device=device, category=Category.MEMORY, member=member))


def test_claim_when_the_first_window_is_open_then_not_prepared_beside_its_run() -> None:
    assert _steps(_view(_window(FIRST, WindowState.OPEN)), OWN) == []


@pytest.mark.parametrize("state", [WindowState.CLOSED, WindowState.DRAWN])
def test_claim_when_the_first_window_closed_then_prepared_with_its_seed_once(state: WindowState) -> None:
    view = _view(_window(FIRST, state))

    assert _steps(view, OWN) == [PrepareClaim(key=CLAIM, epoch_seed=SEED)]
    assert _steps(view, READY) == []


def test_claim_when_a_new_epoch_began_then_only_its_own_is_prepared() -> None:
    later = window_id(EpochNumber(EPOCH + 1), 0)

    (step,) = _steps(_view(_window(FIRST, WindowState.DRAWN), _window(later, WindowState.CLOSED)), OWN)

    assert step.key.window_id == later


def test_audit_when_a_later_window_closed_then_by_every_member_that_has_not() -> None:
    view = _view(_window(FIRST, WindowState.DRAWN), _window(SECOND, WindowState.CLOSED))

    assert _steps(view, READY) == [_audit(URL), _audit(OTHER_URL)]
    under_way = replace(READY, auditing=frozenset({_audit(URL).key}))
    assert _steps(view, under_way) == [_audit(OTHER_URL)]
    once = replace(READY, audited=frozenset({_audit(URL).key}))
    assert _steps(view, once) == [_audit(OTHER_URL)]
    assert _steps(view, replace(once, audited=frozenset({_audit(URL).key, _audit(OTHER_URL).key}))) == []


def test_audit_when_nothing_is_prepared_or_claimed_then_none() -> None:
    view = _view(_window(SECOND, WindowState.CLOSED))

    assert _steps(view, OWN) == []
    assert _steps(view, replace(READY, claims=())) == []
    assert _steps(view, replace(READY, draining=True)) == []


def test_audit_when_a_run_is_under_way_on_the_device_then_it_waits() -> None:
    view = _view(_window(SECOND, WindowState.CLOSED))

    assert _steps(view, replace(READY, running=frozenset({(SECOND, 0)}))) == []


@pytest.mark.parametrize(("now", "count"), [(CLOSED_AT + ASK_FOR - 1, 2), (CLOSED_AT + ASK_FOR, 0)])
def test_audit_when_members_take_no_requests_any_more_then_none(now: int, count: int) -> None:
    assert len(_steps(_view(_window(SECOND, WindowState.DRAWN), now=now), READY)) == count


def test_audit_when_there_are_two_devices_then_both_at_once() -> None:
    both = replace(READY, devices=(0, 1), prepared=frozenset({CLAIM, replace(CLAIM, device=1)}))

    asked = [step.key.device for step in _steps(_view(_window(SECOND, WindowState.CLOSED)), both)]

    assert asked == [0, 0, 1, 1]


@pytest.fixture
def world(tmp_path: Path) -> NodeWorld:
    """A node that claims the least memory there is."""
    made = NodeWorld(tmp_path)
    deployment = made.chain.deployment
    claim = MemoryClaim(
        chain_id=deployment.chain_id,
        beacon=deployment.contracts["ChallengeBeacon"],
        node=made.signer.address,
        claim_mib=PARAMS.memory.least_mib,
        params=PARAMS.memory,
    )
    made.audits.auditees[Category.MEMORY] = HeldMemory(claim)
    return made


def test_agent_when_it_claims_memory_then_every_member_gets_an_answer_and_its_openings(world: NodeWorld) -> None:
    agent = world.agent()
    for number in (FIRST, SECOND):
        world.open(number, SEED)
        agent.tick()
        world.close(number)
        agent.tick()
    agent.tick()

    for member in world.members.values():
        (request,) = member.requests
        assert (request.window_id, request.claim, request.category) == (SECOND, 2, Category.MEMORY)
        (answer,) = member.answers
        assert len(member.opened[answer.audit_id]) == PARAMS.memory.draws


def test_agent_when_two_members_audit_then_both_are_asked_at_once(world: NodeWorld) -> None:
    agent = world.agent()
    world.open(FIRST, SEED)
    agent.tick()
    world.close(FIRST)
    agent.tick()
    world.open(SECOND, SEED)
    agent.tick()
    world.close(SECOND)
    agent.tick()
    agent.tick()

    assert [len(member.answers) for member in world.members.values()] == [1, 1]


def test_agent_when_a_member_is_away_then_the_other_one_audits_and_it_is_asked_again(world: NodeWorld) -> None:
    world.members[URL].away = True
    agent = world.agent()
    for number in (FIRST, SECOND):
        world.open(number, SEED)
        agent.tick()
        world.close(number)
        agent.tick()
    assert len(world.members[OTHER_URL].answers) == 1

    world.members[URL].away = False
    world.clock.advance(1)
    agent.tick()

    assert len(world.members[URL].answers) == 1


def test_claim_when_out_of_bounds_then_refused_at_once() -> None:
    claim = MemoryClaim(chain_id=1, beacon=ZERO_ADDRESS, node=ZERO_ADDRESS, claim_mib=1, params=PARAMS.memory)

    with pytest.raises(InvalidInputError) as caught:
        HeldMemory(claim)

    assert caught.value.code == "claim"
