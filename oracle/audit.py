"""Audit of a range of epochs: everything recomputed from the chain and from what was published, without a key.

The chain is folded once along the range. An epoch whose replay gives the hash on chain is the ground of the next one, even
if somebody published it with other bytes; so one lie is found once, and the audit goes on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import cast

from oracle.history import advance_to, before
from oracle.mirror import Mirrored, Mirrors
from oracle.model import Network, PreviousEpoch
from oracle.publish.manifest import parse_manifest
from oracle.publish.previous import previous_root, read_previous
from oracle.publish.report import PublishedEpoch
from oracle.replay import Replay, replay_epoch
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainState, ContractCall, Deployment, RootRecord
from swarm_chain.core.units import Hash32
from swarm_chain.ports import ChainReader


class Finding(Enum):
    """What an audit says of an epoch."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNAVAILABLE = "unavailable"
    NO_REPORT = "no report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an epoch was found equal, or different, by: the documents, the chain at its reference block, the replay."""

    mirrored: Mirrored
    state: ChainState
    replay: Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochAudit:
    """Result of one epoch; `faults` name the document or shard, `notes` what a member did wrong without harm."""

    epoch: int
    finding: Finding
    report_hash: Hash32
    replayed_hash: Hash32 | None = None
    passed_root: Hash32 | None = None
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def as_dict(self) -> dict[str, object]:
        """JSON-ready form."""
        return {
            "epoch": self.epoch,
            "finding": self.finding.value,
            "reportHash": to_hex(self.report_hash),
            "replayedHash": None if self.replayed_hash is None else to_hex(self.replayed_hash),
            "passedRoot": None if self.passed_root is None else to_hex(self.passed_root),
            "differences": list(self.faults),
            "notes": list(self.notes),
        }


class Auditor:
    """Audits epochs in ascending order.

    Args:
        reader: the chain; the only thing that is trusted.
        deployment: its contracts.
        network: contracts, genesis and params.
        mirrors: who published.
    """

    def __init__(self, reader: ChainReader, deployment: Deployment, network: Network, mirrors: Mirrors) -> None:
        self._reader = reader
        self._network = network
        self._mirrors = mirrors
        self._state = before(reader, deployment.block)
        self._ground: PreviousEpoch | None = None

    @property
    def running(self) -> int:
        """Epoch of the latest block.

        Raises:
            UnavailableError: the chain does not answer.
        """
        return self._network.epoch_at(self._reader.block("latest").timestamp)

    def audit(self, epoch: int) -> EpochAudit:
        """Audits one epoch, which must be later than the one before.

        Raises:
            UnavailableError: the chain does not answer.
        """
        report_hash = self._report_hash(epoch)
        if not any(report_hash):
            return EpochAudit(epoch=epoch, finding=Finding.NO_REPORT, report_hash=report_hash)
        mirrored = self._mirrors.epoch(epoch, report_hash)
        try:
            evidence = self._replayed(epoch, report_hash, mirrored)
        except (InvalidInputError, InconsistentError) as error:
            faults = (*mirrored.faults, *mirrored.silent, error.message)
            finding = Finding.UNAVAILABLE if _only_silent(mirrored) else Finding.DIFFERENT
            return EpochAudit(
                epoch=epoch, finding=finding, report_hash=report_hash, faults=faults, notes=mirrored.notes
            )
        return _judged(epoch, report_hash, mirrored, evidence)

    def _report_hash(self, epoch: int) -> Hash32:
        call = ContractCall(contract="EpochOracle", function="processedHash", args=(epoch,))
        return Hash32(cast(bytes, self._reader.call(call)))

    def _replayed(self, epoch: int, report_hash: Hash32, mirrored: Mirrored) -> Evidence:
        if "manifest" not in mirrored.documents or "bundle" not in mirrored.documents:
            raise InvalidInputError(f"epoch {epoch} cannot be replayed without its manifest and bundle")
        self._state = advance_to(self._reader, self._state, self._ref_block(epoch, mirrored))
        previous = self._previous(previous_root(self._state))
        replay = replay_epoch(mirrored.documents, report_hash, self._state, previous, self._network, mirrored.verdicts)
        if replay.replayed_hash == report_hash:
            self._ground = _ground_of(replay.rebuilt)
        return Evidence(mirrored=mirrored, state=self._state, replay=replay)

    def _ref_block(self, epoch: int, mirrored: Mirrored) -> BlockRef:
        """The chain's last block before the end of the epoch, which is the one the manifest must name."""
        named = parse_manifest(mirrored.documents["manifest"]).ref_block
        block, after = self._reader.block(named.number), self._reader.block(named.number + 1)
        end = self._network.epoch_end(epoch)
        if block != named or not block.timestamp < end <= after.timestamp:
            raise InvalidInputError(
                f"refBlock {named.number} of the manifest is not the chain's last block before the end of epoch {epoch}"
            )
        return block

    def _previous(self, root: RootRecord | None) -> PreviousEpoch | None:
        if root is None:
            return None
        if self._ground is not None and self._ground.manifest_hash == root.manifest_hash:
            return self._ground
        mirrored = self._mirrors.epoch(root.epoch, self._report_hash(root.epoch))
        wrong = (*mirrored.faults, *mirrored.silent)
        if wrong:
            raise InvalidInputError(f"the report before, of epoch {root.epoch}, cannot be read: {'; '.join(wrong)}")
        named = parse_manifest(mirrored.documents["manifest"])
        shards = [mirrored.documents[f"shards/{entry.index}"] for entry in named.shards]
        documents = mirrored.documents
        self._ground = read_previous(documents["manifest"], documents["state"], shards, root.manifest_hash)
        return self._ground


