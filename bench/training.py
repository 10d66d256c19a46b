"""Judging an audit of training against training it, at a small claim and at that of one core: seconds of both, mainnet's sizes.

The baseline is what an honest device of one worker does for the same answer; the goal is what a member may cost beside it.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from _report import Result, print_report, seconds_of, typical_ratio

from node.audits.training import OneTrainer, Trainee, TrainingClaim
from node.ports import AuditQuestion
from oracle.model import network_of
from oracle.pipeline.replay_process import replay_segment
from oracle.pipeline.training_auditor import TrainingAuditor
from oracle.store.audits import Audit
from oracle.store.evidence import Instant
from swarm_chain.core.audits import nonce_of
from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.kinds import Category, Outcome
from swarm_chain.core.training import planned_work
from swarm_chain.core.units import EpochNumber, Timestamp, window_id
from swarm_chain.params import load_params
from swarm_chain.testing import FakeChain, FakeSigner

DRAW, NODE = keccak(b"draw"), FakeSigner("node").address
QUESTION = AuditQuestion(audit_id=keccak(b"audit"), member=NODE, device=0, claim=1, nonce=nonce_of(DRAW))
PARAMS = load_params("mainnet")


def audit(claim: int, trainee: Trainee) -> Audit:
    """The honest answer to an audit, opened."""
    root = trainee.answer(QUESTION)
    return Audit(
        window_id=window_id(EpochNumber(1), 1),
        node=NODE,
        device=0,
        category=Category.TRAINING,
        audit_id=QUESTION.audit_id,
        claim=claim,
        nonce=QUESTION.nonce,
        draw=DRAW,
        started=Instant(boot="boot", ms=0),
        root=root,
        elapsed_ms=1,
        openings=canonical_json(trainee.openings(QUESTION, DRAW)),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, nargs="+", default=[3000, 12_000], help="samples/s")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print_report("training", [one for claim in options.claims for one in measured(claim, options.rounds)])


def measured(rate: int, rounds: int) -> list[Result]:
    """Figures of an audit in which so many samples/s are claimed."""
    work = planned_work(PARAMS.training, rate)
    minimal = network_of(FakeChain().deployment, load_params("minimal"), Timestamp(0))
    auditor = TrainingAuditor(replace(minimal, params=PARAMS), replay_segment)
    with TemporaryDirectory() as folder:
        claim = TrainingClaim(node=NODE, rate=rate, params=PARAMS.training, folder=Path(folder))
        trainee = Trainee(claim, OneTrainer())
        answered = audit(rate, trainee)
        assert auditor.judge([answered])[0].outcome is Outcome.PASSED, "an honest answer does not pass"
        training, judging = seconds_of(
            lambda: trainee.answer(QUESTION), lambda: auditor.judge([answered]), rounds=rounds
        )
    drawn, trained = PARAMS.training.draws, work.runs * PARAMS.training.run_samples / median(training)
    results = [
        Result(name="samples trained", value=trained, unit="samples/s"),
        Result(
            name="judging over training",
            value=median(judging),
            unit="s",
            baseline=median(training),
            ratio=typical_ratio(judging, training),
            goal=0.25,
        ),
        Result(
            name="segments replayed", value=drawn, unit="segments", baseline=work.drawable, ratio=drawn / work.drawable
        ),
        Result(name="openings", value=len(answered.openings or b""), unit="bytes", goal=2**20),
    ]
    return [replace(one, name=f"{one.name}, claim {rate}") for one in results]


if __name__ == "__main__":
    main()
