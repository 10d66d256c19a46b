"""Groups of a member's metrics, each on the registry of the whole: the cycle, its transactions, what came in."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from oracle.model import Network
from oracle.pipeline.sight import Sight
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, Timestamp, Wei


class CycleMetrics:
    """Where the cycle stands: epoch, deadline, next action, votes, and whether the chain's last report is our own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._chain_time = Gauge("swarm_chain_time_seconds", "Unix time of the latest block", registry=registry)
        self._end = Gauge("swarm_epoch_end_seconds", "Unix time at which the running epoch ends", registry=registry)
        self._processed = Gauge("swarm_processed_epochs", "Last epoch with a report, plus one", registry=registry)
        self._deadline = Gauge(
            "swarm_report_deadline_seconds", "Unix time until which the next report is taken", registry=registry
        )
        self._state = Gauge("swarm_state", "1 for the action chosen last", ["action"], registry=registry)
        self._agrees = Gauge(
            "swarm_own_report_agrees", "0 if the chain's last report is another than this member's", registry=registry
        )
        self._seats = Gauge("swarm_members", "Members of the committee", registry=registry)
        self._quorum = Gauge("swarm_quorum", "Votes a report needs", registry=registry)
        self._voted = Gauge("swarm_members_voted", "Live votes on the latest epoch voted on", registry=registry)
        self._seated = Gauge("swarm_member", "1 if this member's key sits in the committee", registry=registry)
        self._replicas = Gauge(
            "swarm_publish_replicas", "Members that serve the documents of the last own report", registry=registry
        )
        self._balance = Gauge("swarm_native_balance_wei", "Native coin of this member's key", registry=registry)
        self._agrees.set(1)
        self._chosen = ""

    def saw(self, sight: Sight, network: Network, own: Address | None) -> None:
        """Records what the latest sight says of epoch, committee and votes."""
        epoch = network.epoch_at(sight.now)
        self._chain_time.set(sight.now)
        self._end.set(network.epoch_end(epoch))
        self._processed.set(sight.facts.processed_epochs)
        self._deadline.set(network.deadline(max(epoch - 1, 0)))
        self._seats.set(len(sight.state.members))
        self._quorum.set(sight.state.quorum)
        self._seated.set(int(own in sight.state.members))
        latest = max((voted for voted, _ in sight.facts.votes), default=None)
        self._voted.set(sum(voted == latest for voted, _ in sight.facts.votes))

    def chose(self, action: str) -> None:
        """Records the action chosen last."""
        if self._chosen and self._chosen != action:
            self._state.labels(self._chosen).set(0)
        self._chosen = action
        self._state.labels(action).set(1)

    def compared(self, agrees: bool) -> None:
        """Records whether the chain's last report is the one this member built."""
        self._agrees.set(int(agrees))

    def replicas(self, members: int) -> None:
        """Records how many members serve the documents of the last own report."""
        self._replicas.set(members)

    def balance(self, balance_wei: Wei) -> None:
        """Records the native coin of the key."""
        self._balance.set(balance_wei)


class TxMetrics:
    """What became of transactions."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "swarm_tx_attempts", "Transactions by what became of them", ["outcome"], registry=registry
        )

    def attempted(self, outcome: str) -> None:
        """Counts a signed, succeeded, reverted, superseded, capped or unknown transaction."""
        self._attempts.labels(outcome).inc()


class IntakeMetrics:
    """What came in from nodes and made a judge stumble, ticks that ended well, and reports the chain's limits refused."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._evidence = Counter(
            "swarm_evidence", "Messages taken or refused, by reason", ["kind", "outcome"], registry=registry
        )
        self._limits = Counter("swarm_limit_violations", "Reports above a limit", ["limit"], registry=registry)
        self._success = Gauge(
            "swarm_last_success_seconds", "Unix time a tick last ended well", ["entry"], registry=registry
        )
        self._crashes = Counter(
            "swarm_audit_crashes", "Answers to audits that a judge stumbled over", ["category"], registry=registry
        )
        self._stuck = Gauge("swarm_jobs_stuck", "Completed jobs this member cannot compute", registry=registry)
        for category in Category:
            self._crashes.labels(category)  # at zero from the start, so that the first one is an increase

    def took(self, kind: str, outcome: str) -> None:
        """Counts a message: "accepted", or the code of its refusal."""
        self._evidence.labels(kind, outcome).inc()

    def stumbled(self, category: Category) -> None:
        """Counts an answer to an audit that the judge crashed on."""
        self._crashes.labels(category).inc()

    def stuck_with(self, jobs: int) -> None:
        """Records how many completed jobs have all their evidence and still cannot be judged here."""
        self._stuck.set(jobs)

    def limit_met(self, limit: str) -> None:
        """Counts a report that a limit of the chain refused."""
        self._limits.labels(limit).inc()

    def succeeded(self, entry: str, at: Timestamp) -> None:
        """Records when a tick ended well."""
        self._success.labels(entry).set(at)
