"""Judges openings of the memory set exactly: drawn lanes of many devices walk side by side through items made from the cache.

    MemoryCase --screen--> in time, drawn lanes, leaves on paths to the root --recompute--> same 32 bytes? --> MemoryVerdict

A judge holds the cache of the epoch and no dataset. Time is the asking member's own; what fails only withholds reward.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.memory import (
    RESULT_BYTES,
    LaneOpening,
    MemoryChallenge,
    MemoryCommitment,
    MemoryProof,
    bytes_per_ms,
    dataset_mib,
    draw_lanes,
    lane_leaf,
    nonce_of,
    seed_cache,
    seed_items,
    seed_lanes,
)
from swarm_chain.core.memoryset import MemoryCache, computed, results, start, stored, walk
from swarm_chain.core.merkle import NODE_BYTES, verify
from swarm_chain.core.rowchain import Words
from swarm_chain.core.units import Hash32

# What malformed values can raise while they are screened. A device that makes the judge stumble has failed, nobody else.
_STUMBLES = (SwarmError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_AT_ONCE = 256  # devices whose lanes walk side by side: bounds memory, and the states stay in the second-level cache


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCase:
    """One device one member asked: the question, what came back, and how long it took on the member's clock.

    `draw_seed` is what the nonce is the hash of; `elapsed_ms` is from sending the nonce to the root, > 0 where there is one.
    """

    challenge: MemoryChallenge
    draw_seed: Hash32
    draws: int
    answer_ms: int
    elapsed_ms: int = 0
    commitment: MemoryCommitment | None = None
    proof: MemoryProof | None = None

    def __post_init__(self) -> None:
        # What the member itself says must be right, or a device would be blamed for it.
        if nonce_of(self.draw_seed) != self.challenge.nonce:
            raise InvalidInputError(
                "the nonce is not the hash of the draw seed", fix="reveal what the nonce was made of"
            )
        if not 1 <= self.draws <= self.challenge.shape.lanes or self.answer_ms < 1:
            raise InvalidInputError(
                f"no {self.draws} lanes can be drawn after {self.answer_ms} ms", fix="use the preset's numbers"
            )
        if self.commitment is not None and self.elapsed_ms < 1:
            raise InvalidInputError("a commitment arrived in no time", fix="give what the member's clock showed")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVerdict:
    """What one member found about one device: MiB that were shown to be held, and bytes read a millisecond."""

    challenge: MemoryChallenge
    outcome: Outcome
    reason: str
    false_lane: int | None = None
    lanes_checked: int = 0
    proven_mib: int = 0
    bytes_per_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Screened:
    """A case that passed the screen: its place among the cases, its drawn lanes, and the results it claims for them."""

    position: int
    case: MemoryCase
    lanes: tuple[int, ...]
    claimed: bytes


def judge_memory(cache: MemoryCache, cases: Sequence[MemoryCase]) -> tuple[MemoryVerdict, ...]:
    """Judge all devices a member asked in one epoch.

    Args:
        cache: the epoch's cache, built by the judge itself.
        cases: what was asked and answered; any order, any mixture of sizes and nonces.

    Returns:
        One verdict per case, in the order of the cases. `reason` is one of no_commitment, too_late, no_proof (missing);
        wrong_challenge, wrong_commitment, wrong_lanes, malformed, wrong_path, false_lane (failed); empty (passed). Only
        a passed device has proven_mib: its dataset rounded down to whole MiB.

    Raises:
        InvalidInputError: a case is of another cache than the one given.

    Source: docs/spec/memory.md "Verdict".
    """
    if any(seed_cache(case.challenge.epoch, case.challenge.shape) != cache.seed for case in cases):
        raise InvalidInputError("a case is of another epoch or cache", fix="judge each epoch with its own cache")
    found = [_screen(position, case) for position, case in enumerate(cases)]
    verdicts = {position: one for position, one in enumerate(found) if isinstance(one, MemoryVerdict)}
    # Most reads first: those that are still walking are then always the first ones.
    walking = sorted((one for one in found if isinstance(one, _Screened)), key=_reads, reverse=True)
    for first in range(0, len(walking), _AT_ONCE):
        verdicts.update(_compare(walking[first : first + _AT_ONCE], cache))
    return tuple(verdicts[position] for position in range(len(cases)))


def _screen(position: int, case: MemoryCase) -> MemoryVerdict | _Screened:
    if case.commitment is None:
        return _verdict(case, Outcome.MISSING, "no_commitment")
    if case.elapsed_ms > case.answer_ms:
        return _verdict(case, Outcome.MISSING, "too_late")
    try:
        if case.commitment.challenge != case.challenge or len(case.commitment.root) != NODE_BYTES:
            return _verdict(case, Outcome.FAILED, "wrong_challenge")
        if case.proof is None:
            return _verdict(case, Outcome.MISSING, "no_proof")
        lanes = draw_lanes(case.draw_seed, case.challenge, case.commitment.root, case.draws)
        reason = _fault(case.commitment, case.proof, lanes)
        claimed = b"".join(opening.result for opening in case.proof.openings)
    except _STUMBLES:
        reason = "malformed"
    if reason:
        return _verdict(case, Outcome.FAILED, reason)
    return _Screened(position=position, case=case, lanes=lanes, claimed=claimed)


def _fault(commitment: MemoryCommitment, proof: MemoryProof, lanes: tuple[int, ...]) -> str:
    if (proof.challenge, proof.root) != (commitment.challenge, commitment.root):
        return "wrong_commitment"
    if tuple(opening.lane for opening in proof.openings) != lanes:
        return "wrong_lanes"
    if any(len(opening.result) != RESULT_BYTES for opening in proof.openings):
        return "malformed"
    length = commitment.challenge.shape.path_length
    if not all(
        _on_path(commitment.root, lane, opening, length) for lane, opening in zip(lanes, proof.openings, strict=True)
    ):
        return "wrong_path"
    return ""


def _on_path(root: Hash32, lane: int, opening: LaneOpening, length: int) -> bool:
    return len(opening.path) == length and verify(root, lane_leaf(lane, opening.result), opening.path)


def _compare(group: Sequence[_Screened], cache: MemoryCache) -> dict[int, MemoryVerdict]:
    right = _right_results(group, cache)
    verdicts: dict[int, MemoryVerdict] = {}
    for one in group:
        size = len(one.lanes) * RESULT_BYTES
        verdicts[one.position] = _compared(one, right[:size])
        right = right[size:]
    return verdicts


def _right_results(group: Sequence[_Screened], cache: MemoryCache) -> bytes:
    """Walk the drawn lanes of devices in order of falling reads; a device leaves the walk when it has read enough."""
    challenges = [one.case.challenge for one in group]
    shape = challenges[0].shape  # all cases have one cache, and with it its rows and mixes
    per_lane = [len(one.lanes) for one in group]
    sizes = _spread([one.shape.items for one in challenges], per_lane)
    reads = _spread([one.shape.reads for one in challenges], per_lane)
    seeds = _spread([seed_items(one.epoch, one.node, one.device) for one in challenges], per_lane)
    lanes = np.array([lane for one in group for lane in one.lanes], dtype=np.int64)
    states = start(_spread([seed_lanes(one) for one in challenges], per_lane), lanes)  # (lanes, 16)
    done = 0
    for until in np.unique(reads).tolist():
        active = int(np.count_nonzero(reads >= until))
        fetch = computed(stored(cache.rows), shape.cache_rows, shape.mixes, seeds[:active])
        states[:active] = walk(states[:active], fetch, sizes[:active], until - done)
        done = until
    return results(states)


def _spread(values: list[int], counts: list[int]) -> Words:
    return np.repeat(np.array(values, dtype=np.uint64), counts)


def _reads(one: _Screened) -> int:
    return one.case.challenge.shape.reads


def _compared(one: _Screened, right: bytes) -> MemoryVerdict:
    challenge, checked = one.case.challenge, len(one.lanes)
    for place, lane in enumerate(one.lanes):
        part = slice(place * RESULT_BYTES, (place + 1) * RESULT_BYTES)
        if one.claimed[part] != right[part]:
            return _verdict(one.case, Outcome.FAILED, "false_lane", lane, checked)
    return MemoryVerdict(
        challenge=challenge,
        outcome=Outcome.PASSED,
        reason="",
        lanes_checked=checked,
        proven_mib=dataset_mib(challenge.shape.items),
        bytes_per_ms=bytes_per_ms(challenge.shape, one.case.elapsed_ms),
    )


def _verdict(
    case: MemoryCase, outcome: Outcome, reason: str, lane: int | None = None, lanes_checked: int = 0
) -> MemoryVerdict:
    return MemoryVerdict(
        challenge=case.challenge, outcome=outcome, reason=reason, false_lane=lane, lanes_checked=lanes_checked
    )
