"""`swarm rewards`: what was earned, why, and how to claim it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from swarm_chain.cli.amounts import parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.cli.settlement import ActiveRoot, Netting, ProvenLeaf, fetch_leaf, latest_active_root, netting
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import event_args, provider_or_own, transaction_document, view
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import ProviderId, Wei

app = typer.Typer(help="What you earned.")
OptionalProvider = Annotated[int | None, typer.Argument(help="Default: your own.")]


@app.command()
def show(ctx: typer.Context, provider_id: OptionalProvider = None) -> None:
    """Shows what was claimed and what the newest activated root owes; what is not known is "unknown", never zero."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    account = view(session, "RewardSettlement", "account", found)
    root = latest_active_root(session)
    proven, reason = _leaf_if_known(session, root, found)
    owed = netting(account, proven.leaf) if proven else None
    document = {
        "providerId": found,
        "claimedWei": account["claimed"],
        "penalisedWei": account["penalised"],
        "epoch": root.epoch if root else None,
        "cumRewardWei": proven.leaf.cum_reward_wei if proven else None,
        "cumPenaltyWei": proven.leaf.cum_penalty_wei if proven else None,
        "claimableWei": owed.pay_wei if owed else None,
        "dueFromStakeWei": owed.take_wei if owed else None,
        "unknownBecause": reason,
    }
    summary = {
        "claimed": swm(Wei(account["claimed"])),
        "penalised": swm(Wei(account["penalised"])),
        "up to epoch": root.epoch if root else "no root is active yet",
        "claimable now": swm(owed.pay_wei if owed else None),
        "due from stake": swm(owed.take_wei if owed else None),
    }
    session.output.show(
        document, facts(f"rewards of provider {found}", summary | ({"why unknown": reason} if reason else {}))
    )


@app.command()
def explain(
    ctx: typer.Context,
    epoch: Annotated[int, typer.Option("--epoch", help="Epoch number.", min=0)],
    provider_id: OptionalProvider = None,
) -> None:
    """Shows every input from measurement to leaf."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    document = session.oracle.get(f"/v1/epochs/{epoch}/explain/{found}")
    rows = [(path, "unknown" if value is None else value) for path, value in _flat(document, "")]
    session.output.show(document, table(f"provider {found} in epoch {epoch}", ("input", "value"), rows))


@app.command(cls=TransactionCommand)
def claim(
    ctx: typer.Context,
    provider_id: OptionalProvider = None,
    min_net: Annotated[str | None, typer.Option("--min-net", help="Do nothing below this many SWM.")] = None,
) -> None:
    """Settles a provider against the newest activated root; the proof is verified here before anything is sent. Anyone may."""
    session = session_of(ctx)
    found = provider_or_own(session, provider_id)
    threshold = None if min_net is None else parse_amount(min_net)
    proven = _leaf_to_claim(session, found)
    owed = netting(view(session, "RewardSettlement", "account", found), proven.leaf)
    idle = _why_idle(owed, threshold)
    if idle:
        session.output.note(idle)
        session.output.show(_claim_document(proven, owed, {"claimed": False, "reason": idle}))
        return
    payout = view(session, "ProviderRegistry", "payoutOf", found)
    effect = f"settle provider {found} up to epoch {proven.root.epoch}: pay {swm(owed.pay_wei)} to {payout}"
    if owed.take_wei:
        effect += f", take {swm(owed.take_wei)} of penalty from its stake"
    call = ContractCall(contract="RewardSettlement", function="settle", args=proven.call_args)
    outcome = send(session, Intent(call=call, effect=effect))
    paid = event_args(outcome, "Settled")["paid"]
    session.output.show(
        _claim_document(
            proven,
            owed,
            {"claimed": True, "paidWei": paid, "payout": payout, "transaction": transaction_document(outcome)},
        ),
        facts("claimed", {"provider": found, "epoch": proven.root.epoch, "paid": swm(paid), "to": payout}),
    )


def _leaf_if_known(
    session: Session, root: ActiveRoot | None, provider_id: ProviderId
) -> tuple[ProvenLeaf | None, str | None]:
    if root is None:
        return None, "no root is active yet"
    if session.settings.oracle_url is None:
        return None, "no oracle is named (--oracle-url)"
    try:
        proven = fetch_leaf(session, root, provider_id)
    except UnavailableError as error:
        return None, error.message
    return proven, None if proven else f"the provider registered after epoch {root.epoch}"


def _leaf_to_claim(session: Session, provider_id: ProviderId) -> ProvenLeaf:
    root = latest_active_root(session)
    if root is None:
        raise InvalidInputError(
            "nothing to claim: no root is active yet", fix="try again after the first epoch is settled", code="no_root"
        )
    proven = fetch_leaf(session, root, provider_id)
    if proven is None:
        raise InvalidInputError(
            f"nothing to claim: provider {provider_id} registered after epoch {root.epoch}",
            fix="try again after the next epoch is settled",
            code="no_leaf",
        )
    return proven


def _why_idle(owed: Netting, threshold: Wei | None) -> str | None:
    if owed.reward_wei == owed.penalty_wei == 0:
        return "nothing to claim: everything up to the newest activated root is settled"
    if threshold is not None and owed.pay_wei < threshold:
        return f"{swm(owed.pay_wei)} is less than --min-net {swm(threshold)}: nothing was sent"
    return None


def _claim_document(proven: ProvenLeaf, owed: Netting, more: Mapping[str, object]) -> dict[str, object]:
    return {
        "providerId": proven.leaf.provider_id,
        "epoch": proven.root.epoch,
        "rootIndex": proven.root.index,
        "rewardWei": owed.reward_wei,
        "penaltyWei": owed.penalty_wei,
        **more,
    }


def _flat(value: Any, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for number, item in enumerate(value):
            yield from _flat(item, f"{path}[{number}]")
    else:
        yield path, value
