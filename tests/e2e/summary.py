"""What came of the story: checked against chain and leaves, written to demo.json, shown as a table."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import UINT64_MAX, Wei, format_swm
from tests.e2e.acts import PROVIDERS, Job, provider_of
from tests.e2e.claims import claims_promises, claims_table
from tests.e2e.world import World, receipt_of

ACTIVE, SUSPENDED, EXCLUDED = "active", "suspended", "excluded"


def audited(world: World, epochs: Sequence[int]) -> dict[int, Any]:
    """What an audit of everything published finds, by epoch; it fails if one byte differs."""
    found = world.swarm("oracle", "audit", "--from", str(min(epochs)), "--to", str(max(epochs)))
    return {one["epoch"]: one for one in found["epochs"]}


def epoch_facts(world: World, epoch: int, replayed: Mapping[str, Any]) -> dict[str, Any]:
    """One epoch: its root, the voted hash, the replayed one, its tree in a file, the gas of its submission."""
    root = next(one for one in world.oracle("/v1/epochs")["epochs"] if one["epoch"] == epoch)
    path = world.folder / "epochs" / f"{epoch}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(world.oracle(f"/v1/epochs/{epoch}/dump")))
    return {
        "epoch": epoch,
        "root": root["root"],
        "reportHash": replayed["reportHash"],
        "replayedHash": replayed["replayedHash"],
        "leafCount": root["leafCount"],
        "submitGas": _submit_gas(world, epoch),
        "dump": str(path),
    }


def provider_facts(world: World, name: str, last_epoch: int, claimed: Mapping[str, int]) -> dict[str, Any]:
    """One provider: what the leaf of the last epoch grants, what was claimed, what was taken."""
    provider_id = provider_of(world, name)
    leaf = world.oracle(f"/v1/epochs/{last_epoch}/proofs/{provider_id}")["leaf"]
    record = world.view("ProviderRegistry", "provider", provider_id)
    slashed = world.events("StakeVault", "Slashed", providerId=provider_id)
    staked = world.events("StakeVault", "Staked", providerId=provider_id)
    return {
        "address": record["owner"],
        "providerId": provider_id,
        "stakedWei": str(_total(staked)),
        "earnedWei": leaf["cumRewardWei"],
        "claimedWei": str(claimed["claimedWei"]),
        "balanceGainWei": str(claimed["balanceGainWei"]),
        "penaltyWei": leaf["cumPenaltyWei"],
        "slashedWei": str(_total(slashed)),
        "status": _status(record["suspendedUntil"]),
    }


def silence_facts(world: World, name: str, epoch: int) -> dict[str, Any]:
    """What a provider earned in the epoch it was silent, wei: the difference of two leaves."""
    provider_id = provider_of(world, name)
    leaves = [world.oracle(f"/v1/epochs/{at}/proofs/{provider_id}")["leaf"] for at in (epoch - 1, epoch)]
    before, after = (int(leaf["cumRewardWei"]) for leaf in leaves)
    return {"provider": name, "epoch": epoch, "earnedWei": str(after - before)}


def demo_document(
    world: World, epochs: list[dict[str, Any]], providers: Mapping[str, Any], job: Job, acts: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything in one document; wei as text. `acts` has what the court did, and the silence."""
    return {
        "chainId": world.deployment.chain_id,
        "durationS": round(time.monotonic() - world.started, 1),
        "contracts": dict(world.deployment.contracts),
        "epochs": epochs,
        "providers": dict(providers),
        "job": {
            "id": job.job_id,
            "state": job.state,
            "paidWei": str(job.paid_wei),
            "toProviderWei": str(job.to_provider_wei),
            "receiptDigest": job.receipt_digest,
            "judged": job.judged,
        },
        **acts,
    }


