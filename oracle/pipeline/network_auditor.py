"""How a member audits bandwidth: how long a claim may take, and what both transfers are worth (docs/spec/network.md)."""

from collections.abc import Sequence

from sqlalchemy import Engine

from oracle.judge.network import NetworkCase, judge_network
from oracle.store.audits import Audit, AuditFinding
from oracle.store.transfers import transfer_of
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.network import BLOCK_BYTES, NetworkParams, payload_blocks


class NetworkAuditor:
    """Audits bandwidth (docs/spec/network.md).

    Args:
        params: sizes and times.
        engine: where transfers are kept; what a node opens says nothing here.
    """

    def __init__(self, params: NetworkParams, engine: Engine) -> None:
        self._params = params
        self._engine = engine

    def limit_ms(self, claim: int) -> int:
        """How long a node may take for each way.

        Raises:
            InvalidInputError: nobody can claim so few or so many Mbit/s.
        """
        payload_blocks(self._params, claim)
        return self._params.limit_ms

    def judge(self, audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        """What audits are worth whose payload came back, in Mbit/s."""
        return tuple(map(self._finding, audits))

    def _finding(self, audit: Audit) -> AuditFinding:
        transfer = transfer_of(self._engine, audit.audit_id)
        if audit.root is None or transfer is None:
            return AuditFinding(outcome=Outcome.MISSING, reason="no_download")
        # The answer ends the way down and begins the way up: nobody knows the draw before it.
        same_clock = audit.elapsed_ms is not None and audit.started.boot == transfer.began.boot
        answered_ms = audit.started.ms + (audit.elapsed_ms or 0)
        landed_ms = transfer.landed_ms
        verdict = judge_network(
            NetworkCase(
                claim=audit.claim,
                size=payload_blocks(self._params, audit.claim) * BLOCK_BYTES,
                limit_ms=self._params.limit_ms,
                sent_root=transfer.sent_root,
                root=audit.root,
                down_ms=answered_ms - transfer.began.ms if same_clock else None,
                up_ms=landed_ms - answered_ms if same_clock and landed_ms is not None else None,
                fault=transfer.fault or ("" if transfer.over else "no_upload"),
            )
        )
        return AuditFinding(outcome=verdict.outcome, reason=verdict.reason, units=verdict.mbps)
