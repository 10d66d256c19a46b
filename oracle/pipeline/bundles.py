"""How a member comes to the bundle it builds on: puts one together, takes an offered one, or adopts the one most voted for.

Whoever made a bundle, this member votes for its report only after checking every signature in it against the chain, its
own observation unchanged, and that nothing nodes handed in here is left out.
"""

import structlog

from oracle.consensus.bundle import assemble_bundle, check_bundle
from oracle.consensus.completeness import require_complete
from oracle.consensus.views import AdoptReport
from oracle.model import Bundle, SignedObservation
from oracle.pipeline.hearing import hear_observation
from oracle.pipeline.holding import held_of, kept_observations, pool_of
from oracle.pipeline.member import Member
from oracle.pipeline.names import BUNDLE, BUNDLE_HASH, HELD, PUBLISHED, REPORT_HASH
from oracle.pipeline.sight import Sight
from oracle.publish.bundle import bundle_bytes, parse_bundle
from oracle.publish.observation import content_hash
from oracle.publish.report import PublishedEpoch
from oracle.publish.verdicts import VERDICTS, sign_verdicts
from oracle.store import documents
from swarm_chain.core.encoding import sha256_digest, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ChainState
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Hash32

log = structlog.get_logger()


def assemble(member: Member, sight: Sight, epoch: EpochNumber) -> None:
    """Puts the bundle of an ended epoch together from all evidence held, and keeps it.

    Raises:
        UnavailableError: the end of the epoch is not final, or the report before is not here yet.
        InvalidInputError: the evidence makes no bundle a member may vote on.
    """
    state = _ground(member, sight, epoch)
    previous = _previous_hash(member, state)
    bundle = assemble_bundle(pool_of(member.desk, state, epoch), epoch, state, previous, member.network)
    check_bundle(bundle, state, previous, member.network, _own(member, epoch))
    content = bundle_bytes(bundle)
    documents.save_documents(member.engine, epoch, {BUNDLE: content, BUNDLE_HASH: sha256_digest(content)})
    log.info("bundle_assembled", epoch=epoch, observations=len(bundle.observations), proofs=len(bundle.proofs))


def take_bundle(member: Member, sight: Sight, epoch: EpochNumber, bundle_hash: Hash32) -> None:
    """Checks an offered bundle and keeps it as this member's.

    Raises:
        InvalidInputError: this member must not vote on it.
        UnavailableError: it is not offered any more, or this member cannot check it yet.
    """
    content = member.exchange.bundle(epoch, bundle_hash)
    _checked(member, sight, epoch, content)
    documents.save_documents(member.engine, epoch, {BUNDLE: content, BUNDLE_HASH: bundle_hash})
    log.info("bundle_taken", epoch=epoch, bundle=to_hex(bundle_hash))


def adopt_report(member: Member, sight: Sight, action: AdoptReport) -> None:
    """Builds the report most members voted for and puts it in the place of this member's own.

    Raises:
        InvalidInputError: this member must not vote on its bundle, or it gives another report.
        UnavailableError: it is not offered any more, or this member cannot check it yet.
    """
    content = member.exchange.bundle(action.epoch, action.bundle_hash)
    built = member.archive.rebuild(_checked(member, sight, action.epoch, content))
    if built.report_hash != action.report_hash:
        raise InvalidInputError(
            f"the bundle gives report {to_hex(built.report_hash)}, its member voted for {to_hex(action.report_hash)}",
            code="unfounded_vote",
            fix="nothing: this member keeps its own report",
        )
    hashes = {BUNDLE_HASH: action.bundle_hash, REPORT_HASH: built.report_hash, PUBLISHED: built.report_hash}
    marks = {**hashes, **signed_verdicts(member, built)}
    documents.replace_documents(member.engine, action.epoch, built.documents() | marks, HELD)
    member.archive.adopt(built)
    log.info("report_adopted", epoch=action.epoch, report_hash=to_hex(built.report_hash))


def signed_verdicts(member: Member, built: PublishedEpoch) -> dict[str, bytes]:
    """This member's signed verdicts on a report, as a document; none without a key.

    They are kept in one transaction with the report, before anyone can ask for them.
    """
    if member.signer is None:
        return {}
    return {VERDICTS: sign_verdicts(built.report.epoch, built.passed, member.network, member.signer)}


def _checked(member: Member, sight: Sight, epoch: EpochNumber, content: bytes) -> Bundle:
    bundle = parse_bundle(content)
    if bundle.epoch != epoch:
        raise InvalidInputError(f"the bundle is of epoch {bundle.epoch}, not {epoch}", code="bad_bundle")
    state = _ground(member, sight, epoch)
    check_bundle(bundle, state, _previous_hash(member, state), member.network, _own(member, epoch))
    for signed in bundle.observations:
        hear_observation(member.desk, epoch, signed)  # one that differs from what that member said here is evidence
    _require_signed_one(member, bundle)
    require_complete(bundle, held_of(member.desk, state, epoch), state)
    return bundle


def _require_signed_one(member: Member, bundle: Bundle) -> None:
    """A member whose database is gone still knows what it signed."""
    signed = member.address and member.sign_log.signed(member.address, bundle.epoch)
    shown = {content_hash(one.observation) for one in bundle.observations if one.observation.member == member.address}
    if signed and signed not in shown:
        raise InvalidInputError("this member's own observation is missing or was changed", code="bad_bundle")


def _own(member: Member, epoch: EpochNumber) -> SignedObservation | None:
    return next((o for o in kept_observations(member.desk, epoch) if o.observation.member == member.address), None)


def _ground(member: Member, sight: Sight, epoch: EpochNumber) -> ChainState:
    return member.archive.state_at(member.archive.ref_block(epoch, sight.finalized))


def _previous_hash(member: Member, state: ChainState) -> Hash32:
    previous = member.archive.previous(state)
    return previous.manifest_hash if previous else ZERO_HASH
