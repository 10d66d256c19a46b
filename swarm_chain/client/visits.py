"""A customer's signed requests to read one job."""

from collections.abc import Mapping
from typing import Final

from swarm_chain.client.escrow import Customer, Escrow
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.gateway import CUSTOMER_HEADER, ISSUED_AT_HEADER, SIGNATURE_HEADER, JobAccess, access_hash
from swarm_chain.core.units import JobId
from swarm_chain.ports import Clock

RENEW_MS: Final = 10_000  # a gateway takes them for 30 s of chain time


class Visits:
    """Headers of JobAccess, signed anew before they grow old.

    Args:
        escrow: the chain, whose time counts.
        customer: who reads.
        clock: when to sign anew.
        job_id: what is read.
    """

    def __init__(self, escrow: Escrow, customer: Customer, clock: Clock, job_id: JobId) -> None:
        self._escrow, self._customer, self._clock, self._job_id = escrow, customer, clock, job_id
        self._headers: Mapping[str, str] = {}
        self._signed_at_ms = 0

    def headers(self) -> Mapping[str, str]:
        """What a gateway wants to see now."""
        now_ms = self._clock.monotonic_ms()
        if not self._headers or now_ms - self._signed_at_ms > RENEW_MS:
            address, issued_at = self._customer.address, self._escrow.now
            access = JobAccess(job_id=self._job_id, customer=address, issued_at=issued_at)
            signature = to_hex(self._customer.sign_typed(self._escrow.domain, access_hash(access)))
            self._headers = {
                CUSTOMER_HEADER: address,
                ISSUED_AT_HEADER: str(issued_at),
                SIGNATURE_HEADER: signature,
            }
            self._signed_at_ms = now_ms
        return self._headers
