"""`swarm provider`: the entry of a provider in the registry."""

from typing import Annotated, Any

import typer

from swarm_chain.cli.amounts import parse_address
from swarm_chain.cli.context import session_of
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import facts, swm
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import (
    HARDWARE_CLASSES,
    event_args,
    own_provider,
    provider_or_own,
    transaction_document,
    view,
    when,
)
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.regions import region_text
from swarm_chain.core.units import ZERO_ADDRESS, Address

app = typer.Typer(help="Your entry in the registry.")


@app.command(cls=TransactionCommand)
def register(
    ctx: typer.Context,
    operator: Annotated[
        str | None, typer.Option(help="Hot key that manages nodes and jobs; default: the owner.")
    ] = None,
    payout: Annotated[str | None, typer.Option(help="Where rewards go; default: the owner.")] = None,
    hardware: Annotated[str, typer.Option("--class", help="cpu, gpu or storage.")] = "cpu",
    region: Annotated[str, typer.Option(help="At most 8 letters, for example eu-west.")] = "unknown",
) -> None:
    """Registers the key as owner of a provider; repeating it is harmless."""
    session = session_of(ctx)
    owner = own_address(session)
    args = (_address(operator, owner), _address(payout, owner), _class(hardware), _region(region))
    existing = view(session, "ProviderRegistry", "providerIdOf", owner)
    if existing:
        session.output.note(f"{owner} already owns provider {existing}; nothing to do")
        session.output.show({"providerId": existing, "registered": False}, facts("provider", {"id": existing}))
        return
    call = ContractCall(contract="ProviderRegistry", function="register", args=args)
    outcome = send(session, Intent(call=call, effect=f"register {owner} as owner of a new {hardware} provider"))
    provider_id = event_args(outcome, "ProviderRegistered")["providerId"]
    session.output.show(
        {"providerId": provider_id, "registered": True, "transaction": transaction_document(outcome)},
        facts("registered", {"provider": provider_id, "next": "swarm stake add 1000"}),
    )


@app.command()
def show(
    ctx: typer.Context, provider_id: Annotated[int | None, typer.Argument(help="Default: your own.")] = None
) -> None:
    """Shows what the chain knows of a provider."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    record = view(session, "ProviderRegistry", "provider", found)
    document = {
        "providerId": found,
        **record,
        "region": region_text(record["region"]),
        "nodes": view(session, "ProviderRegistry", "nodeCount", found),
        "activeStakeWei": view(session, "StakeVault", "activeStake", found),
    }
    session.output.show(document, facts(f"provider {found}", _readable(document)))


@app.command("set-payout", cls=TransactionCommand)
def set_payout(ctx: typer.Context, payout: Annotated[str, typer.Argument(help="New address for rewards.")]) -> None:
    """Queues a new payout address; it counts after the delay that protects you from a stolen key."""
    session = session_of(ctx)
    found, address = own_provider(session), parse_address(payout)
    call = ContractCall(contract="ProviderRegistry", function="setPayout", args=(found, address))
    outcome = send(session, Intent(call=call, effect=f"pay the rewards of provider {found} to {address} from then on"))
    effective_at = event_args(outcome, "PayoutChangeQueued")["effectiveAt"]
    session.output.show(
        {
            "providerId": found,
            "payout": address,
            "effectiveAt": effective_at,
            "transaction": transaction_document(outcome),
        },
        facts("payout change queued", {"provider": found, "payout": address, "in force": when(effective_at)}),
    )


@app.command(cls=TransactionCommand)
def retire(ctx: typer.Context) -> None:
    """Ends the provider for good: no nodes, no work; stake can still leave."""
    session = session_of(ctx)
    found = own_provider(session)
    call = ContractCall(contract="ProviderRegistry", function="retire", args=(found,))
    intent = Intent(
        call=call, effect=f"retire provider {found} FOR GOOD: it can never work again", typed=f"retire {found}"
    )
    outcome = send(session, intent)
    session.output.show(
        {"providerId": found, "retired": True, "transaction": transaction_document(outcome)},
        facts("retired", {"provider": found, "next": "swarm stake unbond --all"}),
    )


def _address(text: str | None, default: Address) -> Address:
    return default if text is None else parse_address(text)


def _class(name: str) -> int:
    if name not in HARDWARE_CLASSES:
        raise InvalidInputError(f"no class {name!r}", fix=f"choose one of {', '.join(HARDWARE_CLASSES)}", code="usage")
    return HARDWARE_CLASSES[name]


def _region(text: str) -> bytes:
    if not (text.isascii() and text.isprintable() and 0 < len(text) <= 8):
        raise InvalidInputError(
            f"no region {text!r}", fix="use 1 to 8 ASCII letters, for example eu-west", code="usage"
        )
    return text.encode().ljust(8, b"\0")


def _readable(record: dict[str, Any]) -> dict[str, object]:
    names = {number: name for name, number in HARDWARE_CLASSES.items()}
    pending = record["pendingPayout"]
    return {
        "owner": record["owner"],
        "operator": record["operator"],
        "payout": record["payout"],
        "pending payout": "-" if pending == ZERO_ADDRESS else f"{pending} from {when(record['pendingPayoutAt'])}",
        "class": names.get(record["hardwareClass"], "unknown"),
        "region": record["region"],
        "nodes": record["nodes"],
        "active stake": swm(record["activeStakeWei"]),
        "registered": when(record["registeredAt"]),
        "suspended until": when(record["suspendedUntil"]),
        "retired": "yes" if record["retired"] else "no",
    }
