"""Fetches the documents of accepted reports this member lacks from the others; the chain says which bytes they are."""

from collections.abc import Iterator, Sequence
from typing import cast

import structlog
from sqlalchemy import Engine

from oracle.mirror import MemberSource, Mirrors
from oracle.pipeline.names import BUNDLE, BUNDLE_HASH, HELD, MANIFEST, PUBLISHED, REPORT_HASH
from oracle.pipeline.peers import Peer
from oracle.store import documents
from swarm_chain.core.encoding import sha256_digest
from swarm_chain.core.model import ContractCall, RootRecord
from swarm_chain.core.units import Hash32
from swarm_chain.ports import ChainReader

log = structlog.get_logger()


def lacking(engine: Engine, roots: Sequence[RootRecord], known: set[Hash32]) -> Iterator[RootRecord]:
    """Accepted reports whose documents are not here, newest first; in the end a member holds them all, back to the first.

    Args:
        engine: the store.
        roots: what the chain accepted, oldest first.
        known: manifest hashes of reports that were found here before; grows.
    """
    for root in reversed(roots):
        if root.manifest_hash in known:
            continue
        if _is_kept(engine, root):
            known.add(root.manifest_hash)
        else:
            yield root


def fetch(engine: Engine, reader: ChainReader, peers: Sequence[Peer], root: RootRecord) -> bool:
    """Fetches, checks and keeps the documents of one accepted report, each from the first member that has it.

    Args:
        engine: the store.
        reader: names the report hash.
        peers: members to ask, in order; at least one.
        root: what the chain holds of the report.

    Returns:
        False if a document was not to be had now.
    """
    processed = ContractCall(contract="EpochOracle", function="processedHash", args=(root.epoch,))
    report_hash = cast(Hash32, reader.call(processed))
    mirrored = Mirrors([MemberSource(client=peer) for peer in peers]).documents(root.epoch, report_hash)
    for said in (*mirrored.notes, *mirrored.silent, *mirrored.faults):
        log.info("catch_up_failed", epoch=root.epoch, message=said)
    if mirrored.silent or mirrored.faults:
        return False
    bundle_hash = sha256_digest(mirrored.documents[BUNDLE])
    marks = {BUNDLE_HASH: bundle_hash, REPORT_HASH: report_hash, PUBLISHED: report_hash}
    documents.replace_documents(engine, root.epoch, mirrored.documents | marks, HELD)
    log.info("caught_up", epoch=root.epoch)
    return True


def _is_kept(engine: Engine, root: RootRecord) -> bool:
    manifest = documents.document(engine, root.epoch, MANIFEST)
    is_public = documents.document(engine, root.epoch, PUBLISHED) is not None
    return is_public and manifest is not None and sha256_digest(manifest) == root.manifest_hash
