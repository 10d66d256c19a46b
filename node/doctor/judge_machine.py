"""Judgements of the machine: packages, devices, memory, disks, clock, tools. Pure."""

from collections.abc import Sequence

from node.doctor.checks import Check
from node.doctor.facts import ClockSync, Compute, Disk, Gpus, KnownAnswers, Package, Toolchain
from swarm_chain.core.checkup import Level, Line, Room, fail, judge_room, ok, unknown, warn
from swarm_chain.core.rowchain import NumpyCompute

GIB = 2**30
LEAST_MEMORY, GOOD_MEMORY = GIB, 4 * GIB  # a run of the largest plan and Ray's own processes
LEAST_HOME, GOOD_HOME = GIB, 10 * GIB
LEAST_RAY, GOOD_RAY = GIB, 5 * GIB
LEAST_SHM, GOOD_SHM = 0, 128 * 2**20  # without it Ray puts its object store into its temporary folder
# Faults after which NVIDIA wants the GPU reset or replaced; others are mostly a program's own.
# Source: NVIDIA, "XID Errors", entries whose action is RESET_GPU, RESTART_BM or CONTACT_SUPPORT.
HARDWARE_XIDS = frozenset({48, 62, 64, 74, 79, 95, 119, 120})
INSTALL = "pip install 'swarm[node]'"
CPU = "cpu"


def judge_package(found: Package) -> Check:
    """Judge the version of Python, Ray or torch against what this version of Swarm was made for."""
    required = found.wanted or "not pinned"
    if not found.have:
        return _check(fail(found.name, "not installed", INSTALL), required)
    if found.fits is None:
        said = f"{found.have}; the installed Swarm does not say which it needs"
        return _check(unknown(found.name, said, f"install Swarm as a package: {INSTALL}"), required)
    if not found.fits:
        fix = "make the virtual environment with that Python" if found.name == "python" else INSTALL
        return _check(fail(found.name, found.have, fix), required)
    return _check(ok(found.name, found.have), required)


def judge_driver(gpus: Gpus) -> Check:
    """Judge NVIDIA's driver; a machine without one is a CPU node."""
    required = "the driver, if there are GPUs"
    if gpus.problem:
        fix = "reinstall the driver and restart: apt install nvidia-driver"
        return _check(fail("driver", f"NVML cannot be asked: {gpus.problem}", fix), required)
    return _check(ok("driver", gpus.driver or "none: no GPU of NVIDIA's"), required)


def judge_devices(gpus: Gpus, compute: Compute, configured: int) -> Check:
    """Judge whether NVML, torch and Ray see the same GPUs, and whether the settings use them.

    Args:
        gpus: what NVML shows.
        compute: what torch and Ray see.
        configured: SWARM_GPUS.
    """
    counts = {"NVML": None if gpus.problem else len(gpus.devices), "torch": compute.torch_gpus, "Ray": compute.ray_gpus}
    found = ", ".join(f"{name} {'?' if count is None else count}" for name, count in counts.items())
    found = f"{found}, SWARM_GPUS {configured}"
    return _check(_devices(found, set(counts.values()), configured), "the same number from all")


def _devices(found: str, counts: set[int | None], configured: int) -> Line:
    known = counts - {None}
    most = max((count for count in known if count is not None), default=0)
    if len(known) > 1:
        return fail(
            "devices", found, "install a torch built for CUDA that fits the driver, and see CUDA_VISIBLE_DEVICES"
        )
    if configured > most:
        return fail("devices", found, f"set SWARM_GPUS={most}, or repair the driver: apt install nvidia-driver")
    if None in counts:
        return unknown("devices", found, "see the lines driver, torch and compute")
    if most == 0:
        remedy = "nothing for a CPU node; with a GPU: apt install nvidia-driver, then set SWARM_GPUS"
        return Line(level=Level.OK, what="devices", found=f"no GPU: this is a CPU node ({found})", remedy=remedy)
    if configured < most:
        return warn("devices", found, f"set SWARM_GPUS={most}: the others prove nothing")
    return ok("devices", found)


