"""The state folded from events equals what the contracts' getters say, after a random walk over a real chain."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from swarm_chain.adapters.contracts import encode_call
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import RejectedError
from swarm_chain.core.kinds import JobState
from swarm_chain.core.model import BlockRef, ChainState, ContractCall
from swarm_chain.core.state import advance, fold
from swarm_chain.core.units import WEI_PER_SWM, ZERO_ADDRESS, EpochNumber, ProviderId, Wei, window_id
from swarm_chain.testing import FakeSigner
from tests.chain_fixtures import CPU, REGION, ChainTools

STEPS = 240
# What the walk must have met, so that a change of the dice cannot hollow the test out.
HAPPENED = {
    "Staked",
    "UnbondRequested",
    "UnbondCancelled",
    "Withdrawn",
    "PenaltyTaken",
    "Slashed",
    "ThawPoolReset",
    "PayoutChangeQueued",
    "OperatorChanged",
    "NodeAdded",
    "NodeRemoved",
    "MaintenanceAnnounced",
    "MaintenanceWithdrawn",
    "ProviderSuspended",
    "WindowOpened",
    "WindowClosed",
    "WindowDrawn",
    "JobAccepted",
    "JobCompleted",
    "JobRefunded",
    "JobCancelled",
    "MemberAdded",
    "MemberRemoved",
}
Fields = dict[str, object]


@dataclass(slots=True)
class Walk:
    """A random walk: each step is one transaction somebody may or may not be allowed to make now."""

    tools: ChainTools
    dice: random.Random
    owners: list[FakeSigner]
    nodes: list[FakeSigner] = field(default_factory=list)

    def step(self, number: int) -> None:
        """Tries one random move; a refusal by the chain is a move too, and does not change the dice of later steps."""
        self.dice.seed(number)
        move = self.dice.choice(MOVES)
        with suppress(RejectedError):
            move(self)

    def provider(self) -> tuple[FakeSigner, ProviderId]:
        """A random owner and its provider's id."""
        index = self.dice.randrange(len(self.owners))
        return self.owners[index], ProviderId(index + 1)

    def amount(self) -> int:
        """From one wei to 500 SWM, with odd digits."""
        return self.dice.randrange(1, 500 * WEI_PER_SWM)

    def request(self, provider_id: int) -> int:
        """An open unbond request of the provider, or one that does not exist."""
        requests = range(30)
        live = [i for i in requests if self.tools.call("StakeVault", "unbondValue", provider_id, i)]
        return self.dice.choice(live or [99])

    def as_contract(self, sender: str, contract: str, function: str, *args: object) -> None:
        """Calls with the rights of another contract; the chain may refuse."""
        call = ContractCall(contract=contract, function=function, args=args)
        self.tools.impersonate(self.tools.address(sender), self.tools.address(contract), encode_call(call))


