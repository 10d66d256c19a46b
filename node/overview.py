"""`swarm node status`: the node's state, what machine, oracle and chain know of it, where they disagree, and what to do next."""

from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from node.config import NodeSettings
from node.doctor.checks import blocking
from node.doctor.examine import examine
from node.logs import configure_logs
from node.registration import known_address
from node.standing import AgentSide, ChainNodeView, NodeState, next_command, state_of
from node.status import LocalView, MemberView, chain_view, differences, local_view, member_view
from swarm_chain.cli.context import Session
from swarm_chain.cli.output import table
from swarm_chain.cli.views import when

Rows = list[tuple[str, object]]


def show_status(session: Session, settings: NodeSettings) -> None:
    """Shows the three views of a node and the next command; changes nothing.

    Args:
        session: chain and output.
        settings: the node's.

    Raises:
        InvalidInputError: there is no node key yet (exit 3).
        UnavailableError: the chain does not answer.
    """
    configure_logs("error")  # an absent member is a line of the table, not of a log
    node = known_address(settings)
    chain, local = chain_view(session.reader, node), local_view(settings, node)
    members = tuple(member_view(url, node) for url in settings.oracle_urls)
    state = state_of(chain, _here(settings, chain, local))
    found = differences(local, members, chain)
    follow = "-" if state is NodeState.ACTIVE and not found else next_command(state, chain)
    document = {
        "node": node,
        "state": state.value,
        "local": _document(local),
        "oracle": [_document(member) for member in members],
        "chain": _document(chain),
        "differences": found,
        "next": follow,
    }
    rows: Rows = [("state", state.value), *_local_rows(local)]
    rows += [(f"oracle {m.url}", m.error or f"epoch {m.epoch}, plans {list(m.plans)}") for m in members]
    rows += _chain_rows(chain)
    rows += [("DIFFERENCE", line) for line in found] + [("next", follow)]
    session.output.show(document, table(f"node {node}", ("what", "value"), rows))


def _here(settings: NodeSettings, chain: ChainNodeView, local: LocalView) -> AgentSide:
    # Only for a node that nobody added does it matter what the doctor would say; looking takes a second.
    is_checked = not chain.provider_id and not blocking(examine(settings, deep=False))
    return AgentSide(is_checked=is_checked, is_running=local.running, is_draining=local.draining)


def _local_rows(local: LocalView) -> Rows:
    running = "stopped" if not local.running else "draining" if local.draining else "running"
    return [
        ("agent here", running),
        ("newest window committed", local.newest_window),
        ("undelivered commitments", local.undelivered),
        ("jobs here", local.jobs or "-"),
    ]


def _chain_rows(chain: ChainNodeView) -> Rows:
    rows: Rows = [("chain: provider", chain.provider_id or "none")]
    if chain.maintenance_ends_at > chain.now:
        rows.append(("chain: maintenance", f"{when(chain.maintenance_starts_at)} to {when(chain.maintenance_ends_at)}"))
    return rows


def _document(view: LocalView | MemberView | ChainNodeView) -> dict[str, Any]:
    return {to_camel(name): value for name, value in asdict(view).items()}
