"""`swarm stake`: tokens at risk, in and out."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.cli.amounts import parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.stake_moves import UnbondRequest, calendar_of, leave_call, open_requests, put_in
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import (
    chain_time,
    event_args,
    own_provider,
    provider_or_own,
    token_balance,
    transaction_document,
    view,
    when,
)
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import ProviderId, Wei

app = typer.Typer(help="Tokens at risk.")
Amount = Annotated[str, typer.Argument(help="SWM, for example 1000 or 12.5 or 7wei.")]


@app.command(cls=TransactionCommand)
def add(ctx: typer.Context, amount: Amount) -> None:
    """Stakes SWM on your provider; a signed permit makes it one transaction."""
    session = session_of(ctx)
    found, wei = own_provider(session), parse_amount(amount)
    owner = own_address(session)
    _require_tokens(session, owner, wei)
    outcome = put_in(session, found, wei)
    active = view(session, "StakeVault", "activeStake", found)
    session.output.show(
        {
            "providerId": found,
            "stakedWei": wei,
            "activeStakeWei": active,
            "transaction": transaction_document(outcome),
        },
        facts("staked", {"provider": found, "added": swm(wei), "active stake": swm(active)}),
    )


@app.command(cls=TransactionCommand)
def unbond(
    ctx: typer.Context,
    amount: Annotated[str | None, typer.Argument(help="SWM to ask back.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All active stake.")] = False,
) -> None:
    """Asks stake back; it can still be slashed until it is withdrawn."""
    session = session_of(ctx)
    found = own_provider(session)
    active = Wei(view(session, "StakeVault", "activeStake", found))
    wei = _wanted(amount, everything, active)
    unbonding_for = view(session, "StakeVault", "unbondingFor")
    leaves_at = when(chain_time(session) + unbonding_for)
    call = ContractCall(contract="StakeVault", function="requestUnbond", args=(found, wei))
    effect = f"ask {swm(wei)} of provider {found} back; it can leave about {leaves_at} and stays slashable until then"
    outcome = send(session, Intent(call=call, effect=effect))
    request = event_args(outcome, "UnbondRequested")
    session.output.show(
        {
            "providerId": found,
            "requestId": request["requestId"],
            "amountWei": wei,
            "maturesAt": request["maturesAt"],
            "transaction": transaction_document(outcome),
        },
        facts(
            "unbonding",
            {"request": request["requestId"], "amount": swm(wei), "leaves from": when(request["maturesAt"])},
        ),
    )


@app.command(cls=TransactionCommand)
def cancel(ctx: typer.Context, request_id: Annotated[int, typer.Argument(help="See: swarm stake status.")]) -> None:
    """Returns an unbond request to active stake."""
    session = session_of(ctx)
    found = own_provider(session)
    call = ContractCall(contract="StakeVault", function="cancelUnbond", args=(found, request_id))
    outcome = send(
        session, Intent(call=call, effect=f"return unbond request {request_id} of provider {found} to stake")
    )
    amount = event_args(outcome, "UnbondCancelled")["amount"]
    session.output.show(
        {
            "providerId": found,
            "requestId": request_id,
            "amountWei": amount,
            "transaction": transaction_document(outcome),
        },
        facts("unbonding cancelled", {"request": request_id, "back at work": swm(amount)}),
    )


@app.command(cls=TransactionCommand)
def withdraw(
    ctx: typer.Context,
    request_id: Annotated[int | None, typer.Argument(help="Default: every matured request.")] = None,
) -> None:
    """Takes matured stake out, settling the newest root first if the vault asks for it."""
    session = session_of(ctx)
    found = own_provider(session)
    requests = _ready(session, found, request_id)
    done = []
    for request in requests:
        call = leave_call(session, found, request.request_id)
        effect = f"withdraw request {request.request_id} of provider {found}: {swm(request.value_wei)} to its owner"
        outcome = send(session, Intent(call=call, effect=effect))
        amount = event_args(outcome, "Withdrawn")["amount"]
        done.append(
            {"requestId": request.request_id, "amountWei": amount, "transaction": transaction_document(outcome)}
        )
    rows = [(item["requestId"], swm(item["amountWei"])) for item in done]
    session.output.show({"providerId": found, "withdrawn": done}, table("withdrawn", ("request", ">amount"), rows))


@app.command()
def status(
    ctx: typer.Context, provider_id: Annotated[int | None, typer.Argument(help="Default: your own.")] = None
) -> None:
    """Shows stake, what is leaving and when, and what holds it back."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    pool = view(session, "StakeVault", "pool", found)
    requests = open_requests(session, found)
    gate = view(session, "RewardSettlement", "exitStatus")
    document = {
        "providerId": found,
        "activeStakeWei": pool["tokens"] - pool["thawTokens"],
        "thawingWei": pool["thawTokens"],
        "openCases": pool["openCases"],
        "settledRoots": pool["settledRoots"],
        "activatedRoots": gate["activatedRoots"],
        "requests": [request.document() for request in requests],
    }
    now = chain_time(session)
    summary = {
        "active": swm(Wei(pool["tokens"] - pool["thawTokens"])),
        "thawing": swm(Wei(pool["thawTokens"])),
        "open cases": pool["openCases"],
        "settled": f"{pool['settledRoots']} of {gate['activatedRoots']} roots",
    }
    rows = [
        (item.request_id, swm(item.value_wei), when(item.matures_at), "yes" if item.matures_at <= now else "no")
        for item in requests
    ]
    session.output.show(
        document,
        facts(f"stake of provider {found}", summary),
        table("leaving", ("request", ">amount", "from", "matured"), rows),
    )


