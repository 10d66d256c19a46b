"""What an honest device gets, and each lie about memory with the verdict it earns."""

from collections.abc import Callable
from dataclasses import replace
from math import comb, sqrt
from typing import Any

import pytest

from node.measure.memory import commitment_of, open_lanes
from oracle.judge.memory import MemoryCase, judge_memory
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import LaneOpening, MemoryChallenge, dataset_mib, draw_lanes, nonce_of, seed_items
from swarm_chain.core.memoryset import Fetch, computed, start, stored
from swarm_chain.core.merkle import build_tree, node_hash, root
from swarm_chain.core.rowchain import Indices, Words
from swarm_chain.core.units import EpochNumber, Hash32
from tests.memory_world import (
    ANSWER_MS,
    CHALLENGE,
    DRAW_SEED,
    DRAWS,
    EPOCH,
    MALLORY,
    NODE,
    SHAPE,
    CountingFetch,
    asked,
    cache_of,
    case_of,
    committed,
    dataset_of,
    drawn,
    honest_run,
    relabelled,
    run_with,
)
from tests.tampering import with_opening

RUN = honest_run()
HONEST = case_of(RUN)
OTHERS = {
    "node": replace(CHALLENGE, node=MALLORY),
    "device": replace(CHALLENGE, device=1),
    "nonce": asked(keccak(b"another nonce")),
    "epoch": replace(CHALLENGE, epoch=replace(EPOCH, epoch=EpochNumber(8))),
    "chain": replace(CHALLENGE, epoch=replace(EPOCH, chain_id=1)),
}
READS_PER_MS = 2 * SHAPE.lanes * SHAPE.reads // ANSWER_MS + 1  # an honest device needs half of the time, or less


def finding(case: MemoryCase) -> tuple[Outcome, str]:
    (verdict,) = judge_memory(cache_of(), [case])
    assert (verdict.proven_mib, verdict.bytes_per_ms) == (0, 0) or verdict.outcome is Outcome.PASSED
    return verdict.outcome, verdict.reason


def opening(lanes: tuple[int, ...]) -> MemoryCase:
    """The honest prover opens lanes of its own choice."""
    return replace(HONEST, proof=open_lanes(RUN, lanes))


def test_honest_device_passes_with_its_dataset_and_its_rate() -> None:
    big = replace(CHALLENGE, shape=replace(SHAPE, items=2 * 8192 + 8191))
    (verdict,) = judge_memory(cache_of(), [case_of(honest_run(big), elapsed_ms=40)])

    assert (verdict.outcome, verdict.reason, verdict.lanes_checked) == (Outcome.PASSED, "", DRAWS)
    assert verdict.proven_mib == 2
    assert verdict.bytes_per_ms == big.shape.lanes * big.shape.reads * 128 // 40


def test_honest_device_passes_a_hundred_times_in_a_row() -> None:
    seeds = [keccak(bytes([number])) for number in range(100)]
    cases = [case_of(honest_run(asked(seed)), seed) for seed in seeds]

    assert {verdict.outcome for verdict in judge_memory(cache_of(), cases)} == {Outcome.PASSED}


def test_devices_of_different_sizes_when_judged_together_get_what_they_get_alone() -> None:
    shapes = [replace(SHAPE, items=items) for items in (100, 700, 161, 300, 700)]
    runs = [honest_run(replace(CHALLENGE, device=number, shape=shape)) for number, shape in enumerate(shapes)]
    cases = [case_of(run) for run in runs]
    cases[3] = case_of(committed(runs[3].challenge, bytes(len(runs[3].lane_results))))
    together = judge_memory(cache_of(), cases)

    assert together == tuple(judge_memory(cache_of(), [case])[0] for case in cases)
    assert [verdict.reason for verdict in together] == ["", "", "", "false_lane", ""]


def test_answer_in_the_last_millisecond_counts_and_one_later_is_missing() -> None:
    assert finding(replace(HONEST, elapsed_ms=ANSWER_MS)) == (Outcome.PASSED, "")
    assert finding(replace(HONEST, elapsed_ms=ANSWER_MS + 1)) == (Outcome.MISSING, "too_late")


