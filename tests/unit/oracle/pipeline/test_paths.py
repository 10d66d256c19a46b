"""Proofs of leaves from the store alone: nothing of the epoch is built again, and nothing false is given."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, update

from oracle.pipeline.paths import keep_tree, leaf_proof
from oracle.publish.answers import proof_document
from oracle.publish.shards import shard_bytes
from oracle.publish.trees import settlement_tree
from oracle.store import documents
from oracle.store.tables import documents as table
from swarm_chain.core import merkle
from swarm_chain.core.encoding import keccak, settlement_leaf
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.model import RootRecord, SettlementLeaf
from swarm_chain.core.units import ZERO_HASH, EpochNumber, ProviderId, RootIndex, Timestamp, Wei
from tests.stores import sqlite_store

EPOCH = EpochNumber(7)
DOMAIN = keccak(b"domain")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A store on disk."""
    made = sqlite_store(tmp_path / "oracle.db")
    yield made
    made.dispose()


def leaves_of(count: int) -> tuple[SettlementLeaf, ...]:
    """So many leaves, all different."""
    return tuple(
        SettlementLeaf(provider_id=ProviderId(n), cum_reward_wei=Wei(n * 10**25), cum_penalty_wei=Wei(n))
        for n in range(1, count + 1)
    )


def keep(engine: Engine, leaves: Sequence[SettlementLeaf], *, with_tree: bool = True) -> RootRecord:
    """Keeps shards, and the tree if asked to; gives the root as the chain would show it."""
    tree = settlement_tree(leaves, DOMAIN)
    documents.save_documents(engine, EPOCH, {f"shards/{i}": shard for i, shard in enumerate(shard_bytes(leaves))})
    if with_tree:
        keep_tree(engine, EPOCH, tree)
    return RootRecord(
        index=RootIndex(5),
        epoch=EPOCH,
        root=merkle.root(tree),
        outcomes_root=ZERO_HASH,
        manifest_hash=ZERO_HASH,
        leaf_count=len(leaves),
        total_reward_wei=Wei(0),
        total_penalty_wei=Wei(0),
        activates_at=Timestamp(0),
    )


@pytest.mark.parametrize("count", [1, 2, 3, 16_384, 16_385, 40_000])
@pytest.mark.parametrize("with_tree", [True, False])
def test_proof_when_asked_then_it_leads_to_the_root_with_or_without_a_kept_tree(
    engine: Engine, count: int, with_tree: bool
) -> None:
    leaves = leaves_of(count)
    root = keep(engine, leaves, with_tree=with_tree)
    for number in sorted({1, count // 2 + 1, min(16_384, count), count}):
        proof = leaf_proof(engine, root, ProviderId(number), DOMAIN)
        assert proof.leaf == leaves[number - 1]
        assert merkle.verify(root.root, settlement_leaf(DOMAIN, proof.leaf), proof.path)
    assert proof_document(root, proof)["rootIndex"] == 5


@pytest.mark.parametrize("provider_id", [0, 4, -1, 2**31])
def test_proof_when_there_is_no_such_provider_then_refused(engine: Engine, provider_id: int) -> None:
    root = keep(engine, leaves_of(3))
    with pytest.raises(InvalidInputError) as refused:
        leaf_proof(engine, root, ProviderId(provider_id), DOMAIN)
    assert refused.value.code == "unknown_provider"


def test_proof_when_the_epoch_is_not_kept_then_unknown(engine: Engine) -> None:
    root = replace(keep(engine, leaves_of(3)), epoch=EpochNumber(8))
    with pytest.raises(InvalidInputError) as refused:
        leaf_proof(engine, root, ProviderId(1), DOMAIN)
    assert refused.value.code == "unknown_epoch"


@pytest.mark.parametrize("name", ["shards/0", "tree/%"])
def test_proof_when_a_kept_byte_is_changed_then_none_is_given(engine: Engine, name: str) -> None:
    root = keep(engine, leaves_of(3))
    rows = table.c.name.like(name)
    with engine.begin() as connection:
        size = 32 * (3 if name == "shards/0" else 5)
        connection.execute(update(table).where(rows).values(content=b"\1" * size))
    with pytest.raises(InconsistentError):
        leaf_proof(engine, root, ProviderId(2), DOMAIN)


def test_proof_when_the_chain_took_another_report_then_none_of_the_kept_one_is_given(engine: Engine) -> None:
    root = replace(keep(engine, leaves_of(3)), root=keccak(b"another report"))
    with pytest.raises(InconsistentError) as refused:
        leaf_proof(engine, root, ProviderId(2), DOMAIN)
    assert refused.value.code == "wrong_shards"


def test_proof_when_the_tree_was_lost_then_it_is_made_once_more_and_kept(engine: Engine) -> None:
    root = keep(engine, leaves_of(3))
    with engine.begin() as connection:
        connection.execute(delete(table).where(table.c.name.like("tree/%")))
    leaf_proof(engine, root, ProviderId(2), DOMAIN)
    assert any(name.startswith("tree/") for name in documents.names(engine, EPOCH))
