"""The GPUs of a machine: as NVML tells them here, from written values, and through the calls of its bindings."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from node.doctor.facts import Gpus
from node.doctor.gpus import gpus_of
from node.inventory import (
    Gpu,
    GpuErrors,
    GpuFacts,
    GpuInventory,
    GpuProcess,
    NvmlReader,
    inventory,
    machine_inventory,
)
from node.testing import RecordedGpus

MIB = 2**20
DATA_CENTRE = Gpu(
    facts=GpuFacts(index=0, name="NVIDIA H100 80GB HBM3", uuid="GPU-0b0c", memory_mib=81_559),
    errors=GpuErrors(corrected=3, uncorrected=2, uncorrected_lately=0, remapped_rows=1, repair_pending=True),
    processes=(GpuProcess(pid=4711, memory_mib=1024),),
)
CONSUMER = Gpu(
    facts=GpuFacts(index=1, name="NVIDIA GeForce RTX 4090", uuid="GPU-1d1e", memory_mib=24_564),
    errors=GpuErrors(),
    processes=(),
)
LOST = Gpu(
    facts=GpuFacts(index=1, name="NVIDIA L4", uuid="GPU-2f2f", memory_mib=23_034),
    errors=GpuErrors(),
    processes=(),
    fault="NVML: GPU is lost",
)


class Bindings:
    """The calls of pynvml, answered with the values of one GPU as the bindings shape them."""

    NVMLError = pynvml.NVMLError
    NVMLError_NotSupported = pynvml.NVMLError_NotSupported
    NVML_AGGREGATE_ECC = pynvml.NVML_AGGREGATE_ECC
    NVML_VOLATILE_ECC = pynvml.NVML_VOLATILE_ECC
    NVML_MEMORY_ERROR_TYPE_CORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED

    def __init__(self, *, counts: bool = True, lost: bool = False) -> None:
        self._counts = counts
        self._lost = lost

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return b"470.1"

    def nvmlDeviceGetCount(self) -> int:
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, _handle: int) -> bytes:
        return DATA_CENTRE.facts.name.encode()

    def nvmlDeviceGetUUID(self, _handle: int) -> str:
        return DATA_CENTRE.facts.uuid

    def nvmlDeviceGetMemoryInfo(self, _handle: int) -> Any:
        return SimpleNamespace(total=DATA_CENTRE.facts.memory_mib * MIB)

    def nvmlDeviceGetTotalEccErrors(self, _handle: int, kind: int, counter: int) -> int:
        self._require(pynvml.NVML_ERROR_NOT_SUPPORTED, self._counts)
        if counter == pynvml.NVML_VOLATILE_ECC:
            return 0
        return 3 if kind == pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED else 2

    def nvmlDeviceGetRemappedRows(self, _handle: int) -> tuple[int, int, int, int]:
        self._require(pynvml.NVML_ERROR_NOT_SUPPORTED, self._counts)
        return (7, 1, 1, 0)  # after corrected errors, after uncorrected ones, pending, failed

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: int) -> list[Any]:
        self._require(pynvml.NVML_ERROR_GPU_IS_LOST, not self._lost)
        return [SimpleNamespace(pid=4711, usedGpuMemory=1024 * MIB), SimpleNamespace(pid=4712, usedGpuMemory=None)]

    def _require(self, error: int, granted: bool) -> None:
        if not granted:
            raise pynvml.NVMLError(error)


def no_driver() -> bool:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return True
    pynvml.nvmlShutdown()
    return False


@pytest.mark.skipif(not no_driver(), reason="this machine has a driver")
def test_machine_without_a_driver_has_an_empty_inventory_that_says_why() -> None:
    found = machine_inventory()

    assert found.gpus == ()
    assert found.reason.startswith("NVML: ")
    assert gpus_of(found) == Gpus(), "a machine without a driver is a CPU node, not a broken one"


@pytest.mark.skipif(no_driver(), reason="this machine has no driver")
def test_machine_with_a_driver_names_it_and_its_gpus() -> None:
    found = machine_inventory()

    assert found.driver
    assert all(gpu.facts.uuid.startswith("GPU-") and gpu.facts.memory_mib > 0 for gpu in found.gpus)


def test_inventory_lists_every_gpu_as_it_was_read() -> None:
    found = inventory(RecordedGpus(gpus=(DATA_CENTRE, CONSUMER)))

    assert found == GpuInventory(gpus=(DATA_CENTRE, CONSUMER), driver="580.95.05")


def test_gpu_that_is_lost_keeps_its_name_and_does_not_hide_the_others() -> None:
    found = inventory(RecordedGpus(gpus=(DATA_CENTRE, LOST)))

    assert found.gpus == (DATA_CENTRE, LOST)
    assert found.gpus[1].fault == "NVML: GPU is lost"


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (RecordedGpus(away="NVML: Driver Not Loaded"), "NVML: Driver Not Loaded"),
        (RecordedGpus(), "the driver sees no GPU"),
    ],
    ids=["no driver", "no GPU"],
)
def test_inventory_without_gpus_says_why(reader: RecordedGpus, reason: str) -> None:
    found = inventory(reader)

    assert (found.gpus, found.reason) == ((), reason)


def test_bindings_are_read_in_mebibytes_and_text() -> None:
    (gpu,) = inventory(NvmlReader(Bindings())).gpus

    assert gpu.facts == DATA_CENTRE.facts
    assert gpu.errors == DATA_CENTRE.errors
    assert gpu.processes == (GpuProcess(pid=4711, memory_mib=1024), GpuProcess(pid=4712, memory_mib=None))


def test_counter_that_a_card_does_not_have_is_not_zero() -> None:
    (gpu,) = inventory(NvmlReader(Bindings(counts=False))).gpus

    assert gpu.errors == GpuErrors(corrected=None, uncorrected=None, remapped_rows=None)
    assert gpu.fault == ""


def test_gpu_that_falls_off_the_bus_while_it_is_read_keeps_what_was_read() -> None:
    (gpu,) = inventory(NvmlReader(Bindings(lost=True))).gpus

    assert (gpu.facts, gpu.errors) == (DATA_CENTRE.facts, DATA_CENTRE.errors)
    assert gpu.fault == "NVML: GPU is lost"


def test_every_call_of_the_reader_exists_in_the_bindings() -> None:
    calls: list[Callable[..., Any]] = [getattr(pynvml, name) for name in vars(Bindings) if name.startswith("nvml")]

    assert calls
    assert all(callable(call) for call in calls)


def test_doctor_when_a_gpu_or_all_of_nvml_does_not_answer_then_it_is_a_problem() -> None:
    broken = GpuInventory(gpus=(), reason="NVML: Driver/library version mismatch", code="nvml_failed")
    lost = gpus_of(GpuInventory(gpus=(DATA_CENTRE, LOST), driver="570"))

    assert gpus_of(broken).problem == "NVML: Driver/library version mismatch"
    assert lost.problem == "GPU 1: NVML: GPU is lost"
    assert [device.ecc_errors for device in lost.devices] == [0, None]
    assert gpus_of(GpuInventory(gpus=(), driver="570", reason="the driver sees no GPU")) == Gpus(driver="570")
