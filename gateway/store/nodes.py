"""What nodes announced, and which jobs they were asked to accept."""

import json
from collections.abc import Iterable
from typing import cast

from gateway.model import Assignment
from gateway.store.engine import Database
from swarm_chain.core.gateway import NodeAnnouncement, announcement_json
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.units import Address, JobId, ProviderId, Signature, Timestamp, Wei


def keep_announcement(database: Database, announcement: NodeAnnouncement, signature: Signature) -> bool:
    """Keeps the newest announcement of a node; False if a newer one is there."""
    fields = json.dumps(announcement_json(announcement))
    values = (announcement.node, fields, signature, announcement.issued_at)
    with database.change() as db:
        done = db.execute(
            "INSERT INTO announcements VALUES (?, ?, ?, ?) ON CONFLICT (node) DO UPDATE SET fields = excluded.fields, "
            "signature = excluded.signature, issued_at = excluded.issued_at WHERE issued_at <= excluded.issued_at",
            values,
        )
    return done.rowcount > 0


def announcements(database: Database) -> tuple[NodeAnnouncement, ...]:
    """The newest announcement of each node, also those that are over."""
    rows = database.rows("SELECT fields FROM announcements ORDER BY node")
    return tuple(_parsed(json.loads(cast(str, row[0]))) for row in rows)


def save_assignments(database: Database, changes: Iterable[Assignment]) -> None:
    """Writes what changed, in order, as one change."""
    with database.change() as db:
        for one in changes:
            db.execute(
                "INSERT INTO assignments VALUES (?, ?, ?, ?, ?) ON CONFLICT (job_id, node) DO UPDATE SET "
                "provider = excluded.provider, assigned_at = excluded.assigned_at, withdrawn = excluded.withdrawn",
                (one.job_id, one.node, one.provider, one.assigned_at, one.withdrawn),
            )


def assignments(database: Database) -> tuple[Assignment, ...]:
    """All assignments, withdrawn ones too, the oldest first."""
    query = "SELECT job_id, node, provider, assigned_at, withdrawn FROM assignments ORDER BY assigned_at, job_id"
    rows = cast(list[tuple[int, str, int, int, int]], database.rows(query))
    return tuple(
        Assignment(
            job_id=JobId(job_id),
            node=Address(node),
            provider=ProviderId(provider),
            assigned_at=Timestamp(assigned_at),
            withdrawn=bool(withdrawn),
        )
        for job_id, node, provider, assigned_at, withdrawn in rows
    )


def forget_assignments(database: Database, job_id: JobId) -> None:
    """Removes the assignments of a job that nobody has to accept any more."""
    with database.change() as db:
        db.execute("DELETE FROM assignments WHERE job_id = ?", (job_id,))


def _parsed(fields: dict[str, str | int]) -> NodeAnnouncement:
    return NodeAnnouncement(
        node=Address(str(fields["node"])),
        region=str(fields["region"]),
        hardware_class=HardwareClass(int(fields["hardwareClass"])),
        cpus=int(fields["cpus"]),
        gpus=int(fields["gpus"]),
        memory_mb=int(fields["memoryMb"]),
        disk_mb=int(fields["diskMb"]),
        price_wei=Wei(int(fields["priceWei"])),
        issued_at=Timestamp(int(fields["issuedAt"])),
        expires_at=Timestamp(int(fields["expiresAt"])),
    )
