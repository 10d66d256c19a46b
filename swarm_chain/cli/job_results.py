"""The result of a job, believed only if it is what the receipt on chain names: nobody between node and customer can swap it."""

from collections.abc import Mapping
from typing import Any

from swarm_chain.cli.context import Session
from swarm_chain.core.encoding import hash_from_hex, keccak
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import domain_separator, receipt_digest
from swarm_chain.core.units import Address, Hash32, JobId, Timestamp


def fetch_result(session: Session, job_id: JobId, on_chain: Hash32) -> bytes:
    """Bytes of the last checkpoint.

    Args:
        session: names the oracle and the deployment.
        job_id: a job of the escrow.
        on_chain: digest of the receipt as JobEscrow recorded it; zero before completion.

    Raises:
        InvalidInputError: the job is not completed, or it failed and has no result.
        InconsistentError: the receipt is not the one on chain, or the bytes are not its output.
    """
    if not any(on_chain):
        raise InvalidInputError(
            f"job {job_id} has no result yet", fix=f"wait for it: swarm job status {job_id} --wait", code="no_result"
        )
    domain = domain_separator(session.deployment.chain_id, session.deployment.contracts["ChallengeBeacon"])
    receipt, digest = _receipt(job_id, session.oracle.get(f"/v1/jobs/{job_id}").get("receipt"), domain)
    if digest != on_chain:
        raise _swapped(job_id, "the receipt is not the one on chain")
    if receipt.exit_code != 0:
        raise InvalidInputError(
            f"job {job_id} failed on its node (exit code {receipt.exit_code}): there is no result",
            fix="its budget returns; change the spec and submit it again",
            code="job_failed",
        )
    content = session.oracle.get_bytes(f"/v1/jobs/{job_id}/result")
    if keccak(content) != receipt.output_digest:
        raise _swapped(job_id, "the bytes are not the output that the receipt names")
    return content


def _receipt(job_id: JobId, document: Any, domain: Hash32) -> tuple[Receipt, Hash32]:
    try:
        receipt = _parsed(document)
        return receipt, receipt_digest(domain, receipt)
    except (AttributeError, KeyError, TypeError, ValueError, InvalidInputError) as error:
        raise _swapped(job_id, f"its receipt is malformed ({error})") from error


def _parsed(document: Mapping[str, Any]) -> Receipt:
    return Receipt(
        job_id=JobId(int(document["jobId"])),
        kind=JobKind(int(document["kind"])),
        node=Address(str(document["node"])),
        spec_hash=hash_from_hex(str(document["specHash"])),
        input_digest=hash_from_hex(str(document["inputDigest"])),
        output_digest=hash_from_hex(str(document["outputDigest"])),
        checkpoint_root=hash_from_hex(str(document["checkpointRoot"])),
        checkpoint_count=int(document["checkpointCount"]),
        device_seconds=int(document["deviceSeconds"]),
        started_at=Timestamp(int(document["startedAt"])),
        finished_at=Timestamp(int(document["finishedAt"])),
        exit_code=int(document["exitCode"]),
    )


def _swapped(job_id: JobId, why: str) -> InconsistentError:
    return InconsistentError(
        f"the oracle's result of job {job_id} is wrong: {why}; nothing was written",
        fix="ask another oracle member (--oracle-url) and report this one",
        code="result_mismatch",
        values={"jobId": job_id},
    )
