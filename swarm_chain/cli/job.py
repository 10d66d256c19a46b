"""`swarm job`: work for others to do, paid from escrow by the oracle's judgement. A thin layer over swarm_chain.client."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from swarm_chain.cli import job_submit
from swarm_chain.cli.context import session_of
from swarm_chain.cli.job_client import client_of, escrow_of
from swarm_chain.cli.job_views import camel, list_view, results_document, status_document, status_view
from swarm_chain.cli.job_wait import await_end, end_with
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, printable, swm
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.views import event_args, transaction_document
from swarm_chain.client.spec_files import programs_of
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import spec_schema
from swarm_chain.reference.programs.registry import program_entry

app = typer.Typer(help="Work for others to do.")
app.command()(job_submit.plan)
app.command(cls=TransactionCommand)(job_submit.submit)
Number = Annotated[int, typer.Argument(help="Job id.", min=1)]


@app.command()
def status(
    ctx: typer.Context,
    job_id: Number,
    wait: Annotated[bool, typer.Option("--wait", help="Until it is paid (exit 0) or not (exit 1).")] = False,
    wait_for: Annotated[int, typer.Option("--wait-for", help="Seconds to wait at most.", min=1)] = 3600,
) -> None:
    """Shows where a job is: the chain's word, and those of gateway and oracle where they have one."""
    session = session_of(ctx)
    client = client_of(session)
    found = await_end(session, client, job_id, wait_for) if wait else client.status(job_id)
    session.output.show(status_document(found), status_view(found))
    if wait and not found.paid:
        end_with(session, 1)


@app.command()
def logs(
    ctx: typer.Context,
    job_id: Number,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until the log or the job ends.")] = False,
) -> None:
    """Prints what your job said."""
    session = session_of(ctx)
    texts, following = [], 0
    for piece in client_of(session).logs(job_id, follow=follow):
        following = piece.next
        if session.output.as_json:
            texts.append(piece.text)
        else:
            print(printable(piece.text.expandtabs()), end="", flush=True, file=sys.stdout)
    session.output.show({"jobId": job_id, "next": following, "text": "".join(texts)})


@app.command()
def results(
    ctx: typer.Context,
    job_id: Number,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the files; default: job-ID.")] = None,
) -> None:
    """Fetches what a job made, checked to be what the receipt on chain names."""
    session = session_of(ctx)
    with session.output.progress(f"fetching the results of job {job_id}"):
        found = client_of(session).results(job_id, out or Path(f"job-{job_id}"))
    for reason in found.refused:
        session.output.note(f"not from {reason}")
    what = {
        "job": job_id,
        "folder": found.folder,
        "result": found.last,
        "contents": f"{found.contents} of {found.of}",
        "bytes": found.size,
        "from": found.source,
    }
    session.output.show(results_document(found), facts("results", what))


@app.command(cls=TransactionCommand)
def cancel(ctx: typer.Context, job_id: Number) -> None:
    """Takes the budget back of a job that no node has taken, or that missed its deadline."""
    session = session_of(ctx)
    outcome = client_of(session).cancel(job_id)
    amount = {**event_args(outcome, "JobCancelled"), **event_args(outcome, "JobRefunded")}["amount"]
    session.output.show(
        {"jobId": job_id, "returnedWei": amount, "transaction": transaction_document(outcome)},
        facts("taken back", {"job": job_id, "returned": swm(amount)}),
    )


@app.command()
def explain(ctx: typer.Context, job_id: Number) -> None:
    """Says why a job is where it is, and what to do."""
    session = session_of(ctx)
    found = client_of(session).explain(job_id)
    lines = {"state": found.state.name.lower(), "why": "\n".join(found.reasons), "do": found.fix}
    session.output.show(camel(found), facts(f"job {job_id}", lines))


@app.command("list")
def list_jobs(ctx: typer.Context, mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False) -> None:
    """Lists jobs, newest last."""
    session = session_of(ctx)
    customer = own_address(session) if mine else None
    jobs = [job for job in escrow_of(session).jobs() if customer in {None, job.customer}][::-1]
    session.output.show({"jobs": camel(jobs)}, list_view(jobs))


@app.command()
def schema(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(help="Kind of job, such as train.")],
    program: Annotated[
        str | None, typer.Option("--program", help="One of the kind's programs; default: newest.")
    ] = None,
) -> None:
    """Prints the JSON schema of a spec, for editors and checks."""
    session = session_of(ctx)
    choices = programs_of(kind)
    chosen = choices[-1] if program is None else program
    if chosen not in choices:
        raise InvalidInputError(
            f"{chosen} is no program of kind {kind}", fix=f"choose {' or '.join(choices)}", code="unknown_program"
        )
    if len(choices) > 1 and program is None:
        session.output.note(f"schema of {chosen}; others with --program: {', '.join(choices[:-1])}")
    document = _schema(kind, chosen)
    session.output.show(document)
    if not session.output.as_json:
        print(json.dumps(document, indent=2))


def _schema(kind: str, program: str) -> dict[str, Any]:
    document = spec_schema(program_entry(program).work)
    document["properties"]["kind"] = {"const": kind}
    document["properties"]["program"] = {"const": program}
    beside = {
        "code_file": {"type": "string", "description": "File beside the spec that becomes `code`."},
        "input_files": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Files beside the spec that become `inputs`.",
        },
    }
    document["properties"] |= beside
    return document
