"""What taking in a message needs, and the checks every node message shares."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine

from oracle.model import Network, Plan
from oracle.pipeline.sight import Sight
from oracle.store.evidence import Instant
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import ProviderRecord, WindowRecord
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Address, Hash32, Timestamp, WindowId
from swarm_chain.ports import ChainReader, Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where messages arrive: the store, the chain and its latest sight, the plans in force, the clock."""

    network: Network
    engine: Engine
    reader: ChainReader
    sight: Callable[[], Sight]
    plans: Callable[[], tuple[Plan, ...]]
    clock: Clock
    boot: str  # of the machine whose monotonic clock that is

    @property
    def instant(self) -> Instant:
        """The machine's monotonic clock now."""
        return Instant(boot=self.boot, ms=self.clock.monotonic_ms())

    @property
    def domain(self) -> Hash32:
        """EIP-712 domain of node messages."""
        return domain_separator(self.network.chain_id, self.network.beacon)


def require_node(sight: Sight, node: Address) -> ProviderRecord:
    """Provider of a live node.

    Raises:
        InvalidInputError: unknown or removed node, retired or suspended provider.
    """
    provider = sight.nodes.get(node)
    if provider is None:
        raise InvalidInputError(
            f"node {node} belongs to no provider", code="unknown_node", fix="add it with `swarm node register`"
        )
    if provider.retired:
        raise InvalidInputError(f"provider {provider.provider_id} is retired", code="provider_retired")
    if provider.suspended_until > sight.now:
        raise InvalidInputError(
            f"provider {provider.provider_id} is suspended until {provider.suspended_until}",
            code="provider_suspended",
            fix="see the case with `swarm slash list`",
        )
    return provider


def require_known(sight: Sight, node: Address) -> None:
    """Refuses a node that never belonged to a provider; one that was removed is still judged by what it signed.

    Raises:
        InvalidInputError: unknown.
    """
    if node not in sight.nodes and not any(node in provider.past_nodes for provider in sight.state.providers):
        raise InvalidInputError(f"node {node} belongs to no provider", code="unknown_node")


def require_window(sight: Sight, window_id: WindowId, *states: WindowState) -> WindowRecord:
    """A window in one of the given states.

    Args:
        sight: the chain.
        window_id: the window.
        states: in the order a window passes through them.

    Raises:
        InvalidInputError: no such window, or it is past those states.
        UnavailableError: it has not come to them yet; the sender saw the chain first.
    """
    window = next((w for w in sight.state.windows if w.window_id == window_id), None)
    if window is None:
        raise InvalidInputError(f"window {window_id} is unknown", code="unknown_window")
    if window.state < states[0]:
        raise UnavailableError(f"window {window_id} is not {states[0].name.lower()} here yet", retry_after=1)
    if window.state not in states:
        raise wrong_state(window, window.state.name.lower(), states[0].name.lower())
    return window


def wrong_state(window: WindowRecord, have: str, want: str) -> InvalidInputError:
    """The refusal of a message that came too late for its window."""
    return InvalidInputError(
        f"window {window.window_id} is {have}, not {want}",
        code="wrong_window_state",
        fix="see /v1/windows/current",
        values={"have": have, "want": want},
    )


def require_fresh(now: Timestamp, issued_at: int, expires_at: int, longest: int) -> None:
    """Refuses a message outside its own life, one that lives too long, and one from the future.

    Args:
        now: chain time.
        issued_at: chain time of the sender.
        expires_at: exclusive end of the message's life.
        longest: seconds a message may live; also the tolerated lead of the sender's chain view.
    """
    if not issued_at < expires_at <= issued_at + longest:
        raise InvalidInputError(f"a message lives 1 to {longest} s", code="bad_expiry")
    if not now - longest <= issued_at <= now + longest or expires_at <= now:
        raise InvalidInputError(
            f"message of {issued_at} is not valid at chain time {now}",
            code="expired",
            fix="sign it again with current chain time",
        )
