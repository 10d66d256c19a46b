"""Volumes: this member opens one for each node, sends blocks made on demand, and notes what the node confirms.

    take_opening --volume--> take_blocks --4096 bytes each--> take_confirmation --N--> audits of N blocks (storage_auditor)

Source: docs/spec/storage.md.
"""

from dataclasses import dataclass
from functools import partial

import structlog

from oracle.pipeline.desk import Desk, require_node
from oracle.pipeline.volume_secret import VolumeSecret
from oracle.store import volumes as store
from oracle.store.volumes import KeptVolume
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.storageset import Volume, VolumeKey, blocks, key_hash
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature
from swarm_chain.core.volumes import (
    BlocksConfirmed,
    BlocksRequest,
    Ledger,
    VolumeRequest,
    blocks_digest,
    confirm,
    confirmed_digest,
    may_send,
    request_digest,
    send,
    volume_id,
)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Volumes:
    """What giving out volumes needs: where messages arrive, who gives them, and the secret (None: it is missing)."""

    desk: Desk
    member: Address | None
    secret: VolumeSecret | None

    @property
    def epoch(self) -> EpochNumber:
        """The running epoch, of which a volume's share is."""
        return self.desk.network.epoch_at(self.desk.sight().now)

    def key_of(self, kept: KeptVolume) -> VolumeKey | None:
        """Key of a volume, None if it was made from another secret.

        Raises:
            UnavailableError: the secret is missing.
        """
        key = self._require_secret().key_of(self.place(kept.member, kept.node, kept.epoch, kept.number))
        return key if key_hash(key) == kept.key_hash else None

    def current(self, node: Address) -> tuple[KeptVolume, VolumeKey] | None:
        """The volume a node holds for this member, with its key; None if it has none that counts.

        Raises:
            UnavailableError: the secret is missing, or this member has no key.
        """
        kept = store.newest_volume(self.desk.engine, self._require_member(), node)
        key = None if kept is None or kept.retired else self.key_of(kept)
        return None if kept is None or key is None else (kept, key)

    def place(self, member: Address, node: Address, epoch: EpochNumber, number: int) -> Volume:
        """A volume of this network by what tells it from others."""
        network = self.desk.network
        return Volume(
            chain_id=network.chain_id, beacon=network.beacon, member=member, node=node, epoch=epoch, index=number
        )

    def fresh(self, node: Address, before: KeptVolume | None) -> KeptVolume:
        """A volume that is yet to be kept; what an epoch may send is not doubled by beginning anew."""
        member, number, epoch = self._require_member(), 0 if before is None else before.number + 1, self.epoch
        volume = self.place(member, node, epoch, number)
        ledger = Ledger() if before is None else before.ledger
        return KeptVolume(
            volume_id=volume_id(volume),
            node=node,
            member=member,
            number=number,
            epoch=epoch,
            key_hash=key_hash(self._require_secret().key_of(volume)),
            ledger=Ledger(sent_epoch=ledger.sent_epoch, sent_now=ledger.sent_now),
        )

    def _require_secret(self) -> VolumeSecret:
        if self.secret is None:
            raise UnavailableError(
                "this member's storage secret is missing", code="storage_secret_missing", retry_after=3600
            )
        return self.secret

    def _require_member(self) -> Address:
        if self.member is None:
            raise UnavailableError("a dry run gives out no volumes", code="dry_run", retry_after=3600)
        return self.member


def take_opening(volumes: Volumes, request: VolumeRequest, signature: Signature) -> KeptVolume:
    """Gives a node its volume, opened if it has none that counts, or if it asks for the one after it.

    Args:
        volumes: the member.
        request: the node's; an older or repeated one gets what there is.
        signature: the node's.

    Raises:
        InvalidInputError: not a live node's, of another member, not signed by the node, or an index far ahead.
        UnavailableError: the volume before was opened in this epoch too (code "volume_young"), or the secret is missing.
    """
    require_node(volumes.desk.sight(), request.node)
    if request.member != volumes.member:
        raise InvalidInputError(
            f"the request is for member {request.member}", code="other_member", fix="ask the member of /v1/status"
        )
    require_signed_by(request.node, request_digest(volumes.desk.domain, request), signature)
    found = volumes.current(request.node)
    if found is not None and request.index <= found[0].number:
        return found[0]
    return _opened(volumes, request)


