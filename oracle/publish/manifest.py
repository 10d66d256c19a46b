"""Bytes of the manifest: what was published of an epoch, by hash; its own sha256 is in the report on chain."""

from collections.abc import Sequence
from dataclasses import dataclass

from oracle.publish import fields as f
from oracle.publish.bundle import block_json, read_block
from oracle.publish.shards import LEAF_BYTES, LEAVES_PER_SHARD
from swarm_chain.core.encoding import canonical_json, sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import BlockRef, Report
from swarm_chain.core.units import Address, EpochNumber, Hash32, Wei

DOMAIN = "swarm/manifest/v1"
_NAMES = (
    *("domain", "chainId", "settlement", "epoch", "refBlock", "paramsVersion", "previousManifestHash"),
    *("bundleHash", "stateHash", "leafCount", "totals", "root", "outcomesRoot", "shards"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardEntry:
    """One shard by hash; `first_id` is the provider of its first leaf."""

    index: int
    first_id: int
    count: int
    sha256: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything published of an epoch (protocol.md, Documents of an epoch); totals are cumulative, in wei."""

    chain_id: int
    settlement: Address
    epoch: EpochNumber
    ref_block: BlockRef
    params_version: int
    previous_manifest_hash: Hash32
    bundle_hash: Hash32
    state_hash: Hash32
    leaf_count: int
    total_reward_wei: Wei
    total_penalty_wei: Wei
    root: Hash32
    outcomes_root: Hash32
    shards: tuple[ShardEntry, ...]


def shard_entries(shards: Sequence[bytes]) -> tuple[ShardEntry, ...]:
    """Describe shards by hash, in order."""
    return tuple(
        ShardEntry(
            index=index,
            first_id=index * LEAVES_PER_SHARD + 1,
            count=len(shard) // LEAF_BYTES,
            sha256=sha256_digest(shard),
        )
        for index, shard in enumerate(shards)
    )


def manifest_bytes(manifest: Manifest) -> bytes:
    """Canonical JSON of a manifest."""
    m = manifest
    return canonical_json(
        {
            "domain": DOMAIN,
            "chainId": m.chain_id,
            "settlement": m.settlement,
            "epoch": m.epoch,
            "refBlock": block_json(m.ref_block),
            "paramsVersion": m.params_version,
            "previousManifestHash": to_hex(m.previous_manifest_hash),
            "bundleHash": to_hex(m.bundle_hash),
            "stateHash": to_hex(m.state_hash),
            "leafCount": m.leaf_count,
            "totals": {"rewardWei": str(m.total_reward_wei), "penaltyWei": str(m.total_penalty_wei)},
            "root": to_hex(m.root),
            "outcomesRoot": to_hex(m.outcomes_root),
            "shards": [
                {"index": s.index, "firstId": s.first_id, "count": s.count, "sha256": to_hex(s.sha256)}
                for s in m.shards
            ],
        }
    )


def parse_manifest(data: bytes) -> Manifest:
    """Read what `manifest_bytes` wrote.

    Raises:
        InvalidInputError: anything else, or shards that do not hold exactly `leafCount` leaves.
    """
    m = f.fields(f.load_canonical(data, "manifest"), "manifest", *_NAMES)
    f.require_constant(m["domain"], "manifest.domain", DOMAIN)
    totals = f.fields(m["totals"], "manifest.totals", "rewardWei", "penaltyWei")
    manifest = Manifest(
        chain_id=f.integer(m["chainId"], "manifest.chainId"),
        settlement=f.address(m["settlement"], "manifest.settlement"),
        epoch=EpochNumber(f.integer(m["epoch"], "manifest.epoch", f.UINT32_MAX)),
        ref_block=read_block(m["refBlock"], "manifest.refBlock"),
        params_version=f.integer(m["paramsVersion"], "manifest.paramsVersion", f.UINT32_MAX),
        previous_manifest_hash=f.hash32(m["previousManifestHash"], "manifest.previousManifestHash"),
        bundle_hash=f.hash32(m["bundleHash"], "manifest.bundleHash"),
        state_hash=f.hash32(m["stateHash"], "manifest.stateHash"),
        leaf_count=f.integer(m["leafCount"], "manifest.leafCount", f.UINT32_MAX),
        total_reward_wei=f.wei(totals["rewardWei"], "manifest.totals.rewardWei"),
        total_penalty_wei=f.wei(totals["penaltyWei"], "manifest.totals.penaltyWei"),
        root=f.hash32(m["root"], "manifest.root"),
        outcomes_root=f.hash32(m["outcomesRoot"], "manifest.outcomesRoot"),
        shards=f.rows(m["shards"], "manifest.shards", _read_shard),
    )
    _require_cover(manifest)
    return manifest


def report_of(data: bytes) -> Report:
    """Give the report that a manifest belongs to: its hash is what the chain holds, if the manifest is the true one.

    Args:
        data: the published bytes.

    Raises:
        InvalidInputError: no manifest.
    """
    m = parse_manifest(data)
    return Report(
        epoch=m.epoch,
        ref_block=m.ref_block.number,
        ref_block_hash=m.ref_block.hash,
        params_version=m.params_version,
        root=m.root,
        leaf_count=m.leaf_count,
        total_reward_wei=m.total_reward_wei,
        total_penalty_wei=m.total_penalty_wei,
        outcomes_root=m.outcomes_root,
        manifest_hash=sha256_digest(data),
    )


def _read_shard(value: object, where: str) -> ShardEntry:
    s = f.fields(value, where, "index", "firstId", "count", "sha256")
    return ShardEntry(
        index=f.integer(s["index"], f"{where}.index", f.UINT32_MAX),
        first_id=f.integer(s["firstId"], f"{where}.firstId", f.UINT32_MAX),
        count=f.integer(s["count"], f"{where}.count", LEAVES_PER_SHARD, 1),
        sha256=f.hash32(s["sha256"], f"{where}.sha256"),
    )


def _require_cover(manifest: Manifest) -> None:
    covered = 0
    for index, shard in enumerate(manifest.shards):
        whole = shard.count == LEAVES_PER_SHARD or index == len(manifest.shards) - 1
        if shard.index != index or shard.first_id != covered + 1 or not whole:
            raise InvalidInputError(f"manifest.shards[{index}] does not follow the one before", code="bad_document")
        covered += shard.count
    if covered != manifest.leaf_count:
        raise InvalidInputError(
            f"shards hold {covered} leaves, leafCount is {manifest.leaf_count}", code="bad_document"
        )
