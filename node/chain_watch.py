"""Follows the chain: reads what is new since the last look and folds it; starts over where the chain was rewritten."""

from collections.abc import Iterable, Mapping

from node.court.board import fold_court
from node.events import address_of, hash_of, integer_of
from node.jobs.board import fold_jobs
from node.memory import ChainSight
from node.model import Absence, AcceptedRoot
from node.windows import fold_windows
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.model import BlockRef, ChainEvent, ContractCall
from swarm_chain.core.params import MOVES, ComputeCourtParams
from swarm_chain.core.units import Address, BlockNumber, EpochNumber, ProviderId, RootIndex, Timestamp
from swarm_chain.ports import ChainReader

ANNOUNCING = ("MaintenanceAnnounced", "MaintenanceWithdrawn")


class ChainWatch:
    """Eyes of one agent on the chain.

    Args:
        chain: where to read.
        node: address of the node key.
        first_block: block the first look starts at, and every look after a rewrite.
    """

    def __init__(self, chain: ChainReader, node: Address, first_block: int) -> None:
        self._chain = chain
        self._node = node
        self._first_block = first_block
        self._sight: ChainSight | None = None

    def look(self) -> ChainSight:
        """The chain at its latest block.

        Raises:
            UnavailableError: no endpoint answers.
        """
        latest = self._chain.block("latest")
        before = self._sight if self._sight is not None and self._still_there(self._sight.block) else None
        if before is not None and latest.hash == before.block.hash:
            return before
        first = self._first_block if before is None else before.block.number + 1
        events = self._chain.events(first, latest.number)
        self._sight = self._folded(before, events, latest)
        return self._sight

    def _folded(self, known: ChainSight | None, events: tuple[ChainEvent, ...], latest: BlockRef) -> ChainSight:
        before = known or ChainSight(block=latest, provider_id=ProviderId(0))
        announced = known is None or any(_is_about(event, self._node, ANNOUNCING) for event in events)
        provider_id = self._provider(before, events, latest)
        return ChainSight(
            block=latest,
            provider_id=provider_id,
            windows=fold_windows(before.windows, events),
            jobs=fold_jobs(before.jobs, events),
            roots=fold_roots(before.roots, events),
            court=fold_court(before.court, events, latest, node=self._node, provider_id=provider_id),
            # Announced before the first block that is read, it counts all the same: the contract remembers it.
            absence=absence_of(self._chain, self._node, latest) if announced else before.absence,
        )

    def _provider(self, before: ChainSight, events: Iterable[ChainEvent], latest: BlockRef) -> ProviderId:
        moved = any(_is_about(event, self._node, ("NodeAdded", "NodeRemoved")) for event in events)
        if before.provider_id and not moved:
            return before.provider_id
        call = ContractCall(contract="ProviderRegistry", function="providerIdOfNode", args=(self._node,))
        found = self._chain.call(call, latest)
        if not isinstance(found, int):
            raise InconsistentError(
                "ProviderRegistry.providerIdOfNode gave no integer", fix="check the deployment file"
            )
        return ProviderId(found)

    def _still_there(self, block: BlockRef) -> bool:
        try:
            return self._chain.block(block.number).hash == block.hash
        except InvalidInputError:
            return False


def first_block_of(
    chain: ChainReader, deployed: BlockNumber, lookback_blocks: int, court: ComputeCourtParams
) -> BlockNumber:
    """Block an agent starts to read at: far enough back to see every accusation that can still be open.

    Args:
        chain: where to read.
        deployed: first block of the contracts.
        lookback_blocks: how many blocks to read in any case.
        court: times of the court.

    Returns:
        At least `deployed`; found in as many reads as the number of blocks has bits.
    """
    latest = chain.block("latest")
    since = latest.timestamp - court.answer_for - MOVES * court.move_for
    return first_block_since(chain, deployed, max(deployed, latest.number - lookback_blocks), since)


def first_block_since(chain: ChainReader, low: int, high: int, since: int) -> BlockNumber:
    """First block of [low, high] whose time is not before `since` (unix s); `high` if there is none.

    Args:
        chain: where to read, once for each bit of the number of blocks.
        low: first block that may be meant.
        high: last one.
        since: unix s.
    """
    while low < high:
        middle = BlockNumber((low + high) // 2)
        if chain.block(middle).timestamp < since:
            low = BlockNumber(middle + 1)
        else:
            high = middle
    return BlockNumber(low)


def absence_of(chain: ChainReader, node: Address, at: BlockRef) -> Absence:
    """Maintenance the contract holds for a node, over or not.

    Args:
        chain: where to read.
        node: address of the node key.
        at: block to read at.

    Raises:
        InconsistentError: the contract answers with something else.
    """
    found = chain.call(ContractCall(contract="ProviderRegistry", function="maintenanceOf", args=(node,)), at)
    if not isinstance(found, Mapping):
        raise InconsistentError("ProviderRegistry.maintenanceOf gave no times", fix="check the deployment file")
    return Absence(starts_at=Timestamp(found["startsAt"]), ends_at=Timestamp(found["endsAt"]))


def fold_roots(roots: Mapping[RootIndex, AcceptedRoot], events: Iterable[ChainEvent]) -> dict[RootIndex, AcceptedRoot]:
    """Add accepted reports to the roots known before; disabled ones leave.

    Args:
        roots: roots known before.
        events: further events, in chain order; other contracts' are ignored.
    """
    known = dict(roots)
    for event in events:
        if event.contract == "RewardSettlement" and event.name == "ReportAccepted":
            index = RootIndex(integer_of(event, "rootIndex"))
            known[index] = AcceptedRoot(
                index=index,
                epoch=EpochNumber(integer_of(event, "epoch")),
                root=hash_of(event, "root"),
                leaf_count=integer_of(event, "leafCount"),
            )
        elif event.contract == "RewardSettlement" and event.name == "RootDisabled":
            known.pop(RootIndex(integer_of(event, "rootIndex")), None)
    return known


def _is_about(event: ChainEvent, node: Address, names: tuple[str, ...]) -> bool:
    return event.name in names and address_of(event, "node") == node