def audit_range(auditor: Auditor, first: int, last: int) -> Iterator[EpochAudit]:
    """Audit epochs one after the other; a difference ends nothing.

    Args:
        auditor: a fresh one.
        first: first epoch.
        last: last epoch, included.

    Raises:
        InvalidInputError: the range is empty, or not begun.
        UnavailableError: the chain does not answer.
    """
    require_range(auditor, first, last)
    return map(auditor.audit, range(first, last + 1))


def require_range(auditor: Auditor, first: int, last: int) -> None:
    """Refuse a range without epochs, and one that goes beyond the running epoch.

    Raises:
        InvalidInputError: it is either.
        UnavailableError: the chain does not answer.
    """
    if not 0 <= first <= last:
        raise InvalidInputError(f"no epoch lies from {first} to {last}", fix="give --from and --to in ascending order")
    running = auditor.running
    if last > running:
        raise InvalidInputError(f"epoch {last} has not begun", fix=f"give --to {running} at most, the running epoch")


def verdict_of(audits: Iterable[EpochAudit]) -> SwarmError | None:
    """Give the error an audit ends in: differences weigh more than silence; None if every report is equal.

    Args:
        audits: one for each epoch.
    """
    found = list(audits)
    values = {"epochs": [audit.as_dict() for audit in found]}
    different = [audit for audit in found if audit.finding is Finding.DIFFERENT]
    if different:
        return InconsistentError(
            _sentence(different),
            fix="ask another member; if it differs there too, warn the guardian",
            code="audit_differs",
            values=values,
        )
    silent = [audit for audit in found if audit.finding is Finding.UNAVAILABLE]
    if silent:
        away = UnavailableError(
            _sentence(silent), fix="name more members with --oracle-url, or a folder", code="not_published"
        )
        away.values.update(values)
        return away
    return None


def _sentence(audits: Sequence[EpochAudit]) -> str:
    return "\n".join(f"epoch {audit.epoch}: {fault}" for audit in audits for fault in audit.faults)


def _judged(epoch: int, report_hash: Hash32, mirrored: Mirrored, evidence: Evidence) -> EpochAudit:
    # What nobody gave is no lie: the fetch has said so in its own words.
    given = [one.what for one in evidence.replay.differences if one.document in {"", *mirrored.documents, "verdicts"}]
    faults = (*mirrored.faults, *given)
    finding = Finding.DIFFERENT if faults else Finding.UNAVAILABLE if mirrored.silent else Finding.EQUAL
    return EpochAudit(
        epoch=epoch,
        finding=finding,
        report_hash=report_hash,
        replayed_hash=evidence.replay.replayed_hash,
        passed_root=evidence.replay.passed_root,
        faults=(*faults, *mirrored.silent),
        notes=mirrored.notes,
        evidence=evidence,
    )


def _only_silent(mirrored: Mirrored) -> bool:
    return bool(mirrored.silent) and not mirrored.faults


def _ground_of(rebuilt: PublishedEpoch) -> PreviousEpoch:
    return PreviousEpoch(
        manifest_hash=rebuilt.report.manifest_hash,
        leaves=rebuilt.settlement.result.leaves,
        state=rebuilt.settlement.next_state,
    )
