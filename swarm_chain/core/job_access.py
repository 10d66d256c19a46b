"""JobAccess: a customer's request to read what its job made, signed so that nobody else can. Pure.

Source: docs/spec/jobs.md, Gateway.
"""

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import Address, Hash32, JobId, Timestamp

JOB_ACCESS_TYPE = "JobAccess(uint256 jobId,address customer,uint64 issuedAt)"


def job_access_hash(job_id: JobId, customer: Address, issued_at: Timestamp) -> Hash32:
    """Struct hash of a JobAccess; `issued_at` is chain time, at most 30 s off the head when it arrives."""
    return keccak(words(keccak(JOB_ACCESS_TYPE.encode()), job_id, customer, issued_at))


def job_access_digest(domain: Hash32, job_id: JobId, customer: Address, issued_at: Timestamp) -> Hash32:
    """What the customer's key signs (domain: ChallengeBeacon)."""
    return typed_digest(domain, job_access_hash(job_id, customer, issued_at))
