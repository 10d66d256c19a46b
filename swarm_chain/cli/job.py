"""`swarm job`: work for others to do, paid from escrow by the oracle's judgement."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from swarm_chain.cli.amounts import parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.job_results import fetch_result
from swarm_chain.cli.job_specs import JobOffer, pay_in, posted_twin, read_spec, register_spec
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import event_args, transaction_document, view, when
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import JobId

app = typer.Typer(help="Work for others to do.")
Number = Annotated[int, typer.Argument(help="Job id.", min=1)]
FINAL = (JobState.PAID, JobState.REFUNDED, JobState.CANCELLED)
POLL_S = 2


@app.command(cls=TransactionCommand)
def submit(
    ctx: typer.Context,
    spec: Annotated[Path, typer.Argument(help="Job spec, YAML or JSON.")],
    budget: Annotated[str, typer.Option("--budget", help="Most you pay, SWM; the rest comes back.")],
    accept_for: Annotated[int, typer.Option("--accept-for", help="Seconds a node has to take it.", min=1)] = 3600,
    run_for: Annotated[int, typer.Option("--run-for", help="Seconds a node has to finish it.", min=1)] = 3600,
    again: Annotated[bool, typer.Option("--again", help="Post it although the same spec is already posted.")] = False,
) -> None:
    """Posts a job: spec to the oracle, budget into escrow. Repeating it after a failure pays once."""
    session = session_of(ctx)
    job = read_spec(spec)
    wei = parse_amount(budget)
    offer = JobOffer(kind=job.job_kind, budget_wei=wei, accept_for=accept_for, run_for=run_for)
    spec_hash = register_spec(session, job.document())
    twin = None if again else posted_twin(session, spec_hash)
    if twin is not None:
        session.output.note(f"job {twin} with this spec is already waiting; --again posts another one")
        session.output.show({"jobId": twin, "posted": False, "specHash": spec_hash}, facts("job", {"id": twin}))
        return
    outcome = pay_in(session, spec_hash, offer)
    job_id = event_args(outcome, "JobPosted")["jobId"]
    session.output.show(
        {
            "jobId": job_id,
            "posted": True,
            "specHash": spec_hash,
            "budgetWei": wei,
            "transaction": transaction_document(outcome),
        },
        facts("posted", {"job": job_id, "budget": swm(wei), "next": f"swarm job status {job_id} --wait"}),
    )


@app.command()
def status(
    ctx: typer.Context,
    job_id: Number,
    wait: Annotated[bool, typer.Option("--wait", help="Until it is paid (exit 0) or not (exit 1).")] = False,
    wait_for: Annotated[int, typer.Option("--wait-for", help="Seconds to wait at most.", min=1)] = 3600,
) -> None:
    """Shows where a job is: the chain's word, and the oracle's where it has one."""
    session = session_of(ctx)
    document = _document(session, job_id)
    if wait:
        document = _awaited(session, job_id, wait_for)
    session.output.show(document, facts(f"job {job_id}", _readable(document)))
    if wait and document["state"] != JobState.PAID:
        session.output.finish()
        raise typer.Exit(1)


@app.command()
def results(
    ctx: typer.Context,
    job_id: Number,
    out: Annotated[Path | None, typer.Option("--out", help="File for the last checkpoint.")] = None,
) -> None:
    """Fetches the last checkpoint, checked to be what the receipt on chain names."""
    session = session_of(ctx)
    content = fetch_result(session, JobId(job_id), _existing(session, job_id)["receiptDigest"])
    path = out or Path(f"job-{job_id}.checkpoint")
    path.write_bytes(content)
    session.output.show(
        {"jobId": job_id, "file": str(path), "bytes": len(content)},
        facts("result", {"job": job_id, "file": path, "bytes": len(content)}),
    )


@app.command(cls=TransactionCommand)
def cancel(ctx: typer.Context, job_id: Number) -> None:
    """Takes a job back that no node has taken; the budget returns."""
    session = session_of(ctx)
    record = _existing(session, job_id)
    call = ContractCall(contract="JobEscrow", function="cancel", args=(job_id,))
    outcome = send(session, Intent(call=call, effect=f"cancel job {job_id}; {swm(record['budget'])} return"))
    amount = event_args(outcome, "JobCancelled")["amount"]
    session.output.show(
        {"jobId": job_id, "returnedWei": amount, "transaction": transaction_document(outcome)},
        facts("cancelled", {"job": job_id, "returned": swm(amount)}),
    )


@app.command("list")
def list_jobs(ctx: typer.Context, mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False) -> None:
    """Lists jobs, newest last."""
    session = session_of(ctx)
    customer = own_address(session) if mine else None
    jobs = [_chain_document(session, JobId(number)) for number in range(1, view(session, "JobEscrow", "jobCount") + 1)]
    shown = [job for job in jobs if customer in {None, job["customer"]}]
    rows = [
        (job["jobId"], job["kind"].name.lower(), job["state"].name.lower(), swm(job["budgetWei"]), job["customer"])
        for job in shown
    ]
    session.output.show({"jobs": shown}, table("jobs", (">id", "kind", "state", ">budget", "customer"), rows))


def _awaited(session: Session, job_id: int, wait_for: int) -> dict[str, Any]:
    until = time.monotonic() + wait_for
    with session.output.progress(f"waiting for job {job_id}"):
        while (document := _document(session, job_id))["state"] not in FINAL:
            if time.monotonic() > until:
                raise UnavailableError(
                    f"job {job_id} is still {document['state'].name.lower()}",
                    fix="wait longer with --wait-for",
                    code="timed_out",
                    exit_code=7,
                )
            time.sleep(POLL_S)
    return document


def _document(session: Session, job_id: int) -> dict[str, Any]:
    """The chain's record and, if an oracle is named and knows the job, its judgement; else null with the reason."""
    _existing(session, job_id)
    document = _chain_document(session, JobId(job_id))
    judged: dict[str, Any] = {"judgement": None, "unknownBecause": None}
    try:
        judged["judgement"] = session.oracle.get(f"/v1/jobs/{job_id}")
    except SwarmError as error:
        judged["unknownBecause"] = error.message
    return document | judged


