"""What somebody changed on the way: single bits, and single openings of a proof that is otherwise honest."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from oracle.judge.compute import JudgeCase
from oracle.judge.memory import MemoryCase
from swarm_chain.core.units import Hash32

Case = TypeVar("Case", JudgeCase, MemoryCase)


def flip(raw: bytes, bit: int) -> bytes:
    """The same bytes with one bit changed; the bit number wraps around."""
    changed = bytearray(raw)
    changed[bit // 8 % len(raw)] ^= 1 << bit % 8
    return bytes(changed)


def with_opening(case: Case, number: int, change: Callable[[Any], object]) -> Case:
    """The case with one of its openings changed."""
    assert case.proof is not None
    openings: list[Any] = list(case.proof.openings)
    openings[number] = change(openings[number])
    return replace(case, proof=replace(case.proof, openings=tuple(openings)))


def with_path_bit(case: Case, number: int, level: int, bit: int) -> Case:
    """The case with one bit of one sibling of one path changed."""

    def change(opened: Any) -> object:
        siblings = list(opened.path)
        siblings[level] = Hash32(flip(siblings[level], bit))
        return replace(opened, path=tuple(siblings))

    return with_opening(case, number, change)


def with_root_bit(case: Case, bit: int, both: bool) -> Case:
    """The case with one bit of the proof's root changed, and of the commitment's if `both`."""
    assert case.proof is not None
    assert case.commitment is not None
    root = Hash32(flip(case.proof.root, bit))
    committed = replace(case.commitment, root=root) if both else case.commitment
    return replace(case, proof=replace(case.proof, root=root), commitment=committed)
