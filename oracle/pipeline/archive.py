"""The chain at past blocks and the epochs built on them; everything here can be computed again and is only kept for speed."""

from collections import OrderedDict
from threading import Lock

from sqlalchemy import Engine

from oracle.history import advance_to, before
from oracle.model import Bundle, Network, Plan, PreviousEpoch
from oracle.pipeline.collector import collector_paused
from oracle.pipeline.names import PUBLISHED
from oracle.publish.bundle import parse_bundle
from oracle.publish.previous import previous_root, read_previous
from oracle.publish.report import PublishedEpoch, build_report
from oracle.store import documents
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.model import BlockRef, ChainState, RootRecord
from swarm_chain.core.rowchain import Compute, NumpyCompute
from swarm_chain.core.units import BlockNumber, EpochNumber, Hash32
from swarm_chain.ports import ChainReader

KEPT_EPOCHS = 8
_REFERENCE = NumpyCompute()


class Archive:
    """Past states and published epochs of one deployment."""

    def __init__(
        self,
        reader: ChainReader,
        engine: Engine,
        network: Network,
        first_block: BlockNumber,
        compute: Compute = _REFERENCE,
    ) -> None:
        self._reader = reader
        self._engine = engine
        self._network = network
        self._first_block = first_block
        self._compute = compute
        self._latest: ChainState | None = None
        self._built: OrderedDict[EpochNumber, PublishedEpoch] = OrderedDict()
        self._lock = Lock()

    def state_at(self, block: BlockRef) -> ChainState:
        """The chain, folded up to a block.

        Raises:
            UnavailableError: no endpoint answers.
        """
        kept = self._latest
        state = kept if kept is not None and kept.block.number <= block.number else self._genesis()
        state = advance_to(self._reader, state, block)
        self._latest = state
        return state

    def ref_block(self, epoch: EpochNumber, finalized: BlockRef) -> BlockRef:
        """The last block before the end of an epoch.

        Args:
            epoch: an epoch whose end lies at or before `finalized`.
            finalized: the latest final block.

        Raises:
            UnavailableError: the end of the epoch is not final yet.
        """
        end = self._network.epoch_end(epoch)
        if finalized.timestamp < end:
            raise UnavailableError(f"the end of epoch {epoch} is not final yet", retry_after=1)
        low, high = self._reader.block(max(self._first_block - 1, 0)), finalized
        while high.number - low.number > 1:
            middle = self._reader.block((low.number + high.number) // 2)
            low, high = (middle, high) if middle.timestamp < end else (low, middle)
        return low

    def build(self, bundle: Bundle) -> PublishedEpoch:
        """The report of a bundle, and all its documents; the slow part is done once."""
        with self._lock:
            kept = self._built.get(bundle.epoch)
            if kept is not None and kept.bundle == documents.document(self._engine, bundle.epoch, "bundle"):
                return kept
            return self._keep(self._build(bundle))

    def rebuild(self, bundle: Bundle) -> PublishedEpoch:
        """The report of another bundle than the kept one; not kept until `adopt`."""
        with self._lock:
            return self._build(bundle)

    def adopt(self, built: PublishedEpoch) -> None:
        """Serves a rebuilt report from now on; its documents are in the store."""
        with self._lock:
            self._keep(built)

    def _build(self, bundle: Bundle) -> PublishedEpoch:
        with collector_paused():
            state = self.state_at(bundle.ref_block)
            return build_report(state, bundle, self.previous(state), self._network, self._compute)

    def _keep(self, built: PublishedEpoch) -> PublishedEpoch:
        self._built[built.report.epoch] = built
        while len(self._built) > KEPT_EPOCHS:
            self._built.popitem(last=False)
        return built

    def published(self, epoch: EpochNumber) -> PublishedEpoch:
        """A published epoch, rebuilt from its kept bundle if need be.

        Raises:
            InvalidInputError: not published by this member.
            InconsistentError: the kept bundle no longer gives the kept manifest.
        """
        bundle = documents.document(self._engine, epoch, "bundle")
        if bundle is None or documents.document(self._engine, epoch, PUBLISHED) is None:
            raise InvalidInputError(f"epoch {epoch} is not published here", code="unknown_epoch", fix="see /v1/epochs")
        built = self.build(parse_bundle(bundle))
        if built.manifest != documents.document(self._engine, epoch, "manifest"):
            raise InconsistentError(f"the bundle of epoch {epoch} gives another manifest than the published one")
        return built

    def previous(self, state: ChainState) -> PreviousEpoch | None:
        """The report the next one builds on, read back and verified against the chain; None before the first one.

        Args:
            state: the chain at the reference block of the next report, so that all members take the same one.

        Raises:
            UnavailableError: the chain accepted a report this member has no documents of.
            InvalidInputError: the kept documents are not the ones the chain names.
        """
        root = previous_root(state)
        return None if root is None else read_root(self._engine, root)

    def _genesis(self) -> ChainState:
        return before(self._reader, self._first_block)


def read_root(engine: Engine, root: RootRecord) -> PreviousEpoch:
    """Documents of an accepted report, read back from the store and verified.

    Raises:
        UnavailableError: this member does not hold them.
        InvalidInputError: they are not the ones the chain names.
    """
    manifest = documents.document(engine, root.epoch, "manifest")
    state = documents.document(engine, root.epoch, "state")
    if manifest is None or state is None:
        raise UnavailableError(
            f"this member has no documents of epoch {root.epoch}",
            fix="give this member the URLs of others (--peers): it fetches them",
            retry_after=30,
        )
    shards: list[bytes] = []
    while (shard := documents.document(engine, root.epoch, f"shards/{len(shards)}")) is not None:
        shards.append(shard)
    return read_previous(manifest, state, shards, root.manifest_hash)


class PlansInForce:
    """Plans of the running epoch, the same before and after the report of the epoch before it is accepted.

    Every commitment asks for them, so the documents of a report are read and verified once an epoch.

    Args:
        engine: the store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: tuple[tuple[Hash32, EpochNumber], tuple[Plan, ...]] | None = None

    def at(self, state: ChainState, epoch: EpochNumber) -> tuple[Plan, ...]:
        """Plans in force.

        Args:
            state: the chain at its latest block.
            epoch: the running epoch.

        Raises:
            UnavailableError: the chain accepted a report this member has no documents of.
            InvalidInputError: the kept documents are not the ones the chain names.
        """
        root = previous_root(state)
        if root is None:
            return ()
        key, kept = (root.manifest_hash, epoch), self._kept
        if kept is None or kept[0] != key:
            kept = key, read_root(self._engine, root).plans_in(epoch)
            self._kept = kept
        return kept[1]
