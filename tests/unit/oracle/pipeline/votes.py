"""EpochOracle.vote on a chain in memory: a member votes once for an epoch; a second vote reverts."""

from swarm_chain.testing import reject
from swarm_chain.testing.program import Log, Storage

REVERTS = "reverts"  # key of the storage: set, every vote reverts


def vote(storage: Storage, sender: str, epoch: int, report_hash: bytes) -> list[Log]:
    """The vote is kept and logged."""
    if storage.get(REVERTS) or (sender, epoch) in storage:
        raise reject("SameVote", epoch=epoch, reportHash=report_hash)
    storage[sender, epoch] = report_hash
    return [("EpochOracle", "Voted", {"epoch": epoch, "member": sender, "reportHash": report_hash, "support": 1})]
