"""`swarm node bench --submit`: what was measured, signed by the node's key, goes to every member as the node's own word."""

from collections.abc import Sequence
from dataclasses import dataclass

from node.config import NodeSettings
from node.main import node_signer
from node.registration import known_address
from node.suite.metrics import Metric
from swarm_chain.cli.context import Session
from swarm_chain.cli.oracle_client import OracleClient
from swarm_chain.cli.views import chain_time, view
from swarm_chain.core.benchmarks import (
    MAX_FIGURES,
    MAX_NAME,
    BenchmarkReport,
    Figure,
    benchmark_hash,
    figures_json,
)
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.messages import Json
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Hash32, Signature
from swarm_chain.ports import Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Who says it to whom: the node's key, the domain of its messages, every member."""

    session: Session
    signer: Signer
    domain: Hash32
    members: tuple[OracleClient, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What a member did with the report; `refusal` says why it did not take it, `is_newest` that it shows this one now."""

    member: str
    is_newest: bool = False
    refusal: str = ""

    def as_dict(self) -> Json:
        """As `--json` shows it."""
        return {"member": self.member, "isNewest": self.is_newest, "refusal": self.refusal}


def open_submission(session: Session, settings: NodeSettings) -> Submission:
    """Finds all that a submission needs, before minutes are spent on measuring. Nothing is sent.

    Args:
        session: deployment, chain and members.
        settings: the node's, for its key.

    Raises:
        InvalidInputError: no node key, no deployment or no member is named (exit 3), or the node belongs to no provider.
        UnavailableError: the chain does not answer.
    """
    known_address(settings)
    first = session.oracle
    signer, deployment = node_signer(settings), session.deployment
    if not view(session, "ProviderRegistry", "providerIdOfNode", signer.address):
        raise InvalidInputError(
            f"node {signer.address} belongs to no provider", fix="swarm node register", code="unknown_node"
        )
    domain = domain_separator(deployment.chain_id, deployment.contracts["ChallengeBeacon"])
    return Submission(session=session, signer=signer, domain=domain, members=(first, *session.oracles[1:]))


def figures_of(metrics: Sequence[Metric]) -> tuple[Figure, ...]:
    """Give what was measured as it is reported; what was not has no place in a report.

    Args:
        metrics: of the suite.

    Raises:
        InvalidInputError: nothing was measured.
    """
    found = [
        Figure(category=one.category[:MAX_NAME], name=one.name[:MAX_NAME], unit=one.unit[:MAX_NAME], value=one.value)
        for one in metrics
        if one.value is not None
    ]
    if not found:
        raise InvalidInputError(
            "nothing was measured, so nothing is sent", fix="choose another category", code="nothing_measured"
        )
    return tuple(found[:MAX_FIGURES])


def hand_in(submission: Submission, metrics: Sequence[Metric]) -> tuple[Handed, ...]:
    """Signs what was measured, dated by the chain's head, and hands it to every member; one that refuses stops no other.

    Args:
        submission: who says it to whom.
        metrics: what was found.

    Raises:
        InvalidInputError: nothing was measured.
        UnavailableError: the chain does not answer.
    """
    signer = submission.signer
    report = BenchmarkReport(node=signer.address, signed_at=chain_time(submission.session), figures=figures_of(metrics))
    body = benchmark_body(report, signer.sign_typed(submission.domain, benchmark_hash(report)))
    return tuple(_hand_to(member, body) for member in submission.members)


def require_taken(handed: Sequence[Handed], document: Json) -> None:
    """Refuses a submission that no member took.

    Args:
        handed: what became of it; empty where nothing was to be handed in.
        document: what was measured; the error carries it, so that it is not lost.

    Raises:
        SwarmError: no member took it (exit 4).
    """
    if handed and all(one.refusal for one in handed):
        raise SwarmError(
            f"no member took the report: {handed[0].refusal}",
            fix="see what each member says under `submitted`",
            code="not_submitted",
            values=document,
            exit_code=UnavailableError.default_exit_code,
        )


def benchmark_body(report: BenchmarkReport, signature: Signature) -> Json:
    """Body of POST /v1/benchmarks."""
    fields = {"node": report.node, "signedAt": report.signed_at, "figures": figures_json(report)}
    return {"report": fields, "signature": to_hex(signature)}


def _hand_to(member: OracleClient, body: Json) -> Handed:
    try:
        answer = member.post("/v1/benchmarks", body)
    except SwarmError as error:
        return Handed(member=member.name, refusal=error.message)
    return Handed(member=member.name, is_newest=answer.get("duplicate") is False)
