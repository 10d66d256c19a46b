"""GPUs of the inventory as the doctor judges them."""

from node.doctor.facts import Gpu, Gpus
from node.inventory import NO_DRIVER, GpuInventory, machine_inventory

_BYTES_PER_MIB = 2**20


def read_gpus() -> Gpus:
    """GPUs of this machine; none where NVIDIA's driver is not installed."""
    return gpus_of(machine_inventory())


def gpus_of(found: GpuInventory) -> Gpus:
    """The doctor's view of an inventory: a GPU that does not answer is a problem, a machine without a driver is none.

    Args:
        found: what NVML told.
    """
    faults = [f"GPU {gpu.facts.index}: {gpu.fault}" for gpu in found.gpus if gpu.fault]
    silent = found.reason if not found.driver and found.code != NO_DRIVER else ""
    devices = tuple(
        Gpu(
            index=gpu.facts.index,
            name=gpu.facts.name,
            memory_bytes=gpu.facts.memory_mib * _BYTES_PER_MIB,
            ecc_errors=gpu.errors.uncorrected_lately,
        )
        for gpu in found.gpus
    )
    return Gpus(driver=found.driver, devices=devices, problem="; ".join([silent] * bool(silent) + faults))