def take_blocks(volumes: Volumes, request: BlocksRequest, signature: Signature) -> bytes:
    """Makes the blocks a node asks for; they are booked before they leave.

    Args:
        volumes: the member.
        request: which blocks.
        signature: the node's.

    Returns:
        count·4096 bytes.

    Raises:
        InvalidInputError: no such volume or no volume that counts, not signed by its node, or blocks it may not have.
        UnavailableError: the epoch's share is used up, or the secret is missing.
    """
    desk = volumes.desk
    kept = store.volume_of(desk.engine, request.volume_id)
    require_node(desk.sight(), kept.node)
    require_signed_by(kept.node, blocks_digest(desk.domain, request), signature)
    key = volumes.key_of(kept)
    if key is None:
        raise InvalidInputError("the secret of this volume is gone", fix="ask for a new one", code="volume_retired")
    entry = partial(send, request=request, epoch=volumes.epoch, params=desk.network.params.storage)
    store.book(desk.engine, kept.volume_id, entry)
    return blocks(key, request.first, request.count)


def take_confirmation(volumes: Volumes, confirmed: BlocksConfirmed, signature: Signature) -> KeptVolume:
    """Notes how many blocks are on a node's disk; audits cover them from now on.

    Raises:
        InvalidInputError: no such volume, it is retired, not signed by its node, or more than was sent.
    """
    desk = volumes.desk
    kept = store.volume_of(desk.engine, confirmed.volume_id)
    require_signed_by(kept.node, confirmed_digest(desk.domain, confirmed), signature)
    store.book(desk.engine, kept.volume_id, partial(confirm, blocks=confirmed.blocks))
    return store.volume_of(desk.engine, kept.volume_id)


def left_to_send(volumes: Volumes, kept: KeptVolume) -> int:
    """Blocks of a volume that may still be sent in the running epoch."""
    return 0 if kept.retired else may_send(kept.ledger, volumes.epoch, volumes.desk.network.params.storage)


def retire_all(volumes: Volumes) -> int:
    """Ends all volumes and shows their keys, before the secret is renewed; nodes begin anew.

    Returns:
        How many were ended.
    """
    living = store.living_volumes(volumes.desk.engine)
    for kept in living:
        _retire(volumes, kept)
    return len(living)


def _opened(volumes: Volumes, request: VolumeRequest) -> KeptVolume:
    engine, member = volumes.desk.engine, volumes.member
    before = None if member is None else store.newest_volume(engine, member, request.node)
    wanted = volumes.fresh(request.node, before)
    if request.index > wanted.number:
        raise InvalidInputError(
            f"volume {request.index} of a node whose next one is {wanted.number}",
            fix="ask for the one after the last",
            code="bad_index",
        )
    if before is not None:
        if before.epoch == wanted.epoch:
            raise UnavailableError("a node gets one volume an epoch", code="volume_young", retry_after=60)
        _retire(volumes, before)
    store.add_volume(engine, wanted)
    log.info("volume_opened", node=wanted.node, number=wanted.number, epoch=wanted.epoch)
    kept = store.newest_volume(engine, wanted.member, wanted.node)
    return wanted if kept is None else kept


def _retire(volumes: Volumes, kept: KeptVolume) -> None:
    key = None if volumes.secret is None else volumes.key_of(kept)
    store.retire_volume(volumes.desk.engine, kept.volume_id, None if key is None else Hash32(key.raw))
    log.info("volume_retired", node=kept.node, number=kept.number, key_shown=key is not None)
