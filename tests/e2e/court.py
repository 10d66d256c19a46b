"""The dispute of the story: erin watches as anybody may, mallory defends what she invented, arithmetic decides."""

from collections.abc import Callable
from typing import Any

from swarm_chain.core.model import ChainEvent
from tests.e2e.world import SWARM, World, receipt_of

COURT = "ComputeCourt"
WATCHER = "erin"  # stakes nothing and sits in no committee

Say = Callable[[str], None]


def start_watch(world: World, say: Say) -> None:
    """Starts erin's watcher, which needs nothing but the chain, what a member publishes, and SWM for bonds."""
    world.processes.start(
        WATCHER, SWARM, "court", "watch", "--poll", "1", "--backend", "numpy", "--account", WATCHER, "--json", "--yes"
    )
    say(f"{WATCHER} starts to watch: whatever is published she computes again")


def wait_for_conviction(world: World, provider_id: int, say: Say) -> None:
    """Follows the first accusation against a provider through all its moves to its end."""
    accused = _wait(world, "an accusation", "Accused", providerId=provider_id)
    found, bond = {"accusationId": accused["accusationId"]}, accused["bond"] // 10**18
    say(f"{WATCHER} finds row {accused['row']} of mallory's published proof false and accuses her, bond {bond} SWM")
    answer = _wait(world, "the answer", "AccusationAnswered", **found)
    say(f"mallory answers with the hashes of all {len(answer['hashes'])} states of the row; her head opens the leaf")
    step = _wait(world, "the pick", "StepPicked", **found)["step"]
    say(f"{WATCHER} picks step {step}, the first false one")
    row = _wait(world, "the row", "RowRevealed", **found)["row"]
    proven = _wait(world, "the proof", "FalseByteProven", **found)
    shown = f"byte {proven['column']} must be {proven['computed']}, not {proven['claimed']}"
    say(f"mallory reveals its {len(row)} bytes; {WATCHER} proves with one column of W: {shown}")
    taken = _wait(world, "the conviction", "Convicted", providerId=provider_id)["taken"]
    say(f"the court has taken {taken / 10**18:,.2f} SWM from mallory and excluded her; nobody voted")


def let_rest(world: World) -> None:
    """Waits until no accusation is open: whoever moves the clock must make nobody late."""
    world.wait_for("the court to rest", lambda: not _open_accusations(world))


def collect_reward(world: World) -> int:
    """Erin has her bounties paid out; gives them in wei."""
    return int(world.swarm("court", "claim", account=WATCHER)["claimedWei"])


def balance_of(world: World, name: str) -> int:
    """SWM of somebody's account, wei."""
    return int(world.view("SwarmToken", "balanceOf", world.address_of(name)))


def court_facts(world: World, provider_id: int, balance_before: int) -> dict[str, Any]:
    """What the court did to a provider; wei as text.

    Args:
        world: with the dispute behind it.
        provider_id: who was accused.
        balance_before: the watcher's SWM before it began, wei.

    Returns:
        `accused` is the address of the node whose commitment was false. `row`, `step`, `column` and `proveGas` are those of
        the first proof; the amounts are sums over all convictions; `votedCases` were opened at SlashingCourt.
    """
    proven = world.events(COURT, "FalseByteProven")[0]
    accused = world.events(COURT, "Accused", accusationId=proven.args["accusationId"])[0].args
    convicted = world.events(COURT, "Convicted", providerId=provider_id)
    shares = [_shares(world, event) for event in convicted]
    watcher = world.address_of(WATCHER)
    commitment: Any = accused["commitment"]
    return {
        "accused": commitment["node"],
        "providerId": provider_id,
        "accuser": accused["accuser"],
        "accuserIsMember": bool(world.view("EpochOracle", "isMember", watcher)),
        "accuserGainWei": str(balance_of(world, WATCHER) - balance_before),
        "row": accused["row"],
        "step": proven.args["step"],
        "steps": commitment["steps"],
        "column": proven.args["column"],
        "proveGas": int(receipt_of(world, proven.tx_hash)["gasUsed"], 16),
        "convictions": len(convicted),
        "slashedWei": str(sum(share["amount"] for share in shares)),
        "burnedWei": str(sum(share["burned"] for share in shares)),
        "rewardWei": str(sum(share["bounty"] for share in shares)),
        "votedCases": len(world.events("SlashingCourt", "CaseOpened", providerId=provider_id)),
    }


def _shares(world: World, convicted: ChainEvent) -> dict[str, Any]:
    (deposited,) = world.events("SlashSink", "Deposited", caseId=convicted.args["offenceId"])
    return dict(deposited.args)


def _open_accusations(world: World) -> int:
    return len(world.events(COURT, "Accused")) - len(world.events(COURT, "AccusationEnded"))


def _wait(world: World, what: str, name: str, **wanted: object) -> dict[str, Any]:
    found: list[ChainEvent] = world.wait_for(what, lambda: world.events(COURT, name, **wanted))
    return dict(found[0].args)
