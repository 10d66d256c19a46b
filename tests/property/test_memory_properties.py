"""Hold-then-judge passes for every shape; any one-bit change to what was sent fails."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from node.measure.memory import answer, hold
from oracle.judge.memory import MemoryCase, judge_memory
from swarm_chain.core.encoding import checksum_address
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import MemoryChallenge, MemoryEpoch, MemoryShape, nonce_of
from swarm_chain.core.memoryset import build_cache
from swarm_chain.core.units import EpochNumber, Hash32
from tests.memory_world import cache_of, case_of, honest_run
from tests.tampering import flip, with_opening, with_path_bit, with_root_bit

addresses = st.binary(min_size=20, max_size=20).map(checksum_address)
hashes = st.binary(min_size=32, max_size=32).map(Hash32)
shapes = st.builds(
    MemoryShape,
    cache_rows=st.sampled_from([2, 16, 64]),
    generations=st.integers(1, 3),
    mixes=st.integers(1, 6),
    items=st.integers(1, 400),
    lanes=st.sampled_from([2, 8, 32]),
    least_reads=st.integers(1, 5),
)
epochs = st.builds(
    MemoryEpoch,
    chain_id=st.integers(0, 2**64),
    beacon=addresses,
    epoch=st.integers(0, 2**32).map(EpochNumber),
    epoch_seed=hashes,
)

HONEST = case_of(honest_run())


def outcome(case: MemoryCase) -> Outcome:
    return judge_memory(cache_of(), [case])[0].outcome


@settings(max_examples=40, deadline=None)
@given(epoch=epochs, node=addresses, shape=shapes, draw_seed=hashes, data=st.data())
def test_what_is_held_passes(
    epoch: MemoryEpoch, node: str, shape: MemoryShape, draw_seed: Hash32, data: st.DataObject
) -> None:
    device = data.draw(st.integers(0, 2**32))
    draws = data.draw(st.integers(1, shape.lanes))
    cache = build_cache(epoch, shape)
    dataset = hold(cache, epoch, checksum_address(bytes.fromhex(node[2:])), device, shape)
    challenge = MemoryChallenge(epoch=epoch, node=dataset.node, device=device, shape=shape, nonce=nonce_of(draw_seed))
    case = case_of(answer(challenge, dataset, (0,)), draw_seed, draws)

    assert judge_memory(cache, [case])[0].outcome is Outcome.PASSED


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 7), bit=st.integers(0, 255))
def test_one_bit_of_any_result_fails(number: int, bit: int) -> None:
    changed = with_opening(HONEST, number, lambda opened: replace(opened, result=flip(opened.result, bit)))

    assert outcome(changed) is Outcome.FAILED


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 7), level=st.integers(0, 4), bit=st.integers(0, 255))
def test_one_bit_of_any_path_fails(number: int, level: int, bit: int) -> None:
    assert outcome(with_path_bit(HONEST, number, level, bit)) is Outcome.FAILED


@settings(max_examples=50, deadline=None)
@given(number=st.integers(0, 7), bit=st.integers(0, 63))
def test_one_bit_of_any_lane_number_fails(number: int, bit: int) -> None:
    changed = with_opening(HONEST, number, lambda opened: replace(opened, lane=opened.lane ^ 1 << bit))

    assert outcome(changed) is Outcome.FAILED


@settings(max_examples=50, deadline=None)
@given(bit=st.integers(0, 255), both=st.booleans())
def test_one_bit_of_the_root_fails(bit: int, both: bool) -> None:
    assert outcome(with_root_bit(HONEST, bit, both)) is Outcome.FAILED
