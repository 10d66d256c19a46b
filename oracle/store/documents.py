"""Published documents of an epoch, byte for byte as they were voted for."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, select

from oracle.store.engine import insert_new, writing
from oracle.store.tables import documents
from swarm_chain.core.errors import InconsistentError
from swarm_chain.core.units import EpochNumber


def save_documents(engine: Engine, epoch: EpochNumber, contents: Mapping[str, bytes]) -> None:
    """Keeps all documents of an epoch in one transaction; they never change afterwards.

    Raises:
        InconsistentError: a document of that name was kept with other bytes.
    """
    with writing(engine) as connection:
        for name, content in sorted(contents.items()):
            if insert_new(connection, documents, {"epoch": epoch, "name": name, "content": content}):
                continue
            kept = connection.execute(select(documents.c.content).where(_key(epoch, name))).scalar_one()
            if bytes(kept) != content:
                raise InconsistentError(
                    f"epoch {epoch}: {name} was published with other bytes",
                    fix="stop the member, keep the database and compare both reports with `swarm oracle replay`",
                )


def replace_documents(engine: Engine, epoch: EpochNumber, contents: Mapping[str, bytes], stays: str) -> None:
    """Puts other documents of an epoch in the place of this member's: those of the report a quorum chose.

    Args:
        engine: the store.
        epoch: the epoch.
        contents: every document of the other report.
        stays: documents whose names begin with this are of the evidence, not of a report, and stay.
    """
    with writing(engine) as connection:
        of_report = and_(documents.c.epoch == epoch, ~documents.c.name.startswith(stays))
        connection.execute(delete(documents).where(of_report))
        rows = [{"epoch": epoch, "name": name, "content": content} for name, content in sorted(contents.items())]
        connection.execute(insert(documents), rows)


def document(engine: Engine, epoch: EpochNumber, name: str) -> bytes | None:
    """Bytes of a published document."""
    with engine.connect() as connection:
        kept = connection.execute(select(documents.c.content).where(_key(epoch, name))).scalar_one_or_none()
    return None if kept is None else bytes(kept)


def several(engine: Engine, epoch: EpochNumber, wanted: Collection[str]) -> dict[str, bytes]:
    """Documents of an epoch by name; those that are not kept are left out."""
    query = select(documents.c.name, documents.c.content)
    with engine.connect() as connection:
        rows = connection.execute(query.where(and_(documents.c.epoch == epoch, documents.c.name.in_(wanted))))
        return {name: bytes(content) for name, content in rows}


def names(engine: Engine, epoch: EpochNumber) -> frozenset[str]:
    """Names of the documents kept of an epoch."""
    with engine.connect() as connection:
        rows = connection.execute(select(documents.c.name).where(documents.c.epoch == epoch))
        return frozenset(name for (name,) in rows)


def _key(epoch: EpochNumber, name: str) -> ColumnElement[bool]:
    return and_(documents.c.epoch == epoch, documents.c.name == name)
