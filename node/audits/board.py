"""Which audits this node prepares and asks for now. Pure.

first window of the epoch closed --PrepareClaim--> ready --another window closed--> StartAudit, member after member
"""

from collections.abc import Iterator

from node.model import AuditKey, ClaimKey, Own, PrepareClaim, StartAudit, View, lane_of
from swarm_chain.core.audits import PER_DEVICE, first_window, is_audited
from swarm_chain.core.kinds import Category, WindowState
from swarm_chain.core.model import WindowRecord
from swarm_chain.core.params import Params
from swarm_chain.core.units import WindowId

_AFTER_CLOSE = (WindowState.CLOSED, WindowState.DRAWN)


def audit_steps(view: View, own: Own, params: Params) -> Iterator[PrepareClaim | StartAudit]:
    """What to do for audits: what is not under way yet, and not on a device that runs for a window.

    All members are asked at once, for each has a moment of its own in which it asks; whoever carries it out works on one
    question at a time a lane.

    Args:
        view: the chain.
        own: what this node claims, what is prepared, and which audits it had or has under way.
        params: how long members take requests.

    Source: docs/spec/audits.md.
    """
    running = {(device, None) for _, device in own.running}
    if own.draining:
        return
    steps: list[PrepareClaim | StartAudit] = [*_preparations(view, own), *_audits(view, own, params)]
    yield from (step for step in steps if step.key not in own.auditing and lane_of(step.key) not in running)


def claim_of(key: AuditKey) -> ClaimKey:
    """What an audit is about: the claim prepared with the seed of the epoch's first window."""
    return ClaimKey(window_id=first_window(key.window_id), device=key.device, category=key.category)


def _preparations(view: View, own: Own) -> Iterator[PrepareClaim]:
    firsts = [w for w in view.windows if not is_audited(w.window_id) and w.state in _AFTER_CLOSE]
    for window in sorted(firsts, key=lambda one: one.window_id)[-1:]:  # older epochs ask nothing any more
        for category in own.claims:
            for device in _asked_as(category, own):
                key = ClaimKey(window_id=window.window_id, device=device, category=category)
                if key not in own.prepared:
                    yield PrepareClaim(key=key, epoch_seed=window.window_seed)


def _audits(view: View, own: Own, params: Params) -> Iterator[StartAudit]:
    for window in view.windows:
        for key in _missing(window.window_id, own):
            if claim_of(key) in own.prepared and _takes_requests(window, view, params.ask_for(key.category)):
                yield StartAudit(key=key)


def _takes_requests(window: WindowRecord, view: View, ask_for: int) -> bool:
    if not is_audited(window.window_id) or window.state not in _AFTER_CLOSE:
        return False
    return view.block.timestamp < window.closed_at + ask_for


def _missing(window: WindowId, own: Own) -> Iterator[AuditKey]:
    for category in own.claims:
        for device in _asked_as(category, own):
            for member in own.members:
                key = AuditKey(window_id=window, device=device, category=category, member=member)
                if key not in own.audited:
                    yield key


def _asked_as(category: Category, own: Own) -> tuple[int, ...]:
    return own.devices if category in PER_DEVICE else (0,)
