"""What members ask of each other, again and again: who they are, their observations and evidence, their bundles.

    this member --GET inventory, evidence--> another one --> checked --> store
                --GET manifest, bundle----->             --> offers, in memory

Everybody asks everybody, so whoever has to lead holds what each of the others held when it signed its observation:
observations are asked for after all other evidence, so a bundle with the one never lacks the other.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock

import structlog

from oracle.consensus.views import Offer
from oracle.pipeline.desk import Desk
from oracle.pipeline.hearing import hear_evidence, hear_window
from oracle.pipeline.holding import first_ones, inventory_of, windows_of
from oracle.pipeline.names import BUNDLE, MANIFEST
from oracle.pipeline.peers import Peer, object_of
from oracle.publish.exchange import Inventory, inventory_json, parse_evidence, parse_inventory
from oracle.publish.manifest import parse_manifest
from swarm_chain.core.encoding import sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import RootRecord
from swarm_chain.core.units import ZERO_HASH, Address, EpochNumber, Hash32

log = structlog.get_logger()

NAMES_AT_ONCE = 64  # messages asked for in one request
PORTIONS_A_LOOK = 64  # requests to one member in one look, so that a long list of its own making keeps nobody busy
ASKED_AT_MOST = 20  # a message may wait for this member to see a block, not for ever
OFFERED_EPOCHS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Epochs this member needs the others' evidence of, the one it needs their bundles of, and the report to count copies of."""

    evidence: tuple[EpochNumber, ...] = ()
    bundle: EpochNumber | None = None
    root: RootRecord | None = None


class _Asked:
    """How often a name was asked for: what was refused again and again is left alone."""

    def __init__(self) -> None:
        self._times: dict[EpochNumber, Counter[object]] = {}

    def forget_all_but(self, epoch: EpochNumber) -> None:
        """Drops what is of older epochs than the one before."""
        self._times = {kept: times for kept, times in self._times.items() if kept >= epoch - 1}

    def patient(self, epoch: EpochNumber, missing: Inventory) -> Inventory:
        """The names worth asking for once more."""
        times = self._times.get(epoch, Counter())
        tired = {name for name, count in times.items() if count >= ASKED_AT_MOST}
        return Inventory(
            commitments=missing.commitments - tired,
            proofs=missing.proofs - tired,
            receipts=missing.receipts - tired,
            observations=missing.observations - tired,
        )

    def note(self, epoch: EpochNumber, portion: Inventory) -> None:
        """Counts the names of a portion that is asked for."""
        names = (portion.commitments, portion.proofs, portion.receipts, portion.observations)
        self._times.setdefault(epoch, Counter()).update(name for group in names for name in group)


@dataclass(slots=True, kw_only=True)
class _Known:
    """What this member knows of another one."""

    member: Address | None = None
    answers: bool = True
    bundles: dict[EpochNumber, tuple[Hash32, bytes]] = field(default_factory=dict)
    asked: _Asked = field(default_factory=_Asked)
    manifest_hash: Hash32 = ZERO_HASH  # of the newest report it was seen to publish


