"""What nodes handed in of their jobs: contents, log, receipt; and what the canaries found."""

import json
from typing import cast

from gateway.model import CountersignedReceipt
from gateway.store.engine import Database
from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.units import Address, Hash32, JobId, Signature, Timestamp


def keep_content(database: Database, job_id: JobId, index: int, content: Hash32, size: int) -> bool:
    """Notes that a content is here; False if it was. Another content in its place is replaced."""
    before = content_hashes(database, job_id).get(index)
    with database.change() as db:
        db.execute("INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?)", (job_id, index, content, size))
    return before != content


def content_hashes(database: Database, job_id: JobId) -> dict[int, Hash32]:
    """Hashes of a job's contents that are here, by number."""
    rows = cast(list[tuple[int, bytes]], database.rows("SELECT number, hash FROM contents WHERE job_id = ?", job_id))
    return {number: Hash32(content) for number, content in rows}


def stored_bytes(database: Database, job_id: JobId | None = None) -> int:
    """Bytes of the contents of a job; of all jobs and inputs if none is named."""
    if job_id is not None:
        rows = database.rows("SELECT COALESCE(SUM(size), 0) FROM contents WHERE job_id = ?", job_id)
        return cast(int, rows[0][0])
    query = "SELECT (SELECT COALESCE(SUM(size), 0) FROM contents) + (SELECT COALESCE(SUM(size), 0) FROM blobs)"
    return cast(int, database.rows(query)[0][0])


def append_log(database: Database, job_id: JobId, offset: int, text: bytes) -> int:
    """Adds to a job's log where the text is the next, or is there already.

    Returns:
        Bytes of the log afterwards; unchanged if the text belongs elsewhere.
    """
    with database.change() as db:
        (size,) = db.execute("SELECT COALESCE(SUM(LENGTH(text)), 0) FROM logs WHERE job_id = ?", (job_id,)).fetchone()
        if offset == size and text:
            db.execute("INSERT INTO logs VALUES (?, ?, ?)", (job_id, offset, text))
            return int(size) + len(text)
    return int(size)


def read_log(database: Database, job_id: JobId, offset: int, most: int) -> bytes:
    """At most `most` bytes of a job's log from a byte on."""
    query = (
        "SELECT offset, text FROM logs WHERE job_id = ? AND offset + LENGTH(text) > ? AND offset < ? ORDER BY offset"
    )
    rows = cast(list[tuple[int, bytes]], database.rows(query, job_id, offset, offset + most))
    if not rows:
        return b""
    first, whole = rows[0][0], b"".join(text for _, text in rows)
    return whole[offset - first :][:most]


def log_size(database: Database, job_id: JobId) -> int:
    """Bytes of a job's log."""
    rows = database.rows("SELECT COALESCE(SUM(LENGTH(text)), 0) FROM logs WHERE job_id = ?", job_id)
    return cast(int, rows[0][0])


def note_canaries(database: Database, job_id: JobId, root: Hash32, found: str) -> None:
    """Notes what the canaries found of a job with this root; empty: it holds."""
    with database.change() as db:
        db.execute("INSERT INTO canaries VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (job_id, root, found))


def canary_findings(database: Database, job_id: JobId) -> dict[Hash32, str]:
    """What canaries found of a job, by the root that was claimed."""
    rows = cast(list[tuple[bytes, str]], database.rows("SELECT root, found FROM canaries WHERE job_id = ?", job_id))
    return {Hash32(root): found for root, found in rows}


def keep_receipt(
    database: Database, signed: CountersignedReceipt, program: str, unit_ms: int | None
) -> CountersignedReceipt:
    """Keeps the countersigned receipt of a job; the first one stays.

    Args:
        database: where.
        signed: with both signatures.
        program: of the job.
        unit_ms: device-milliseconds it took per unit; None if it failed.

    Returns:
        The receipt that is kept.
    """
    document = json.dumps(receipt_json(signed.receipt))
    values = (signed.receipt.job_id, signed.digest, document, signed.signature, signed.gateway_signature, program)
    with database.change() as db:
        db.execute("INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", (*values, unit_ms))
    return find_receipt(database, signed.receipt.job_id) or signed


def find_receipt(database: Database, job_id: JobId) -> CountersignedReceipt | None:
    """The countersigned receipt of a job."""
    query = "SELECT digest, document, signature, gateway_signature FROM receipts WHERE job_id = ?"
    found = database.rows(query, job_id)
    if not found:
        return None
    digest, document, signature, gateway_signature = cast(tuple[bytes, str, bytes, bytes], found[0])
    return CountersignedReceipt(
        receipt=_parsed(json.loads(document)),
        digest=Hash32(digest),
        signature=Signature(signature),
        gateway_signature=Signature(gateway_signature),
    )


def history(database: Database, program: str, most: int) -> tuple[int, ...]:
    """Device-milliseconds per unit of the latest jobs of a program that ended well."""
    query = "SELECT unit_ms FROM receipts WHERE program = ? AND unit_ms IS NOT NULL ORDER BY job_id DESC LIMIT ?"
    return tuple(cast(int, row[0]) for row in database.rows(query, program, most))


def jobs_with_contents(database: Database) -> tuple[JobId, ...]:
    """Jobs of which contents or a log are here."""
    rows = database.rows("SELECT job_id FROM contents UNION SELECT job_id FROM logs")
    return tuple(JobId(cast(int, row[0])) for row in rows)


def forget_contents(database: Database, job_id: JobId) -> None:
    """Removes contents and log of a job; its receipt stays."""
    with database.change() as db:
        db.execute("DELETE FROM contents WHERE job_id = ?", (job_id,))
        db.execute("DELETE FROM logs WHERE job_id = ?", (job_id,))


def _parsed(fields: dict[str, int | str]) -> Receipt:
    return Receipt(
        job_id=JobId(int(fields["jobId"])),
        kind=JobKind(int(fields["kind"])),
        node=Address(str(fields["node"])),
        spec_hash=hash_from_hex(str(fields["specHash"])),
        input_digest=hash_from_hex(str(fields["inputDigest"])),
        output_digest=hash_from_hex(str(fields["outputDigest"])),
        checkpoint_root=hash_from_hex(str(fields["checkpointRoot"])),
        checkpoint_count=int(fields["checkpointCount"]),
        device_seconds=int(fields["deviceSeconds"]),
        started_at=Timestamp(int(fields["startedAt"])),
        finished_at=Timestamp(int(fields["finishedAt"])),
        exit_code=int(fields["exitCode"]),
    )
