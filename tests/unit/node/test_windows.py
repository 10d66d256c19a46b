"""Windows folded from events, and the steps that follow from them."""

from dataclasses import replace
from typing import Any

import pytest

from node.chain_watch import ChainWatch
from node.model import DevicePlan, FetchPlans, Own, SendHeartbeat, StartRun, View
from node.steps import is_idle, next_steps
from node.windows import KEPT_EPOCHS, fold_windows, window_steps
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.units import EpochNumber, ProviderId, WindowId, window_id
from swarm_chain.testing import FakeChain, FakeSigner
from tests.node_world import PARAMS

NODE = FakeSigner("node").address
SEED = keccak(b"seed")
FIRST = window_id(EpochNumber(1), 0)
PLAN = DevicePlan(device=0, shape=ComputeShape(m=64, n=64, steps=2))
OWN = Own(now_ms=0, members=("http://one",), plans=(PLAN,), plans_for=FIRST)


@pytest.fixture
def chain() -> FakeChain:
    made = FakeChain()
    _answer_registry(made)
    return made


def test_fold_follows_a_window_through_its_states(chain: FakeChain) -> None:
    states = []
    windows = fold_windows({}, ())
    for name, args in (
        ("SecretCommitted", {"secretHash": keccak(b"hash")}),
        ("WindowOpened", {"windowSeed": SEED}),
        ("WindowClosed", {"commitmentsRoot": keccak(b"root"), "commitmentCount": 2}),
        ("WindowDrawn", {"drawSeed": keccak(b"draw")}),
    ):
        chain.append("ChallengeBeacon", name, windowId=FIRST, **args)
        head = chain.mine().number
        windows = fold_windows(windows, chain.events(head, head))
        states.append(windows[FIRST].state)
    assert states == [WindowState.COMMITTED, WindowState.OPEN, WindowState.CLOSED, WindowState.DRAWN]
    window = windows[FIRST]
    assert (window.window_seed, window.commitments_root, window.draw_seed) == (SEED, keccak(b"root"), keccak(b"draw"))
    assert (window.opened_block, window.closed_block, window.commitment_count) == (2, 3, 2)


def test_fold_drops_windows_of_epochs_long_over(chain: FakeChain) -> None:
    for epoch in range(6):
        chain.append("ChallengeBeacon", "WindowOpened", windowId=window_id(EpochNumber(epoch), 0), windowSeed=SEED)
    chain.mine()
    windows = fold_windows({}, chain.events(0, 1))
    assert sorted(number >> 16 for number in windows) == list(range(5 - KEPT_EPOCHS, 6))


def test_open_window_asks_for_its_plans_then_starts_its_device(chain: FakeChain) -> None:
    view = _view(chain, FIRST)
    assert window_steps(view, replace(OWN, plans_for=None)) == (FetchPlans(window_id=FIRST),)
    assert window_steps(view, OWN) == (StartRun(window_id=FIRST, window_seed=SEED, plan=PLAN),)


def test_busy_device_starts_nothing(chain: FakeChain) -> None:
    assert window_steps(_view(chain, FIRST), replace(OWN, running=frozenset({(FIRST, 0)}))) == ()


def test_plan_for_a_device_this_node_does_not_have_is_left_alone(chain: FakeChain) -> None:
    other = replace(PLAN, device=3)
    assert window_steps(_view(chain, FIRST), replace(OWN, plans=(other,))) == ()


def test_draining_node_starts_nothing(chain: FakeChain) -> None:
    assert window_steps(_view(chain, FIRST), replace(OWN, draining=True)) == ()


def test_unregistered_node_does_nothing_at_all(chain: FakeChain) -> None:
    assert next_steps(replace(_view(chain, FIRST), provider_id=ProviderId(0)), OWN, PARAMS) == ()


@pytest.mark.parametrize(("since_ms", "due"), [(None, True), (999, False), (1000, True)])
def test_heartbeat_is_due_every_period(chain: FakeChain, since_ms: int | None, due: bool) -> None:
    own = replace(OWN, now_ms=10_000, heartbeat_ms=None if since_ms is None else 10_000 - since_ms)
    assert (SendHeartbeat() in next_steps(_view(chain, FIRST), own, PARAMS)) is due


def test_agent_is_idle_without_runs() -> None:
    assert is_idle(None, OWN)
    assert not is_idle(None, replace(OWN, running=frozenset({(FIRST, 0)})))


def test_watch_reads_each_block_once_and_starts_over_after_a_rewrite(chain: FakeChain) -> None:
    watch = ChainWatch(chain, NODE, first_block=0)
    chain.append("ChallengeBeacon", "WindowOpened", windowId=FIRST, windowSeed=SEED)
    chain.mine()
    assert watch.look().windows[FIRST].window_seed == SEED
    assert watch.look() is watch.look()

    other = FakeChain()
    _answer_registry(other)
    other.mine(seconds=7)
    other.append("ChallengeBeacon", "WindowOpened", windowId=FIRST, windowSeed=keccak(b"rewritten"))
    other.mine()
    rewritten = _Switch(chain)
    watch = ChainWatch(rewritten, NODE, first_block=0)
    watch.look()
    rewritten.chain = other
    assert watch.look().windows[FIRST].window_seed == keccak(b"rewritten")


class _Switch:
    """A reader whose chain can be exchanged, as a reorganisation does."""

    def __init__(self, chain: FakeChain) -> None:
        self.chain = chain

    def __getattr__(self, name: str) -> Any:
        return getattr(self.chain, name)


def _answer_registry(chain: FakeChain) -> None:
    chain.program.view("ProviderRegistry", "providerIdOfNode", lambda *_: 1)
    chain.program.view("ProviderRegistry", "maintenanceOf", lambda *_: {"startsAt": 0, "endsAt": 0})


def _view(chain: FakeChain, number: WindowId) -> View:
    chain.append("ChallengeBeacon", "WindowOpened", windowId=number, windowSeed=SEED)
    block = chain.mine()
    windows = tuple(fold_windows({}, chain.events(0, block.number)).values())
    return View(block=block, node=NODE, provider_id=ProviderId(1), windows=windows)