def judge_ecc(gpus: Gpus) -> Check:
    """Judge uncorrected memory errors of the GPUs."""
    required = "0 uncorrected errors"
    bad = [f"GPU {one.index}: {one.ecc_errors}" for one in gpus.devices if one.ecc_errors]
    if bad:
        return _check(fail("ecc", ", ".join(bad), "reset the GPU (nvidia-smi -r), replace it if they return"), required)
    if not gpus.devices:
        return _check(ok("ecc", "no GPU"), required)
    without = [str(one.index) for one in gpus.devices if one.ecc_errors is None]
    return _check(ok("ecc", f"0; GPUs without ECC: {', '.join(without) or 'none'}"), required)


def judge_xids(gpus: Gpus, xids: Sequence[int], problem: str) -> Check:
    """Judge the GPU faults of the kernel's log.

    Args:
        gpus: without any there is nothing to judge.
        xids: numbers of the faults since the machine started.
        problem: why the log could not be read.
    """
    required = "no hardware fault"
    if not gpus.devices:
        return _check(ok("xid", "no GPU"), required)
    if problem:
        fix = "run as root once, or: sysctl kernel.dmesg_restrict=0"
        return _check(unknown("xid", f"the kernel's log cannot be read: {problem}", fix), required)
    found = f"Xid {', '.join(map(str, sorted(set(xids))))}"
    if HARDWARE_XIDS & set(xids):
        return _check(fail("xid", found, "reset or replace the GPU; restart the machine to clear this line"), required)
    if xids:
        return _check(warn("xid", found, "look at journalctl -k for the program that caused it"), required)
    return _check(ok("xid", "none"), required)


def judge_compute(compute: Compute) -> tuple[Check, ...]:
    """Judge the known answers of every device's backends."""
    required = "the known answers from at least one backend a device"
    if compute.problem or not compute.answers:
        return (_check(fail("compute", compute.problem or "no device answered", f"reinstall: {INSTALL}"), required),)
    lines = [_answers(answers) for answers in compute.answers]
    worst = max(lines, key=lambda line: (line.level is Level.FAIL, line.level is Level.WARN))
    found = "; ".join(line.found for line in lines)
    return (_check(Line(level=worst.level, what="compute", found=found, remedy=worst.remedy), required),)


def _answers(one: KnownAnswers) -> Line:
    remedy = "its arithmetic or its torch is broken: reinstall torch, then suspect memory or GPU"
    rejected = ", ".join(one.rejected)
    if not one.trusted:
        return fail("compute", f"{one.device}: {one.problem or f'failed the known answers: {rejected}'}", remedy)
    if one.device != CPU and set(one.trusted) <= {NumpyCompute.name}:
        # The agent would prove on the CPU, far too slowly for the plan of a GPU, and earn nothing.
        found = f"{one.device}: all of its backends failed the known answers: {rejected or 'none could be made'}"
        return fail(
            "compute", found, "reinstall torch for the driver's CUDA, see the line compiler; or set SWARM_GPUS=0"
        )
    found = f"{one.device}: {', '.join(one.trusted)} gave the known answers"
    if one.rejected:
        return warn("compute", f"{found}, not so: {rejected}", remedy)
    return ok("compute", found)


def judge_memory(available_bytes: int, total_bytes: int) -> Check:
    """Judge the main memory."""
    found = f"{available_bytes // 2**20} of {total_bytes // 2**20} MiB available"
    required = f"{LEAST_MEMORY // GIB} GiB, {GOOD_MEMORY // GIB} GiB are comfortable"
    remedy = "end other programs, or give the machine more memory"
    if available_bytes < LEAST_MEMORY:
        return _check(fail("memory", found, remedy), required)
    return _check(warn("memory", found, remedy) if available_bytes < GOOD_MEMORY else ok("memory", found), required)