def broken_promises(document: Mapping[str, Any]) -> list[str]:
    """What the story promises and the document does not show; empty when all is well."""
    p = document["providers"]
    number = {name: {key: int(v) for key, v in p[name].items() if key.endswith("Wei")} for name in PROVIDERS}
    honest = [name for name in ("alice", "bob") if number[name]["earnedWei"] > 0]
    promises = {
        "alice and bob earned": honest == ["alice", "bob"],
        "alice and bob were neither penalised nor slashed": all(
            number[n]["penaltyWei"] == number[n]["slashedWei"] == 0 for n in honest
        ),
        "everybody claimed exactly what the leaf says": all(
            v["claimedWei"] == v["earnedWei"] and v["balanceGainWei"] == max(v["earnedWei"] - v["penaltyWei"], 0)
            for v in number.values()
        ),
        "mallory earned nothing": number["mallory"]["earnedWei"] == 0,
        "carol was penalised, not slashed": number["carol"]["penaltyWei"] > 0 == number["carol"]["slashedWei"],
        "carol earned nothing while she was silent": int(document["silence"]["earnedWei"]) == 0,
        "the job was judged and paid": document["job"]["judged"] == "passed" and int(document["job"]["paidWei"]) > 0,
        "every replay matches": all(e["reportHash"] == e["replayedHash"] for e in document["epochs"]),
        "three epochs passed": len(document["epochs"]) >= 3,
        **claims_promises(document["claims"]),
        **_court_promises(document["court"], p["mallory"]),
    }
    return [promise for promise, kept in promises.items() if not kept]


def _court_promises(court: Mapping[str, Any], mallory: Mapping[str, Any]) -> dict[str, bool]:
    slashed, burned, reward = (int(court[key]) for key in ("slashedWei", "burnedWei", "rewardWei"))
    return {
        "ComputeCourt slashed mallory, and nobody else did": slashed == int(mallory["slashedWei"]) > 0,
        "mallory is excluded": mallory["status"] == EXCLUDED,
        "mallory's row was true up to the last step": court["step"] == court["steps"],
        "half of the slash was burned": 2 * burned >= slashed,
        "erin got her reward and every bond back": int(court["accuserGainWei"]) == reward > 0,
        "erin is no oracle member": not court["accuserIsMember"],
        "no case was put to a vote": court["votedCases"] == 0,
    }


def show(console: Console, document: Mapping[str, Any]) -> None:
    """The tables at the end."""
    people = Table("provider", "staked", "earned", "claimed", "penalty", "slashed", "status", title="providers, SWM")
    for name in PROVIDERS:
        row = document["providers"][name]
        amounts = (
            format_swm(Wei(int(row[key])))
            for key in ("stakedWei", "earnedWei", "claimedWei", "penaltyWei", "slashedWei")
        )
        people.add_row(name, *amounts, row["status"])
    epochs = Table("epoch", "leaves", "gas of the report", "replay", "root", title="epochs")
    for one in document["epochs"]:
        same = "same bytes" if one["reportHash"] == one["replayedHash"] else "DIFFERS"
        epochs.add_row(str(one["epoch"]), str(one["leafCount"]), f"{one['submitGas']:,}", same, one["root"][:18] + "…")
    job = document["job"]
    console.print(people, claims_table(document["claims"]), _court_table(document["court"]), epochs)
    console.print(f"job {job['id']}: {job['judged']}, {job['state']}, {format_swm(Wei(int(job['paidWei'])))} SWM paid")


def _court_table(court: Mapping[str, Any]) -> Table:
    columns = ("accused node", "row", "step", "column", "gas of the proof", "slashed", "burned", "erin's reward")
    shown = Table(*columns, title="ComputeCourt, SWM")
    amounts = (format_swm(Wei(int(court[key]))) for key in ("slashedWei", "burnedWei", "rewardWei"))
    place = (str(court["row"]), f"{court['step']} of {court['steps']}", str(court["column"]))
    shown.add_row(court["accused"], *place, f"{court['proveGas']:,}", *amounts)
    return shown


def write(document: Mapping[str, Any], path: Path) -> None:
    """Writes demo.json; a reader never sees half of it."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(document, indent=2) + "\n")
    fresh.replace(path)


def _status(suspended_until: int) -> str:
    if suspended_until >= UINT64_MAX:
        return EXCLUDED
    return SUSPENDED if suspended_until else ACTIVE


def _total(events: Sequence[ChainEvent]) -> int:
    return sum(int(str(event.args["amount"])) for event in events)


def _submit_gas(world: World, epoch: int) -> int:
    (submitted,) = world.events("EpochOracle", "ReportSubmitted", epoch=epoch)
    return int(receipt_of(world, submitted.tx_hash)["gasUsed"], 16)
