"""Fetches what a member published, trusts none of it, and replays it against the chain."""

from pathlib import Path
from typing import Protocol, cast

from oracle.history import advance_to, before
from oracle.main import read_network
from oracle.model import PreviousEpoch
from oracle.publish.bundle import parse_bundle
from oracle.publish.manifest import parse_manifest
from oracle.publish.previous import previous_root, read_previous
from oracle.publish.verdicts import VERDICTS
from oracle.replay import Replay, replay_epoch
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall, Deployment, RootRecord
from swarm_chain.core.units import Hash32
from swarm_chain.ports import ChainReader


class Source(Protocol):
    """Where published documents come from."""

    def get_bytes(self, path: str) -> bytes:
        """Content at a path of the member's API."""
        ...


def replay_published(
    reader: ChainReader, deployment: Deployment, source: Source, epoch: int, keep: Path | None = None
) -> Replay:
    """Replays an epoch from published documents and the chain.

    Args:
        reader: the chain; the only thing that is trusted.
        deployment: its contracts.
        source: a member, or a mirror.
        epoch: epoch whose report is on chain.
        keep: folder that receives the fetched documents, None for nowhere.

    Raises:
        InvalidInputError: the epoch has no report on chain, or a document is malformed.
        UnavailableError: chain or source do not answer.
    """
    processed = ContractCall(contract="EpochOracle", function="processedHash", args=(epoch,))
    report_hash = Hash32(cast(bytes, reader.call(processed)))
    if not any(report_hash):
        raise InvalidInputError(f"epoch {epoch} has no report on chain", code="unknown_epoch", fix="see /v1/epochs")
    documents = _documents(source, epoch) | _verdicts(source, epoch)
    ref_block = reader.block(parse_bundle(documents["bundle"]).ref_block.number)  # the chain's word, not the bundle's
    state = advance_to(reader, before(reader, deployment.block), ref_block)
    previous = _previous(source, previous_root(state))
    if keep is not None:
        _keep(documents, keep)
    return replay_epoch(documents, report_hash, state, previous, read_network(reader, deployment))


def _documents(source: Source, epoch: int) -> dict[str, bytes]:
    documents = {name: source.get_bytes(f"/v1/epochs/{epoch}/{name}") for name in ("manifest", "bundle", "state")}
    for entry in parse_manifest(documents["manifest"]).shards:
        documents[f"shards/{entry.index}"] = source.get_bytes(f"/v1/epochs/{epoch}/shards/{entry.index}")
    return documents


def _verdicts(source: Source, epoch: int) -> dict[str, bytes]:
    try:
        return {VERDICTS: source.get_bytes(f"/v1/epochs/{epoch}/{VERDICTS}")}
    except InvalidInputError as error:
        if error.code != "unknown_document":
            raise
        return {}  # a reader without a key signs none; the report is checked all the same


def _previous(source: Source, root: RootRecord | None) -> PreviousEpoch | None:
    if root is None:
        return None
    documents = _documents(source, root.epoch)
    shards = [documents[f"shards/{index}"] for index in range(len(documents) - 3)]
    return read_previous(documents["manifest"], documents["state"], shards, root.manifest_hash)


def _keep(documents: dict[str, bytes], folder: Path) -> None:
    for name, content in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
