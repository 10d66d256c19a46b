"""How a member audits each category: how long a claim may take, and what an answer is worth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Engine

from oracle.model import Network
from oracle.pipeline.audits import Auditor
from oracle.pipeline.memory_auditor import MemoryAuditor
from oracle.pipeline.network_auditor import NetworkAuditor
from oracle.pipeline.sight import Sight
from swarm_chain.core.kinds import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What auditors judge by: contracts and params, the chain as the member sees it, and what it keeps."""

    network: Network
    sight: Callable[[], Sight]
    engine: Engine


def auditors_of(grounds: Grounds) -> Mapping[Category, Auditor]:
    """Auditors of every category that can be audited."""
    return {Category.MEMORY: _memory(grounds), Category.NETWORK: _network(grounds)}


def _memory(grounds: Grounds) -> Auditor:
    memory = MemoryAuditor(grounds.network, grounds.sight)
    return Auditor(
        ask_for=grounds.network.params.ask_for(Category.MEMORY),
        limit_ms=memory.limit_ms,
        has_openings=True,
        judge=memory.judge,
    )


def _network(grounds: Grounds) -> Auditor:
    network = NetworkAuditor(grounds.network.params.network, grounds.engine)
    return Auditor(
        ask_for=grounds.network.params.ask_for(Category.NETWORK),
        limit_ms=network.limit_ms,
        has_openings=True,
        judge=network.judge,
    )
