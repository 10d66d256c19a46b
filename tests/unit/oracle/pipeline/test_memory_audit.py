"""Memory, from the node's dataset over the member's HTTP to the observation: honest devices are paid, dishonest ones are not."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from node import wire
from node.audits.exchange import run_audit
from node.audits.memory import HeldMemory, MemoryClaim, opening_json
from node.measure.memory import Dataset, commitment_of, open_lanes
from node.model import AuditKey
from node.ports import AuditQuestion, BegunAudit
from oracle.pipeline.audits import audit_measurements, judge_audits
from swarm_chain.core.audits import AuditAnswer, AuditRequest, answer_hash, request_hash
from swarm_chain.core.encoding import hash_from_hex, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Category
from swarm_chain.core.memory import draw_lanes
from swarm_chain.core.messages import Json
from swarm_chain.core.units import Address, EpochNumber, Hash32, Signature, WindowId
from swarm_chain.testing import FakeSigner
from tests.member_world import ALICE, BOB, MINIMAL, MemberWorld, seed_of

CLAIM_MIB = 4
HELD_MIB = 3  # nine tenths of the claim, rounded down


@dataclass(slots=True)
class InProcess:
    """OracleAudits over a member's application; `slow_ms` passes on its clock before every answer."""

    world: MemberWorld
    slow_ms: int = 0

    def address(self) -> Address:
        return self.world.signer.address

    def begin(self, request: AuditRequest, signature: Signature) -> BegunAudit:
        begun = self._post("/v1/audits", wire.audit_request_body(request, signature))
        self.world.clock.sleep(wire.parse_asked_in_ms(begun) / 1000)
        told = self.world.client.get(f"/v1/audits/{begun['auditId']}/nonce").json()
        return wire.parse_begun_audit({**begun, **told})

    def answer(self, answer: AuditAnswer, signature: Signature) -> Hash32:
        self.world.clock.sleep(self.slow_ms / 1000)
        return wire.parse_draw(self._post("/v1/audits/answers", wire.audit_answer_body(answer, signature)))

    def open(self, audit_id: Hash32, openings: list[Json]) -> None:
        self._post(f"/v1/audits/{to_hex(audit_id)}/openings", {"openings": openings})

    def _post(self, path: str, body: Json) -> Json:
        response = self.world.client.post(path, json=body)
        if response.status_code >= 300:
            raise InvalidInputError(response.text, code=str(response.json()["error"]))
        return dict(response.json())


def held(world: MemberWorld, key: FakeSigner = ALICE, claim_mib: int = CLAIM_MIB) -> HeldMemory:
    """What a node's device holds."""
    network = world.network
    return HeldMemory(
        MemoryClaim(
            chain_id=network.chain_id,
            beacon=network.beacon,
            node=key.address,
            claim_mib=claim_mib,
            params=network.params.memory,
        )
    )


class Borrower(HeldMemory):
    """Answers from another node's dataset: one memory for two identities."""

    lender: HeldMemory

    def answer(self, question: AuditQuestion) -> Hash32:
        return self.lender.answer(question)

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        run = self.lender._runs[question]
        own = replace(run.challenge, node=self._claim.node)
        lanes = draw_lanes(draw, own, commitment_of(run).root, self._claim.params.draws)
        return [opening_json(opening) for opening in open_lanes(run, lanes).openings]


class Forgetful(HeldMemory):
    """Opens other lanes than were drawn: those it likes."""

    def openings(self, question: AuditQuestion, draw: Hash32) -> list[Json]:
        return super().openings(question, keccak(draw))


class Guesser(HeldMemory):
    """Did not do the work: a root over nothing, and openings that look well."""

    def answer(self, question: AuditQuestion) -> Hash32:
        super().answer(question)
        return keccak(b"nothing")


class Vandal(HeldMemory):
    """Sends openings that are no openings."""

    def openings(self, _question: AuditQuestion, _draw: Hash32) -> list[Json]:
        return [{"lane": "0", "result": None, "path": [[]]}]


