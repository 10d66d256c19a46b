"""Reading back what an earlier epoch published: the ground the next report stands on."""

from collections.abc import Sequence

from oracle.model import PreviousEpoch
from oracle.publish.manifest import Manifest, parse_manifest
from oracle.publish.shards import parse_shards
from oracle.publish.state import parse_state
from swarm_chain.core.encoding import sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ChainState, RootRecord
from swarm_chain.core.units import Hash32


def previous_root(state: ChainState) -> RootRecord | None:
    """Give the report a new one builds on: the last accepted one that the guardian did not disable.

    Args:
        state: the chain at the reference block of the new report, so that all members take the same one.
    """
    return next((root for root in reversed(state.roots) if not root.disabled), None)


def read_previous(manifest: bytes, state: bytes, shards: Sequence[bytes], manifest_hash: Hash32) -> PreviousEpoch:
    """Read and verify the documents of an earlier epoch.

    Args:
        manifest: published bytes.
        state: published bytes.
        shards: published bytes, in order.
        manifest_hash: what the chain holds of that report.

    Raises:
        InvalidInputError: a document is malformed or not the one the chain or the manifest names.
    """
    _require_document("manifest", manifest, manifest_hash)
    named = parse_manifest(manifest)
    _require_document("state", state, named.state_hash)
    _require_shards(shards, named)
    previous = PreviousEpoch(manifest_hash=manifest_hash, leaves=parse_shards(shards), state=parse_state(state))
    if previous.epoch != named.epoch:
        raise InvalidInputError(f"state is of epoch {previous.epoch}, manifest of {named.epoch}", code="bad_document")
    return previous


def _require_shards(shards: Sequence[bytes], named: Manifest) -> None:
    if len(shards) != len(named.shards):
        raise InvalidInputError(
            f"{len(shards)} shards, the manifest names {len(named.shards)}",
            code="bad_document",
            fix="fetch the missing shards",
        )
    for shard, entry in zip(shards, named.shards, strict=True):
        _require_document(f"shard {entry.index}", shard, entry.sha256)


def _require_document(name: str, data: bytes, expected: Hash32) -> None:
    """Refuses bytes that have another sha256 than they should.

    Raises:
        InvalidInputError: they do (code "wrong_document").
    """
    if sha256_digest(data) != expected:
        raise InvalidInputError(
            f"{name} has sha256 {to_hex(sha256_digest(data))}, expected {to_hex(expected)}",
            code="wrong_document",
            fix="fetch it again, from another member if need be",
        )
