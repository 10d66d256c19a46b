"""Carries out what `link_steps` asks for."""

from node.links.runner import LinkTask
from node.memory import Memory
from node.model import MeasureLinks, View
from node.tools import Tools


def measure_links(tools: Tools, _: Memory, view: View, action: MeasureLinks) -> None:
    """Begins a round beside the agent."""
    if tools.links is not None:
        issued_at = view.block.timestamp
        tools.links.start(LinkTask(epoch=action.epoch, issued_at=issued_at, measures=action.pings))
