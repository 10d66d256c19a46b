"""Fetches the documents of accepted reports this member lacks from the others; the chain says which bytes they are."""

from collections.abc import Iterable, Sequence
from typing import cast

import structlog
from sqlalchemy import Engine

from oracle.pipeline.names import BUNDLE, BUNDLE_HASH, HELD, MANIFEST, PUBLISHED, REPORT_HASH, STATE
from oracle.pipeline.peers import Peer
from oracle.publish.manifest import parse_manifest
from oracle.publish.previous import require_document
from oracle.store import documents
from swarm_chain.core.encoding import sha256_digest
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import ContractCall, RootRecord
from swarm_chain.core.units import Hash32
from swarm_chain.ports import ChainReader

log = structlog.get_logger()


def newest_lacking(engine: Engine, roots: Sequence[RootRecord], known: set[Hash32]) -> RootRecord | None:
    """The newest accepted report whose documents are not here; in the end a member holds them all, back to the first.

    Args:
        engine: the store.
        roots: what the chain accepted, oldest first.
        known: manifest hashes of reports that were found here before; grows.
    """
    for root in reversed(roots):
        if root.manifest_hash in known:
            continue
        if not _is_kept(engine, root):
            return root
        known.add(root.manifest_hash)
    return None


def fetch(engine: Engine, reader: ChainReader, peers: Iterable[Peer], root: RootRecord) -> bool:
    """Fetches, checks and keeps the documents of one accepted report, from the first member that has them.

    Args:
        engine: the store.
        reader: names the report hash.
        peers: members to ask, in order.
        root: what the chain holds of the report.

    Returns:
        False if no member gave the right bytes now.
    """
    for peer in peers:
        try:
            contents = published_documents(peer, root)
        except (UnavailableError, InvalidInputError) as error:
            log.info("catch_up_failed", peer=peer.url, epoch=root.epoch, code=error.code, message=error.message)
            continue
        processed = ContractCall(contract="EpochOracle", function="processedHash", args=(root.epoch,))
        report_hash = cast(bytes, reader.call(processed))
        bundle_hash = sha256_digest(contents[BUNDLE])
        marks = {BUNDLE_HASH: bundle_hash, REPORT_HASH: report_hash, PUBLISHED: report_hash}
        documents.replace_documents(engine, root.epoch, contents | marks, HELD)
        log.info("caught_up", peer=peer.url, epoch=root.epoch)
        return True
    return False


def published_documents(peer: Peer, root: RootRecord) -> dict[str, bytes]:
    """Manifest, bundle, state and shards of an accepted report, each the bytes the chain or the manifest names.

    Raises:
        UnavailableError: the member does not answer.
        InvalidInputError: it lacks a document, or gives another one.
    """
    base = f"/v1/epochs/{root.epoch}"
    found = {MANIFEST: peer.get_bytes(f"{base}/{MANIFEST}")}
    require_document(MANIFEST, found[MANIFEST], root.manifest_hash)
    manifest = parse_manifest(found[MANIFEST])
    named = {BUNDLE: manifest.bundle_hash, STATE: manifest.state_hash}
    named |= {f"shards/{entry.index}": entry.sha256 for entry in manifest.shards}
    for name, expected in named.items():
        found[name] = peer.get_bytes(f"{base}/{name}")
        require_document(name, found[name], expected)
    return found


def _is_kept(engine: Engine, root: RootRecord) -> bool:
    manifest = documents.document(engine, root.epoch, MANIFEST)
    is_public = documents.document(engine, root.epoch, PUBLISHED) is not None
    return is_public and manifest is not None and sha256_digest(manifest) == root.manifest_hash
