"""What `swarm oracle replay`, `audit` and `export` do with a session: open it, go along the range, show what was found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oracle.audit import Auditor, EpochAudit, Finding, audit_range, verdict_of
from oracle.export import Export, Exported, FolderSource, export_range
from oracle.main import read_network
from oracle.mirror import MemberSource, Mirrors, Source
from oracle.model import Network
from swarm_chain.cli.context import Session
from swarm_chain.cli.output import table
from swarm_chain.core.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """An auditor and the network it audits."""

    auditor: Auditor
    network: Network


def open_audit(session: Session, folder: Path | None = None) -> Audit:
    """An auditor of the session's chain.

    Args:
        session: chain and members.
        folder: read published documents from here; None for the members of --oracle-url.

    Raises:
        InvalidInputError: nobody is named who published anything, or deployment and chain do not fit (exit 3).
        UnavailableError: the chain does not answer.
    """
    members: tuple[Source, ...] = tuple(MemberSource(client=client) for client in session.oracles)
    mirrors = Mirrors(members if folder is None else (FolderSource(folder=folder),))
    network = read_network(session.reader, session.deployment)
    return Audit(auditor=Auditor(session.reader, session.deployment, network, mirrors), network=network)


def replay_one(audit: Audit, epoch: int, keep: Path | None) -> EpochAudit:
    """Audits one epoch.

    Args:
        audit: a fresh one.
        epoch: epoch whose report is on chain.
        keep: folder that receives the fetched documents, None for nowhere.

    Raises:
        InvalidInputError: the epoch has no report on chain.
        UnavailableError: chain or members do not answer.
    """
    found = audit.auditor.audit(epoch)
    if found.finding is Finding.NO_REPORT:
        raise InvalidInputError(f"epoch {epoch} has no report on chain", code="unknown_epoch", fix="see /v1/epochs")
    if keep is not None and found.evidence is not None:
        for name, content in found.evidence.mirrored.documents.items():
            path = keep / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return found


def audit_epochs(session: Session, audit: Audit, first: int, last: int) -> None:
    """Audits a range and shows one line an epoch.

    Raises:
        InconsistentError: a document differs (exit 70).
        UnavailableError: a document was not to be had (exit 4).
    """
    found: list[EpochAudit] = []
    with session.output.steps(f"auditing epochs {first} to {last}") as say:
        for one in audit_range(audit.auditor, first, last):
            found.append(replace(one, evidence=None))  # an epoch of a million providers is large
            say(len(found), last + 1 - first, f"epoch {one.epoch}: {one.finding.value}")
    rows = [(one.epoch, one.finding.value, "; ".join((*one.faults, *one.notes))) for one in found]
    document = {"from": first, "to": last, "equal": _count(found), "epochs": [one.as_dict() for one in found]}
    session.output.show(document, table("audit", (">epoch", "finding", "what"), rows))
    raise_verdict(found)


def export_epochs(session: Session, audit: Audit, epochs: tuple[int, int], out: Path) -> None:
    """Exports a range and shows one line an epoch.

    Raises:
        InconsistentError: a document differs; that epoch is left out (exit 70).
        UnavailableError: a document was not to be had, or the folder cannot be written (exit 4).
    """
    export = Export(out, audit.network)
    done: list[Exported] = []
    with session.output.steps(f"exporting to {out}") as say:
        for one in export_range(export, audit.auditor, *epochs, say):
            done.append(replace(one, audit=replace(one.audit, evidence=None)))
    rows = [(one.audit.epoch, _what(one), "; ".join(one.audit.faults)) for one in done]
    document = {"folder": str(out), "epochs": [one.audit.as_dict() | {"export": _what(one)} for one in done]}
    session.output.show(document, table("export", (">epoch", "export", "what"), rows))
    raise_verdict([one.audit for one in done])


def raise_verdict(found: Sequence[EpochAudit]) -> None:
    """Ends a command as its audit did.

    Raises:
        InconsistentError: a document differs (exit 70).
        UnavailableError: a document was not to be had (exit 4).
    """
    error = verdict_of(found)
    if error is not None:
        raise error


def _what(one: Exported) -> str:
    return "written" if one.written else "kept" if one.kept else one.audit.finding.value


def _count(found: Sequence[EpochAudit]) -> int:
    return sum(one.finding is Finding.EQUAL for one in found)
