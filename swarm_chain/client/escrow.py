"""JobEscrow as a customer uses it: look at jobs, post one once, take one back."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from swarm_chain.client.model import ChainJob, Offer
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import ContractCall, Deployment, TxOutcome
from swarm_chain.core.params import EscrowParams
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Address, Hash32, JobId, ProviderId, Signature, Timestamp, Wei, format_swm
from swarm_chain.params import load_params
from swarm_chain.ports import ChainReader

# A job in one of these is the answer to a repeated command; refunded and cancelled ones may be tried again.
_STANDS = frozenset({JobState.POSTED, JobState.ACCEPTED, JobState.COMPLETED, JobState.PAID})


class Customer(Protocol):
    """Whoever pays for jobs."""

    @property
    def address(self) -> Address:
        """Account that pays."""
        ...

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """As Signer.sign_typed."""
        ...

    def send(self, call: ContractCall, effect: str) -> TxOutcome:
        """Outcome of a transaction that succeeded; RejectedError if it did not. `effect` says in words what it does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Escrow:
    """The chain as far as jobs go."""

    reader: ChainReader
    deployment: Deployment

    @property
    def domain(self) -> Hash32:
        """EIP-712 domain of receipts and of what customers sign."""
        return domain_separator(self.deployment.chain_id, self.deployment.contracts["ChallengeBeacon"])

    @property
    def params(self) -> EscrowParams:
        """Least budget and time to judge, as the deployment has them."""
        return load_params(self.deployment.params).escrow

    @property
    def now(self) -> Timestamp:
        """Chain time."""
        return self.reader.block("latest").timestamp

    def job(self, job_id: int) -> ChainJob:
        """A job.

        Raises:
            InvalidInputError: there is no such job.
        """
        count = self._view("JobEscrow", "jobCount")
        if not 1 <= job_id <= count:
            fix = f"give an id from 1 to {count}" if count else "no job was posted yet: swarm job submit SPEC"
            raise InvalidInputError(f"unknown job {job_id}", fix=fix, code="unknown_job")
        return self._job(JobId(job_id))

    def jobs(self) -> Iterator[ChainJob]:
        """All jobs, newest first."""
        for number in range(self._view("JobEscrow", "jobCount"), 0, -1):
            yield self._job(JobId(number))

    def twin(self, customer: Address, spec_hash: Hash32) -> ChainJob | None:
        """The newest job of a customer with this spec that waits, runs or was paid: what a repeated command finds."""
        ours = (job for job in self.jobs() if (job.customer, job.spec_hash) == (customer, spec_hash))
        return next((job for job in ours if job.state in _STANDS), None)

    def require_funds(self, customer: Address, budget_wei: Wei) -> None:
        """Raises RejectedError if the customer has less SWM than the budget."""
        have = self._view("SwarmToken", "balanceOf", customer)
        if have < budget_wei:
            raise RejectedError(
                f"{customer} has {format_swm(have)} SWM, not {format_swm(budget_wei)} SWM",
                fix=f"offer less, or get SWM (on a local chain: swarm dev faucet {customer})",
                code="insufficient_balance",
                values={"balanceWei": str(have), "neededWei": str(budget_wei)},
            )

    def post(self, customer: Customer, spec_hash: Hash32, offer: Offer) -> TxOutcome:
        """Lets escrow take the budget, unless it already may, then posts the job.

        Raises:
            RejectedError: the customer has less SWM than the budget, or the chain refuses.
        """
        self.require_funds(customer.address, offer.budget_wei)
        escrow, amount = self.deployment.contracts["JobEscrow"], f"{format_swm(offer.budget_wei)} SWM"
        if self._view("SwarmToken", "allowance", customer.address, escrow) < offer.budget_wei:
            approve = ContractCall(contract="SwarmToken", function="approve", args=(escrow, offer.budget_wei))
            customer.send(approve, f"let escrow take {amount} (1 of 2)")
        args = (int(offer.kind), spec_hash, offer.budget_wei, offer.accept_for, offer.run_for)
        post = ContractCall(contract="JobEscrow", function="post", args=args)
        return customer.send(post, f"post the job and lock {amount} for it")

    def take_back(self, customer: Customer, job: ChainJob) -> TxOutcome:
        """Cancels a job that nobody accepted, or collects the refund of one that missed its deadline.

        Raises:
            InvalidInputError: its node may still complete it, its members may still judge it, or it is over.
        """
        amount = f"{format_swm(job.budget_wei)} SWM return"
        if job.state is JobState.POSTED:
            call = ContractCall(contract="JobEscrow", function="cancel", args=(job.job_id,))
            return customer.send(call, f"cancel job {job.job_id}; {amount}")
        deadline = deadline_of(job)
        if deadline is None:
            raise InvalidInputError(
                f"job {job.job_id} is {job.state.name.lower()}: there is nothing to take back", code="job_over"
            )
        if self.now < deadline:
            raise InvalidInputError(
                f"job {job.job_id} is {job.state.name.lower()}: it cannot be taken back for {deadline - self.now} s more",
                fix="repeat this when its deadline has passed; it may be paid before",
                code="deadline_not_passed",
                values={"deadline": deadline},
            )
        call = ContractCall(contract="JobEscrow", function="refund", args=(job.job_id,))
        return customer.send(call, f"collect the refund of job {job.job_id}; {amount}")

    def _job(self, job_id: JobId) -> ChainJob:
        record = self._view("JobEscrow", "job", job_id)
        return ChainJob(
            job_id=job_id,
            state=JobState(record["state"]),
            kind=JobKind(record["kind"]),
            customer=record["customer"],
            provider_id=ProviderId(record["providerId"]),
            node=record["node"],
            budget_wei=Wei(record["budget"]),
            accept_by=Timestamp(record["acceptBy"]),
            complete_by=Timestamp(record["completeBy"]),
            judge_by=Timestamp(record["judgeBy"]),
            spec_hash=record["specHash"],
            receipt_digest=record["receiptDigest"],
        )

    def _view(self, contract: str, function: str, *args: object) -> Any:
        return self.reader.call(ContractCall(contract=contract, function=function, args=args))


def deadline_of(job: ChainJob) -> Timestamp | None:
    """When anybody may have the budget of an accepted or completed job sent back; None in other states."""
    return {JobState.ACCEPTED: job.complete_by, JobState.COMPLETED: job.judge_by}.get(job.state)
