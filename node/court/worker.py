"""What a worker does for one accused row: its states again, and the path of its head to the committed root."""

import os

from node.compute.worker import backend
from node.ports import AccusedRow
from swarm_chain.core import merkle
from swarm_chain.core.compute import commitment_tree
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.court.model import RowEvidence
from swarm_chain.court.recompute import Recomputer

NICENESS = 10  # a window that opens meanwhile must not be late


def trace_beside(accused: AccusedRow, threads: int) -> RowEvidence:
    """Make the evidence in a process of its own that gives way to everything else."""
    os.nice(NICENESS)
    return trace_accused(accused, threads)


def trace_accused(accused: AccusedRow, threads: int) -> RowEvidence:
    """Make the evidence of an accused row.

    Args:
        accused: the row and the heads of its run; without them the whole run is done again.
        threads: CPU threads to use for that.

    Returns:
        The true states of the row; no path if the tree over the heads is not the committed one, so that no leaf can be opened.
    """
    if accused.heads:
        recomputer = Recomputer(NumpyCompute())
        tree = commitment_tree(accused.heads)
    else:
        recomputer = Recomputer(backend("cpu", threads))
        tree = recomputer.tree(accused.challenge)
    trace = recomputer.trace(accused.challenge, accused.row)
    committed = merkle.root(tree) == accused.commitment.root
    return RowEvidence(trace=trace, path=merkle.path(tree, accused.row) if committed else ())
