"""Triton's compiler takes the kernels for every kind of card; it needs no GPU, and says what the code does with memory."""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from swarm_chain.reference import triton_kernels as kernels

POINTERS = {"x": "*i8", "by_columns": "*i8", "out": "*i8"}
SIZES = {"r": "i32", "columns": "i32", "n": "i32"}
DIVISIBLE = {(place,): [["tt.divisibility", 16]] for place in (0, 1, 2, 4, 5)}  # as a launch finds them: all but r
INT8_PRODUCT = {80: "mma.sync.aligned.m16n8k32", 89: "mma.sync.aligned.m16n8k32", 90: "wgmma.mma_async.sync.aligned"}
SHARED_KIB = {80: 163, 89: 99, 90: 227}
SMALL = triton.Config(kernels.SMALL, **kernels.SMALL_LAUNCH)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def compiled(config: Any, capability: int) -> Any:
    source = ASTSource(
        kernels.step,
        {**POINTERS, **SIZES, **dict.fromkeys(config.kwargs, "constexpr")},
        constexprs=dict(config.kwargs),
        attrs=DIVISIBLE,
    )
    options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def bytes_stored_by_a_thread(ptx: str) -> int:
    stores = re.findall(r"st\.global(?:\.v(\d))?\.[bsu](\d+)", ptx)
    return sum(int(lanes or 1) * int(bits) // 8 for lanes, bits in stores)


@pytest.mark.parametrize(("config", "capability"), [(SMALL, 80), (kernels.LARGE[1], 89), (kernels.LARGE[0], 90)])
def test_step_multiplies_int8_on_tensor_cores_and_stores_one_byte_a_product(config: Any, capability: int) -> None:
    kernel = compiled(config, capability)
    ptx = kernel.asm["ptx"]
    products = config.kwargs["BLOCK_M"] * config.kwargs["BLOCK_N"]

    assert re.search(rf"{INT8_PRODUCT[capability]}[\w.]*s32\.s8\.s8", ptx)
    assert bytes_stored_by_a_thread(ptx) * 32 * config.num_warps == products
    assert kernel.metadata.shared <= SHARED_KIB[capability] * 1024
    assert ".local" not in ptx  # nothing spilled by the front end


@pytest.mark.parametrize("as_weights", [False, True])
def test_generation_compiles_and_stores_only_words(as_weights: bool) -> None:
    constants = {"AS_WEIGHTS": as_weights, "BLOCK": kernels.GENERATE_BLOCK}
    arguments = {"words": "*i64", "runs": "*i64", "seed": "u64", "count": "i64", "log_words": "i32"}
    source = ASTSource(kernels.generate, {**arguments, **dict.fromkeys(constants, "constexpr")}, constexprs=constants)
    ptx = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4}).asm["ptx"]

    assert bytes_stored_by_a_thread(ptx) * 128 == 8 * kernels.GENERATE_BLOCK
    assert "mul.lo.s64" in ptx


def test_smallest_large_configuration_fits_into_any_card() -> None:
    assert compiled(kernels.LARGE[-1], 89).metadata.shared <= 48 * 1024


@pytest.mark.parametrize("n", [2**power for power in range(6, 16)])
def test_large_blocks_are_used_only_where_a_row_holds_whole_ones(n: int) -> None:
    # A chunk of narrow rows has many of them: their number alone must not select blocks longer than a row.
    if kernels.is_large(2**27 // n, n):
        assert all(n % config.kwargs["BLOCK_K"] == 0 and n >= config.kwargs["BLOCK_N"] for config in kernels.LARGE)
    else:
        assert n < 256
    assert not kernels.is_large(2**27 // n, 64)  # nor the last step's 64 columns
