"""How a member audits each category: how long a claim may take, and what an answer is worth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Engine

from oracle.model import Network
from oracle.pipeline.audits import Auditor
from oracle.pipeline.member import Replays
from oracle.pipeline.memory_auditor import MemoryAuditor
from oracle.pipeline.network_auditor import NetworkAuditor
from oracle.pipeline.sight import Sight
from oracle.pipeline.storage_auditor import StorageAuditor
from oracle.pipeline.training_auditor import TrainingAuditor
from oracle.pipeline.volumes import Volumes
from swarm_chain.core.kinds import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What auditors judge by: contracts and params, the chain as the member sees it, what it keeps, gave out and replays."""

    network: Network
    sight: Callable[[], Sight]
    engine: Engine
    replays: Replays
    volumes: Volumes


def auditors_of(grounds: Grounds) -> Mapping[Category, Auditor]:
    """Auditors of every category that can be audited."""
    makers = {
        Category.MEMORY: _memory,
        Category.TRAINING: _training,
        Category.STORAGE: _storage,
        Category.NETWORK: _network,
    }
    return {category: make(grounds) for category, make in makers.items()}


def _memory(grounds: Grounds) -> Auditor:
    memory = MemoryAuditor(grounds.network, grounds.sight)
    return Auditor(
        ask_for=grounds.network.params.ask_for(Category.MEMORY),
        limit_ms=memory.limit_ms,
        has_openings=True,
        judge=memory.judge,
        slot_ms=2 * grounds.network.params.memory.answer_ms,
    )


def _training(grounds: Grounds) -> Auditor:
    params = grounds.network.params.training
    training = TrainingAuditor(grounds.network, grounds.replays.replay)
    return Auditor(
        ask_for=params.ask_for,
        limit_ms=training.limit_ms,
        has_openings=True,
        judge=training.judge,
        together=1,
        slot_ms=params.target_ms + params.answer_ms,
    )


def _storage(grounds: Grounds) -> Auditor:
    storage = StorageAuditor(grounds.volumes)
    return Auditor(
        ask_for=grounds.network.params.ask_for(Category.STORAGE),
        limit_ms=storage.limit_ms,
        has_openings=False,
        judge=storage.judge,
        admit=storage.admit,
    )


def _network(grounds: Grounds) -> Auditor:
    network = NetworkAuditor(grounds.network.params.network, grounds.engine)
    return Auditor(
        ask_for=grounds.network.params.ask_for(Category.NETWORK),
        limit_ms=network.limit_ms,
        has_openings=True,
        judge=network.judge,
    )
