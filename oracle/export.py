"""A folder with everything published of a range of epochs: an archive, and a source an audit can read without any member.

    DIR/index.json                         every file by sha256
    DIR/epochs/{e}/manifest bundle state shards/{i} verdicts/{member}      exact bytes
    DIR/epochs/{e}/dump explain.jsonl      the tree as OpenZeppelin dumps it; one line a provider

An epoch is written beside its place, read back, and renamed; what the index names is whole, whatever was interrupted.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from oracle.audit import Auditor, EpochAudit, Evidence, Finding, require_range
from oracle.model import Network
from oracle.publish.answers import dump_document, explain_document
from oracle.publish.trees import settlement_domain
from swarm_chain.core.encoding import canonical_json, sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.signing import domain_separator
from swarm_chain.court.documents import parse_verdicts

DOMAIN = "swarm/export/v1"
INDEX = "index.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSource:
    """What `export` wrote, as a source of published documents."""

    folder: Path

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def document(self, epoch: int, name: str, most: int) -> bytes:
        """Bytes of a document.

        Raises:
            InvalidInputError: the folder has none, or a larger one.
        """
        path = self.folder / "epochs" / str(epoch) / name
        if not path.is_file():
            raise InvalidInputError(f"no file {path}", code="unknown_document", fix="export that epoch too")
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise InvalidInputError(f"{path} has more than {most} bytes", code="answer_too_large")
        return content

    def verdicts(self, epoch: int) -> tuple[bytes, ...]:
        """What members signed of an epoch, ordered by address."""
        folder = self.folder / "epochs" / str(epoch) / "verdicts"
        return tuple(path.read_bytes() for path in sorted(folder.iterdir())) if folder.is_dir() else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What became of an epoch: written now, kept from an earlier run, or left out because its audit found something."""

    audit: EpochAudit
    written: bool
    kept: bool = False


class Export:
    """One export into one folder; it goes on where an earlier one stopped.

    Args:
        folder: where to; made if need be.
        network: contracts, genesis and params.

    Raises:
        InvalidInputError: the folder holds an export of another network, or a broken index (exit 3).
        UnavailableError: the folder cannot be written.
    """

    def __init__(self, folder: Path, network: Network) -> None:
        self._folder = folder
        self._network = network
        with _disk(folder):
            (folder / "epochs").mkdir(parents=True, exist_ok=True)
        self._epochs = self._read_index()

    def epoch(self, auditor: Auditor, epoch: int) -> Exported:
        """Audits an epoch and writes it, unless it is there already.

        Raises:
            UnavailableError: chain or disk fail.
        """
        audit = auditor.audit(epoch)
        files = self._epochs.get(str(epoch), {})
        if audit.evidence is None or audit.finding is not Finding.EQUAL:
            return Exported(audit=audit, written=False)
        contents = _contents(audit.evidence, self._network)
        if files == {name: _digest(content) for name, content in contents.items()} and self._is_whole(epoch, files):
            return Exported(audit=audit, written=False, kept=True)
        with _disk(self._folder):
            self._write(epoch, contents)
        return Exported(audit=audit, written=True)

    def _write(self, epoch: int, contents: dict[str, bytes]) -> None:
        place, part = self._place(epoch), self._folder / "epochs" / f".{epoch}.part"
        shutil.rmtree(part, ignore_errors=True)
        for name, content in contents.items():
            _write_through(part / name, content)
        digests = {name: _digest(content) for name, content in contents.items()}
        for name, digest in digests.items():
            if _digest((part / name).read_bytes()) != digest:
                raise UnavailableError(
                    f"{part / name} reads back otherwise than it was written", fix="check the disk", code="bad_disk"
                )
        shutil.rmtree(place, ignore_errors=True)
        part.rename(place)
        self._epochs[str(epoch)] = digests
        document = {**self._head(), "epochs": dict(self._epochs)}
        _write_through(self._folder / f".{INDEX}.part", canonical_json(document))
        (self._folder / f".{INDEX}.part").rename(self._folder / INDEX)

    def _is_whole(self, epoch: int, files: dict[str, str]) -> bool:
        paths = {name: self._place(epoch) / name for name in files}
        return all(path.is_file() and _digest(path.read_bytes()) == files[name] for name, path in paths.items())

    def _place(self, epoch: int) -> Path:
        return self._folder / "epochs" / str(epoch)

    def _head(self) -> dict[str, object]:
        return {"domain": DOMAIN, "chainId": self._network.chain_id, "settlement": self._network.settlement}

    def _read_index(self) -> dict[str, dict[str, str]]:
        path = self._folder / INDEX
        if not path.exists():
            return {}
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise _refused(path, "cannot be read") from error
        epochs = document.get("epochs") if isinstance(document, dict) else None
        if not isinstance(epochs, dict) or document != {**self._head(), "epochs": epochs}:
            raise _refused(path, "is no export of this network")
        return {epoch: files for epoch, files in epochs.items() if isinstance(files, dict)}


def export_range(
    export: Export, auditor: Auditor, first: int, last: int, say: Callable[[int, int, str], None]
) -> Iterator[Exported]:
    """Export epochs one after the other; one that differs is left out and the rest go on.

    Args:
        export: the folder.
        auditor: a fresh one.
        first: first epoch.
        last: last epoch, included.
        say: told (done, total, what comes next).

    Raises:
        InvalidInputError: the range is empty, or not begun.
        UnavailableError: chain or disk fail.
    """
    require_range(auditor, first, last)
    for done, epoch in enumerate(range(first, last + 1)):
        say(done, last + 1 - first, f"epoch {epoch}")
        yield export.epoch(auditor, epoch)


def _contents(evidence: Evidence, network: Network) -> dict[str, bytes]:
    rebuilt, domain = evidence.replay.rebuilt, domain_separator(network.chain_id, network.beacon)
    signed = {parse_verdicts(data, domain).verdicts.member: data for data in evidence.mirrored.verdicts}
    providers = (provider.provider_id for provider in evidence.state.providers)
    explained = (canonical_json(explain_document(rebuilt, evidence.state, one)) + b"\n" for one in providers)
    return {
        **rebuilt.documents(),
        **{f"verdicts/{member}": data for member, data in sorted(signed.items())},
        "dump": canonical_json(dump_document(rebuilt, settlement_domain(network))),
        "explain.jsonl": b"".join(explained),
    }


def _digest(content: bytes) -> str:
    return to_hex(sha256_digest(content))


def _write_through(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _refused(path: Path, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{path} {why}", fix="give another --out, or remove it", code="foreign_export", exit_code=3
    )


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            f"cannot write {folder}: {error.strerror}", fix="make room, or give another --out", code="cannot_write"
        ) from error
