"""The desk of a gateway: what customers and nodes bring is checked here, kept, and only then answered."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.canaries import files_as_inputs
from gateway.candidates import Measured, candidates, why_not
from gateway.chain import Sight
from gateway.model import Candidate, Terms
from gateway.store import nodes as node_store
from gateway.store import specs as spec_store
from gateway.store.engine import Database
from gateway.store.files import Files, Incoming
from gateway.store.jobs import stored_bytes
from gateway.store.specs import KeptSpec
from swarm_chain.core.encoding import canonical_json
from swarm_chain.core.errors import InvalidInputError, RejectedError, UnavailableError
from swarm_chain.core.gateway import MAX_SKEW_FOR, NodeAnnouncement, announcement_digest
from swarm_chain.core.jobs import JobSpec, parse_job_spec, spec_hash
from swarm_chain.core.signing import require_signed_by
from swarm_chain.core.units import Hash32, Signature, Timestamp
from swarm_chain.ports import Signer
from swarm_chain.reference.programs.registry import open_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Lids:
    """How much a gateway keeps: bytes of one input, of one job's contents, of one job's log, of everything; specs."""

    blob_bytes: int
    job_bytes: int
    log_bytes: int
    store_bytes: int
    specs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A gateway: its key, its view of the chain, its store. `domain` is that of ChallengeBeacon."""

    domain: Hash32
    signer: Signer
    sight: Callable[[], Sight]
    database: Database
    files: Files
    terms: Terms
    lids: Lids
    measured: Callable[[], Measured]


def take_announcement(desk: Desk, announcement: NodeAnnouncement, signature: Signature) -> None:
    """Keeps what a node offers.

    Raises:
        InvalidInputError: not signed by the node, not of now, older than what is kept, or the chain does not let the node
            have jobs.
    """
    require_signed_by(announcement.node, announcement_digest(desk.domain, announcement), signature)
    sight = desk.sight()
    require_fresh(announcement.issued_at, sight.now)
    reason = why_not(sight.state, announcement.node)
    if reason:
        raise InvalidInputError(
            f"node {announcement.node} {reason}", fix="see `swarm provider show`", code="not_eligible"
        )
    if not node_store.keep_announcement(desk.database, announcement, signature):
        raise InvalidInputError("a newer announcement of this node is here", fix="sign a new one", code="stale")


def candidates_now(desk: Desk) -> tuple[Candidate, ...]:
    """Nodes that may be given jobs now."""
    announced = node_store.announcements(desk.database)
    return candidates(desk.sight().state, announced, node_store.assignments(desk.database), desk.measured())


def read_spec(desk: Desk, document: object) -> tuple[JobSpec, KeptSpec]:
    """Checks a spec, its program and that its inputs are here; keeps nothing.

    Raises:
        InvalidInputError: it is none, it names another gateway, or an input is not here.
    """
    spec = parse_job_spec(document)
    own = desk.signer.address
    if spec.gateway_address not in {None, own}:
        raise InvalidInputError(
            f"the spec names gateway {spec.gateway}", fix=f"ask that one, or set gateway to {own}", code="other_gateway"
        )
    units = open_program(spec, files_as_inputs(input_files(desk, spec))).units
    whole = spec.document()
    kept = KeptSpec(spec_hash=spec_hash(whole), document=canonical_json(whole), program=spec.program, units=units)
    return spec, kept


def take_spec(desk: Desk, document: object) -> KeptSpec:
    """Keeps the spec of a job that is to be posted.

    Raises:
        InvalidInputError: as `read_spec`.
        UnavailableError: too many specs are here.
    """
    _, kept = read_spec(desk, document)
    known = spec_store.find_spec(desk.database, kept.spec_hash)
    if known is None and spec_store.count_specs(desk.database) >= desk.lids.specs:
        raise UnavailableError(
            "this gateway keeps no more specs", fix="ask another gateway", code="specs_full", retry_after=600
        )
    spec_store.keep_spec(desk.database, kept, desk.sight().now)
    return kept


def kept_spec(desk: Desk, wanted: Hash32) -> JobSpec | None:
    """A spec that is here."""
    found = spec_store.find_spec(desk.database, wanted)
    return None if found is None else parse_job_spec(json.loads(found.document))


def input_files(desk: Desk, spec: JobSpec) -> Mapping[Hash32, Path]:
    """Files of those inputs of a spec that are here."""
    here = (one for one in spec.input_hashes if spec_store.blob_size(desk.database, one) is not None)
    return {content: desk.files.blob(content) for content in here}


def take_blob(desk: Desk, wanted: Hash32, incoming: Incoming) -> int:
    """Keeps an input that came whole.

    Returns:
        Its bytes.

    Raises:
        InvalidInputError: these are other bytes (code wrong_hash).
        UnavailableError: nothing more finds room.
    """
    require_hash(wanted, incoming.hash)
    if spec_store.blob_size(desk.database, wanted) is None:
        require_room(desk, incoming.size)
        incoming.keep(desk.files.blob(wanted))
        spec_store.keep_blob(desk.database, wanted, incoming.size, desk.sight().now)
    return incoming.size


def blob_path(desk: Desk, wanted: Hash32) -> Path:
    """File of an input.

    Raises:
        InvalidInputError: it is not here (code unknown_blob).
    """
    if spec_store.blob_size(desk.database, wanted) is None:
        raise InvalidInputError("this input is not here", fix="upload it first", code="unknown_blob")
    return desk.files.blob(wanted)


def require_room(desk: Desk, size: int) -> None:
    """Raises UnavailableError if so many bytes more find no room in the store."""
    if stored_bytes(desk.database) + size > desk.lids.store_bytes:
        raise UnavailableError(
            "this gateway's store is full",
            fix="try again later, or another gateway",
            code="store_full",
            retry_after=600,
        )


def require_hash(named: Hash32, actual: Hash32) -> None:
    """Raises InvalidInputError unless bytes have the hash they were named by."""
    if named != actual:
        raise InvalidInputError(
            f"these bytes have the hash 0x{actual.hex()}", fix="name and sign that hash", code="wrong_hash"
        )


def require_fresh(issued_at: Timestamp, now: Timestamp) -> None:
    """Raises InvalidInputError unless something was signed now, by chain time."""
    if abs(issued_at - now) > MAX_SKEW_FOR:
        raise InvalidInputError(
            f"issuedAt {issued_at} is not within {MAX_SKEW_FOR} s of the chain's head at {now}",
            fix="sign again with the time of the latest block",
            code="stale",
        )


def refused(message: str, code: str, fix: str = "", values: Mapping[str, Any] | None = None) -> RejectedError:
    """What is well-formed and yet contradicts what is here (409)."""
    return RejectedError(message, fix=fix, code=code, values=values)
