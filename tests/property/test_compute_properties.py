"""Prove-then-judge passes for every challenge; any one-bit change to what was sent fails."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from node.prove import prove
from oracle.judge.compute import JudgeCase, judge_openings
from swarm_chain.core.compute import ComputeChallenge, ComputeShape, ComputeWindow
from swarm_chain.core.encoding import checksum_address
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.merkle import build_tree, path, path_length, root, verify
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.units import Hash32, WindowId
from tests.compute_world import case_of, honest_run
from tests.tampering import flip, with_opening, with_path_bit, with_root_bit

addresses = st.binary(min_size=20, max_size=20).map(checksum_address)
hashes = st.binary(min_size=32, max_size=32).map(Hash32)
shapes = st.builds(
    ComputeShape, m=st.sampled_from([64, 128, 256]), n=st.sampled_from([64, 128]), steps=st.integers(1, 4)
)
windows = st.builds(
    ComputeWindow,
    chain_id=st.integers(0, 2**64),
    beacon=addresses,
    window_id=st.integers(0, 2**64).map(WindowId),
    window_seed=hashes,
)
challenges = st.builds(ComputeChallenge, window=windows, node=addresses, device=st.integers(0, 2**32), shape=shapes)

HONEST = case_of(honest_run())


def outcome(case: JudgeCase) -> Outcome:
    return judge_openings([case])[0].outcome


@settings(max_examples=30, deadline=None)
@given(challenge=challenges, draw_seed=hashes, data=st.data())
def test_what_is_proved_passes(challenge: ComputeChallenge, draw_seed: Hash32, data: st.DataObject) -> None:
    draws = data.draw(st.integers(1, challenge.shape.m))
    check = data.draw(st.lists(st.integers(0, challenge.shape.m - 1), max_size=3))

    assert outcome(case_of(prove(challenge, NumpyCompute(), check), draw_seed, draws)) is Outcome.PASSED


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 7), bit=st.integers(0, 511))
def test_one_bit_of_any_head_fails(number: int, bit: int) -> None:
    changed = with_opening(HONEST, number, lambda opened: replace(opened, head=flip(opened.head, bit)))

    assert outcome(changed) is Outcome.FAILED


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 7), level=st.integers(0, 5), bit=st.integers(0, 255))
def test_one_bit_of_any_path_fails(number: int, level: int, bit: int) -> None:
    assert outcome(with_path_bit(HONEST, number, level, bit)) is Outcome.FAILED


@settings(max_examples=50, deadline=None)
@given(number=st.integers(0, 7), bit=st.integers(0, 63))
def test_one_bit_of_any_row_number_fails(number: int, bit: int) -> None:
    changed = with_opening(HONEST, number, lambda opened: replace(opened, row=opened.row ^ 1 << bit))

    assert outcome(changed) is Outcome.FAILED


@settings(max_examples=50, deadline=None)
@given(bit=st.integers(0, 255), both=st.booleans())
def test_one_bit_of_the_root_fails(bit: int, both: bool) -> None:
    assert outcome(with_root_bit(HONEST, bit, both)) is Outcome.FAILED


@settings(max_examples=50, deadline=None)
@given(leaves=st.lists(hashes, min_size=1, max_size=70), data=st.data())
def test_every_leaf_of_every_tree_has_one_path_and_no_bit_of_it_is_free(
    leaves: list[bytes], data: st.DataObject
) -> None:
    tree = build_tree(leaves)
    index = data.draw(st.integers(0, len(leaves) - 1))
    siblings = path(tree, index)

    assert len(siblings) == path_length(len(leaves), index)
    assert verify(root(tree), leaves[index], siblings)
    assert not verify(root(tree), flip(leaves[index], data.draw(st.integers(0, 255))), siblings)
    if siblings:
        at = data.draw(st.integers(0, len(siblings) - 1))
        changed = [*siblings[:at], flip(siblings[at], data.draw(st.integers(0, 255))), *siblings[at + 1 :]]
        assert not verify(root(tree), leaves[index], changed)
