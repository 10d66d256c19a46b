"""Fetches what members published and trusts none of it: whoever is silent or lies only costs the next one a question.

processedHash on chain --names--> manifest --names by sha256--> bundle, state, shards
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from oracle.publish.manifest import parse_manifest, report_of
from oracle.publish.shards import LEAF_BYTES
from oracle.publish.verdicts import VERDICTS
from swarm_chain.core.encoding import report_hash, sha256_digest, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.units import Hash32

MAX_DOCUMENT_BYTES = 64 * 2**20
# A member that answers in one of these ways has not given the document; the next one is asked.
REFUSALS = (InvalidInputError, UnavailableError, InconsistentError)


class Source(Protocol):
    """Where published documents come from: a member, or a folder."""

    @property
    def name(self) -> str:
        """How people call it; no secret in it."""
        ...

    def document(self, epoch: int, name: str, most: int) -> bytes:
        """Bytes of a document, at most so many; InvalidInputError or UnavailableError without it."""
        ...

    def verdicts(self, epoch: int) -> tuple[bytes, ...]:
        """What members signed of an epoch: empty where none did."""
        ...


class Client(Protocol):
    """What a member answers over HTTP."""

    @property
    def name(self) -> str:
        """Where it is, without user, path and query."""
        ...

    def get_bytes(self, path: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
        """Content at a path of the member's API, at most so many bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSource:
    """A member's API."""

    client: Client

    @property
    def name(self) -> str:
        """Where the member is."""
        return self.client.name

    def document(self, epoch: int, name: str, most: int) -> bytes:
        """Bytes at /v1/epochs/{epoch}/{name}."""
        return self.client.get_bytes(f"/v1/epochs/{epoch}/{name}", most)

    def verdicts(self, epoch: int) -> tuple[bytes, ...]:
        """The verdicts this member signed; a reader without a key signs none, and its report is worth as much."""
        try:
            return (self.document(epoch, VERDICTS, MAX_DOCUMENT_BYTES),)
        except InvalidInputError as error:
            if error.code != "unknown_document":
                raise
            return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """Documents of an epoch: `faults` name those nobody gave as the chain has them, `silent` those nobody gave at all.

    `documents` holds false ones too where no true one was found, so that a replay can say where they differ; `notes` are
    what members did wrong although another one had the true document.
    """

    documents: dict[str, bytes] = field(default_factory=dict)
    verdicts: tuple[bytes, ...] = ()
    faults: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Haul:
    """What was fetched of an epoch so far."""

    documents: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Mirrors:
    """Several sources of one network; the one that had the last true document is asked first.

    Args:
        sources: members or folders, best first.

    Raises:
        InvalidInputError: there is none (exit 3).
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        if not sources:
            raise InvalidInputError(
                "nobody is named who published anything",
                fix="give --oracle-url (several are separated by commas) or --from-folder",
                code="no_oracle",
                exit_code=3,
            )
        self._sources = tuple(sources)

    def epoch(self, epoch: int, wanted: Hash32) -> Mirrored:
        """All documents of an epoch, and what members signed of it.

        Args:
            epoch: its number.
            wanted: what the chain holds of its report (EpochOracle.processedHash).
        """
        haul, is_known = self._haul(epoch, wanted)
        return self._finished(haul, self._verdicts(haul, epoch) if is_known else ())

    def documents(self, epoch: int, wanted: Hash32) -> Mirrored:
        """All documents of an epoch; nobody is asked what members signed. Arguments as of `epoch`."""
        return self._finished(self._haul(epoch, wanted)[0], ())

    def _haul(self, epoch: int, wanted: Hash32) -> tuple[_Haul, bool]:
        """What members gave, and whether the true manifest is among it."""
        haul = _Haul()
        true_one = self._fetch(haul, epoch, "manifest", MAX_DOCUMENT_BYTES, partial(manifest_fault, epoch, wanted))
        if not true_one:
            return haul, False
        named = parse_manifest(haul.documents["manifest"])
        for name, digest in (("bundle", named.bundle_hash), ("state", named.state_hash)):
            self._fetch(haul, epoch, name, MAX_DOCUMENT_BYTES, partial(digest_fault, name, digest))
        for entry in named.shards:
            name = f"shards/{entry.index}"
            self._fetch(haul, epoch, name, entry.count * LEAF_BYTES, partial(digest_fault, name, entry.sha256))
        return haul, True

    def _fetch(self, haul: _Haul, epoch: int, name: str, most: int, fault: Callable[[bytes], str]) -> bool:
        """Whether somebody had the true document; it is in the haul, or else the first false one is."""
        said: list[str] = []
        for source in self._sources:
            try:
                content = source.document(epoch, name, most)
            except REFUSALS as error:
                said.append(f"{source.name}: {name} not given: {error.message}")
                continue
            wrong = fault(content)
            if not wrong:
                haul.documents[name] = content
                haul.notes += said
                self._prefer(source)
                return True
            haul.documents.setdefault(name, content)
            said.append(f"{source.name}: {wrong}")
        (haul.faults if name in haul.documents else haul.silent).extend(said)
        return False

    def _prefer(self, source: Source) -> None:
        if self._sources[0] is not source:
            self._sources = (source, *(other for other in self._sources if other is not source))

    def _verdicts(self, haul: _Haul, epoch: int) -> tuple[bytes, ...]:
        found: list[bytes] = []
        for source in self._sources:
            try:
                found += source.verdicts(epoch)
            except REFUSALS as error:
                haul.notes.append(f"{source.name}: {VERDICTS} not given: {error.message}")
        return tuple(dict.fromkeys(found))

    @staticmethod
    def _finished(haul: _Haul, verdicts: tuple[bytes, ...]) -> Mirrored:
        return Mirrored(
            documents=haul.documents,
            verdicts=verdicts,
            faults=tuple(haul.faults),
            silent=tuple(haul.silent),
            notes=tuple(haul.notes),
        )


def manifest_fault(epoch: int, wanted: Hash32, data: bytes) -> str:
    """Say why bytes are not the manifest of an epoch, empty if they are.

    Args:
        epoch: the epoch.
        wanted: hash of its report on chain; the manifest holds every field of the report but its own hash.
        data: the bytes.
    """
    try:
        report = report_of(data)
    except InvalidInputError as error:
        return f"manifest is refused: {error.message}"
    if report.epoch != epoch:
        return f"manifest is of epoch {report.epoch}"
    found = report_hash(report)
    if found != wanted:
        return f"manifest leads to report {to_hex(found)}, the chain holds {to_hex(wanted)}"
    return ""


def digest_fault(name: str, wanted: Hash32, data: bytes) -> str:
    """Say why bytes are not the document the manifest names, empty if they are.

    Args:
        name: the document's.
        wanted: its sha256 in the manifest.
        data: the bytes.
    """
    found = sha256_digest(data)
    return "" if found == wanted else f"{name} has sha256 {to_hex(found)}, the manifest names {to_hex(wanted)}"