class Exchange:
    """The other members and what they offer; `wanted` is what they are asked for.

    Args:
        peers: the others; one that turns out to be this member itself is left alone.
        own: address of this member, None in a dry run.
    """

    def __init__(self, peers: tuple[Peer, ...], own: Address | None) -> None:
        self.peers = peers
        self.wanted = Wanted()
        self._own = own
        self._known: dict[Peer, _Known] = {peer: _Known() for peer in peers}
        self._lock = Lock()

    def offers(self, epoch: EpochNumber) -> tuple[Offer, ...]:
        """Bundles the other members serve of an epoch."""
        with self._lock:
            known = [(one.member, one.bundles.get(epoch)) for one in self._known.values()]
        found = (Offer(member=member, bundle_hash=kept[0]) for member, kept in known if member and kept)
        return tuple(sorted(found, key=lambda offer: (offer.member, offer.bundle_hash)))

    def replicas(self, root: RootRecord) -> int:
        """How many other members were seen to publish an accepted report."""
        with self._lock:
            return sum(known.manifest_hash == root.manifest_hash for known in self._known.values())

    def bundle(self, epoch: EpochNumber, bundle_hash: Hash32) -> bytes:
        """Bytes of an offered bundle.

        Raises:
            UnavailableError: nobody offers it any more.
        """
        with self._lock:
            kept = [one.bundles[epoch] for one in self._known.values() if epoch in one.bundles]
        content = next((content for offered, content in kept if offered == bundle_hash), None)
        if content is None:
            raise UnavailableError(f"nobody offers bundle {to_hex(bundle_hash)} any more", retry_after=1)
        return content

    def ask(self, desk: Desk, peer: Peer) -> bool:
        """Asks one member for everything that is new; says in the log when it falls silent and when it is back.

        Args:
            desk: where evidence is kept.
            peer: the member.

        Returns:
            False if it does not answer, or answers garbage.
        """
        known = self._known[peer]
        try:
            self._ask(desk, peer, self.wanted)
        except (UnavailableError, InvalidInputError) as error:
            if known.answers:
                log.warning("peer_silent", peer=peer.name, member=known.member, code=error.code, message=error.message)
            known.answers, known.member = False, None  # another member may stand there when it is back
            return False
        if not known.answers:
            log.info("peer_back", peer=peer.name, member=known.member)
        known.answers = True
        return True

    def _ask(self, desk: Desk, peer: Peer, wanted: Wanted) -> None:
        if not self._introduced(peer):
            return
        for epoch in wanted.evidence:
            self._ask_evidence(desk, peer, epoch)
        if wanted.bundle is not None:
            self._ask_bundle(peer, wanted.bundle)
        if wanted.root is not None and self._known[peer].manifest_hash != wanted.root.manifest_hash:
            self._known[peer].manifest_hash = _manifest_hash(peer, wanted.root.epoch)

    def _introduced(self, peer: Peer) -> bool:
        """Learns whose address stands behind a URL; it only says whom to ask first, so nobody has to prove it."""
        known = self._known[peer]
        if known.member is None:
            member = object_of(peer.get_bytes("/v1/status")).get("member")
            known.member = Address(member) if isinstance(member, str) else None
        return known.member is not None and known.member != self._own

    def _ask_evidence(self, desk: Desk, peer: Peer, epoch: EpochNumber) -> None:
        path, asked = f"/v1/epochs/{epoch}/evidence", self._known[peer].asked
        asked.forget_all_but(epoch)
        _ask_windows(desk, peer, epoch)  # first: a proof is taken only for a commitment that is known
        missing = parse_inventory(peer.get_bytes(path)).without(inventory_of(desk, epoch))
        for portion in islice(asked.patient(epoch, missing).portions(NAMES_AT_ONCE), PORTIONS_A_LOOK):
            asked.note(epoch, portion)
            answer = parse_evidence(peer.post_bytes(path, inventory_json(portion)))
            refused = hear_evidence(desk, epoch, answer)
            if refused:
                log.info("heard_evidence_refused", peer=peer.name, epoch=epoch, messages=refused)

    def _ask_bundle(self, peer: Peer, epoch: EpochNumber) -> None:
        try:
            manifest = parse_manifest(peer.get_bytes(f"/v1/epochs/{epoch}/{MANIFEST}"))
        except InvalidInputError as error:
            if error.code == "unknown_document":
                return  # not published yet
            raise
        bundles = self._known[peer].bundles
        if epoch in bundles and bundles[epoch][0] == manifest.bundle_hash:
            return
        content = peer.get_bytes(f"/v1/epochs/{epoch}/{BUNDLE}")
        if sha256_digest(content) != manifest.bundle_hash:
            raise InvalidInputError(f"{peer.name} serves another bundle than its manifest names", code="peer_garbage")
        with self._lock:
            bundles[epoch] = (manifest.bundle_hash, content)
            for old in sorted(bundles)[:-OFFERED_EPOCHS]:
                del bundles[old]


def _manifest_hash(peer: Peer, epoch: EpochNumber) -> Hash32:
    """sha256 of the manifest a member publishes, zero if it publishes none."""
    try:
        return sha256_digest(peer.get_bytes(f"/v1/epochs/{epoch}/{MANIFEST}"))
    except InvalidInputError as error:
        if error.code != "unknown_document":
            raise
        return ZERO_HASH


def _ask_windows(desk: Desk, peer: Peer, epoch: EpochNumber) -> None:
    for window in windows_of(desk.sight().state, epoch):
        closed = window.state in (WindowState.CLOSED, WindowState.DRAWN)
        if not closed or window.commitments_root == ZERO_HASH or hear_window(desk, window, first_ones(desk, window)):
            continue
        try:
            answer = peer.get_bytes(f"/v1/windows/{window.window_id}/commitments")
        except InvalidInputError as error:
            if error.code != "unknown_document":
                raise
            continue  # that member does not know them either
        if not hear_window(desk, window, parse_evidence(answer).commitments):
            log.warning("wrong_window_commitments", peer=peer.name, window=window.window_id)
