"""From a spec file to a posted job: read, checked, registered at the oracle, paid into escrow."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import swm
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import token_balance, view
from swarm_chain.core.encoding import hash_from_hex, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError
from swarm_chain.core.jobs import MAX_SPEC_BYTES, JobSpec, parse_job_spec, spec_hash
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.model import ContractCall, TxOutcome
from swarm_chain.core.units import Hash32, JobId, Wei
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOffer:
    """What a customer offers: kind, budget and the node's times, seconds."""

    kind: JobKind
    budget_wei: Wei
    accept_for: int
    run_for: int


def read_spec(path: Path) -> JobSpec:
    """A spec file, checked.

    Args:
        path: YAML (.yaml, .yml) or JSON.

    Raises:
        InvalidInputError: unreadable, too large, not YAML or JSON, or no spec a node would run.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"cannot read the spec {path}", fix="name a text file that exists") from error
    if len(text) > MAX_SPEC_BYTES:
        raise InvalidInputError(f"the spec has more than {MAX_SPEC_BYTES} bytes", fix="a spec is a page at most")
    document = _parse_yaml(text) if path.suffix in {".yaml", ".yml"} else _parse_json(text)
    spec = parse_job_spec(document)
    open_program(spec, inputs_of({}))
    return spec


def register_spec(session: Session, document: dict[str, Any]) -> Hash32:
    """Leaves the spec with the oracle, which serves it to nodes; the same spec twice is one spec.

    Raises:
        InconsistentError: the oracle kept something else.
    """
    expected = spec_hash(document)
    answer = session.oracle.post("/v1/jobs/specs", {"spec": document})
    if hash_from_hex(str(answer.get("specHash"))) != expected:
        raise InconsistentError(
            f"the oracle kept another spec than {to_hex(expected)}; nothing was paid",
            fix="ask another oracle member (--oracle-url)",
            code="spec_mismatch",
        )
    return expected


def posted_twin(session: Session, wanted: Hash32) -> JobId | None:
    """A job of the same customer with the same spec that still waits for a node: what a repeated command finds."""
    customer = own_address(session)
    for number in range(view(session, "JobEscrow", "jobCount"), 0, -1):
        record = view(session, "JobEscrow", "job", number)
        if (record["state"], record["customer"], record["specHash"]) == (JobState.POSTED, customer, wanted):
            return JobId(number)
    return None


def pay_in(session: Session, spec: Hash32, offer: JobOffer) -> TxOutcome:
    """Lets escrow take the budget, unless it already may, then posts the job.

    Raises:
        RejectedError: the customer has less SWM than the budget.
    """
    customer, escrow = own_address(session), session.deployment.contracts["JobEscrow"]
    have = token_balance(session, customer)
    if have < offer.budget_wei:
        raise RejectedError(
            f"{customer} has {swm(have)}, not {swm(offer.budget_wei)}",
            fix=f"offer less, or get SWM (on a local chain: swarm dev faucet {customer})",
            code="insufficient_balance",
            values={"balanceWei": str(have), "neededWei": str(offer.budget_wei)},
        )
    if view(session, "SwarmToken", "allowance", customer, escrow) < offer.budget_wei:
        approve = ContractCall(contract="SwarmToken", function="approve", args=(escrow, offer.budget_wei))
        send(session, Intent(call=approve, effect=f"let escrow take {swm(offer.budget_wei)} (1 of 2)"))
    args = (int(offer.kind), spec, offer.budget_wei, offer.accept_for, offer.run_for)
    post = ContractCall(contract="JobEscrow", function="post", args=args)
    return send(session, Intent(call=post, effect=f"post the job and lock {swm(offer.budget_wei)} for it"))


def _parse_yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidInputError("the spec is no YAML", fix=_first_line(error), code="invalid_spec") from error


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInputError("the spec is no JSON", fix=_first_line(error), code="invalid_spec") from error


def _first_line(error: BaseException) -> str:
    return f"correct it: {' '.join(str(error).split())[:200]}"
