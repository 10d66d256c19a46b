"""Takes in what nodes say of themselves; it is kept beside everything that counts, and nothing that counts reads it."""

from oracle.pipeline.desk import Desk, require_node
from oracle.store.benchmarks import SignedBenchmark, keep_benchmark
from swarm_chain.core.benchmarks import benchmark_digest
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import require_signed_by


def take_benchmark(desk: Desk, signed: SignedBenchmark) -> bool:
    """Keep a node's report of itself, if it is the newest.

    Returns:
        False if one as new or newer was there.

    Raises:
        InvalidInputError: not a live node's, signed too long ago or ahead of the chain, or not signed by the node.
    """
    report, sight = signed.report, desk.sight()
    require_node(sight, report.node)
    near = desk.network.params.liveness.message_for
    if not sight.now - near <= report.signed_at <= sight.now + near:
        raise InvalidInputError(
            f"the report was signed at {report.signed_at}, chain time is {sight.now}",
            code="expired",
            fix="sign it again with current chain time",
        )
    require_signed_by(report.node, benchmark_digest(desk.domain, report), signed.signature)
    return keep_benchmark(desk.engine, signed)
