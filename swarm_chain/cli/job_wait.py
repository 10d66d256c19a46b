"""Waiting for jobs, and ending a command with what became of them."""

import time
from typing import NoReturn

import typer

from swarm_chain.cli.context import Session
from swarm_chain.client.jobs import JobClient
from swarm_chain.client.model import FINAL, JobStatus
from swarm_chain.core.errors import UnavailableError

POLL_S = 2


def await_end(session: Session, client: JobClient, job_id: int, wait_for: int) -> JobStatus:
    """The job once it is paid, refunded or cancelled.

    Raises:
        UnavailableError: it is not, after `wait_for` seconds (exit 7).
    """
    until = time.monotonic() + wait_for
    with session.output.progress(f"waiting for job {job_id}"):
        while (status := client.status(job_id)).job.state not in FINAL:
            if time.monotonic() > until:
                raise UnavailableError(
                    f"job {job_id} is still {status.job.state.name.lower()}",
                    fix=f"wait longer with --wait-for; why it takes long: swarm job explain {job_id}",
                    code="timed_out",
                    exit_code=7,
                )
            time.sleep(POLL_S)
    return status


def end_with(session: Session, code: int) -> NoReturn:
    """Prints what was shown and ends."""
    session.output.finish()
    raise typer.Exit(code)