def stakes(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    walk.tools.send(owner, "StakeVault", "stake", provider_id, walk.amount())


def unbonds(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    walk.tools.send(owner, "StakeVault", "requestUnbond", provider_id, walk.amount())


def cancels_unbond(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    walk.tools.send(owner, "StakeVault", "cancelUnbond", provider_id, walk.request(provider_id))


def withdraws(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    walk.tools.net.warp(601)
    walk.tools.send(owner, "StakeVault", "withdraw", provider_id, walk.request(provider_id))


def is_penalised(walk: Walk) -> None:
    walk.as_contract("RewardSettlement", "StakeVault", "takePenalty", walk.provider()[1], walk.amount(), 0)


def is_slashed(walk: Walk) -> None:
    head = walk.tools.reader.block("latest")
    # Now and then everything, so that a thaw pool is emptied and starts over.
    amount = 2**127 if walk.dice.random() < 0.2 else walk.amount()
    order = {
        "providerId": walk.provider()[1],
        "caseId": walk.dice.randbytes(32),
        "amount": amount,
        "offenceAt": head.timestamp,
        "providerCapped": False,
        "globalCapped": False,
        "reporter": ZERO_ADDRESS,
        "bountyBps": 0,
    }
    walk.as_contract("SlashingCourt", "StakeVault", "slash", order)


def is_suspended(walk: Walk) -> None:
    until = walk.tools.reader.block("latest").timestamp + walk.dice.randrange(1000)
    walk.as_contract("SlashingCourt", "ProviderRegistry", "suspend", walk.provider()[1], until)


def is_reinstated(walk: Walk) -> None:
    walk.as_contract("TimelockController", "ProviderRegistry", "reinstate", walk.provider()[1])


def changes_payout(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    payout = FakeSigner(f"payout {walk.dice.random()}").address
    walk.tools.send(owner, "ProviderRegistry", "setPayout", provider_id, payout)
    walk.tools.net.warp(walk.dice.choice([1, 30, 61]))


def changes_operator(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    walk.tools.send(owner, "ProviderRegistry", "setOperator", provider_id, walk.dice.choice(walk.owners).address)


def adds_node(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    node = FakeSigner(f"node {len(walk.nodes)}")
    walk.nodes.append(node)
    walk.tools.add_node(owner, provider_id, node)


def removes_node(walk: Walk) -> None:
    owner, provider_id = walk.provider()
    if walk.nodes:
        walk.tools.send(owner, "ProviderRegistry", "removeNode", provider_id, walk.dice.choice(walk.nodes).address)


def announces(walk: Walk) -> None:
    if walk.nodes:
        node, head = walk.dice.choice(walk.nodes), walk.tools.reader.block("latest")
        provider_id = walk.tools.call("ProviderRegistry", "providerIdOfNode", node.address)
        walk.tools.net.faucet(node.address, eth_wei=Wei(10**18))
        starts_at = head.timestamp + walk.dice.randrange(2, 200)
        times = (starts_at, starts_at + walk.dice.randrange(1, 500))
        walk.tools.send(node, "ProviderRegistry", "announceMaintenance", provider_id, node.address, *times)
        if walk.dice.random() < 0.4:
            walk.tools.send(node, "ProviderRegistry", "withdrawMaintenance", provider_id, node.address)


def moves_window(walk: Walk) -> None:
    tools, member, epoch = walk.tools, walk.tools.net.accounts[1], walk.tools.call("EpochOracle", "currentEpoch")
    assert isinstance(epoch, int)
    window, secret = window_id(EpochNumber(epoch), walk.dice.randrange(3)), walk.dice.randbytes(32)
    tools.send(member, "ChallengeBeacon", "commitSecret", window, keccak(secret))
    tools.net.mine()
    tools.send(member, "ChallengeBeacon", "open", window, secret)
    if walk.dice.random() < 0.8:
        tools.send(member, "ChallengeBeacon", "close", window, walk.dice.randbytes(32), 3)
        tools.net.mine(3)
    if walk.dice.random() < 0.6:
        tools.send(member, "ChallengeBeacon", "draw", window)


def moves_job(walk: Walk) -> None:
    tools, (customer, _) = walk.tools, walk.provider()
    tools.send(
        customer, "JobEscrow", "post", walk.dice.randrange(1, 7), walk.dice.randbytes(32), 2 * WEI_PER_SWM, 60, 60
    )
    job, node = tools.call("JobEscrow", "jobCount"), walk.dice.choice(walk.nodes or walk.owners)
    provider_id = tools.call("ProviderRegistry", "providerIdOfNode", node.address)
    tools.net.faucet(node.address, eth_wei=Wei(10**18))
    ending = walk.dice.choice(["posted", "cancelled", "accepted", "completed", "refunded"])
    if ending == "cancelled":
        tools.send(customer, "JobEscrow", "cancel", job)
    if ending in {"accepted", "completed", "refunded"}:
        tools.send(node, "JobEscrow", "accept", job, provider_id, node.address)
    if ending in {"completed", "refunded"}:
        tools.send(node, "JobEscrow", "complete", job, walk.dice.randbytes(32))
    if ending == "refunded":
        tools.net.warp(1000)
        tools.send(customer, "JobEscrow", "refund", job)


def changes_members(walk: Walk) -> None:
    members = walk.tools.call("EpochOracle", "members")
    assert isinstance(members, tuple)
    if len(members) < 4 and walk.dice.random() < 0.5:
        added, count = FakeSigner(f"member {walk.dice.random()}").address, len(members) + 1
        walk.as_contract("TimelockController", "EpochOracle", "addMember", added, count // 2 + 1)
    elif len(members) > 1:
        # Never the first one: it moves the windows.
        removed, count = walk.dice.choice(members[1:]), len(members) - 1
        walk.as_contract("TimelockController", "EpochOracle", "removeMember", removed, count // 2 + 1)


MOVES: list[Callable[[Walk], None]] = [
    stakes,
    stakes,
    unbonds,
    unbonds,
    cancels_unbond,
    withdraws,
    is_penalised,
    is_slashed,
    is_suspended,
    is_reinstated,
    changes_payout,
    changes_operator,
    adds_node,
    adds_node,
    removes_node,
    announces,
    announces,
    moves_window,
    moves_job,
    moves_job,
    changes_members,
]


@pytest.fixture
def walk(tools: ChainTools) -> Walk:
    """Four providers with tokens, approved for vault and escrow."""
    owners = [FakeSigner(f"owner {index}") for index in range(4)]
    for owner in owners:
        tools.fund(owner.address, swm=1_000_000)
        tools.send(owner, "ProviderRegistry", "register", owner.address, owner.address, CPU, REGION)
        for contract in ("StakeVault", "JobEscrow"):
            tools.send(owner, "SwarmToken", "approve", tools.address(contract), 2**255)
    return Walk(tools=tools, dice=random.Random(), owners=owners)


def test_fold_equals_the_getters_after_a_random_walk_and_in_any_portions(walk: Walk) -> None:
    tools, reader = walk.tools, walk.tools.reader
    portions = ChainState(block=reader.block(0))
    for number in range(STEPS):
        walk.step(number)
        if number % 10 == 0:
            portions = _advanced(portions, tools, reader.block("latest"))
    head = reader.block("latest")

    events = reader.events(0, head.number)
    whole = fold(events, head)

    assert {event.name for event in events} >= HAPPENED
    assert _advanced(portions, tools, head) == whole
    assert [_provider_row(whole, index) for index in range(4)] == [
        _provider_getters(tools, id_, head) for id_ in range(1, 5)
    ]
    assert (whole.members, whole.quorum) == (
        _at(tools, head, "EpochOracle", "members"),
        _at(tools, head, "EpochOracle", "quorum"),
    )
    assert [_window_row(whole, i) for i in range(len(whole.windows))] == [
        _window_getters(tools, window.window_id, head) for window in whole.windows
    ]
    announced = {one.node: (one.starts_at, one.ends_at) for one in whole.announcements}
    assert announced == {
        node.address: times for node in walk.nodes if any(times := _announced_getters(tools, node.address, head))
    }
    assert len(whole.jobs) == _at(tools, head, "JobEscrow", "jobCount")
    assert [_job_row(whole, i) for i in range(len(whole.jobs))] == [
        _job_getters(tools, job.job_id, head) for job in whole.jobs
    ]


def _advanced(state: ChainState, tools: ChainTools, head: BlockRef) -> ChainState:
    return advance(state, tools.reader.events(state.block.number + 1, head.number), head)


def _at(tools: ChainTools, block: BlockRef, contract: str, function: str, *args: object) -> object:
    return tools.reader.call(ContractCall(contract=contract, function=function, args=args), at=block)


def _fields(tools: ChainTools, block: BlockRef, contract: str, function: str, *args: object) -> Fields:
    found = _at(tools, block, contract, function, *args)
    assert isinstance(found, dict)
    return found


def _provider_row(state: ChainState, index: int) -> Fields:
    provider = state.providers[index]
    return {
        "owner": provider.owner,
        "operator": provider.operator,
        "payout": provider.payout,
        "pendingPayout": provider.pending_payout or ZERO_ADDRESS,
        "pendingPayoutAt": provider.pending_payout_at,
        "registeredAt": provider.registered_at,
        "suspendedUntil": provider.suspended_until,
        "hardwareClass": provider.hardware_class,
        "region": provider.region,
        "retired": provider.retired,
        "tokens": provider.stake_wei,
        "active": provider.active_stake_wei,
        "nodes": len(provider.nodes),
        "live": [True] * len(provider.nodes) + [False] * len(provider.past_nodes),
        "removedAt": {removal.node: removal.removed_at for removal in provider.removals},
    }


def _provider_getters(tools: ChainTools, provider_id: int, at: BlockRef) -> Fields:
    found = _fields(tools, at, "ProviderRegistry", "provider", provider_id)
    pool = _fields(tools, at, "StakeVault", "pool", provider_id)
    head = fold(tools.reader.events(0, at.number), at).providers[provider_id - 1]
    nodes = (*head.nodes, *head.past_nodes)
    owners = [_at(tools, at, "ProviderRegistry", "providerIdOfNode", node) for node in nodes]
    keys = {node: _fields(tools, at, "ProviderRegistry", "nodeRecord", node) for node in nodes}
    assert {key["providerId"] for key in keys.values()} <= {provider_id}
    return {name: value for name, value in found.items() if name != "defender"} | {
        "tokens": pool["tokens"],
        "active": _at(tools, at, "StakeVault", "activeStake", provider_id),
        "nodes": _at(tools, at, "ProviderRegistry", "nodeCount", provider_id),
        "live": [owner == provider_id for owner in owners],
        "removedAt": {node: key["removedAt"] for node, key in keys.items() if key["removedAt"]},
    }


def _announced_getters(tools: ChainTools, node: str, at: BlockRef) -> tuple[object, object]:
    found = _fields(tools, at, "ProviderRegistry", "maintenanceOf", node)
    return found["startsAt"], found["endsAt"]


def _window_row(state: ChainState, index: int) -> Fields:
    window = state.windows[index]
    return {
        "state": window.state,
        "windowSeed": window.window_seed,
        "commitmentsRoot": window.commitments_root,
        "commitmentCount": window.commitment_count,
        "drawSeed": window.draw_seed,
        "openedAt": window.opened_at,
        "openedBlock": window.opened_block,
        "closedAt": window.closed_at,
        "closedBlock": window.closed_block,
    }


def _window_getters(tools: ChainTools, window: int, at: BlockRef) -> Fields:
    found = _fields(tools, at, "ChallengeBeacon", "window", window)
    kept = {name: value for name, value in found.items() if name not in {"secretHash", "secretBlock"}}
    return kept | {"state": _at(tools, at, "ChallengeBeacon", "stateOf", window)}


def _job_row(state: ChainState, index: int) -> Fields:
    job = state.jobs[index]
    return {
        "state": job.state,
        "kind": job.kind,
        "customer": job.customer,
        "specHash": job.spec_hash,
        "budget": job.budget_wei,
        "postedAt": job.posted_at,
        "providerId": job.provider_id,
        "node": job.node or ZERO_ADDRESS,
        "receiptDigest": job.receipt_digest,
    }


def _job_getters(tools: ChainTools, job_id: int, at: BlockRef) -> Fields:
    found = _fields(tools, at, "JobEscrow", "job", job_id)
    assert JobState(int(str(found["state"]))) is not JobState.NONE
    return {name: found[name] for name in _job_row_names()}


def _job_row_names() -> tuple[str, ...]:
    return ("state", "kind", "customer", "specHash", "budget", "postedAt", "providerId", "node", "receiptDigest")