def test_no_commitment_and_no_proof_are_missing() -> None:
    assert finding(replace(HONEST, commitment=None, proof=None)) == (Outcome.MISSING, "no_commitment")
    assert finding(replace(HONEST, proof=None)) == (Outcome.MISSING, "no_proof")


def test_items_made_on_the_fly_are_right_but_take_mixes_times_the_reads() -> None:
    held, cache = CountingFetch(dataset_of().items), CountingFetch(cache_of().rows)
    honest = run_with(CHALLENGE, held)
    seed = seed_items(EPOCH, NODE, 0)
    cheater = run_with(CHALLENGE, computed(cache, SHAPE.cache_rows, SHAPE.mixes, seed))

    assert cheater == honest
    assert cache.count >= SHAPE.mixes * held.count
    assert finding(case_of(honest, elapsed_ms=held.count // READS_PER_MS)) == (Outcome.PASSED, "")
    assert finding(case_of(cheater, elapsed_ms=cache.count // READS_PER_MS)) == (Outcome.MISSING, "too_late")


def test_half_a_dataset_with_the_rest_made_on_the_fly_is_too_late() -> None:
    held, cache = CountingFetch(dataset_of().items), CountingFetch(cache_of().rows)
    make = computed(cache, SHAPE.cache_rows, SHAPE.mixes, seed_items(EPOCH, NODE, 0))

    def fetch(indices: Indices) -> Words:
        rows, absent = held(indices), indices >= SHAPE.items // 2
        rows[absent] = make(indices[absent])
        return rows

    run = run_with(CHALLENGE, fetch)

    assert run == RUN
    work = held.count + cache.count
    assert finding(case_of(run, elapsed_ms=work // READS_PER_MS)) == (Outcome.MISSING, "too_late")


def noise(indices: Indices) -> Words:
    """Items from a counter-mode generator: as random as the right ones, and never held."""
    return start(seed_items(EPOCH, NODE, 0), indices)


def half(indices: Indices) -> Words:
    """Half a dataset, read twice."""
    return dataset_of().items[indices % (SHAPE.items // 2)]


def of_other(name: str) -> Fetch:
    return stored(dataset_of(OTHERS[name]).items)


def guessing(indices: Indices) -> Words:
    """All of a dataset but one item in ten, which is taken for zero."""
    rows: Words = dataset_of().items[indices]
    rows[indices % 10 == 0] = 0
    return rows


@pytest.mark.parametrize(
    "fetch",
    [noise, half, of_other("node"), of_other("device"), guessing],
    ids=["noise", "half", "node", "device", "tenth"],
)
def test_items_that_are_not_those_of_the_device_fail(fetch: Fetch) -> None:
    assert finding(case_of(run_with(CHALLENGE, fetch))) == (Outcome.FAILED, "false_lane")


@pytest.mark.parametrize("name", OTHERS)
def test_answer_to_another_question_under_the_name_of_this_one_fails(name: str) -> None:
    borrowed = relabelled(honest_run(OTHERS[name]), CHALLENGE)

    assert finding(case_of(borrowed)) == (Outcome.FAILED, "false_lane")


@pytest.mark.parametrize("name", OTHERS)
def test_commitment_to_another_question_fails(name: str) -> None:
    replayed = commitment_of(honest_run(OTHERS[name]))

    assert finding(replace(HONEST, commitment=replayed)) == (Outcome.FAILED, "wrong_challenge")


@pytest.mark.parametrize("items", [SHAPE.items + 1, SHAPE.items - 1])
def test_more_or_fewer_items_than_planned_for_the_claim_fail(items: int) -> None:
    other = honest_run(replace(CHALLENGE, shape=replace(SHAPE, items=items)))

    assert finding(replace(case_of(other), challenge=CHALLENGE)) == (Outcome.FAILED, "wrong_challenge")


@pytest.mark.parametrize("name", OTHERS)
def test_openings_of_another_question_fail(name: str) -> None:
    run = honest_run(OTHERS[name])

    assert finding(replace(HONEST, proof=open_lanes(run, drawn(RUN)))) == (Outcome.FAILED, "wrong_commitment")


@pytest.mark.parametrize("name", OTHERS)
def test_openings_named_after_another_question_fail(name: str) -> None:
    assert HONEST.proof is not None
    renamed = replace(HONEST.proof, challenge=OTHERS[name])

    assert finding(replace(HONEST, proof=renamed)) == (Outcome.FAILED, "wrong_commitment")


def test_root_changed_after_the_draw_fails() -> None:
    other = committed(CHALLENGE, RUN.lane_results[::-1])

    assert finding(replace(HONEST, proof=open_lanes(other, drawn(RUN)))) == (Outcome.FAILED, "wrong_commitment")


@pytest.mark.parametrize(
    "lanes",
    [
        (),
        drawn(RUN)[:-1],
        (*drawn(RUN), drawn(RUN)[0]),
        drawn(RUN)[::-1],
        drawn(RUN)[:1] * DRAWS,
        tuple(lane for lane in range(SHAPE.lanes) if lane not in drawn(RUN))[:DRAWS],
    ],
    ids=["none", "too few", "too many", "order", "repeated", "chosen"],
)
def test_lanes_that_were_not_drawn_fail(lanes: tuple[int, ...]) -> None:
    assert finding(opening(lanes)) == (Outcome.FAILED, "wrong_lanes")


@pytest.mark.parametrize("lane", [SHAPE.lanes, -1, 2**64, None, "3"])
def test_lane_that_does_not_exist_fails(lane: Any) -> None:
    assert finding(with_opening(HONEST, 0, lambda first: replace(first, lane=lane))) == (Outcome.FAILED, "wrong_lanes")


@pytest.mark.parametrize("at", range(32))
def test_one_changed_byte_of_a_result_fails(at: int) -> None:
    def change(first: LaneOpening) -> LaneOpening:
        return replace(first, result=first.result[:at] + bytes([first.result[at] ^ 1]) + first.result[at + 1 :])

    assert finding(with_opening(HONEST, 0, change)) == (Outcome.FAILED, "wrong_path")


@pytest.mark.parametrize("at", range(32))
def test_one_byte_committed_wrongly_in_every_lane_fails(at: int) -> None:
    wrong = bytes(byte ^ (place % 32 == at) for place, byte in enumerate(RUN.lane_results))

    assert finding(case_of(committed(CHALLENGE, wrong))) == (Outcome.FAILED, "false_lane")


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path[:-1],
        lambda path: (*path, path[0]),
        lambda path: (path[1], path[0], *path[2:]),
        lambda path: (Hash32(bytes(32)), *path[1:]),
        lambda path: (path[0][:31], *path[1:]),
    ],
    ids=["short", "long", "swapped", "zero", "cut"],
)
def test_wrong_path_fails(change: Callable[[tuple[Hash32, ...]], tuple[Hash32, ...]]) -> None:
    changed = with_opening(HONEST, 0, lambda first: replace(first, path=change(first.path)))

    assert finding(changed) == (Outcome.FAILED, "wrong_path")


def test_tree_with_more_leaves_than_lanes_fails_though_its_paths_lead_to_the_root() -> None:
    taller = committed(CHALLENGE, RUN.lane_results * 2)

    assert finding(case_of(taller)) == (Outcome.FAILED, "wrong_path")


def test_inner_node_shown_as_a_lane_fails() -> None:
    def change(first: LaneOpening) -> LaneOpening:
        return replace(first, result=node_hash(first.result, first.path[0]), path=first.path[1:])

    assert finding(with_opening(HONEST, 0, change)) == (Outcome.FAILED, "wrong_path")


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda first: replace(first, result=first.result[:-1]),
        lambda first: replace(first, result=first.result + b"\0"),
        lambda first: replace(first, result=None),
        lambda first: replace(first, result="x" * 32),
        lambda first: replace(first, result=[0] * 32),
        lambda first: replace(first, path=None),
        lambda first: replace(first, path=7),
        lambda first: replace(first, path=(1, 2, 3, 4, 5)),
        lambda first: replace(first, path=("x" * 32,) * 5),
    ],
)
def test_malformed_opening_fails_and_stops_nobody(change: Callable[[LaneOpening], object]) -> None:
    broken, honest = judge_memory(cache_of(), [with_opening(HONEST, 0, change), HONEST])

    assert (broken.outcome, broken.reason) == (Outcome.FAILED, "malformed")
    assert honest.outcome is Outcome.PASSED


@pytest.mark.parametrize("part", ["commitment", "proof"])
@pytest.mark.parametrize("junk", ["text", 7, b"", [None]])
def test_junk_in_place_of_an_answer_fails(part: str, junk: Any) -> None:
    assert finding(replace(HONEST, **{part: junk})) == (Outcome.FAILED, "malformed")


@pytest.mark.parametrize("bad_root", [b"", bytes(31), bytes(33)])
def test_root_of_another_length_fails(bad_root: bytes) -> None:
    commitment = replace(commitment_of(RUN), root=Hash32(bad_root))

    assert finding(replace(HONEST, commitment=commitment)) == (Outcome.FAILED, "wrong_challenge")


def test_prover_with_a_fraction_of_the_lanes_passes_as_often_as_the_draw_allows() -> None:
    tries, draws, right = 400, 4, 24  # three quarters of 32 lanes
    seeds = [keccak(number.to_bytes(2, "big")) for number in range(tries)]
    cases = []
    for seed in seeds:
        honest = honest_run(asked(seed))
        cases.append(
            case_of(committed(honest.challenge, honest.lane_results[: 32 * right].ljust(32 * 32)), seed, draws)
        )
    passed = sum(verdict.outcome is Outcome.PASSED for verdict in judge_memory(cache_of(), cases))

    chance = comb(right, draws) / comb(SHAPE.lanes, draws)  # f^k, without putting lanes back
    assert abs(passed - tries * chance) < 4 * sqrt(tries * chance * (1 - chance))


def test_answer_of_another_device_is_not_drawn_the_same() -> None:
    """A node that grinds its root gets another draw each time, but learns it only after it has committed."""
    roots = [root(build_tree([keccak(bytes([number])), keccak(b"")])) for number in range(50)]

    assert len({draw_lanes(DRAW_SEED, CHALLENGE, one, DRAWS) for one in roots}) == 50


@pytest.mark.parametrize(
    "change",
    [
        {"draw_seed": keccak(b"another")},
        {"draw_seed": Hash32(b"")},
        {"draws": 0},
        {"draws": SHAPE.lanes + 1},
        {"answer_ms": 0},
        {"elapsed_ms": 0},
    ],
)
def test_case_when_the_member_itself_is_wrong_blames_no_device(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        replace(HONEST, **change)


@pytest.mark.parametrize(
    "other",
    [OTHERS["epoch"], replace(CHALLENGE, shape=replace(SHAPE, mixes=9)), OTHERS["chain"]],
    ids=["epoch", "mixes", "chain"],
)
def test_case_of_another_cache_than_the_judges_is_refused(other: MemoryChallenge) -> None:
    with pytest.raises(InvalidInputError, match="another epoch or cache"):
        judge_memory(cache_of(), [HONEST, replace(HONEST, challenge=other)])


def test_nobody_asked_gives_no_verdicts() -> None:
    assert judge_memory(cache_of(), []) == ()


def test_run_is_worth_its_own_size_only() -> None:
    small = replace(CHALLENGE, shape=replace(SHAPE, items=8192))
    (verdict,) = judge_memory(cache_of(), [case_of(honest_run(small))])

    assert verdict.proven_mib == dataset_mib(8192) == 1
    assert nonce_of(DRAW_SEED) == verdict.challenge.nonce
