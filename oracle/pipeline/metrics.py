"""What a member shows to Prometheus; one registry a member, so that tests can run several in one process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from oracle.pipeline.gauges import CycleMetrics, IntakeMetrics, TxMetrics
from oracle.pipeline.sight import Sight
from swarm_chain.core.units import Timestamp

# What ReportLimits refuses although a quorum voted for it.
LIMITS = frozenset({"EpochNotLater", "TotalsDecreased", "RewardAboveCap", "PenaltyAboveCap", "LeafCountMismatch"})
BUILD_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600)


class Metrics:
    """Gauges and counters of oracle.md, section Scheduler and service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.cycle = CycleMetrics(self.registry)
        self.tx = TxMetrics(self.registry)
        self.intake = IntakeMetrics(self.registry)
        self._head = Gauge("swarm_head_block", "Latest block seen", registry=self.registry)
        self._finalized = Gauge("swarm_finalized_block", "Latest final block seen", registry=self.registry)
        self._epoch = Gauge("swarm_epoch", "Epoch of the latest block", registry=self.registry)
        self._lease = Gauge("swarm_lease_held", "1 while this process acts, 0 on standby", registry=self.registry)
        self._ticks = Counter("swarm_tick_failures", "Ticks that failed", ["entry", "code"], registry=self.registry)
        self._foreign = Counter("swarm_foreign_votes", "Votes of this key not made here", registry=self.registry)
        self._actions = Counter("swarm_actions", "Actions performed", ["action"], registry=self.registry)
        self._verdicts = Counter("swarm_verdicts", "Verdicts", ["outcome", "reason"], registry=self.registry)
        self._backend = Counter(
            "swarm_judge_backend_failures", "Blocks the reference had to do", ["backend"], registry=self.registry
        )
        self._judge = Histogram(
            "swarm_judge_seconds", "Judging a window", buckets=BUILD_BUCKETS, registry=self.registry
        )
        self._build = Histogram(
            "swarm_build_seconds", "Building a report", buckets=BUILD_BUCKETS, registry=self.registry
        )

    def saw(self, sight: Sight, epoch: int) -> None:
        """Records the latest sight of the chain."""
        self._head.set(sight.latest.number)
        self._finalized.set(sight.finalized.number)
        self._epoch.set(epoch)

    def holds_lease(self, holds: bool) -> None:
        """Records whether this process acts for its member."""
        self._lease.set(int(holds))

    def tick_failed(self, entry: str, code: str) -> None:
        """Counts a tick that ended in an error."""
        self._ticks.labels(entry, code).inc()
        if code in LIMITS:
            self.intake.limit_met(code)

    def tick_succeeded(self, entry: str, at: Timestamp) -> None:
        """Records when a tick ended well."""
        self.intake.succeeded(entry, at)

    def voted_elsewhere(self) -> None:
        """Counts a vote of this member's key that its database knows nothing of."""
        self._foreign.inc()

    def acted(self, action: str) -> None:
        """Counts an action of the cycle."""
        self._actions.labels(action).inc()

    def judged(self, outcome: str, reason: str) -> None:
        """Counts a verdict."""
        self._verdicts.labels(outcome, reason).inc()

    def backend_failed(self, backend: str) -> None:
        """Counts a block of rows that the judge's backend failed to do."""
        self._backend.labels(backend).inc()

    def judge_took(self, elapsed_ms: int) -> None:
        """Records how long judging a window took."""
        self._judge.observe(elapsed_ms / 1000)

    def build_took(self, elapsed_ms: int) -> None:
        """Records how long building a report took."""
        self._build.observe(elapsed_ms / 1000)
