"""The acts of the story: people arrive, epochs pass, the dishonest and the absent get what is theirs, everybody claims."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from swarm_chain.core.units import epoch_of
from tests.e2e import court
from tests.e2e.claims import CLAIMANTS, claims_of, is_judged
from tests.e2e.court import WATCHER
from tests.e2e.world import SWARM, World

PROVIDERS = ("alice", "bob", "carol", "mallory")
CUSTOMER = "dave"
STAKE_SWM = "6000"
BUDGET_SWM = "40"
JOB_SPEC = Path("examples/train.yaml")
LIARS = {"mallory": "most", "carol": "boast"}

AFTER_OPENINGS_S = 20  # for judging what came last
AT_ONCE = 3  # commands at a time: they unlock keys and load web3, which two cores do one by one anyway

Say = Callable[[str], None]
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What dave's job came to."""

    job_id: int
    state: str
    paid_wei: int
    to_provider_wei: int
    receipt_digest: str
    judged: str


def arrive(world: World, say: Say) -> None:
    """Makes everybody's wallet, gives coins and tokens, registers and stakes the providers and their nodes."""
    say("wallets, coins, registration, stake, nodes: through the command line, as anyone would")
    world.swarm("dev", "accounts", "--import", "1", "--as", "oracle")
    each((*PROVIDERS, CUSTOMER, WATCHER), lambda name: move_in(world, name))


def open_for_work(world: World, say: Say) -> None:
    """Starts the oracle member and the four nodes, and waits until all are heard of."""
    say("the oracle member and four nodes start as processes of their own")
    world.processes.start("oracle", SWARM, "oracle", "run", "--account", "oracle")
    world.wait_for("the oracle", lambda: world.oracle("/readyz"))
    for name in PROVIDERS:
        start_node(world, name)
    each(PROVIDERS, lambda name: _wait_for_node(world, name))


def close_for_work(world: World, say: Say) -> None:
    """Ends the nodes and the member, so that no later epoch changes the sums; a member without a key serves what is public."""
    world.processes.stop(WATCHER, "oracle")
    world.processes.stop(*PROVIDERS)
    world.processes.start("reader", SWARM, "oracle", "run", "--dry-run")
    world.wait_for("the reader", lambda: world.oracle("/readyz"))
    say("watcher, nodes and member have stopped; a reader without a key serves what was published")


def start_node(world: World, name: str) -> None:
    """Starts somebody's node: mallory's invents most of her rows, carol's has nothing of what it claims, as alice's has."""
    folder = str(node_folder(world, name))
    if name in LIARS:
        command = (sys.executable, "-m", "tests.cheaters", LIARS[name], "--folder", folder)
    else:
        command = (SWARM, "node", "run", "--folder", folder, *(("--jobs",) if name == "bob" else ()))
    world.processes.start(name, *command, **claims_of(name))


def bring_back(world: World, name: str) -> None:
    """Starts a node again and waits until it serves."""
    (world.processes.logs / f"{name}.log").unlink()
    start_node(world, name)
    _wait_for_node(world, name)


def next_epoch(world: World) -> int:
    """Moves to the start of the next epoch; gives its number."""
    court.let_rest(world)
    epoch = int(world.oracle("/v1/status")["epoch"])
    world.warp_to(epoch_end(world, epoch))
    return epoch + 1


def pass_epoch(world: World, epoch: int, say: Say) -> bool:
    """Lives through the windows of an epoch, then skips what is left of it; says whether devices were audited in it."""
    audited = live_windows(world, epoch, say)
    end_epoch(world, epoch, say)
    return audited


def live_windows(world: World, epoch: int, say: Say, awake: Sequence[str] = CLAIMANTS) -> bool:
    """Waits until every commitment of an epoch's windows is opened, and whatever those awake claim is judged, if it was asked."""
    world.wait_for(f"epoch {epoch}", lambda: int(world.oracle("/v1/status")["epoch"]) == epoch)
    windows = world.wait_for(f"the windows of epoch {epoch}", lambda: _all_proven(world, epoch))
    audited = any(window["windowId"] & 0xFFFF for window in windows)
    if audited:  # what a busy machine missed is asked in the next epoch
        late = max(int(window["openUntil"] or 0) for window in windows) + AFTER_OPENINGS_S
        world.wait_for("everybody's audits", lambda: _all_judged(world, epoch, awake) or world.chain_time() > late)
        audited = _all_judged(world, epoch, awake)
    passed = ", ".join(f"window {w['windowId'] & 0xFFFF}: {w['proven']} of {w['committed']} opened" for w in windows)
    say(f"epoch {epoch}: {passed}")
    return audited


def end_epoch(world: World, epoch: int, say: Say) -> None:
    """Skips what is left of an epoch and waits for its report."""
    court.let_rest(world)
    world.warp_to(epoch_end(world, epoch))
    world.wait_for(f"the report of epoch {epoch}", lambda: root_of(world, epoch))
    say(f"epoch {epoch}: report voted, submitted and accepted")


def post_job(world: World, say: Say) -> int:
    """Dave posts a training job; gives its id."""
    done = world.swarm("job", "submit", str(JOB_SPEC), "--budget", BUDGET_SWM, account=CUSTOMER)
    say(f"dave posts training job {done['jobId']} with {BUDGET_SWM} SWM in escrow")
    return int(done["jobId"])


