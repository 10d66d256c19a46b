"""Reads that several nouns share, and how times and transactions look."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import BlockRef, ContractCall, TxOutcome
from swarm_chain.core.units import UINT64_MAX, ProviderId, Timestamp, Wei

HARDWARE_CLASSES = {"cpu": 1, "gpu": 2, "storage": 3}


def view(session: Session, contract: str, function: str, *args: object, at: BlockRef | None = None) -> Any:
    """Result of a view function, at the latest block unless pinned to one; structs come as mappings."""
    return session.reader.call(ContractCall(contract=contract, function=function, args=args), at)


def chain_time(session: Session) -> Timestamp:
    """Timestamp of the latest block: the only time the protocol knows."""
    return session.reader.block("latest").timestamp


def existing_provider(session: Session, provider_id: int) -> ProviderId:
    """The id, if the registry has it.

    Raises:
        InvalidInputError: there is no such provider.
    """
    count = view(session, "ProviderRegistry", "providerCount")
    if not 1 <= provider_id <= count:
        raise InvalidInputError(
            f"unknown provider {provider_id}",
            fix=f"give an id from 1 to {count}" if count else "no provider is registered yet: swarm provider register",
            code="unknown_provider",
            values={"providerId": provider_id, "providerCount": count},
        )
    return ProviderId(provider_id)


def own_provider(session: Session) -> ProviderId:
    """Provider that the chosen key owns.

    Raises:
        InvalidInputError: it owns none.
    """
    owner = own_address(session)
    found = view(session, "ProviderRegistry", "providerIdOf", owner)
    if found == 0:
        raise InvalidInputError(
            f"{owner} owns no provider",
            fix="register one with: swarm provider register, or choose another key with --account",
            code="unknown_provider",
            values={"owner": owner},
        )
    return ProviderId(found)


def provider_or_own(session: Session, provider_id: int | None) -> ProviderId:
    """The provider asked for, else the one of the chosen key."""
    return own_provider(session) if provider_id is None else existing_provider(session, provider_id)


def token_balance(session: Session, owner: str) -> Wei:
    """SWM of an address, wei."""
    return Wei(view(session, "SwarmToken", "balanceOf", owner))


def when(at: int | None) -> str:
    """A point in time for a person, UTC; exclusion is "for good", zero is "-"."""
    if at is None:
        return "unknown"
    if at == 0:
        return "-"
    if at >= UINT64_MAX:
        return "for good"
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def transaction_document(outcome: TxOutcome) -> dict[str, object]:
    """What `--json` says of a mined transaction."""
    return {
        "hash": outcome.hash,
        "block": outcome.block,
        "gasUsed": outcome.gas_used,
        "feeWei": outcome.fee_wei,
        "succeeded": outcome.succeeded,
    }


def event_args(outcome: TxOutcome, name: str) -> Mapping[str, Any]:
    """Arguments of the first event of that name in a receipt; empty if there is none."""
    return next((event.args for event in outcome.events if event.name == name), {})
