"""`swarm job plan` and `submit`: what it costs, what comes back when, then the budget into escrow."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.cli.amounts import parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.job_client import SessionCustomer, client_of, escrow_of
from swarm_chain.cli.job_views import plan_document, plan_views, refund_view, submitted_document
from swarm_chain.cli.job_wait import await_end, end_with
from swarm_chain.cli.output import facts, printable, swm
from swarm_chain.client.jobs import JobClient
from swarm_chain.client.model import Offer, Plan, Refund
from swarm_chain.client.offers import ACCEPT_FOR, Terms, price_of, run_for_of
from swarm_chain.client.refunds import refund_table
from swarm_chain.client.spec_files import read_spec_file
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.jobs import JobSpec, spec_hash
from swarm_chain.core.units import JobId

SpecPath = Annotated[Path, typer.Argument(help="Job spec, YAML or JSON.")]
AcceptFor = Annotated[int, typer.Option("--accept-for", help="Seconds a node has to take it.", min=1)]
RunFor = Annotated[
    int | None, typer.Option("--run-for", help="Seconds a node has to finish it; default: by the plan.", min=1)
]


def plan(ctx: typer.Context, spec: SpecPath, accept_for: AcceptFor = ACCEPT_FOR, run_for: RunFor = None) -> None:
    """Shows nodes, price, time and what comes back when; or what is missing (exit 1). Nothing is posted."""
    session = session_of(ctx)
    file = read_spec_file(spec)
    found = client_of(session).plan(file.spec, file.inputs)
    offer = Offer(
        kind=file.spec.job_kind,
        budget_wei=price_of(found, escrow_of(session).params.min_budget_wei),
        accept_for=accept_for,
        run_for=run_for or run_for_of(found),
    )
    refunds = _refunds(session, offer)
    views = plan_views(found, offer) + ([] if found.missing else [refund_view(refunds)])
    session.output.show(plan_document(found, offer, refunds), *views)
    if found.missing:
        end_with(session, 1)


def submit(
    ctx: typer.Context,
    spec: SpecPath,
    max_cost: Annotated[
        str | None, typer.Option("--max-cost", help="Most it may cost, SWM; else nothing is sent.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="What you lock, SWM; default: the planned price.")
    ] = None,
    accept_for: AcceptFor = ACCEPT_FOR,
    run_for: RunFor = None,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it is paid (exit 0) or not (exit 1).")] = False,
    wait_for: Annotated[int, typer.Option("--wait-for", help="Seconds to wait at most.", min=1)] = 24 * 3600,
    again: Annotated[bool, typer.Option("--again", help="Post it although the same spec is already there.")] = False,
) -> None:
    """Posts a job: inputs and spec to the gateway (or an oracle), budget into escrow. Repeating it pays once."""
    session = session_of(ctx)
    file, client = read_spec_file(spec), client_of(session)
    wei = None if budget is None else parse_amount(budget)
    most = wei if max_cost is None else parse_amount(max_cost)
    if most is None:
        raise InvalidInputError(
            "how much may it cost?", fix="give --max-cost SWM, or --budget SWM without a gateway", code="no_max_cost"
        )
    shown = _Shown(session, file.spec)
    terms = Terms(budget_wei=wei, accept_for=accept_for, run_for=run_for, again=again, approve=shown)
    submitted = client.submit(file.spec, most, file.inputs, terms)
    if not submitted.posted:
        session.output.note(f"job {submitted.job_id} has this spec already; --again posts another one")
    document = submitted_document(submitted, shown.refunds)
    what = {"job": submitted.job_id, "budget": swm(submitted.budget_wei), "next": _next(submitted.job_id)}
    session.output.show(document, facts("posted" if submitted.posted else "job", what))
    if wait:
        _follow(session, client, submitted.job_id, wait_for)
        status = await_end(session, client, submitted.job_id, wait_for)
        state = status.job.state.name.lower()
        session.output.show(document | {"state": state}, facts("ended", {"state": state}))
        end_with(session, 0 if status.paid else 1)


class _Shown:
    """Shows plan and refund table before a person is asked, and keeps the table; a dry run ends here, with nothing sent."""

    def __init__(self, session: Session, spec: JobSpec) -> None:
        self._session, self._spec = session, spec
        self.refunds: Sequence[Refund] = ()

    def __call__(self, offer: Offer, plan: Plan | None) -> None:
        self.refunds = _refunds(self._session, offer)
        self._session.output.show(None, *(plan_views(plan, offer) if plan else ()), refund_view(self.refunds))
        if self._session.options.get("dry_run"):
            hashed = spec_hash(self._spec.document()) if plan is None else plan.spec_hash
            escrow_of(self._session).post(SessionCustomer(self._session), hashed, offer)


def _refunds(session: Session, offer: Offer) -> tuple[Refund, ...]:
    return refund_table(offer, escrow_of(session).params.judge_for)


def _follow(session: Session, client: JobClient, job_id: JobId, most_for: int) -> None:
    """The job's log as it comes, beside the document where one is wanted. What becomes of the job, the chain says."""
    if session.settings.gateway_url is None:
        return
    try:
        for piece in client.logs(job_id, follow=True, most_for=most_for):
            stream = sys.stderr if session.output.as_json else sys.stdout
            print(printable(piece.text.expandtabs()), end="", file=stream, flush=True)
    except UnavailableError as error:
        session.output.note(f"the log is not to be had: {error.message}")


def _next(job_id: JobId) -> str:
    return f"swarm job logs {job_id} -f; swarm job status {job_id} --wait"
