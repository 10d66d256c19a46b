"""Takes in what nodes say about compute: heartbeats, commitments, proofs. Everything is checked before it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from oracle.judge.windows import owed_shapes
from oracle.pipeline.desk import Desk, require_fresh, require_known, require_node, require_window, wrong_state
from oracle.pipeline.holding import rooted_commitments
from oracle.publish.json_codec import dump_signed_proof
from oracle.store import evidence, liveness
from oracle.store.evidence import Instant, Offer, Received, Saved
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, SwarmError, UnavailableError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import Commitment, Heartbeat, SignedCommitment, SignedProof, WindowRecord
from swarm_chain.core.signing import commitment_digest, heartbeat_digest, proof_digest, require_signed_by
from swarm_chain.core.units import Address, Signature

_AFTER_OPEN = (WindowState.CLOSED, WindowState.DRAWN)


def take_heartbeat(desk: Desk, heartbeat: Heartbeat, signature: Signature) -> bool:
    """Keeps a sign of life.

    Returns:
        False if its sequence is not newer than the last one's.

    Raises:
        InvalidInputError: not a live node's, stale, or not signed by the node.
    """
    sight = desk.sight()
    require_node(sight, heartbeat.node)
    longest = desk.network.params.liveness.message_for
    require_fresh(sight.now, heartbeat.issued_at, heartbeat.expires_at, longest)
    require_signed_by(heartbeat.node, heartbeat_digest(desk.domain, heartbeat), signature)
    return liveness.save_heartbeat(desk.engine, heartbeat.node, heartbeat.sequence, desk.instant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A commitment and when its last byte came in."""

    signed: SignedCommitment
    at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A checked commitment, when it came in and the window it is for."""

    signed: SignedCommitment
    at: Instant
    window: WindowRecord


Kept = tuple[Saved, Received]


def arrive(desk: Desk, incoming: Incoming) -> Arrived:
    """Checks a commitment against the chain, before the store is asked.

    Raises:
        InvalidInputError: not a live node's, window not open, another seed than the window's on chain, not the planned
            shape, or not signed by the node.
        UnavailableError: the window is not open here yet.
    """
    sight, commitment = desk.sight(), incoming.signed.commitment
    require_node(sight, commitment.node)
    _require_shape(desk, commitment)
    window = require_window(sight, commitment.window_id, WindowState.OPEN, *_AFTER_OPEN)
    check_commitment(desk, incoming.signed, window)
    return Arrived(signed=incoming.signed, at=incoming.at, window=window)


def keep_commitments(desk: Desk, arrived: Sequence[Arrived]) -> list[Kept | SwarmError]:
    """Keeps commitments with this member's measurement of their arrival, in one transaction.

    Returns:
        For each NEW, DUPLICATE or CONFLICT (another root for the same window and device), and the one that counts; the
        last two also after the window closed: an answer that was lost is given again, and a second root stays evidence.
        In place of them InvalidInputError if the window closed before, UnavailableError if this member cannot measure it.
    """
    sights = evidence.first_sights(desk.engine, {one.window.window_id for one in arrived})
    measured = [_offer(one, sights.get(one.window.window_id)) for one in arrived]
    offers = [offer for offer in measured if isinstance(offer, Offer)]
    kept = iter(evidence.save_commitments(desk.engine, offers) if offers else ())
    return [
        found if isinstance(found, SwarmError) else _unless_late(one, next(kept))
        for one, found in zip(arrived, measured, strict=True)
    ]


def check_commitment(desk: Desk, signed: SignedCommitment, window: WindowRecord) -> None:
    """Refuses a commitment that is not for a window's seed, or not its node's.

    Args:
        desk: chain and domain.
        signed: the commitment.
        window: the window it names.

    Raises:
        InvalidInputError: of no node of the network, another seed than the window's on chain, or not signed by the node.
    """
    require_known(desk.sight(), signed.commitment.node)
    require_signed_by(signed.commitment.node, commitment_digest(desk.domain, signed.commitment), signed.signature)
    _require_seed(window, signed.commitment)


def take_proof(desk: Desk, signed: SignedProof) -> Saved:
    """Keeps the openings of a drawn window; whether they are true is the judge's to say.

    Raises:
        InvalidInputError: not a live node's, window not drawn, too late, no such commitment, or not signed by the node.
        UnavailableError: the window is not drawn here yet.
    """
    sight = desk.sight()
    require_node(sight, signed.proof.node)
    window = check_proof(desk, signed)
    if sight.now >= window.closed_at + desk.network.params.compute.open_for:
        raise wrong_state(window, "closed to openings", "drawn")
    return keep_proof(desk, signed)


def check_proof(desk: Desk, signed: SignedProof) -> WindowRecord:
    """Refuses a proof that is not its node's, of no drawn window, or of nothing that was committed.

    Returns:
        The window it is of.

    Raises:
        InvalidInputError: refused.
        UnavailableError: the window is not drawn here yet.
    """
    proof = signed.proof
    require_known(desk.sight(), proof.node)
    require_signed_by(proof.node, proof_digest(desk.domain, proof), signed.signature)
    window = require_window(desk.sight(), proof.window_id, WindowState.DRAWN)
    _require_commitment(desk, signed, window)
    return window


def keep_proof(desk: Desk, signed: SignedProof, *, heard: bool = False) -> Saved:
    """Keeps checked openings; `heard` from another member."""
    key = (signed.proof.window_id, signed.proof.node, signed.proof.device)
    return evidence.save_proof(desk.engine, key, dump_signed_proof(signed), heard=heard)


def plans_of(desk: Desk, node: Address) -> dict[int, ComputeShape]:
    """Shapes a node's devices owe in the running epoch, by device."""
    own = [plan for plan in desk.plans() if plan.node == node]
    owed = owed_shapes([node], own, desk.network.params.compute)
    return {device: shape for (_, device), shape in owed.items()}


