"""`swarm node why-idle`."""

from node.config import NodeSettings
from node.idle.collect import situation
from node.idle.reasons import Reason, missed_windows, why_idle
from node.logs import configure_logs
from swarm_chain.cli.context import Session
from swarm_chain.cli.output import table

NOTHING = Reason(
    code="nothing_found", sentence="Nothing keeps work away: the next window comes by itself.", next="swarm node status"
)


def show_idle(session: Session, settings: NodeSettings) -> None:
    """Shows why no work comes, the reason that explains the others first.

    Args:
        session: where the sentences go.
        settings: the node's.
    """
    configure_logs("error")  # an absent member is a sentence, not a log line
    with session.output.progress("asking chain, oracle and this machine"):
        found = situation(settings)
    reasons = why_idle(found) or (NOTHING,)
    document = {
        "idle": reasons != (NOTHING,),
        "reasons": [{"code": one.code, "sentence": one.sentence, "next": one.next} for one in reasons],
        "missedWindows": [{"windowId": number, "why": why} for number, why in missed_windows(found)],
    }
    rows = [(one.sentence, one.next) for one in reasons]
    session.output.show(document, table("why no work comes", ("reason", "next"), rows))
