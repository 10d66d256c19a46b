"""What an agent does next, as a pure function of what it sees and what it remembers."""

from collections.abc import Iterator
from dataclasses import replace

from node.audits.board import audit_steps
from node.court.board import court_steps, urgent_moves
from node.gateways.board import gateway_steps
from node.jobs.board import job_steps
from node.links.board import link_steps
from node.model import Action, KeepEpochProof, Own, SendHeartbeat, View
from node.serving.board import serving_steps
from node.windows import owed_windows, window_steps
from swarm_chain.core.params import Params


def next_steps(view: View, own: Own, params: Params) -> tuple[Action, ...]:
    """Actions to perform now, most urgent first; each is safe to repeat.

    Args:
        view: the chain at one block and what members announced.
        own: own records, what runs, and the machine's clock.
        params: the protocol's numbers.

    Returns:
        Nothing for a node that no provider has added: the chain wins over what the node believes.
    """
    if view.provider_id == 0:
        return ()
    if view.absence.covers(view.block.timestamp):
        own = replace(own, draining=True)  # what is owed is handed in, and nothing new begins until it is over
    return (
        *_heartbeat(own, params),
        *urgent_moves(view, own, params),
        *window_steps(view, own),
        *audit_steps(view, own, params),
        *serving_steps(view, own),
        *link_steps(view, own),
        *court_steps(view, own, params),
        *gateway_steps(view, own),
        *job_steps(view, own),
        *_proofs(view, own),
    )


def is_idle(view: View | None, own: Own) -> bool:
    """True if a draining agent may stop: no run is under way or unsigned, and nothing it signed waits for its first member.

    Jobs are not waited for: they resume from disk. Neither are openings of windows that are not drawn yet: the state file
    keeps what they need, and an agent that is back before the openings are due hands them in.

    Args:
        view: the last look at the chain; None before the first.
        own: own records and runs.
    """
    return not own.running and not own.ready and (view is None or not owed_windows(view, own))


def _heartbeat(own: Own, params: Params) -> Iterator[Action]:
    due = params.liveness.heartbeat_for * 1000
    if own.heartbeat_ms is None or own.now_ms - own.heartbeat_ms >= due:
        yield SendHeartbeat()


def _proofs(view: View, own: Own) -> Iterator[Action]:
    for root in view.roots:
        if root.epoch not in own.kept_epochs and root.leaf_count >= view.provider_id:
            yield KeepEpochProof(root=root)