def _chain_document(session: Session, job_id: JobId) -> dict[str, Any]:
    record = view(session, "JobEscrow", "job", job_id)
    return {
        "jobId": job_id,
        "state": JobState(record["state"]),
        "kind": JobKind(record["kind"]),
        "customer": record["customer"],
        "providerId": record["providerId"],
        "node": record["node"],
        "budgetWei": record["budget"],
        "acceptBy": record["acceptBy"],
        "completeBy": record["completeBy"],
        "judgeBy": record["judgeBy"],
        "specHash": record["specHash"],
        "receiptDigest": record["receiptDigest"],
    }


def _existing(session: Session, job_id: int) -> dict[str, Any]:
    count = view(session, "JobEscrow", "jobCount")
    if job_id > count:
        fix = f"give an id from 1 to {count}" if count else "no job was posted yet: swarm job submit SPEC --budget 10"
        raise InvalidInputError(f"unknown job {job_id}", fix=fix, code="unknown_job")
    record: dict[str, Any] = view(session, "JobEscrow", "job", job_id)
    return record


def _readable(document: dict[str, Any]) -> dict[str, object]:
    judgement = document["judgement"] or {}
    return {
        "state": document["state"].name.lower(),
        "kind": document["kind"].name.lower(),
        "budget": swm(document["budgetWei"]),
        "provider": document["providerId"] or "-",
        "accept by": when(document["acceptBy"]),
        "complete by": when(document["completeBy"]),
        "judge by": when(document["judgeBy"]),
        "receipt": to_hex(document["receiptDigest"]),
        "verdict": judgement.get("verdict") or f"unknown ({document['unknownBecause'] or 'not judged yet'})",
    }
