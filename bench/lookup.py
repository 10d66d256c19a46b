"""Looking up the proof of one provider among a million in the store of a member, against reading the whole tree for it."""

import argparse
import secrets
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from _report import Result, print_report
from sqlalchemy import Engine

from oracle.pipeline.paths import keep_tree, leaf_proof
from oracle.publish.shards import shard_bytes
from oracle.publish.trees import settlement_tree
from oracle.store import documents
from oracle.store.engine import open_store
from swarm_chain.core import merkle
from swarm_chain.core.encoding import keccak
from swarm_chain.core.model import RootRecord, SettlementLeaf
from swarm_chain.core.units import ZERO_HASH, EpochNumber, ProviderId, RootIndex, Timestamp, Wei

GOAL_MS = 5.0
EPOCH = EpochNumber(1)
DOMAIN = keccak(b"bench")


def leaf_of(number: int) -> SettlementLeaf:
    """A leaf of the size it has after some years."""
    amount = int.from_bytes(keccak(number.to_bytes(4, "big"))[:11], "big")
    return SettlementLeaf(provider_id=ProviderId(number), cum_reward_wei=Wei(amount), cum_penalty_wei=Wei(amount // 50))


def keep(engine: Engine, count: int) -> RootRecord:
    """Keeps shards and tree of so many providers; gives their root as the chain would show it."""
    leaves = tuple(leaf_of(number) for number in range(1, count + 1))
    tree = settlement_tree(leaves, DOMAIN)
    documents.save_documents(engine, EPOCH, {f"shards/{i}": shard for i, shard in enumerate(shard_bytes(leaves))})
    keep_tree(engine, EPOCH, tree)
    return RootRecord(
        index=RootIndex(0),
        epoch=EPOCH,
        root=merkle.root(tree),
        outcomes_root=ZERO_HASH,
        manifest_hash=ZERO_HASH,
        leaf_count=count,
        total_reward_wei=Wei(0),
        total_penalty_wei=Wei(0),
        activates_at=Timestamp(0),
    )


def lookups(engine: Engine, root: RootRecord, count: int) -> list[float]:
    """Seconds of so many look-ups of random providers; each proof is checked against the root by `leaf_proof`."""
    times = []
    for _ in range(count):
        provider = ProviderId(1 + secrets.randbelow(root.leaf_count))
        started = perf_counter()
        leaf_proof(engine, root, provider, DOMAIN)
        times.append(perf_counter() - started)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--providers", type=int, default=1_000_000)
    parser.add_argument("--lookups", type=int, default=500)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'oracle.db'}"
        first = open_store(url)
        root = keep(first, options.providers)
        first.dispose()  # as after a restart: whatever is found now comes from the disk
        engine = open_store(url)
        cold_ms = 1000 * lookups(engine, root, 1)[0]
        times_ms = sorted(1000 * one for one in lookups(engine, root, options.lookups))
        engine.dispose()
    name = f"proof of one of {options.providers}"
    print_report(
        "lookup",
        [
            Result(name=f"{name}, typical", value=median(times_ms), unit="ms", goal=GOAL_MS),
            Result(name=f"{name}, p99", value=times_ms[len(times_ms) * 99 // 100], unit="ms", goal=GOAL_MS),
            Result(name=f"{name}, first after a restart", value=cold_ms, unit="ms"),
        ],
    )


if __name__ == "__main__":
    main()