@app.command()
def calendar(
    ctx: typer.Context,
    ics: Annotated[Path, typer.Option("--ics", help="Calendar file to write.")],
    provider_id: Annotated[int | None, typer.Argument(help="Default: your own.")] = None,
) -> None:
    """Writes the unlock dates of your unbond requests as a calendar file."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    requests = open_requests(session, found)
    ics.write_text(calendar_of(found, requests, chain_time(session)), encoding="utf-8", newline="")
    session.output.show(
        {"providerId": found, "file": str(ics), "requests": [request.document() for request in requests]},
        facts("calendar", {"file": ics, "dates": len(requests)}),
    )


def _wanted(amount: str | None, everything: bool, active: Wei) -> Wei:
    if (amount is None) == (not everything):
        raise InvalidInputError("how much?", fix="give an amount or --all, not both", code="usage")
    return active if amount is None else parse_amount(amount)


def _require_tokens(session: Session, owner: str, wei: Wei) -> None:
    have = token_balance(session, owner)
    if have < wei:
        raise RejectedError(
            f"{owner} has {swm(have)}, not {swm(wei)}",
            fix=f"stake less, or get SWM (on a local chain: swarm dev faucet {owner})",
            code="insufficient_balance",
            values={"balanceWei": str(have), "neededWei": str(wei)},
        )


def _ready(session: Session, provider_id: ProviderId, request_id: int | None) -> tuple[UnbondRequest, ...]:
    requests = open_requests(session, provider_id)
    if request_id is not None:
        return tuple(request for request in requests if request.request_id == request_id) or _unknown(request_id)
    now = chain_time(session)
    matured = tuple(request for request in requests if request.matures_at <= now)
    if not matured:
        first = min((request.matures_at for request in requests), default=None)
        raise InvalidInputError(
            "nothing has matured yet" if requests else "nothing is leaving",
            fix=f"the first request matures {when(first)}"
            if requests
            else "ask for it first: swarm stake unbond AMOUNT",
            code="nothing_matured",
        )
    return matured


def _unknown(request_id: int) -> tuple[UnbondRequest, ...]:
    raise InvalidInputError(
        f"no open unbond request {request_id}", fix="see which there are: swarm stake status", code="unknown_request"
    )
