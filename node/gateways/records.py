"""What this node remembers of its jobs' gateways: how much of a job is handed in, and the gateway's signature."""

import sqlite3

from node.gateway_model import GatewayJob, Handed
from swarm_chain.core.units import Address, JobId, Signature


def note_gateway(state: sqlite3.Connection, job_id: JobId, gateway: Address) -> None:
    """Note whose signature a job's receipt needs."""
    state.execute("INSERT INTO job_gateways (job_id, gateway) VALUES (?, ?) ON CONFLICT DO NOTHING", (job_id, gateway))


def note_handed(state: sqlite3.Connection, job_id: JobId, handed: Handed) -> None:
    """Note how much the gateway has."""
    state.execute(
        "UPDATE job_gateways SET contents = ?, log = ?, whole = ? WHERE job_id = ?",
        (handed.contents, handed.log, int(handed.whole), job_id),
    )


def keep_countersignature(state: sqlite3.Connection, job_id: JobId, signature: Signature) -> None:
    """Store the gateway's signature; the first one stays."""
    state.execute("UPDATE job_gateways SET signature = ? WHERE job_id = ? AND signature IS NULL", (signature, job_id))


def gateway_jobs(state: sqlite3.Connection) -> dict[JobId, GatewayJob]:
    """All jobs that name a gateway, by id."""
    rows = state.execute("SELECT job_id, gateway, contents, log, whole, signature FROM job_gateways")
    return {
        JobId(job_id): GatewayJob(
            job_id=JobId(job_id),
            gateway=Address(gateway),
            handed=Handed(contents=contents, log=log, whole=bool(whole)),
            signature=None if signature is None else Signature(signature),
        )
        for job_id, gateway, contents, log, whole, signature in rows
    }
