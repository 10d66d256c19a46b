"""A node from three sides: its own records, the oracle and the chain; and where they disagree. The chain wins."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from node.chain_watch import absence_of
from node.config import NodeSettings
from node.oracle_client import JsonHttp
from node.records import own_commitments, own_jobs
from node.standing import ChainNodeView
from node.state import is_draining, is_held
from node.transactions import pending_purposes
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Address, ProviderId, Timestamp
from swarm_chain.ports import ChainReader

LAG_FOR = 30  # seconds of chain time an oracle member may be behind before it is worth a line


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalView:
    """The node's own records; `draining` while an agent that was told to stop finishes what it owes."""

    running: bool
    draining: bool
    newest_window: int | None
    undelivered: int
    jobs: dict[str, str]
    pending_transactions: int
    newest_proof_epoch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """What an oracle member says; `error` if it is away."""

    url: str
    epoch: int | None = None
    chain_time: int | None = None
    plans: tuple[dict[str, Any], ...] = ()
    error: str = ""


def local_view(settings: NodeSettings, node: Address) -> LocalView:
    """Reads the state file without disturbing a running agent."""
    path = settings.folder / "state.sqlite"
    proofs = _newest_proof(settings.folder / "proofs")
    running = is_held(settings.folder)
    if not path.is_file():
        return LocalView(
            running=running,
            draining=False,
            newest_window=None,
            undelivered=0,
            jobs={},
            pending_transactions=0,
            newest_proof_epoch=proofs,
        )
    state = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        commitments = own_commitments(state, node)
        return LocalView(
            running=running,
            draining=running and is_draining(state),
            newest_window=max((c.signed.commitment.window_id for c in commitments), default=None),
            undelivered=sum(not c.delivered for c in commitments),
            jobs={str(job.job_id): job.phase.value for job in own_jobs(state)},
            pending_transactions=len(pending_purposes(state)),
            newest_proof_epoch=proofs,
        )
    finally:
        state.close()


def chain_view(chain: ChainReader, node: Address) -> ChainNodeView:
    """Reads registration, standing and gas money at one block."""
    at = chain.block("latest")

    def ask(function: str, *args: object) -> Any:
        return chain.call(ContractCall(contract="ProviderRegistry", function=function, args=args), at)

    key, absence = ask("nodeRecord", node), absence_of(chain, node, at)
    provider_id = ProviderId(key["providerId"])
    record = ask("provider", provider_id) if provider_id else {"suspendedUntil": 0, "retired": False}
    return ChainNodeView(
        provider_id=provider_id,
        suspended_until=Timestamp(record["suspendedUntil"]),
        retired=bool(record["retired"]),
        balance_wei=chain.balance(node),
        now=at.timestamp,
        removed_at=Timestamp(key["removedAt"]),
        maintenance_starts_at=absence.starts_at,
        maintenance_ends_at=absence.ends_at,
    )


def member_view(url: str, node: Address) -> MemberView:
    """Asks one oracle member."""
    http = JsonHttp(url)
    try:
        status, plans = http.get("/v1/status"), http.get(f"/v1/plans/{node}")
    except SwarmError as error:
        return MemberView(url=url, error=error.message)
    finally:
        http.close()
    found = plans.get("plans")
    return MemberView(
        url=url,
        epoch=_number(status.get("epoch")),
        chain_time=_number(status.get("chainTime")),
        plans=tuple(found) if isinstance(found, list) else (),
    )


def differences(local: LocalView, members: tuple[MemberView, ...], chain: ChainNodeView) -> tuple[str, ...]:
    """Where the three views disagree, in words; empty if they do not."""
    found = [*_presence(local, chain)]
    if local.undelivered:
        found.append(f"{local.undelivered} commitments never reached a member")
    for member in members:
        if member.error:
            found.append(f"{member.url} is away: {member.error}")
        elif member.chain_time is not None and chain.now - member.chain_time > LAG_FOR:
            found.append(f"{member.url} is {chain.now - member.chain_time} s behind the chain")
    if local.jobs and chain.balance_wei == 0:
        found.append("the node key has no coins left to accept or complete jobs")
    return tuple(found)


def _presence(local: LocalView, chain: ChainNodeView) -> Iterator[str]:
    if not chain.provider_id:
        if local.running:
            yield "an agent runs, but the chain knows no such node: swarm node register"
    elif chain.retired or chain.removed_at:
        if local.running:
            yield "an agent runs, but the chain counts this node no more: stop it"
    elif not local.running and not chain.in_maintenance:
        yield "the chain counts this node as live, but no agent runs here: swarm node run"


def _newest_proof(folder: Path) -> int | None:
    return max((int(path.stem) for path in folder.glob("*.json") if path.stem.isdecimal()), default=None)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
