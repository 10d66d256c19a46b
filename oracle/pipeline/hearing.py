"""Takes in what other members pass on; checked like what nodes send, and never given a time of this member."""

from collections.abc import Callable
from functools import partial

import structlog

from oracle.consensus.bundle import check_observation
from oracle.judge.windows import commitments_root
from oracle.model import SignedObservation, SignedReceipt
from oracle.pipeline.desk import Desk, require_window
from oracle.pipeline.holding import keep_rooted, rooted_commitments
from oracle.pipeline.intake import check_commitment, check_proof, keep_proof
from oracle.pipeline.job_desk import take_receipt
from oracle.pipeline.names import OBSERVATION, SECOND_OBSERVATION
from oracle.publish.bundle import parse_signed_observation, signed_observation_bytes
from oracle.publish.exchange import Evidence
from oracle.publish.observation import content_hash
from oracle.store import documents, evidence
from swarm_chain.core.encoding import to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import SignedCommitment, SignedProof, WindowRecord
from swarm_chain.core.units import EpochNumber

log = structlog.get_logger()

_OPENED = (WindowState.OPEN, WindowState.CLOSED, WindowState.DRAWN)


def hear_evidence(desk: Desk, epoch: EpochNumber, heard: Evidence) -> int:
    """Keeps the messages that nodes and members really signed and this member can use.

    Args:
        desk: where they are kept.
        epoch: the epoch they must be of.
        heard: what another member passed on.

    Returns:
        How many were refused: members pass on what they took in themselves, so these tell of a liar or of two views of
        the chain.
    """
    return (
        sum(not _heard(partial(_hear_commitment, desk, one)) for one in heard.commitments)
        + sum(not _heard(partial(_hear_proof, desk, one)) for one in heard.proofs)
        + sum(not _heard(partial(_hear_receipt, desk, one)) for one in heard.receipts)
        + sum(not _heard(partial(hear_observation, desk, epoch, one)) for one in heard.observations)
    )


def hear_window(desk: Desk, window: WindowRecord, commitments: tuple[SignedCommitment, ...]) -> bool:
    """Keeps the commitments a closed window's root was made of, if these are they.

    Args:
        desk: where they are kept.
        window: as the chain shows it, closed.
        commitments: what another member says they are.

    Returns:
        False if they make another root, or one of them is not its node's.
    """
    if rooted_commitments(desk, window) is not None:
        return True
    if commitments_root(signed.commitment for signed in commitments) != window.commitments_root:
        return False
    if not all(_heard(partial(check_commitment, desk, one, window)) for one in commitments):
        return False
    keep_rooted(desk, window, commitments)
    return True


def hear_observation(desk: Desk, epoch: EpochNumber, signed: SignedObservation) -> None:
    """Keeps a member's observation; another one of the same member and epoch is kept as evidence against it.

    Args:
        desk: where it is kept.
        epoch: the epoch it must be of.
        signed: what was received.

    Raises:
        InvalidInputError: no member's, of another epoch, or not signed by it.
    """
    check_observation(signed, epoch, desk.sight().state, desk.domain)
    member = signed.observation.member
    kept = documents.document(desk.engine, epoch, OBSERVATION + member)
    if kept is not None and content_hash(parse_signed_observation(kept).observation) == content_hash(
        signed.observation
    ):
        return
    name = OBSERVATION if kept is None else SECOND_OBSERVATION
    if name + member in documents.names(desk.engine, epoch):
        return  # two are proof enough
    documents.save_documents(desk.engine, epoch, {name + member: signed_observation_bytes(signed)})
    if kept is not None:
        log.error("double_observation", member=member, epoch=epoch, second=to_hex(content_hash(signed.observation)))


def _heard(take: Callable[[], None]) -> bool:
    try:
        take()
    except (InvalidInputError, UnavailableError) as error:
        log.debug("heard_evidence_refused", code=error.code, message=error.message)
        return False
    return True


def _hear_commitment(desk: Desk, signed: SignedCommitment) -> None:
    window = require_window(desk.sight(), signed.commitment.window_id, *_OPENED)
    check_commitment(desk, signed, window)
    # Like one that comes from the node too late, it is kept afterwards only if it contradicts another one.
    evidence.save_commitment(desk.engine, signed, None, is_open=window.state is WindowState.OPEN)


def _hear_proof(desk: Desk, signed: SignedProof) -> None:
    check_proof(desk, signed)
    keep_proof(desk, signed, heard=True)


def _hear_receipt(desk: Desk, signed: SignedReceipt) -> None:
    take_receipt(desk, signed.receipt.job_id, signed)
