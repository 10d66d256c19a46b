"""The way into a sandbox, run as a program: new namespaces, a file tree of its own, another user, limits, then the worker.

agent -> launcher (this file) -> init: process 1 of the namespace -> worker: swarm_chain.sandbox.worker, foreign code
         |                       |                                 |
         leaves with the agent   ends the namespace: all of it     has no right, sees no key, no network, no other process

Standard library only: it runs before any package can be found. Linux only.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

NEW_USER, NEW_NET, NEW_PID, NEW_MOUNTS, NEW_IPC, NEW_UTS = (
    0x10000000, 0x40000000, 0x20000000, 0x00020000, 0x08000000, 0x04000000,
)  # fmt: skip
SPACES = NEW_NET | NEW_PID | NEW_MOUNTS | NEW_IPC | NEW_UTS
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 1, 0x1000, 0x4000, 0x40000
MNT_DETACH, AT_FDCWD, AT_RECURSIVE = 2, -100, 0x8000
ATTR_RDONLY, ATTR_NOSUID = 1, 2
SYS_MOUNT_SETATTR = 442  # the same on every architecture
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
DEVICES = ("null", "zero", "full", "random", "urandom")
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - of the sandbox, not of the machine
HIGHEST_FD = 1024

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def main() -> None:
    """Launches what the first argument describes; ends as the worker does."""
    plan = json.loads(sys.argv[1])
    _die_with_parent()
    enter_namespaces()
    init = os.fork()
    if init == 0:
        _die_with_parent()
        _init(plan)
    _hang_up()
    os._exit(_status(init))


def enter_namespaces() -> None:
    """Leaves the machine's namespaces: as root, or by a user namespace of the caller's own.

    Raises:
        OSError: the kernel does not let this user.
    """
    if os.geteuid() == 0:
        _checked(_libc.unshare(SPACES), "unshare")
        return
    user, group = os.geteuid(), os.getegid()
    _checked(_libc.unshare(SPACES | NEW_USER), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _init(plan: dict[str, Any]) -> None:
    """Process 1: when it ends, the kernel ends whatever is left in the namespace."""
    try:
        _build_tree(plan)
        worker = os.fork()
        if worker == 0:
            _become_worker(plan)
        _hang_up()
        os._exit(_status(worker))
    except OSError as error:
        sys.stderr.write(f"sandbox: {error}\n")
        sys.stderr.flush()
        os._exit(1)


def _build_tree(plan: dict[str, Any]) -> None:
    """A file tree in memory with what the worker needs of the machine's, read-only; it has no way out of it."""
    root = plan["root"]
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("sandbox", root, "tmpfs", MS_NOSUID | MS_NODEV, f"size={plan['disk']},nr_inodes=100000,mode=755")
    for path in plan["show"]:
        _show(root, path)
    for name in DEVICES:
        _show(root, f"/dev/{name}", read_only=False)
    for name in SCRATCH:
        os.makedirs(root + name, exist_ok=True)
        os.chmod(root + name, 0o1777)  # noqa: S103 - only the worker is there to write
    _show_processes(root)
    os.chdir(root)
    _checked(_libc.pivot_root(b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir(SCRATCH[0])


def _show(root: str, path: str, *, read_only: bool = True) -> None:
    inside = root + path
    if os.path.lexists(inside) or not os.path.lexists(path):
        return
    os.makedirs(os.path.dirname(inside), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), inside)
        return
    if os.path.isdir(path):
        os.makedirs(inside)
    else:
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(path, inside, "", MS_BIND | MS_REC)
    if read_only:
        attributes = _MountAttr(attr_set=ATTR_RDONLY | ATTR_NOSUID)
        done = _libc.syscall(
            SYS_MOUNT_SETATTR, AT_FDCWD, os.fsencode(inside), AT_RECURSIVE, ctypes.byref(attributes), 32
        )
        _checked(done, f"mount_setattr {path}")


def _show_processes(root: str) -> None:
    """/proc of the namespace; where the machine hides parts of its own, only what libraries read of it."""
    os.makedirs(root + "/proc")
    try:
        _mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
    except OSError:
        for name in ("cpuinfo", "meminfo", "stat"):
            _show(root, f"/proc/{name}")


def _become_worker(plan: dict[str, Any]) -> None:
    """Gives up every right, takes the limits, and becomes the worker."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(plan["user"], plan["user"], plan["user"])
        os.setresuid(plan["user"], plan["user"], plan["user"])
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    for name, value in plan["limits"].items():
        _limit(getattr(resource, name), value)
    os.closerange(3, HIGHEST_FD)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(plan["command"][0], plan["command"], plan["environment"])  # noqa: S606 - no shell is wanted


def _limit(which: int, value: int) -> None:
    _, most = resource.getrlimit(which)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (value, value))


def _status(process: int) -> int:
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _hang_up() -> None:
    """Lets go of the pipes, so that their other end sees when the worker is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def _die_with_parent() -> None:
    _checked(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    done = _libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _checked(done, f"mount {target}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
