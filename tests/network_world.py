"""Bandwidth audits for tests: a line of known speed to a member in this process, and those who cheat on it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from starlette.testclient import TestClient

from node.audits.exchange import run_audit
from node.audits.network import MeasuredLine
from node.model import AuditKey
from node.oracle_client import refusal_of
from node.ports import Auditee, AuditQuestion
from oracle.api.app import create_app
from oracle.pipeline.audits import audit_measurements, judge_audits
from oracle.pipeline.member import Member
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.kinds import Category
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, Hash32
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, MINIMAL, MemberWorld
from tests.unit.oracle.pipeline.test_memory_audit import InProcess

PARAMS = MINIMAL.network
CLAIM_MBPS = PARAMS.least_mbps
PIECE = 100_000
Tamper = Callable[[bytes], bytes]


@dataclass(slots=True)
class Dice:
    """Bytes nobody could know before; another time others."""

    seed: bytes = b""
    thrown: int = 0

    def __call__(self, size: int) -> bytes:
        self.thrown += 1
        return keccak(b"dice" + self.seed + self.thrown.to_bytes(4, "big"))[:size]


def throwing(world: MemberWorld, seed: bytes = b"") -> MemberWorld:
    """The same member with unpredictable bytes instead of always the same."""
    world.member = replace(world.member, entropy=Dice(seed))
    world.app = create_app(world.member, world.chain.deployment.contracts)
    world.client = TestClient(world.app, raise_server_exceptions=False)
    return world


@dataclass(slots=True, kw_only=True)
class Line:
    """PayloadLine to a member's application; bytes take their time on its clock. `tamper` changes what goes up."""

    world: MemberWorld
    down_mbps: int = 20
    up_mbps: int = 20
    tamper: Tamper = bytes
    downloads: list[bytes] = field(default_factory=list)

    def download(self, audit_id: Hash32) -> Iterator[bytes]:
        answer = self.world.client.get(f"/v1/audits/{to_hex(audit_id)}/payload")
        if answer.status_code >= 300:
            raise refusal_of(answer.status_code, answer.content)
        self._pass(len(answer.content), self.down_mbps)
        self.downloads.append(answer.content)
        for at in range(0, len(answer.content), PIECE):
            yield answer.content[at : at + PIECE]

    def upload(self, audit_id: Hash32, pieces: Iterator[bytes], size: int) -> None:
        content = b"".join(pieces)
        assert len(content) == size
        content = self.tamper(content)
        self._pass(len(content), self.up_mbps)
        answer = self.world.client.post(f"/v1/audits/{to_hex(audit_id)}/upload", content=content)
        if answer.status_code >= 300:
            raise refusal_of(answer.status_code, answer.content)

    def _pass(self, size: int, mbps: int) -> None:
        self.world.clock.sleep(size * 8 / (mbps * 10**6))


class Guessed(MeasuredLine):
    """Downloads nothing: a root over what it likes."""

    def answer(self, question: AuditQuestion) -> Hash32:
        return keccak(question.nonce)


class Cached(MeasuredLine):
    """Answers with the payload of its first audit, which is already here."""

    def answer(self, question: AuditQuestion) -> Hash32:
        if self._kept is None:
            return super().answer(question)
        assert self._kept.root is not None
        return self._kept.root

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[Json]:
        return []


class Silent(MeasuredLine):
    """Downloads, and sends nothing back."""

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[Json]:
        return [{"downMs": 1, "upMs": 1}]


class Hasty(MeasuredLine):
    """Sends the payload up in the order of an earlier draw, as who begins before it knows this one."""

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        return super().openings(question, keccak(draw))


def line_of(line: Line, kind: type[MeasuredLine] = MeasuredLine, claim_mbps: int = CLAIM_MBPS) -> MeasuredLine:
    """What a node has measured over a line."""
    return kind(claim_mbps, PARAMS, lambda _member: line)


def begin(world: MemberWorld) -> None:
    """The epoch's first window, which only gives its seed."""
    world.close(world.open(0))


def play(
    world: MemberWorld, auditee: Auditee, number: int = 1, key: FakeSigner = ALICE, *, tries: int = 1
) -> tuple[int, str]:
    """Mbit/s a member finds in an audited window, and its reason where it finds none; else the code of the last refusal."""
    window = world.open(number)
    world.close(window)
    audit = AuditKey(window_id=window, device=0, category=Category.NETWORK, member="this one")
    refused = ""
    for _ in range(tries):
        try:
            run_audit(audit, InProcess(world, slow_ms=0), auditee, key, world.domain)
        except SwarmError as error:
            refused = error.code
    world.draw(window)
    judged = judge_audits(world.member.auditing)
    return (judged[0][1].units, judged[0][1].reason) if judged else (0, refused)


def measured(member: Member, world: MemberWorld) -> dict[Address, int | None]:
    """Units of the epoch by node, as the member's observation says."""
    state = member.follower.sight.state
    found = audit_measurements(world.network, state, member.auditing, world.epoch)
    assert {one.category for one in found} <= {Category.NETWORK}
    return {one.node: one.units for one in found}