def _require_shape(desk: Desk, commitment: Commitment) -> None:
    shape = plans_of(desk, commitment.node).get(commitment.device)
    have = (commitment.m, commitment.n, commitment.steps)
    if shape is None or have != (shape.m, shape.n, shape.steps):
        want = "no plan" if shape is None else f"({shape.m}, {shape.n}, {shape.steps})"
        raise InvalidInputError(
            f"device {commitment.device} committed to {have}, its plan is {want}",
            code="wrong_shape",
            fix="ask /v1/plans/{node} at the start of each epoch",
        )


def _require_seed(window: WindowRecord, commitment: Commitment) -> None:
    if commitment.window_seed != window.window_seed:
        raise InvalidInputError(
            f"the commitment names another seed than the chain gave window {window.window_id}",
            code="wrong_seed",
            fix="compute again with the seed of /v1/windows/current; compare the node's endpoint if the seeds stay apart",
            values={"have": to_hex(commitment.window_seed), "want": to_hex(window.window_seed)},
        )


def _offer(one: Arrived, opened: Instant | None) -> Offer | SwarmError:
    window = one.window
    if window.state is not WindowState.OPEN:
        return Offer(signed=one.signed, elapsed_ms=1, is_open=False)  # only repeats and evidence are taken
    if opened is None:
        return UnavailableError(f"this member has not seen window {window.window_id} open yet", retry_after=1)
    if opened.boot != one.at.boot or one.at.ms < opened.ms:
        return UnavailableError(
            f"this member saw window {window.window_id} open by another clock and sits it out",
            code="other_clock",
            fix="commit to another member",
            retry_after=30,
        )
    return Offer(signed=one.signed, elapsed_ms=max(one.at.ms - opened.ms, 1))


def _unless_late(one: Arrived, kept: Kept) -> Kept | SwarmError:
    return wrong_state(one.window, "closed to commitments", "open") if kept[0] is Saved.LATE else kept


def _require_commitment(desk: Desk, signed: SignedProof, window: WindowRecord) -> None:
    proof = signed.proof
    received = evidence.root_that_counts(desk.engine, window, proof.node, proof.device)
    rooted = (one.commitment for one in rooted_commitments(desk, window) or ())
    roots = {c.root for c in rooted if (c.node, c.device) == (proof.node, proof.device)} | {received} - {None}
    if not roots:
        raise InvalidInputError("nothing was committed for this window and device in time", code="no_commitment")
    if proof.root not in roots:
        raise InvalidInputError("the proof opens another root than the one committed first", code="wrong_root")
