"""A node's volumes with members over their real HTTP application, and audits of them; no sockets."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

from node.audits.storage import HeldStorage, StorageClaim
from node.oracle_client import JsonHttp
from node.ports import Auditee, AuditQuestion
from node.volume_client import HttpOracleVolumes
from oracle.model import Network
from oracle.store.audits import Audit, AuditFinding
from oracle.store.evidence import Instant
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import EpochNumber, Hash32, window_id
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, MINIMAL, MemberWorld

CLAIM_MB = 2
HELD_BLOCKS = 489  # the fewest that hold them
SEED = keccak(b"the epoch's seed")
STORAGE = replace(MINIMAL.storage, reads=24, grow_blocks=512)  # small: a machine full of tests reads its disk slowly


class StoredWorld(MemberWorld):
    """A member whose audits are short."""

    def _network(self) -> Network:
        network = MemberWorld._network(self)
        return replace(network, params=replace(network.params, storage=STORAGE))


def volumes_client(world: MemberWorld) -> HttpOracleVolumes:
    """A member's volumes, asked over its application."""
    client = TestClient(world.app, raise_server_exceptions=False)
    return HttpOracleVolumes(JsonHttp("http://testserver", client), world.chain.deployment)


def stored(
    folder: Path,
    worlds: Sequence[MemberWorld],
    key: FakeSigner = ALICE,
    *,
    claim_mb: int = CLAIM_MB,
    first_blocks: int = STORAGE.grow_blocks,
) -> HeldStorage:
    """What a node keeps for some members."""
    claim = StorageClaim(
        folder=folder,
        claim_mb=claim_mb,
        domain=worlds[0].domain,
        params=worlds[0].network.params.storage,
        first_blocks=first_blocks,
    )
    return HeldStorage(claim, key, [volumes_client(world) for world in worlds])


def prepared(auditee: Auditee, world: MemberWorld) -> Auditee:
    """An auditee that has begun the running epoch, its share of it fetched."""
    auditee.prepare(EpochNumber(world.epoch), SEED, 0)
    if isinstance(auditee, HeldStorage):
        auditee.join()
    return auditee


def next_epoch(world: MemberWorld) -> None:
    """Lets the member see a block of the epoch after the running one."""
    world.chain.mine(seconds=world.network.epoch_end(world.epoch) - world.now)
    world.follow()


def question_of(world: MemberWorld, auditee: Auditee, number: int = 0) -> AuditQuestion:
    """A question with a nonce of its own for each number."""
    member = world.signer.address
    nonce = keccak(b"nonce %d" % number)
    return AuditQuestion(audit_id=keccak(nonce), member=member, device=0, claim=auditee.claim(member), nonce=nonce)


def answered(world: MemberWorld, auditee: Auditee, number: int = 0, key: FakeSigner = ALICE) -> Audit:
    """An audit with a node's answer, as the member keeps it."""
    question = question_of(world, auditee, number)
    return Audit(
        window_id=window_id(world.epoch, 1),
        node=key.address,
        device=0,
        category=Category.STORAGE,
        audit_id=question.audit_id,
        claim=question.claim,
        nonce=question.nonce,
        draw=question.nonce,
        started=Instant(boot="boot 1", ms=0),
        root=auditee.answer(question),
        elapsed_ms=10,
    )


def found(world: MemberWorld, audit: Audit) -> AuditFinding:
    """What the member finds of an audit."""
    (finding,) = world.member.auditors[Category.STORAGE].judge([audit])
    return finding


def with_root(audit: Audit, root: Hash32) -> Audit:
    """The same audit with another answer."""
    return replace(audit, root=root)
