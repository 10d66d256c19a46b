"""Training in processes of their own, several side by side: the same answer and openings as here."""

from functools import partial
from pathlib import Path

import pytest

from node.audits.actor import RayAuditee
from node.audits.each_device import EachDevice
from node.audits.trainers import make_trainee
from node.audits.training import TrainingClaim
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import EpochNumber
from tests.training_world import NODE, RATE, TINY, draw_of, question_of, trainee


@pytest.mark.long
def test_actor_when_two_train_side_by_side_then_the_same_root_and_openings(ray_cluster: object, tmp_path: Path) -> None:
    claim = TrainingClaim(node=NODE, rate=RATE, params=TINY, folder=tmp_path / "there")
    there, here = EachDevice(lambda _: RayAuditee(partial(make_trainee, claim, 2))), trainee(tmp_path / "here")
    try:
        there.prepare(EpochNumber(3), keccak(b"seed"), 0)

        assert there.answer(question_of(1)) == here.answer(question_of(1))
        assert there.openings(question_of(1), draw_of(1)) == here.openings(question_of(1), draw_of(1))
        there.answer(question_of(2))
    finally:
        there.release()

    assert not (tmp_path / "there").exists(), "also what was never opened is removed"
