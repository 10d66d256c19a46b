"""Reads a node's announcements from the chain and sends new ones; whoever may speak for the node pays."""

from dataclasses import dataclass

from node.chain_watch import first_block_since
from node.config import NodeSettings
from node.maintenance.plan import MAX_AHEAD, MAX_MAINTENANCE, Calendar, announced_by, check_announcement, excused_of
from node.maintenance.times import parse_length, parse_moment
from node.registration import known_address
from swarm_chain.cli.context import Session
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import view, when
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Announcement, ContractCall, TxOutcome
from swarm_chain.core.units import Address, Timestamp
from swarm_chain.params import load_params


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """An announcement that was mined, and the seconds of it that the budget excuses."""

    said: Announcement
    excused_for: int
    outcome: TxOutcome


def calendar_of(session: Session, node: Address) -> Calendar:
    """What a node announced as far back as it can still matter.

    Args:
        session: the chain.
        node: address of the node key.

    Raises:
        UnavailableError: no endpoint answers.
    """
    deployment, head = session.deployment, session.reader.block("latest")
    params = load_params(deployment.params)
    reach = params.maintenance.budget_epochs * params.epoch.epoch_for + MAX_AHEAD + MAX_MAINTENANCE
    first = first_block_since(session.reader, deployment.block, head.number, head.timestamp - reach)
    return Calendar(
        now=head.timestamp,
        genesis_at=Timestamp(view(session, "EpochOracle", "epochEnd", 0, at=head) - params.epoch.epoch_for),
        params=params,
        announced=announced_by(session.reader.events(first, head.number), node),
    )


def announce_absence(
    session: Session, settings: NodeSettings, at: str | None, length: str, *, anyway: bool
) -> Announced:
    """Announces an absence of this machine's node.

    Args:
        session: chain and the key that pays: the owner's, the operator's or the node's.
        settings: where the node's key is.
        at: start as `parse_moment` reads it; None for as soon as it is excused.
        length: as `parse_length` reads it.
        anyway: announce also what is not excused, and leave refusing to the contract.

    Raises:
        InvalidInputError: bad times, too short a notice, over budget, or no provider added the node.
        RejectedError: the chain refuses.
    """
    node = known_address(settings)
    provider_id, calendar = _provider_of(session, node), calendar_of(session, node)
    lasts = parse_length(length)
    starts_at = calendar.earliest if at is None else parse_moment(at, calendar.now)
    wanted = Announcement(
        node=node, starts_at=starts_at, ends_at=Timestamp(starts_at + lasts), announced_at=calendar.now
    )
    if not anyway:
        check_announcement(wanted, calendar)
    excused_for = excused_of(wanted, calendar)
    args = (provider_id, node, wanted.starts_at, wanted.ends_at)
    effect = (
        f"announce that node {node} is away from {when(wanted.starts_at)} until {when(wanted.ends_at)}, "
        f"{excused_for} of {lasts} s excused"
    )
    call = ContractCall(contract="ProviderRegistry", function="announceMaintenance", args=args)
    outcome = send(session, Intent(call=call, effect=effect))
    return Announced(said=wanted, excused_for=excused_for, outcome=outcome)


def withdraw_absence(session: Session, settings: NodeSettings) -> tuple[Address, TxOutcome]:
    """Withdraws what this machine's node announced and has not begun.

    Args:
        session: chain and the key that pays.
        settings: where the node's key is.

    Raises:
        InvalidInputError: no provider added the node.
        RejectedError: nothing lies ahead, or the chain refuses for another reason.
    """
    node = known_address(settings)
    args = (_provider_of(session, node), node)
    call = ContractCall(contract="ProviderRegistry", function="withdrawMaintenance", args=args)
    return node, send(session, Intent(call=call, effect=f"withdraw the announced maintenance of node {node}"))


def _provider_of(session: Session, node: Address) -> int:
    found: int = view(session, "ProviderRegistry", "providerIdOfNode", node)
    if not found:
        raise InvalidInputError(
            f"no provider has added node {node}", fix="swarm node register", code="not_registered", exit_code=3
        )
    return found
