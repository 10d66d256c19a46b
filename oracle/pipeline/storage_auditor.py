"""How a member audits storage: a claim is what the node confirmed, an answer is the digest over the blocks it read."""

from collections.abc import Sequence

from oracle.judge.storage import StorageCase, judge_storage
from oracle.pipeline.volumes import Volumes
from oracle.store.audits import Audit, AuditFinding
from swarm_chain.core.audits import AuditRequest
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import StorageAnswer, StorageAudit, blocks_of_mb, proven_mb

OTHER_CLOCK = "other_clock"
NO_VOLUME = "no_volume"


class StorageAuditor:
    """Audits stored volumes (docs/spec/storage.md).

    Args:
        volumes: what this member gave out.
    """

    def __init__(self, volumes: Volumes) -> None:
        self._volumes = volumes
        self._params = volumes.desk.network.params.storage

    def limit_ms(self, claim: int) -> int:
        """How long an answer may take, whatever is claimed.

        Raises:
            InvalidInputError: no volume has so many MB.
        """
        if blocks_of_mb(claim) > self._params.max_blocks:
            most = proven_mb(self._params.max_blocks)
            raise InvalidInputError(f"a volume has at most {most} MB", fix="claim what is confirmed", code="bad_claim")
        return self._params.limit_ms

    def admit(self, request: AuditRequest) -> None:
        """Refuses a claim of anything but what the node has confirmed to this member.

        Raises:
            InvalidInputError: it has confirmed another number of MB (code "other_confirmed", values: claim).
            UnavailableError: the secret is missing.
        """
        found = self._volumes.current(request.node)
        confirmed_mb = 0 if found is None else proven_mb(found[0].ledger.confirmed)
        if request.claim != confirmed_mb:
            raise InvalidInputError(
                f"{request.claim} MB are claimed where {confirmed_mb} MB are confirmed here",
                fix=f"claim {confirmed_mb} MB" if confirmed_mb else "fetch and confirm blocks first",
                code="other_confirmed",
                values={"claim": confirmed_mb},
            )

    def judge(self, audits: Sequence[Audit]) -> tuple[AuditFinding, ...]:
        """What answers are worth, in MB.

        Raises:
            UnavailableError: the secret is missing.
        """
        return tuple(map(self._judge, audits))

    def _judge(self, audit: Audit) -> AuditFinding:
        if audit.root is None or audit.elapsed_ms is None:
            return AuditFinding(outcome=Outcome.MISSING, reason=OTHER_CLOCK if audit.root else "no_answer")
        found, wanted = self._volumes.current(audit.node), blocks_of_mb(audit.claim)
        if found is None or found[0].ledger.confirmed < wanted:  # retired, or begun anew, since it was asked
            return AuditFinding(outcome=Outcome.MISSING, reason=NO_VOLUME)
        kept, key = found
        asked = StorageAudit(volume=key.volume, blocks=wanted, nonce=audit.nonce, reads=self._params.reads)
        # The digest is over volume, blocks and nonce too, so it answers this audit or none.
        answer = StorageAnswer(volume=key.volume, blocks=wanted, nonce=audit.nonce, digest=audit.root)
        case = StorageCase(
            key=key,
            audit=asked,
            uploaded=kept.ledger.confirmed,
            params=self._params,
            elapsed_ms=audit.elapsed_ms,
            answer=answer,
        )
        verdict = judge_storage(case)
        return AuditFinding(outcome=verdict.outcome, reason=verdict.reason, units=verdict.mb)
