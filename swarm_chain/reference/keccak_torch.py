"""Keccak-256 of many short messages at once as torch tensors, on any device, and a whole tree over them.

A message of at most 128 bytes is one block: its words, the word 1 behind them, the top bit of word 16, zeros. A digest is the
first four words of what the permutation makes of that. Source: Keccak reference 3.0, with the padding of Ethereum.
"""

from collections.abc import Sequence

import torch

from swarm_chain.reference.splitmix_torch import logical_right, signed

DIGEST_WORDS = 4
_STATE_WORDS, _RATE_WORDS, _ROUNDS = 25, 17, 24
_LOWEST = -(2**63)


def _rotations() -> tuple[int, ...]:
    turns, x, y = [0] * _STATE_WORDS, 1, 0
    for step in range(24):
        turns[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return tuple(turns)


def _round_constants() -> tuple[int, ...]:
    register, constants = 1, []
    for _ in range(_ROUNDS):
        word = 0
        for power in range(7):
            if register & 1:
                word |= 1 << (2**power - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(signed(word, 64))
    return tuple(constants)


ROTATIONS, ROUND_CONSTANTS = _rotations(), _round_constants()


def keccak_words(message: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Hash messages of equal length.

    Args:
        message: their words, little-endian, one (r,) int64 tensor a word; at most 16 words.

    Returns:
        Four (r,) int64 tensors, the words of the digests.
    """
    zero = torch.zeros_like(message[0])
    state = [*message, *([zero] * (_STATE_WORDS - len(message)))]
    state[len(message)] = zero + 1
    state[_RATE_WORDS - 1] = state[_RATE_WORDS - 1] ^ _LOWEST
    for constant in ROUND_CONSTANTS:
        state = _round(state, constant)
    return tuple(state[:DIGEST_WORDS])


def tree_of_results(results: torch.Tensor) -> torch.Tensor:
    """Build the tree a device commits to, as `swarm_chain.core.memory.lanes_tree` does.

    Args:
        results: (lanes, 4) int64, the words of each lane's result; lanes a power of two.

    Returns:
        (2·lanes - 1, 4) int64: the nodes in the layout of `swarm_chain.core.merkle`, root first.
    """
    lanes = len(results)
    index = torch.arange(lanes, device=results.device)
    zero = torch.zeros_like(index)
    encoded = (zero, zero, zero, _swapped(index), *results.unbind(1))
    leaves = keccak_words(keccak_words(encoded))
    level = torch.stack(leaves, dim=1).flip(0)  # leaf j is the last node but j
    levels = [level]
    while len(level) > 1:
        level = _parents(level)
        levels.append(level)
    return torch.cat(levels[::-1])


def _parents(level: torch.Tensor) -> torch.Tensor:
    left, right = level[0::2].unbind(1), level[1::2].unbind(1)
    swap = _is_greater(left, right)
    first = [torch.where(swap, b, a) for a, b in zip(left, right, strict=True)]
    second = [torch.where(swap, a, b) for a, b in zip(left, right, strict=True)]
    return torch.stack(keccak_words([*first, *second]), dim=1)


def _is_greater(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> torch.Tensor:
    """Whether digests are greater than others as strings of bytes: word after word, first bytes first, unsigned."""
    greater = torch.zeros_like(left[0], dtype=torch.bool)
    equal = torch.ones_like(greater)
    for a, b in zip(left, right, strict=True):
        ours, theirs = _swapped(a) ^ _LOWEST, _swapped(b) ^ _LOWEST
        greater |= equal & (ours > theirs)
        equal &= ours == theirs
    return greater


def _swapped(words: torch.Tensor) -> torch.Tensor:
    """Words with their bytes in the other order."""
    for bits, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF)):
        words = ((words & mask) << bits) | (logical_right(words, bits) & mask)
    return (words << 32) | logical_right(words, 32)


def _round(a: list[torch.Tensor], constant: int) -> list[torch.Tensor]:
    columns = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
    mixed = [columns[(x - 1) % 5] ^ _turned(columns[(x + 1) % 5], 1) for x in range(5)]
    moved: list[torch.Tensor] = [a[0]] * _STATE_WORDS
    for x in range(5):
        for y in range(5):
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = _turned(a[x + 5 * y] ^ mixed[x], ROTATIONS[x + 5 * y])
    done = [
        moved[x + 5 * y] ^ (~moved[(x + 1) % 5 + 5 * y] & moved[(x + 2) % 5 + 5 * y])
        for y in range(5)
        for x in range(5)
    ]
    done[0] = done[0] ^ constant
    return done


def _turned(words: torch.Tensor, bits: int) -> torch.Tensor:
    return (words << bits) | logical_right(words, 64 - bits) if bits else words
