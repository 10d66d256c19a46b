"""A bundle that leaves out what a member holds is refused; one that lacks what nobody could have is not."""

from dataclasses import replace

import pytest

from oracle.consensus.completeness import Held, hidden_windows, require_complete
from oracle.model import Bundle
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.units import JobId
from tests.oracle_world import Device, provider, scene
from tests.unit.oracle.judge.test_training import _job, _signed

PLAYED = scene((provider(1, "a"), provider(2, "b")), (Device(node="a"), Device(node="b")))
STATE, BUNDLE = replace(PLAYED.state, jobs=(_job(_signed()),)), replace(PLAYED.bundle(), receipts=(_signed(),))
KEYS = frozenset((p.proof.window_id, p.proof.node, p.proof.device) for p in BUNDLE.proofs)
HELD = Held(commitments=PLAYED.pool.commitments, proofs=KEYS, receipts=frozenset({JobId(1)}))

HIDING: dict[str, Bundle] = {
    "the commitments of window 0": replace(BUNDLE, commitments=BUNDLE.commitments[1:]),
    "the proof of": replace(BUNDLE, proofs=BUNDLE.proofs[1:]),
    "the receipt of job 1": replace(BUNDLE, receipts=()),
}


def test_bundle_when_it_has_all_that_is_held_then_accepted() -> None:
    require_complete(BUNDLE, HELD, STATE)


def test_bundle_when_the_member_holds_nothing_then_accepted() -> None:
    require_complete(BUNDLE, Held(), STATE)


@pytest.mark.parametrize("hidden", HIDING)
def test_bundle_when_something_held_is_left_out_then_refused_and_named(hidden: str) -> None:
    with pytest.raises(InvalidInputError, match=hidden) as raised:
        require_complete(HIDING[hidden], HELD, STATE)
    assert raised.value.code == "hidden_evidence"


def test_proof_when_its_commitment_is_in_no_root_then_it_may_be_left_out() -> None:
    """The window is void for everybody, so a proof of it decides nothing."""
    left = replace(BUNDLE, commitments=BUNDLE.commitments[2:], proofs=BUNDLE.proofs[2:])

    require_complete(left, replace(HELD, commitments=()), STATE)


def test_window_when_it_was_never_drawn_then_nothing_of_it_is_hidden() -> None:
    undrawn = replace(STATE, windows=tuple(replace(w, state=WindowState.CLOSED) for w in STATE.windows))

    assert hidden_windows(replace(BUNDLE, commitments=()), HELD, undrawn) == ()
