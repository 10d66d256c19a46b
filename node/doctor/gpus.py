"""GPUs as NVML shows them. The only module of the doctor that knows pynvml."""

from typing import Any

from node.doctor.facts import Gpu, Gpus


def read_gpus() -> Gpus:
    """GPUs of this machine; none where NVIDIA's driver is not installed."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return Gpus()
    except pynvml.NVMLError as error:
        return Gpus(problem=str(error))
    try:
        devices = tuple(_gpu(index) for index in range(pynvml.nvmlDeviceGetCount()))
        return Gpus(driver=_text(pynvml.nvmlSystemGetDriverVersion()), devices=devices)
    except pynvml.NVMLError as error:
        return Gpus(problem=str(error))
    finally:
        pynvml.nvmlShutdown()


def _gpu(index: int) -> Gpu:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return Gpu(
        index=index,
        name=_text(pynvml.nvmlDeviceGetName(handle)),
        memory_bytes=int(memory.total),
        ecc_errors=_ecc_errors(handle),
    )


def _ecc_errors(handle: Any) -> int | None:
    import pynvml

    kinds = pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC
    try:
        return int(pynvml.nvmlDeviceGetTotalEccErrors(handle, *kinds))
    except pynvml.NVMLError_NotSupported:
        return None


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