def judge_free(what: str, room: Room) -> Check:
    """Judge the free space of a folder; `what` is disk.home, disk.ray or disk.shm."""
    remedies = {
        "disk.home": "make room, or move the folder: SWARM_NODE_FOLDER",
        "disk.ray": "make room, or move Ray's folder: RAY_TMPDIR",
        "disk.shm": "mount more memory there: mount -o remount,size=1G /dev/shm",
    }
    required = f"{room.least_bytes // 2**20} MiB, {room.good_bytes // 2**20} MiB are comfortable"
    return _check(judge_room(what, room, remedies[what]), required)


def judge_kind(disk: Disk) -> Check:
    """Judge whether the node's home lies on a disk that turns."""
    required = "a disk that does not rotate"
    if disk.is_rotational is None:
        fix = "make sure it is an SSD: lsblk -o NAME,ROTA,MOUNTPOINT"
        return _check(unknown("disk.kind", f"{disk.folder}: {disk.problem}", fix), required)
    if disk.is_rotational:
        fix = "move the folder to an SSD: SWARM_NODE_FOLDER"
        return _check(warn("disk.kind", f"{disk.folder} is on a rotating disk", fix), required)
    return _check(ok("disk.kind", f"{disk.folder} is on a disk that does not rotate"), required)


def judge_sync(sync: ClockSync) -> Check:
    """Judge whether something keeps this machine's clock right."""
    required = "synchronised"
    there = f"programs: {', '.join(sync.programs) or 'none'}"
    fix = "apt install chrony"
    if "timedatectl" in sync.programs:
        fix = "timedatectl set-ntp true, or apt install chrony"
    if "chronyc" in sync.programs:
        fix = "systemctl enable --now chrony, then: chronyc tracking"
    if sync.is_synchronised is None:
        return _check(unknown("clock.sync", f"{sync.problem}; {there}", fix), required)
    if not sync.is_synchronised:
        return _check(warn("clock.sync", f"the kernel calls its clock unsynchronised; {there}", fix), required)
    return _check(ok("clock.sync", f"synchronised; {there}"), required)


def judge_tool(name: str, version: str | None) -> Check:
    """Judge a program the node can use; None if it is absent, an empty version if it does not tell."""
    remedies = {
        "fio": "apt install fio",
        "iperf3": "apt install iperf3",
        "systemd": "apt install systemd, or keep the node running in another way",
    }
    if version is None:
        return _check(warn(name, "absent", remedies[name]), "installed")
    return _check(ok(name, version or "installed"), "installed")


def judge_sandbox(problem: str, remedy: str) -> Check:
    """Judge whether this machine can wall customers' code off; jobs without such code run either way.

    Args:
        problem: why it cannot; empty if it can.
        remedy: what to do then.
    """
    required = "walls around customers' code"
    if problem:
        return _check(warn("sandbox", f"{problem}; jobs with customers' code fail here", remedy), required)
    return _check(ok("sandbox", "a process was walled off and answered"), required)


def judge_toolchain(found: Toolchain, gpus: int) -> tuple[Check, ...]:
    """Judge what the fused kernels are built with; without them a GPU proves by cuBLAS, more slowly.

    Args:
        found: where each part is.
        gpus: NVIDIA's, there or configured.
    """
    parts = (
        ("triton", found.triton, "pip install 'swarm[node,gpu]'"),
        ("compiler", found.compiler, "apt install gcc"),
        ("headers", found.headers, "apt install python3-dev, of the Python that runs Swarm"),
    )
    required = "installed, where there are GPUs"
    return tuple(_check(_part(what, where, remedy, gpus), required) for what, where, remedy in parts)


def _part(what: str, where: str, remedy: str, gpus: int) -> Line:
    if not gpus:
        return ok(what, f"no GPU needs it; {where or 'absent'}")
    return ok(what, where) if where else warn(what, "absent: the GPU's fused kernels cannot be built", remedy)


def _check(line: Line, required: str) -> Check:
    return Check(line=line, required=required)
