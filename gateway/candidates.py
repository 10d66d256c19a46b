"""Which announced nodes may be given jobs now, as the chain sees them. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from gateway.model import NOTHING, Assignment, Candidate
from swarm_chain.core.gateway import NodeAnnouncement
from swarm_chain.core.kinds import HardwareClass, JobState
from swarm_chain.core.model import ChainState, ProviderRecord
from swarm_chain.core.regions import region_text
from swarm_chain.core.units import Address, Timestamp

Measured = Mapping[Address, Mapping[str, int]]


def provider_of(state: ChainState, node: Address) -> ProviderRecord | None:
    """The provider a node belongs to."""
    return next((one for one in state.providers if node in one.nodes), None)


def why_not(state: ChainState, node: Address) -> str:
    """Why the chain does not let a node have jobs, as an end of "the node …"; empty if it does.

    Args:
        state: the chain; its block's time is now.
        node: address of the node key.
    """
    provider, now = provider_of(state, node), state.block.timestamp
    if provider is None:
        return "belongs to no provider"
    if provider.retired:
        return f"belongs to provider {provider.provider_id}, which has retired"
    if provider.stake_wei == 0:
        return f"belongs to provider {provider.provider_id}, which has no stake"
    if provider.suspended_until > now:
        return f"belongs to provider {provider.provider_id}, which is suspended until {provider.suspended_until}"
    return ""


def candidates(
    state: ChainState, announced: Iterable[NodeAnnouncement], given: Iterable[Assignment], measured: Measured
) -> tuple[Candidate, ...]:
    """Nodes that may be given jobs.

    Args:
        state: the chain; its block's time is now.
        announced: the newest announcement of each node.
        given: all assignments.
        measured: units by category that members proved of nodes.
    """
    load = _load(state, given)
    return tuple(_candidates(state, announced, load, measured))


def _candidates(
    state: ChainState, announced: Iterable[NodeAnnouncement], load: Mapping[Address, int], measured: Measured
) -> Iterator[Candidate]:
    now = state.block.timestamp
    away = {one.node for one in state.announcements if one.starts_at <= now < one.ends_at}
    for one in announced:
        provider = provider_of(state, one.node)
        if provider is None or why_not(state, one.node) or one.node in away or not _holds(one, now):
            continue
        yield Candidate(
            provider=provider.provider_id,
            region=region_text(provider.region),
            hardware_class=HardwareClass(provider.hardware_class),
            announcement=one,
            jobs=load.get(one.node, 0),
            measured=measured.get(one.node, NOTHING),
        )


def _holds(announcement: NodeAnnouncement, now: Timestamp) -> bool:
    return now < announcement.expires_at


def _load(state: ChainState, given: Iterable[Assignment]) -> dict[Address, int]:
    posted = {job.job_id for job in state.jobs if job.state is JobState.POSTED}
    busy = [job.node for job in state.jobs if job.state is JobState.ACCEPTED and job.node is not None]
    busy += [one.node for one in given if not one.withdrawn and one.job_id in posted]
    return {node: busy.count(node) for node in busy}