def play(world: MemberWorld, auditee: HeldMemory, key: FakeSigner = ALICE, slow_ms: int = 5) -> tuple[int, str]:
    """MiB a member measures of a node in an epoch of one audited window, and what the judge said."""
    epoch, first = world.epoch, world.open(0)
    world.close(first)
    auditee.prepare(epoch, seed_of(first), 0)
    window = world.open(1)
    world.close(window)
    audit = AuditKey(window_id=window, device=0, category=Category.MEMORY, member="this one")
    run_audit(audit, InProcess(world, slow_ms), auditee, key, world.domain)
    world.draw(window)
    ((_, found),) = judge_audits(world.member.auditing)
    sight = world.member.follower.sight
    (measured,) = audit_measurements(world.network, sight.state, world.member.auditing, epoch)
    assert (measured.node, measured.category) == (key.address, Category.MEMORY)
    return measured.units or 0, found.reason


def test_memory_when_held_then_what_is_held_is_measured(world: MemberWorld) -> None:
    assert play(world, held(world)) == (HELD_MIB, "")


def test_memory_when_of_another_node_then_nothing(world: MemberWorld) -> None:
    lender = held(world, BOB)
    borrower = Borrower(held(world)._claim)
    borrower.lender = lender
    lender.prepare(world.epoch, seed_of(WindowId(world.epoch << 16)), 0)

    assert play(world, borrower) == (0, "false_lane")


@pytest.mark.parametrize(
    ("cheater", "reason"), [(Forgetful, "wrong_lanes"), (Guesser, "wrong_lanes"), (Vandal, "malformed")]
)
def test_memory_when_the_device_cheats_then_nothing(world: MemberWorld, cheater: type[HeldMemory], reason: str) -> None:
    assert play(world, cheater(held(world)._claim)) == (0, reason)


def test_memory_when_the_answer_is_late_then_nothing(world: MemberWorld) -> None:
    late = world.network.params.memory.answer_ms + 1

    assert play(world, held(world), slow_ms=late) == (0, "too_late")


def test_memory_when_prepared_for_another_epoch_then_nothing(world: MemberWorld) -> None:
    class Stale(HeldMemory):
        """Keeps what it built once."""

        def prepare(self, epoch: EpochNumber, epoch_seed: Hash32, device: int) -> None:
            super().prepare(EpochNumber(epoch + 1), epoch_seed, device)

    assert play(world, Stale(held(world)._claim)) == (0, "false_lane")


def test_memory_when_a_byte_of_it_changed_then_the_device_itself_refuses_to_answer_or_fails(
    world: MemberWorld, tmp_path: Path
) -> None:
    auditee = held(world)
    auditee.prepare(world.epoch, seed_of(WindowId(world.epoch << 16)), 0)
    dataset = auditee._held[0]
    assert isinstance(dataset, Dataset)
    broken = dataset.items.copy()
    broken ^= 1
    auditee._held[0] = replace(dataset, items=broken)

    with pytest.raises(Exception, match="does not follow"):
        auditee.answer(
            AuditQuestion(audit_id=keccak(b"audit"), member=ALICE.address, device=0, claim=2, nonce=keccak(b"nonce"))
        )


def test_claim_when_out_of_bounds_then_the_member_refuses_it(world: MemberWorld) -> None:
    world.close(world.open(0))
    window = world.open(1)
    world.close(window)
    key = AuditKey(window_id=window, device=0, category=Category.MEMORY, member="this one")
    auditee = held(world, claim_mib=MINIMAL.memory.most_mib)
    auditee._claim = replace(auditee._claim, claim_mib=MINIMAL.memory.most_mib + 1)

    with pytest.raises(InvalidInputError) as caught:
        run_audit(key, InProcess(world), auditee, ALICE, world.domain)

    assert caught.value.code == "claim"


def test_nonce_when_shown_then_the_hash_of_the_draw(world: MemberWorld) -> None:
    world.close(world.open(0))
    window = world.open(1)
    world.close(window)
    request = AuditRequest(
        window_id=window,
        node=ALICE.address,
        device=0,
        category=Category.MEMORY,
        claim=CLAIM_MIB,
        member=world.signer.address,
    )
    member = InProcess(world)
    begun = member.begin(request, ALICE.sign_typed(world.domain, request_hash(request)))
    answer = AuditAnswer(audit_id=begun.audit_id, root=hash_from_hex("0x" + "11" * 32))
    draw = member.answer(answer, ALICE.sign_typed(world.domain, answer_hash(answer)))

    assert begun.nonce == keccak(draw)
