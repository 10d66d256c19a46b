"""Which offers this node makes now. Pure."""

from collections.abc import Iterator

from node.model import OfferServing, Own, View
from swarm_chain.core.audits import is_audited
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.units import epoch_of

_SEEDED = (WindowState.OPEN, WindowState.CLOSED, WindowState.DRAWN)


def serving_steps(view: View, own: Own) -> Iterator[OfferServing]:
    """Offers of the newest epoch whose first window is open, to every member that has none from this process yet.

    Args:
        view: the chain.
        own: whether something is served, and what was offered.

    Source: docs/spec/serving.md.
    """
    if not own.serves or own.draining:
        return
    firsts = [window for window in view.windows if not is_audited(window.window_id) and window.state in _SEEDED]
    for window in sorted(firsts, key=lambda one: one.window_id)[-1:]:  # older epochs are over
        epoch = epoch_of(window.window_id)
        for member in own.members:
            if (epoch, member) not in own.offered:
                yield OfferServing(epoch=epoch, epoch_seed=window.window_seed, member=member)
