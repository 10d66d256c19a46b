"""The GPUs of this machine as NVIDIA's management library tells them.

    NVML ──GpuReader──► facts, errors, processes of each GPU ──inventory──► GpuInventory: GPUs, or the reason why none is seen

NVML counts no Xid errors: it only tells those that happen while somebody listens. What the bad ones leave behind is
counted: uncorrected errors, and rows of memory that were replaced or wait for it. Counters that a card does not have are
None, not zero: a GeForce counts no ECC errors, and that says nothing about its memory.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from swarm_chain.core.errors import UnavailableError

NO_DRIVER = "no_driver"
_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFacts:
    """What does not change while the machine runs. `index` is NVML's, in the order of the PCI bus."""

    index: int
    name: str
    uuid: str
    memory_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuErrors:
    """Memory errors a GPU counted since it was made, as far as it counts them; and what it could not repair.

    `corrected` and `uncorrected` are ECC errors, `uncorrected_lately` those since the driver was loaded;
    `remapped_rows` are rows of memory replaced after uncorrectable errors;
    `repair_pending` says that a replacement waits for a reset, `repair_failed` that none was left.
    """

    corrected: int | None = None
    uncorrected: int | None = None
    uncorrected_lately: int | None = None
    remapped_rows: int | None = None
    repair_pending: bool = False
    repair_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """A process that computes on a GPU; `memory_mib` is None where NVML may not tell, as in a container."""

    pid: int
    memory_mib: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU. `fault` says why it could not be read to the end, empty if it could: it may have fallen off the bus."""

    facts: GpuFacts
    errors: GpuErrors
    processes: tuple[GpuProcess, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuInventory:
    """All GPUs NVML sees, the driver's version, and why there are none if there are none; `code` is the reason's, stable."""

    gpus: tuple[Gpu, ...]
    driver: str = ""
    reason: str = ""
    code: str = ""


class GpuReader(Protocol):
    """NVML as the inventory needs it. Every method raises UnavailableError where NVML or a GPU does not answer."""

    def driver(self) -> str:
        """Version of the driver."""
        ...

    def count(self) -> int:
        """Number of GPUs."""
        ...

    def facts(self, index: int) -> GpuFacts:
        """Name, identity and size of a GPU."""
        ...

    def errors(self, index: int) -> GpuErrors:
        """Error counters of a GPU."""
        ...

    def processes(self, index: int) -> tuple[GpuProcess, ...]:
        """Processes that compute on a GPU."""
        ...


def inventory(reader: GpuReader) -> GpuInventory:
    """Read all GPUs; one that does not answer spoils neither the others nor the caller.

    Args:
        reader: NVML, or recorded values.

    Returns:
        The inventory; without GPUs it holds the reason.
    """
    try:
        driver, count = reader.driver(), reader.count()
    except UnavailableError as error:
        return GpuInventory(gpus=(), reason=str(error), code=error.code)
    gpus = tuple(_read(reader, index) for index in range(count))
    return GpuInventory(gpus=gpus, driver=driver, reason="" if gpus else "the driver sees no GPU")


def machine_inventory() -> GpuInventory:
    """Read the GPUs of this machine through NVML; empty with the reason where there is no driver or no library."""
    try:
        with nvml_reader() as reader:
            return inventory(reader)
    except UnavailableError as error:
        return GpuInventory(gpus=(), reason=str(error), code=error.code)


@contextmanager
def nvml_reader() -> Iterator[GpuReader]:
    """NVML, loaded and closed again.

    Raises:
        UnavailableError: the package, the library or the driver is missing.
    """
    try:
        import pynvml
    except ImportError as error:
        raise UnavailableError(
            "the package nvidia-ml-py is not installed", fix="pip install 'swarm[node]'", code="missing_extra"
        ) from error
    reader = NvmlReader(pynvml)
    try:
        reader.call(pynvml.nvmlInit)
    except UnavailableError as error:
        if isinstance(error.__cause__, pynvml.NVMLError_LibraryNotFound | pynvml.NVMLError_DriverNotLoaded):
            raise UnavailableError(error.message, fix=error.fix, code=NO_DRIVER) from error.__cause__
        raise
    try:
        yield reader
    finally:
        pynvml.nvmlShutdown()


def _read(reader: GpuReader, index: int) -> Gpu:
    facts = GpuFacts(index=index, name="", uuid="", memory_mib=0)
    errors, processes = GpuErrors(), tuple[GpuProcess, ...]()
    try:
        facts = reader.facts(index)
        errors = reader.errors(index)
        processes = reader.processes(index)
    except UnavailableError as error:
        return Gpu(facts=facts, errors=errors, processes=processes, fault=str(error))
    return Gpu(facts=facts, errors=errors, processes=processes)


class NvmlReader:
    """GpuReader on the bindings of NVML.

    Args:
        nvml: the module pynvml, handed in because it is imported late; nvmlInit was called.
    """

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml

    def driver(self) -> str:
        """Version of the driver."""
        return _text(self.call(self._nvml.nvmlSystemGetDriverVersion))

    def count(self) -> int:
        """Number of GPUs."""
        return int(self.call(self._nvml.nvmlDeviceGetCount))

    def facts(self, index: int) -> GpuFacts:
        """Name, identity and size of a GPU."""
        handle = self._handle(index)
        return GpuFacts(
            index=index,
            name=_text(self.call(self._nvml.nvmlDeviceGetName, handle)),
            uuid=_text(self.call(self._nvml.nvmlDeviceGetUUID, handle)),
            memory_mib=int(self.call(self._nvml.nvmlDeviceGetMemoryInfo, handle).total) // _MIB,
        )

    def errors(self, index: int) -> GpuErrors:
        """Error counters of a GPU."""
        handle, nvml = self._handle(index), self._nvml
        since_made, uncorrected = nvml.NVML_AGGREGATE_ECC, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
        total, remapped = nvml.nvmlDeviceGetTotalEccErrors, nvml.nvmlDeviceGetRemappedRows
        _, rows, pending, failed = self._counted(remapped, handle) or (0, None, 0, 0)
        return GpuErrors(
            corrected=self._counted(total, handle, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, since_made),
            uncorrected=self._counted(total, handle, uncorrected, since_made),
            uncorrected_lately=self._counted(total, handle, uncorrected, nvml.NVML_VOLATILE_ECC),
            remapped_rows=rows,
            repair_pending=bool(pending),
            repair_failed=bool(failed),
        )

    def processes(self, index: int) -> tuple[GpuProcess, ...]:
        """Processes that compute on a GPU."""
        running = self.call(self._nvml.nvmlDeviceGetComputeRunningProcesses, self._handle(index))
        return tuple(
            GpuProcess(
                pid=int(one.pid), memory_mib=None if one.usedGpuMemory is None else int(one.usedGpuMemory) // _MIB
            )
            for one in running
        )

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Result of a function of NVML; its error in our words."""
        try:
            return function(*arguments)
        except self._nvml.NVMLError as error:
            raise UnavailableError(
                f"NVML: {error}", fix="check the driver: nvidia-smi must list the GPU", code="nvml_failed"
            ) from error

    def _handle(self, index: int) -> Any:
        return self.call(self._nvml.nvmlDeviceGetHandleByIndex, index)

    def _counted(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Result of a function, or None where the card has no such counter."""
        try:
            return function(*arguments)
        except self._nvml.NVMLError_NotSupported:
            return None
        except self._nvml.NVMLError as error:
            raise UnavailableError(f"NVML: {error}", code="nvml_failed") from error


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value  # older bindings give bytes
