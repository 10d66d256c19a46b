"""`swarm node doctor`."""

from collections.abc import Sequence

from node.config import NodeSettings
from node.doctor.checks import blocking
from node.doctor.examine import examine
from swarm_chain.cli.context import Session
from swarm_chain.cli.output import table
from swarm_chain.core.checkup import BLOCKED
from swarm_chain.core.errors import SwarmError

COLUMNS = ("", "id", "actual", "required", "purpose", "what to do")


def show_doctor(session: Session, settings: NodeSettings, ports: Sequence[int] = ()) -> None:
    """Shows what this machine has and lacks as a node, and changes nothing.

    Args:
        session: where the table goes.
        settings: the node's.
        ports: members are asked to call them back.

    Raises:
        SwarmError: something keeps the node from working (exit 6).
    """
    with session.output.progress("looking at machine, chain and oracle"):
        checks = examine(settings, ports=ports)
    found = blocking(checks)
    document = {"ok": not found, "checks": [check.as_dict() for check in checks]}
    session.output.show(document, table("doctor", COLUMNS, [check.as_row() for check in checks]))
    if found:
        raise SwarmError(
            f"the node cannot work like this: {', '.join(check.id for check in found)}",
            fix=found[0].line.remedy,
            code="doctor",
            values=document,
            exit_code=BLOCKED,
        )
