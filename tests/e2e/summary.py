"""What came of the story: checked against chain and leaves, written to demo.json, shown as a table."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from swarm_chain.core.units import Wei, format_swm
from tests.e2e.acts import PROVIDERS, Job, provider_of
from tests.e2e.world import World, receipt_of

ACTIVE, SUSPENDED = "active", "suspended"


def epoch_facts(world: World, epoch: int) -> dict[str, Any]:
    """One epoch: its root, the voted hash, the replayed one, its tree in a file, the gas of its submission."""
    root = next(one for one in world.oracle("/v1/epochs")["epochs"] if one["epoch"] == epoch)
    replayed = world.swarm("oracle", "replay", "--epoch", str(epoch))
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
    slashed = [e.args for e in _events(world, "Slashed") if e.args["providerId"] == provider_id]
    staked = [e.args["amount"] for e in _events(world, "Staked") if e.args["providerId"] == provider_id]
    suspended = record["suspendedUntil"] > 0
    return {
        "address": record["owner"],
        "providerId": provider_id,
        "stakedWei": str(sum(staked)),
        "earnedWei": leaf["cumRewardWei"],
        "claimedWei": str(claimed["claimedWei"]),
        "balanceGainWei": str(claimed["balanceGainWei"]),
        "penaltyWei": leaf["cumPenaltyWei"],
        "slashedWei": str(sum(args["amount"] for args in slashed)),
        "status": SUSPENDED if suspended else ACTIVE,
    }


def demo_document(world: World, epochs: list[dict[str, Any]], providers: Mapping[str, Any], job: Job) -> dict[str, Any]:
    """Everything in one document; wei as text."""
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
        "mallory earned nothing, and no vote slashed her": number["mallory"]["earnedWei"]
        == number["mallory"]["slashedWei"]
        == 0,
        "carol was penalised, not slashed": number["carol"]["penaltyWei"] > 0 == number["carol"]["slashedWei"],
        "carol earned less than alice": number["carol"]["earnedWei"] < number["alice"]["earnedWei"],
        "the job was judged and paid": document["job"]["judged"] == "passed" and int(document["job"]["paidWei"]) > 0,
        "every replay matches": all(e["reportHash"] == e["replayedHash"] for e in document["epochs"]),
        "three epochs passed": len(document["epochs"]) >= 3,
    }
    return [promise for promise, kept in promises.items() if not kept]


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
    console.print(people, epochs)
    console.print(f"job {job['id']}: {job['judged']}, {job['state']}, {format_swm(Wei(int(job['paidWei'])))} SWM paid")


def write(document: Mapping[str, Any], path: Path) -> None:
    """Writes demo.json; a reader never sees half of it."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(document, indent=2) + "\n")
    fresh.replace(path)


def _submit_gas(world: World, epoch: int) -> int:
    submitted = next(e for e in _events(world, "ReportSubmitted") if e.args["epoch"] == epoch)
    return int(receipt_of(world, submitted.tx_hash)["gasUsed"], 16)


def _events(world: World, name: str) -> list[Any]:
    last = world.reader.block("latest").number
    return [e for e in world.reader.events(world.deployment.block, last) if e.name == name]
