"""Links that are not as they are said to be: nearer than the ends are, signed unseen, or never answered."""

from node.links.echo import Doorkeeper
from swarm_chain.adapters.pinger import PingCall
from tests.links_world import Wires


class Flattering:
    """Pings honestly and says a thousandth of it.

    Args:
        wires: it pings over.
    """

    def __init__(self, wires: Wires) -> None:
        self.wires = wires

    def ping(self, call: PingCall) -> tuple[int | None, ...]:
        """Pinger that divides."""
        return tuple(None if one is None else one // 1000 for one in self.wires.ping(call))


class AgreesToAll(Flattering):
    """The other end of one that flatters: found the same, of course."""


class Shy(Doorkeeper):
    """Announces an endpoint, and answers nobody at it."""

    def answer(self, _datagram: bytes) -> bytes:
        """Nothing."""
        return b""
