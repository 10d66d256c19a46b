"""One row of the doctor's table, what each row is for, and how the table is told. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm_chain.core.checkup import Level, Line

LEVELS = {Level.OK: "ok", Level.WARN: "warning", Level.FAIL: "blocking", Level.UNKNOWN: "not measured"}
# Stable ids; endpoints and members add their place: rpc.1, oracle.2.
PURPOSES = {
    "python": "runs everything",
    "ray": "starts runs and jobs",
    "torch": "computes, and replays need the same build",
    "driver": "lets programs use the GPUs",
    "devices": "each device proves and is paid for itself",
    "ecc": "a GPU with memory errors computes wrong rows",
    "xid": "faults of the GPUs since the machine started",
    "compute": "a wrong row costs stake",
    "triton": "fused kernels of the GPUs",
    "compiler": "Triton builds what starts its kernels",
    "headers": "Triton builds what starts its kernels",
    "memory": "runs, jobs and Ray share it",
    "disk.home": "state, proofs and jobs of the node",
    "disk.ray": "Ray's sessions and logs",
    "disk.shm": "Ray's object store",
    "disk.kind": "every commitment is on disk before it is sent",
    "clock.sync": "signed messages carry a time",
    "clock.chain": "signed messages carry a time",
    "rpc": "windows, jobs and accusations come from the chain",
    "deployment": "says which contracts are ours",
    "oracle": "takes heartbeats, commitments and proofs",
    "ports": "peers and customers reach the node",
    "mesh": "private network between nodes",
    "folder": "key, state, proofs and jobs",
    "key": "signs for the node",
    "password": "unlocks the key",
    "unlock": "signs for the node",
    "registration": "only a provider's nodes are asked for proofs",
    "stake": "work is paid as far as stake covers it",
    "gas": "pays for the node's defence and for jobs",
    "fio": "measures storage",
    "iperf3": "measures the network",
    "sandbox": "jobs with customers' code",
    "systemd": "keeps the node running: swarm node service install",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row: what was found, what is required."""

    line: Line
    required: str

    @property
    def id(self) -> str:
        """Stable name of the row."""
        return self.line.what

    @property
    def purpose(self) -> str:
        """What it is needed for."""
        return PURPOSES.get(self.id) or PURPOSES[self.id.rpartition(".")[0]]

    def as_dict(self) -> dict[str, str]:
        """JSON-ready form."""
        return {
            "id": self.id,
            "level": LEVELS[self.line.level],
            "actual": self.line.found,
            "required": self.required,
            "purpose": self.purpose,
            "remediation": self.line.remedy,
        }

    def as_row(self) -> tuple[str, ...]:
        """Cells for a person."""
        document = self.as_dict()
        return tuple(document[name] for name in ("level", "id", "actual", "required", "purpose", "remediation"))


def blocking(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Rows that keep the node from working."""
    return tuple(check for check in checks if check.line.level is Level.FAIL)
