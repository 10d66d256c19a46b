"""When this node measures links. Pure."""

from collections.abc import Iterator

from node.model import MeasureLinks, Own, View
from swarm_chain.core.audits import is_audited
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.units import epoch_of

_SEEDED = (WindowState.OPEN, WindowState.CLOSED, WindowState.DRAWN)


def link_steps(view: View, own: Own) -> Iterator[MeasureLinks]:
    """A round in the newest epoch that has a seed; pings wait until its first window is over, for devices compute in it.

    Args:
        view: the chain.
        own: whether links are measured, and which epochs are done.

    Source: docs/spec/network.md "Links".
    """
    if not own.links or own.linking or own.draining:
        return
    firsts = [window for window in view.windows if not is_audited(window.window_id) and window.state in _SEEDED]
    for window in sorted(firsts, key=lambda one: one.window_id)[-1:]:
        epoch = epoch_of(window.window_id)
        if epoch not in own.linked:
            yield MeasureLinks(epoch=epoch, pings=window.state is not WindowState.OPEN)
