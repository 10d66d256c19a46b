"""Proofs of leaves from what the store keeps: one shard and a few blocks of the tree, read anew for each question.

leaf  = 32 bytes of shard (id - 1) // 16,384          node i of the tree = 32 bytes of block i // 2,048

What is read is checked against the root on chain, so that a proof that would not be taken there is never given.
"""

from sqlalchemy import Engine

from oracle.publish.answers import LeafProof
from oracle.publish.shards import LEAF_BYTES, LEAVES_PER_SHARD, parse_leaf, parse_shards
from oracle.publish.trees import settlement_tree
from oracle.store import documents
from swarm_chain.core import merkle
from swarm_chain.core.encoding import settlement_leaf, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.merkle import NODE_BYTES
from swarm_chain.core.model import RootRecord, SettlementLeaf
from swarm_chain.core.units import EpochNumber, Hash32, ProviderId

NODES_PER_BLOCK = 2048


def keep_tree(engine: Engine, epoch: EpochNumber, tree: bytes) -> None:
    """Keeps a settlement tree in blocks.

    Args:
        engine: the store.
        epoch: its epoch.
        tree: as `merkle.build_tree` lays it out.
    """
    size, root = NODES_PER_BLOCK * NODE_BYTES, merkle.root(tree)
    blocks = {_block_name(root, at // size): tree[at : at + size] for at in range(0, len(tree), size)}
    documents.save_documents(engine, epoch, blocks)


def leaf_proof(engine: Engine, root: RootRecord, provider_id: ProviderId, domain: Hash32) -> LeafProof:
    """Leaf and path of a provider under a root on chain.

    Args:
        engine: the store.
        root: as the chain shows it.
        provider_id: from 1.
        domain: domain of settlement leaves.

    Raises:
        InvalidInputError: no such provider in that epoch, or this member does not hold its shards.
        InconsistentError: the kept shards do not make the root on chain.
    """
    if not 1 <= provider_id <= root.leaf_count:
        raise InvalidInputError(
            f"epoch {root.epoch} has no provider {provider_id}",
            code="unknown_provider",
            fix=f"ask for a provider from 1 to {root.leaf_count}, or for a later epoch",
        )
    leaf = _leaf(engine, root.epoch, provider_id)
    path = _path(engine, root, provider_id - 1)
    if path is None:  # of a report that came from another member, and nobody has asked for a proof of it yet
        _rebuild_tree(engine, root, domain)
        path = _path(engine, root, provider_id - 1)
    if path is None or not merkle.verify(root.root, settlement_leaf(domain, leaf), path):
        raise _not_the_root(root)
    return LeafProof(leaf=leaf, path=path)


def _leaf(engine: Engine, epoch: EpochNumber, provider_id: ProviderId) -> SettlementLeaf:
    index, position = divmod(provider_id - 1, LEAVES_PER_SHARD)
    shard = documents.document(engine, epoch, f"shards/{index}")
    if shard is None:
        raise InvalidInputError(f"epoch {epoch} is not published here", code="unknown_epoch", fix="see /v1/epochs")
    return parse_leaf(shard[position * LEAF_BYTES : (position + 1) * LEAF_BYTES], provider_id)


def _path(engine: Engine, root: RootRecord, position: int) -> tuple[Hash32, ...] | None:
    places = [divmod(node, NODES_PER_BLOCK) for node in merkle.path_nodes(max(root.leaf_count, 2), position)]
    kept = documents.several(engine, root.epoch, {_block_name(root.root, block) for block, _ in places})
    blocks = [kept.get(_block_name(root.root, block)) for block, _ in places]
    if any(block is None for block in blocks):
        return None
    found = zip(blocks, places, strict=True)
    return tuple(Hash32((block or b"")[at * NODE_BYTES : (at + 1) * NODE_BYTES]) for block, (_, at) in found)


def _rebuild_tree(engine: Engine, root: RootRecord, domain: Hash32) -> None:
    shards = documents.several(
        engine, root.epoch, {f"shards/{i}" for i in range(-(-root.leaf_count // LEAVES_PER_SHARD))}
    )
    leaves = parse_shards(shards[name] for name in sorted(shards, key=lambda name: int(name.partition("/")[2])))
    tree = settlement_tree(leaves, domain)
    if merkle.root(tree) != root.root:
        raise _not_the_root(root)
    keep_tree(engine, root.epoch, tree)


def _not_the_root(root: RootRecord) -> InconsistentError:
    return InconsistentError(
        f"the shards kept of epoch {root.epoch} do not make its root on chain, {to_hex(root.root)}",
        fix="delete this member's database: it fetches the documents of accepted reports from the other members",
        code="wrong_shards",
    )


def _block_name(root: Hash32, block: int) -> str:
    return f"tree/{root.hex()[:32]}/{block}"
