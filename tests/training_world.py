"""Audits of training without a network: a node that trains, a member that replays, both for real and on tiny models."""

from dataclasses import replace
from pathlib import Path

from node.audits.training import OneTrainer, Trainee, Trainers, TrainingClaim
from node.ports import AuditQuestion
from oracle.model import Network, network_of
from oracle.pipeline.replay_process import replay_segment
from oracle.pipeline.training_auditor import TrainingAuditor
from oracle.store.audits import Audit, AuditFinding
from oracle.store.evidence import Instant
from swarm_chain.core.audits import nonce_of
from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.kinds import Category
from swarm_chain.core.messages import Json
from swarm_chain.core.training import TrainingParams
from swarm_chain.core.units import EpochNumber, Hash32, Timestamp, window_id
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeSigner

NODE, OTHER, MEMBER = (FakeSigner(name).address for name in ("node", "other node", "member"))
TINY = TrainingParams(
    context=2,
    vocabulary=2,
    width=8,
    heads=1,
    layers=1,
    batch=1,
    segment_steps=2,
    segments=4,
    draws=2,
    most_rate=64,
    target_ms=1000,
    answer_ms=100,
    ask_for=10,
)
RATE = 16  # two runs of eight samples, a transformer and an mlp, in a second
SEGMENTS = 8
WINDOW = window_id(EpochNumber(3), 1)


def network() -> Network:
    """A network with the tiny numbers."""
    chain, minimal = FakeChain(), load_params("minimal")
    return replace(network_of(chain.deployment, minimal, Timestamp(0)), params=replace(minimal, training=TINY))


AUDITOR = TrainingAuditor(network(), replay_segment)


def claim(folder: Path, rate: int = RATE) -> TrainingClaim:
    """What the node claims."""
    return TrainingClaim(node=NODE, rate=rate, params=TINY, folder=folder)


def trainee(folder: Path, trainers: Trainers | None = None) -> Trainee:
    """A node that trains with these trainers, honest ones if none are given."""
    return Trainee(claim(folder), trainers or OneTrainer())


def draw_of(number: int) -> Hash32:
    """What the member keeps to itself in its audit of a number."""
    return keccak(b"draw" + number.to_bytes(4, "big"))


def question_of(number: int) -> AuditQuestion:
    """What the node is asked in an audit."""
    nonce = nonce_of(draw_of(number))
    return AuditQuestion(audit_id=nonce, member=MEMBER, device=0, claim=RATE, nonce=nonce)


def play(auditee: Trainee, number: int, elapsed_ms: int = 1000) -> Audit:
    """An audit, answered and opened."""
    root = auditee.answer(question_of(number))
    return audit(number, root, auditee.openings(question_of(number), draw_of(number)), elapsed_ms)


def audit(number: int, root: Hash32, openings: list[Json], elapsed_ms: int | None = 1000) -> Audit:
    """An audit as a member keeps it once it is opened."""
    question = question_of(number)
    return Audit(
        window_id=WINDOW,
        node=NODE,
        device=0,
        category=Category.TRAINING,
        audit_id=question.audit_id,
        claim=RATE,
        nonce=question.nonce,
        draw=draw_of(number),
        started=Instant(boot="boot", ms=0),
        root=root,
        elapsed_ms=elapsed_ms,
        openings=canonical_json(openings),
    )


def found(audited: Audit, auditor: TrainingAuditor = AUDITOR) -> AuditFinding:
    """What a member finds."""
    (finding,) = auditor.judge([audited])
    return finding
