"""Categories this machine can measure alone: compute, memory and its data path."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from node.bench import BackendResult
from node.measure.fio import FIO_BLOCK_BYTES, FioPlan, run_fio
from node.measure.memory import answer, hold
from node.measure.storage import VolumeFile
from node.suite.metrics import MEMBERS, Bench, Metric, per_second
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import SwarmError
from swarm_chain.core.memory import MIB, ROW_BYTES, MemoryChallenge, MemoryEpoch, MemoryShape
from swarm_chain.core.memoryset import build_cache
from swarm_chain.core.storageset import BLOCK_BYTES, StorageAudit, Volume, blocks, volume_key
from swarm_chain.core.units import ZERO_ADDRESS, EpochNumber
from swarm_chain.params import load_params

MEMORY_MIB = 32  # larger than a cache, small enough to be built in seconds
VOLUME_BLOCKS, AUDITED_READS = 8192, 2000
FIO = FioPlan(scratch_bytes=64 * MIB, job_for=2)


def compute_metrics(bench: Bench, backends: list[BackendResult]) -> Iterator[Metric]:
    """The exact int8 rate of the fastest backend that knows its answers.

    Args:
        bench: gives the shape.
        backends: what `bench_backends` found.
    """
    shape = bench.shape
    method = f"row chain m={shape.m} n={shape.n} T={shape.steps}, shortest of {bench.runs} runs"
    best = max((one for one in backends if one.known_answers_passed), key=lambda one: one.rate_mtops, default=None)
    if best is None:
        yield Metric(
            category="compute", name="int8 rate", unit="mtops", method=method, problem="no backend knows its answers"
        )
    else:
        by = f"{method}, {best.backend}"
        yield Metric(
            category="compute", name="int8 rate", unit="mtops", method=by, paid_by=MEMBERS, value=int(best.rate_mtops)
        )


def memory_metrics(bench: Bench) -> Iterator[Metric]:
    """How fast items of the memory set are made and read."""
    mainnet = load_params("mainnet").memory
    shape = MemoryShape(
        cache_rows=2**15,
        generations=mainnet.generations,
        mixes=mainnet.mixes // 8,
        items=MEMORY_MIB * MIB // ROW_BYTES,
        lanes=2**14,
        least_reads=mainnet.least_reads,
    )
    epoch = MemoryEpoch(chain_id=0, beacon=ZERO_ADDRESS, epoch=EpochNumber(0), epoch_seed=keccak(b"bench"))
    cache = build_cache(epoch, shape)
    started = bench.clock_ns()
    dataset = hold(cache, epoch, ZERO_ADDRESS, 0, shape)
    made = bench.clock_ns()
    asked = MemoryChallenge(epoch=epoch, node=ZERO_ADDRESS, device=0, shape=shape, nonce=keccak(b"nonce"))
    answer(asked, dataset, (0, 1))
    read = bench.clock_ns()
    method = f"{MEMORY_MIB} MiB of items, {shape.mixes} cache rows each, numpy"
    size = shape.items * ROW_BYTES
    yield Metric(category="memory", name="set built", unit="B/s", method=method, value=per_second(size, made - started))
    walked = shape.lanes * shape.reads * ROW_BYTES
    by = f"{shape.lanes} lanes of {shape.reads} dependent reads, tree and check included, numpy"
    yield Metric(category="memory", name="set read", unit="B/s", method=by, value=per_second(walked, read - made))


def storage_metrics(bench: Bench) -> Iterator[Metric]:
    """The data path by fio, if it is installed, and dependent reads of blocks that cannot be made anew here."""
    yield from _fio_metrics(bench)
    volume = Volume(
        chain_id=0, beacon=ZERO_ADDRESS, member=ZERO_ADDRESS, node=ZERO_ADDRESS, epoch=EpochNumber(0), index=0
    )
    key = volume_key(keccak(b"bench"), volume)
    audit = StorageAudit(volume=volume, blocks=VOLUME_BLOCKS, nonce=keccak(b"nonce"), reads=AUDITED_READS)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(dir=bench.folder, prefix="bench-"))
        held = stack.enter_context(VolumeFile(Path(folder) / "volume", volume))
        held.append(0, blocks(key, 0, VOLUME_BLOCKS))
        started = bench.clock_ns()
        held.answer(audit)
        elapsed = bench.clock_ns() - started
        past = "O_DIRECT" if held.direct else "page cache dropped before each read"
    method = f"{AUDITED_READS} dependent reads of {BLOCK_BYTES} B, {past}"
    rate, mean_us = per_second(AUDITED_READS, elapsed), -(-elapsed // (1000 * AUDITED_READS))
    yield Metric(category="storage", name="audited reads", unit="IOPS", method=method, paid_by=MEMBERS, value=rate)
    yield Metric(category="storage", name="audited read, mean", unit="us", method=method, value=mean_us)


def _fio_metrics(bench: Bench) -> Iterator[Metric]:
    method = f"fio, {FIO_BLOCK_BYTES} B random, {FIO.scratch_bytes // MIB} MiB, {FIO.job_for} s a job"
    try:
        report = run_fio(bench.folder, FIO)
    except SwarmError as error:
        problem = f"{error.message}: {error.fix}" if error.fix else error.message
        for name, unit in (("IOPS", "IOPS"), ("latency p99", "ns")):
            yield Metric(category="storage", name=f"fio {name}", unit=unit, method=method, problem=problem)
        return
    for one in report.figures:
        job = f"{one.pattern} depth {one.queue_depth}"
        values = {"": ("IOPS", one.iops), ", p50": ("ns", one.p50_ns), ", p99": ("ns", one.p99_ns)}
        for suffix, (unit, value) in values.items():
            yield Metric(category="storage", name=f"{job}{suffix}", unit=unit, method=method, value=value)
