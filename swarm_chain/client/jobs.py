"""Jobs for customers, in Python: plan, submit, follow, and get results that were checked.

    client = connect_jobs(connection, deployment, signer, gateway_url="http://127.0.0.1:8700")
    file = read_spec_file(Path("job.yaml"))
    job = client.submit(file.spec, max_cost_wei=Wei(5 * 10**18), inputs=file.inputs)
    for piece in client.logs(job.job_id, follow=True):
        print(piece.text, end="")
    client.results(job.job_id, Path("out"))

The chain is believed; a gateway and oracle members are asked, and what they give is compared with the chain.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from swarm_chain.client.escrow import Customer, Escrow
from swarm_chain.client.explain import explain_job
from swarm_chain.client.gateway import Gateway
from swarm_chain.client.logs import follow_log, read_log_now
from swarm_chain.client.model import (
    ChainJob,
    Explanation,
    JobStatus,
    LogPiece,
    Plan,
    Results,
    Submitted,
)
from swarm_chain.client.offers import Terms, make_offer
from swarm_chain.client.peer import HttpPeer
from swarm_chain.client.results import fetch_results
from swarm_chain.client.sources import gateway_source, member_source
from swarm_chain.client.spec_files import InputFile, check_spec
from swarm_chain.client.visits import Visits
from swarm_chain.client.wire import read_spec_hash
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, SwarmError
from swarm_chain.core.jobs import JobSpec, spec_hash
from swarm_chain.core.model import TxOutcome
from swarm_chain.core.units import Hash32, JobId, Wei
from swarm_chain.ports import Clock

T = TypeVar("T")


class JobClient:
    """A customer's jobs. Methods raise the four families of errors; every message says what to do.

    Args:
        escrow: the chain.
        customer: who pays and reads.
        gateway: places jobs and keeps what they make; None: specs go to the members, and any node may take the job.
        members: oracle members, best first.
        clock: how to wait.
    """

    def __init__(
        self, escrow: Escrow, customer: Customer, gateway: Gateway | None, members: Sequence[HttpPeer], clock: Clock
    ) -> None:
        self._escrow, self._customer, self._clock = escrow, customer, clock
        self._gateway, self._members = gateway, tuple(members)

    def plan(self, spec: JobSpec, inputs: Sequence[InputFile] = ()) -> Plan:
        """Where a spec would run and what that costs, or what is missing; nothing is posted.

        Args:
            spec: the job; the gateway is named in it if it names none.
            inputs: files it reads; sent only if the gateway cannot plan without them.

        Raises:
            InvalidInputError: no gateway, or a spec it refuses.
            InconsistentError: it planned another spec.
        """
        return self._plan(self._addressed(spec), inputs)

    def submit(
        self, spec: JobSpec, max_cost_wei: Wei, inputs: Sequence[InputFile] = (), terms: Terms | None = None
    ) -> Submitted:
        """Posts a job: plan, inputs, spec, budget. Repeating it after any failure pays once.

        Args:
            spec: the job.
            max_cost_wei: most it may cost; compared with the plan before anything is sent.
            inputs: files it reads.
            terms: budget and times.

        Raises:
            InvalidInputError: too expensive (above_max_cost), or a budget below the plan's price.
            UnavailableError: no node can run it now (no_node).
            RejectedError: less SWM than the budget.
            InconsistentError: gateway or member kept another spec.
        """
        terms, spec = terms or Terms(), self._addressed(check_spec(spec.document(), inputs))
        document = spec.document()
        hashed = spec_hash(document)
        gateway = spec.gateway_address
        twin = None if terms.again else self._escrow.twin(self._customer.address, hashed)
        if twin is not None:
            return Submitted(
                job_id=twin.job_id, posted=False, spec_hash=hashed, budget_wei=twin.budget_wei, gateway=gateway
            )
        plan = None if self._gateway is None else self._plan(spec, inputs)
        offer = make_offer(spec.job_kind, plan, max_cost_wei, self._escrow.params.min_budget_wei, terms)
        self._escrow.require_funds(self._customer.address, offer.budget_wei)
        if terms.approve is not None:
            terms.approve(offer, plan)
        self._register(spec, inputs)
        outcome = self._escrow.post(self._customer, hashed, offer)
        return Submitted(
            job_id=_posted_id(outcome),
            posted=True,
            spec_hash=hashed,
            budget_wei=offer.budget_wei,
            gateway=gateway,
            plan=plan,
            outcome=outcome,
        )

    def status(self, job_id: int) -> JobStatus:
        """Where a job is. Whoever is away or knows nothing is named with the reason, never an error.

        Raises:
            InvalidInputError: there is no such job.
        """
        job = self._escrow.job(job_id)
        gateway, gateway_silent = _heard(lambda: self._named_gateway().word(job.job_id))
        judgement, judgement_silent = _heard(lambda: self._member().get(f"/v1/jobs/{job_id}"))
        return JobStatus(
            job=job,
            gateway=gateway,
            gateway_silent=gateway_silent,
            judgement=judgement,
            judgement_silent=judgement_silent,
        )

    def logs(self, job_id: int, *, follow: bool = False, most_for: int | None = None) -> Iterator[LogPiece]:
        """What the job said so far, piece by piece; only its customer may read it.

        Args:
            job_id: a job of this customer.
            follow: goes on until the log or the job ends.
            most_for: seconds to follow at most; None: no end.

        Raises:
            InvalidInputError: no gateway, no such job, or somebody else's.
            UnavailableError: the gateway does not answer.
        """
        gateway, job = self._named_gateway(), self._escrow.job(job_id)
        visits = self._visits(job)

        def ask(offset: int) -> LogPiece:
            return gateway.log(job.job_id, offset, visits.headers())

        if not follow:
            return read_log_now(ask)
        return follow_log(ask, lambda: self._escrow.job(job_id).state, self._clock, most_for)

    def results(self, job_id: int, folder: Path) -> Results:
        """Files of a completed job, checked against the receipt that the chain recorded.

        Args:
            job_id: a completed job.
            folder: gets `receipt.json`, `result` (the last content) and `contents/` (all of them, from a gateway).

        Raises:
            InvalidInputError: it is not completed, it failed, or nobody is named who could have it.
            InconsistentError: whoever answered gave something else; nothing was written.
            UnavailableError: nobody answered.
        """
        job = self._escrow.job(job_id)
        sources = [member_source(self._escrow, job, member) for member in self._members]
        if self._gateway is not None:
            sources.insert(0, gateway_source(self._escrow, job, self._gateway, self._visits(job)))
        if not sources:
            self._member()
        return fetch_results(job, sources, folder)

    def cancel(self, job_id: int) -> TxOutcome:
        """Takes the budget back of a job that nobody accepted, or that missed its deadline.

        Raises:
            InvalidInputError: not yet, or the job is over.
        """
        return self._escrow.take_back(self._customer, self._escrow.job(job_id))

    def explain(self, job_id: int) -> Explanation:
        """Why the job is where it is, and what to do."""
        return explain_job(self.status(job_id), self._escrow.now)

    def upload_input(self, content: bytes) -> Hash32:
        """Leaves bytes with the gateway, for the `inputs` of a spec.

        Returns:
            Their hash; as hex it is what `inputs` lists.
        """
        hashed = keccak(content)
        self._named_gateway().keep_blob(hashed, content)
        return hashed

    def _plan(self, spec: JobSpec, inputs: Sequence[InputFile]) -> Plan:
        gateway, document = self._named_gateway(), spec.document()
        try:
            plan = gateway.plan(document)
        except InvalidInputError as error:
            if error.code != "unknown_input" or not inputs:
                raise
            self._upload(inputs)  # this program's price depends on what is in them
            plan = gateway.plan(document)
        _require_same(spec_hash(document), plan.spec_hash, f"gateway {gateway.name} planned")
        if not plan.missing and not plan.nodes:
            plan = replace(plan, missing=("the gateway names no node",))
        return plan

    def _register(self, spec: JobSpec, inputs: Sequence[InputFile]) -> None:
        """Whoever is to serve the spec has it before it is paid: the gateway if one is named, else a member."""
        document = spec.document()
        hashed = spec_hash(document)
        if self._gateway is not None:
            self._upload(inputs)
            _require_same(hashed, self._gateway.keep_spec(document), f"gateway {self._gateway.name} kept")
            return
        if inputs:
            raise InvalidInputError(
                "the spec has input_files, and only a gateway keeps them",
                fix="give --gateway-url or set SWARM_GATEWAY_URL",
                code="no_gateway",
            )
        member = self._member()
        answer = member.post("/v1/jobs/specs", {"spec": document})
        _require_same(hashed, read_spec_hash(answer), f"oracle {member.name} kept")

    def _upload(self, inputs: Sequence[InputFile]) -> None:
        for file in inputs:
            self.upload_input(file.read())

    def _addressed(self, spec: JobSpec) -> JobSpec:
        """The spec with the gateway named in it, so that its signature is needed."""
        if self._gateway is None:
            if spec.gateway is None:
                return spec
            raise InvalidInputError(
                f"the spec wants the signature of gateway {spec.gateway}",
                fix="give its URL with --gateway-url, or leave `gateway` out of the spec",
                code="no_gateway",
            )
        address = self._gateway.info(self._escrow.deployment.chain_id).address
        if spec.gateway_address not in {None, address}:
            raise InvalidInputError(
                f"the spec names gateway {spec.gateway_address}, {self._gateway.name} is {address}",
                fix="leave `gateway` out of the spec, or give that gateway's --gateway-url",
                code="other_gateway",
            )
        return replace(spec, gateway=address)

    def _visits(self, job: ChainJob) -> Visits:
        return Visits(self._escrow, self._customer, self._clock, job.job_id)

    def _named_gateway(self) -> Gateway:
        if self._gateway is None:
            raise InvalidInputError(
                "no gateway is named", fix="give --gateway-url or set SWARM_GATEWAY_URL", code="no_gateway", exit_code=3
            )
        return self._gateway

    def _member(self) -> HttpPeer:
        if not self._members:
            raise InvalidInputError(
                "no oracle is named", fix="give --oracle-url or set SWARM_ORACLE_URL", code="no_oracle", exit_code=3
            )
        return self._members[0]


def _heard(ask: Callable[[], T]) -> tuple[T | None, str | None]:
    """An answer, or why there is none: nobody's silence hides what the chain says."""
    try:
        return ask(), None
    except SwarmError as error:
        return None, error.message


def _require_same(expected: Hash32, found: Hash32, what: str) -> None:
    if found != expected:
        raise InconsistentError(
            f"{what} another spec than {to_hex(expected)}; nothing was paid",
            fix="ask another one (--gateway-url, --oracle-url)",
            code="spec_mismatch",
        )


def _posted_id(outcome: TxOutcome) -> JobId:
    found = next((event.args["jobId"] for event in outcome.events if event.name == "JobPosted"), None)
    if not isinstance(found, int):
        raise InconsistentError(f"transaction {to_hex(outcome.hash)} posted no job", code="no_job")
    return JobId(found)
