"""Kernels of the row chain in Triton; imported only where they are about to run.

    generate   word index ──splitmix64──► eight bytes of X0 or W
    step       tile of X · tile of W ──int32, in registers──► · odd constant, top byte ──int8──► memory

W is stored column after column, so both operands of a product run along k: the only layout Hopper's int8 instructions take.
"""

import triton
import triton.language as tl

from swarm_chain.core.rowchain import MULTIPLIER

_MULTIPLIER = tl.constexpr(MULTIPLIER)
GENERATE_BLOCK = 1024

# Always right and quick to compile: for matrices too small to matter, the 64 last columns, and Triton's interpreter.
SMALL = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}
SMALL_LAUNCH = {"num_warps": 4, "num_stages": 3}


def _config(block_m: int, block_n: int, block_k: int, warps: int, stages: int) -> triton.Config:
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return triton.Config(blocks, num_warps=warps, num_stages=stages)


# A tile takes stages · (BLOCK_M + BLOCK_N) · BLOCK_K bytes of shared memory on Hopper, one stage less on Ampere and Ada: a block
# may have 227 KiB on Hopper, 163 on an A100, 99 on Ada and GA10x. What does not fit is passed over.
# A tile of 128 × 256 does 170 operations for each byte it reads from L2, one of 128 × 128 does 128, one of 64 × 128 only 85.
LARGE = (
    _config(128, 256, 128, 8, 4),  # 192 KiB on Hopper, 144 on an A100
    _config(128, 256, 128, 8, 3),  # 144 KiB, 96 on Ada
    _config(256, 128, 128, 8, 3),
    _config(128, 128, 128, 8, 4),  # 128 KiB, 96 on Ada
    _config(128, 256, 64, 8, 4),  # 96 KiB, 72 on Ada: two blocks share an A100's memory
    _config(128, 128, 64, 4, 4),  # 64 KiB, 48 on Ada
    _config(64, 128, 64, 4, 4),  # 48 KiB, 36 on Ada: what any card takes
)


_LARGE_ENTRIES = 2**24
_LARGE_COLUMNS = 256


def is_large(r: int, columns: int) -> bool:
    """Whether LARGE is for a product of (r, n) by (n, columns): big enough to matter, and n >= columns no less than any block."""
    return columns >= _LARGE_COLUMNS and r * columns >= _LARGE_ENTRIES


@triton.jit(do_not_specialize=["seed", "count"])
def generate(words, runs, seed: tl.uint64, count: tl.int64, log_words, AS_WEIGHTS: tl.constexpr, BLOCK: tl.constexpr):
    """Words of runs: `words` (r, 2^log_words) int64 is written, `runs` (r,) int64 numbers them, `count` = r · 2^log_words."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    run = tl.load(runs + (at >> log_words), mask=inside, other=0)
    index = (run << log_words) + (at & ((1 << log_words) - 1))
    z = (index.to(tl.uint64) + 1) * 0x9E3779B97F4A7C15 + seed.to(tl.uint64)
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    z = z ^ (z >> 31)
    if AS_WEIGHTS:
        # (b & 0x7f) - 64 in all eight bytes at once: bits 6 and 7 of the result are both the complement of bit 6.
        sign = (z & 0x4040404040404040) ^ 0x4040404040404040
        z = (z & 0x3F3F3F3F3F3F3F3F) | sign | (sign << 1)
    tl.store(words + at, z.to(tl.int64, bitcast=True), mask=inside)


@triton.jit(do_not_specialize=["r"])
def step(
    x,
    by_columns,
    out,
    r,
    columns,
    n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """One tile of a step: x (r, n), by_columns (columns, n), out (r, columns), all int8; n a multiple of BLOCK_K."""
    row_tile, column_tile = _tile(r, columns, BLOCK_M, BLOCK_N, GROUP_M)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = column_tile * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    # Beyond the edge a row or column is read again and not stored: no mask in the loop.
    x_at = x + (rows % r)[:, None] * n + k[None, :]
    w_at = by_columns + (cols % columns)[None, :] * n + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for _ in range(0, n, BLOCK_K):
        # |sum| <= 2^15 · 2^7 · 2^6 = 2^28: the instruction that saturates int32 has nothing to saturate.
        total = tl.dot(tl.load(x_at), tl.load(w_at), total, out_dtype=tl.int32)
        x_at += BLOCK_K
        w_at += BLOCK_K
    top = (total.to(tl.uint32, bitcast=True) * _MULTIPLIER) >> 24
    inside = (rows < r)[:, None] & (cols < columns)[None, :]
    tl.store(out + rows[:, None] * columns + cols[None, :], top.to(tl.uint8).to(tl.int8, bitcast=True), mask=inside)


@triton.jit
def _tile(r, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    # Programs that run at the same time share GROUP_M rows of tiles: what they read of X and W is then still in L2.
    row_tiles = tl.cdiv(r, BLOCK_M)
    group_size = GROUP_M * tl.cdiv(columns, BLOCK_N)
    program = tl.program_id(0)
    first = (program // group_size) * GROUP_M
    height = tl.minimum(row_tiles - first, GROUP_M)
    return first + (program % group_size) % height, (program % group_size) // height


# Tuned once a process, at the first large chunk (the trial of `choose`): a window is no time to measure in.
tuned_step = triton.autotune(configs=list(LARGE), key=[])(step)