def wait_for_job(world: World, job_id: int, say: Say) -> None:
    """Waits until bob's node has trained and handed in, and the oracle has replayed the drawn segments."""
    found = world.wait_for("the job", lambda: _verdict(world, job_id))
    say(f"bob's node trained on Ray; units {found['drawnUnits']} computed again: {found['verdict']}")


def outcome_of_job(world: World, job_id: int) -> Job:
    """Waits until the escrow has paid, by the outcome of an activated report."""
    paid = world.wait_for("the payment of the job", lambda: world.events("JobEscrow", "JobPaid", jobId=job_id))[0].args
    shown = world.oracle(f"/v1/jobs/{job_id}")
    return Job(
        job_id=job_id,
        state=str(shown["state"]),
        paid_wei=paid["toProvider"] + paid["toOracle"] + paid["burned"],
        to_provider_wei=paid["toProvider"],
        receipt_digest=str(shown["receiptDigest"]),
        judged=str(shown["verdict"]),
    )


def look_around(world: World, lie: int, job_id: int, say: Say) -> None:
    """Asks what anybody may ask: why mallory got nothing, what dave's money bought."""
    mallory = provider_of(world, "mallory")
    told = world.swarm("rewards", "explain", str(mallory), "--epoch", str(lie))
    reasons = sorted({one["reason"] for one in told["verdicts"] if one["reason"]})
    say(f"the oracle's verdict on mallory's proofs of epoch {lie}: {', '.join(reasons)}")
    model = world.swarm("job", "results", str(job_id), "--out", str(world.folder / "model"))
    say(f"dave has his model, {model['bytes']:,} bytes whose hash is the receipt's")


def activate(world: World, epoch: int) -> None:
    """Skips the guardian's delay of an epoch's root."""
    court.let_rest(world)
    world.warp_to(int(world.wait_for("the root", lambda: root_of(world, epoch))["activatesAt"]))


def claim(world: World, name: str) -> dict[str, int]:
    """Claims for one provider; gives what came in and what the chain says was netted."""
    provider_id = provider_of(world, name)
    payout = world.view("ProviderRegistry", "payoutOf", provider_id)
    before = world.view("SwarmToken", "balanceOf", payout)
    world.swarm("rewards", "claim", account=name)
    netted = world.view("RewardSettlement", "account", provider_id)
    gain = world.view("SwarmToken", "balanceOf", payout) - before
    return {"claimedWei": netted["claimed"], "penaltyWei": netted["penalised"], "balanceGainWei": gain}


def root_of(world: World, epoch: int) -> dict[str, Any] | None:
    """An accepted report as the API lists it, None before."""
    epochs = world.oracle("/v1/epochs")["epochs"]
    return next((one for one in epochs if one["epoch"] == epoch), None)


def epoch_end(world: World, epoch: int) -> int:
    """First second after an epoch."""
    return int(world.view("EpochOracle", "epochEnd", epoch))


def provider_of(world: World, name: str) -> int:
    """Provider id of somebody."""
    return world.provider_of(name)


def node_folder(world: World, name: str) -> Path:
    """Where somebody's node lives."""
    return world.folder / "nodes" / name


def move_in(world: World, name: str) -> None:
    """Makes somebody's wallet, coins, provider, stake and node; customers and watchers have no node."""
    world.swarm("wallet", "create", name)
    world.swarm("dev", "faucet", name, "--eth", "10", "--swm", "10000")
    if name in {CUSTOMER, WATCHER}:
        return
    world.swarm("provider", "register", "--region", "eu-west", account=name)
    world.swarm("stake", "add", STAKE_SWM, account=name)
    node = world.swarm("node", "register", "--folder", str(node_folder(world, name)), account=name)["node"]
    world.swarm("dev", "faucet", node, "--eth", "1", "--swm", "1")  # a node that takes jobs pays their gas


def _wait_for_node(world: World, name: str) -> None:
    world.wait_for(f"{name}'s node", lambda: "agent_started" in world.processes.last_words(name))


def each(things: Sequence[K], act: Callable[[K], V]) -> dict[K, V]:
    """Does something for several at once; gives what came of each, in their order."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(things, pool.map(act, things), strict=True))


def _all_proven(world: World, epoch: int) -> list[dict[str, Any]] | None:
    windows = [w for w in world.oracle("/v1/windows/current")["windows"] if epoch_of(w["windowId"]) == epoch]
    opened = [w for w in windows if w["state"] not in ("none", "committed")]
    confirmations = 1
    late = world.chain_time() > epoch_end(world, epoch) - 40  # too late for another window to open
    complete = len(opened) > confirmations or (opened and late)
    return opened if complete and all(_is_over(world, w) for w in opened) else None


def _all_judged(world: World, epoch: int, names: Sequence[str]) -> bool:
    return all(is_judged(world, name, epoch) for name in names)


def _is_over(world: World, window: dict[str, Any]) -> bool:
    # A provider suspended after it committed proves no more; then the time to open rows must pass.
    missing = window["proven"] < window["committed"]
    return window["state"] == "drawn" and (not missing or world.chain_time() > window["openUntil"])


def _verdict(world: World, job_id: int) -> dict[str, Any] | None:
    shown: dict[str, Any] = world.oracle(f"/v1/jobs/{job_id}")
    return shown if shown["verdict"] else None
