"""Assembling the evidence bundle, and every check a member makes before it builds a report on one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oracle.judge.windows import find_equivocations
from oracle.model import (
    Bundle,
    DoubleObservation,
    Equivocation,
    Network,
    SignedObservation,
    SignedReceipt,
)
from oracle.publish.bundle import require_ordered
from oracle.publish.json_codec import commitment_key, proof_key
from oracle.publish.observation import content_hash, signing_digest
from swarm_chain.core.encoding import address_bytes
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import ChainState, Commitment, SignedCommitment, SignedProof
from swarm_chain.core.signing import (
    commitment_digest,
    commitment_hash,
    domain_separator,
    proof_digest,
    receipt_digest,
    require_signed_by,
)
from swarm_chain.core.units import Address, EpochNumber, Hash32, WindowId, epoch_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePool:
    """What a leader holds: `commitments` those fixed in the windows' roots, `doubles` other ones of the same devices.

    Of a member that signed two observations both are in `observations`.
    """

    observations: tuple[SignedObservation, ...] = ()
    commitments: tuple[SignedCommitment, ...] = ()
    doubles: tuple[SignedCommitment, ...] = ()
    proofs: tuple[SignedProof, ...] = ()
    receipts: tuple[SignedReceipt, ...] = ()


def assemble_bundle(
    pool: EvidencePool, epoch: EpochNumber, state: ChainState, previous_manifest_hash: Hash32, network: Network
) -> Bundle:
    """Put the evidence of an epoch together, in the only order a bundle may have.

    Args:
        pool: evidence whose signatures were checked on arrival; that of other epochs, and commitments for seeds the chain
            did not give their windows, are left out.
        epoch: the ended epoch.
        state: the chain, folded up to the reference block.
        previous_manifest_hash: of the report this one builds on; zero for the first.
        network: chain and params.

    Returns:
        A bundle that `check_bundle` accepts, if the pool is sound.
    """
    commitments, doubles = (_of_epoch(signed, epoch, state) for signed in (pool.commitments, pool.doubles))
    observations = [signed for signed in pool.observations if signed.observation.epoch == epoch]
    double = find_double_observations(observations)
    liars = {pair.first.observation.member for pair in double}
    single = (signed for signed in observations if signed.observation.member not in liars)
    return Bundle(
        chain_id=network.chain_id,
        epoch=epoch,
        ref_block=state.block,
        params_version=network.params.version,
        previous_manifest_hash=previous_manifest_hash,
        observations=tuple(sorted(single, key=lambda signed: address_bytes(signed.observation.member))),
        commitments=tuple(sorted(commitments, key=commitment_key)),
        proofs=tuple(sorted((p for p in pool.proofs if epoch_of(p.proof.window_id) == epoch), key=proof_key)),
        equivocations=find_equivocations((*commitments, *doubles)),
        receipts=_receipts_on_chain(pool.receipts, state, domain_separator(network.chain_id, network.beacon)),
        double_observations=double,
    )


def find_double_observations(observations: Iterable[SignedObservation]) -> tuple[DoubleObservation, ...]:
    """Pair the different observations one member signed for one epoch; a third one proves nothing more.

    Args:
        observations: of one epoch, signatures checked.

    Returns:
        Pairs by member, each with the lower content hash first.
    """
    by_member: dict[Address, dict[Hash32, SignedObservation]] = {}
    for signed in observations:
        by_member.setdefault(signed.observation.member, {})[content_hash(signed.observation)] = signed
    pairs = (sorted(by_member[member].items())[:2] for member in sorted(by_member, key=address_bytes))
    return tuple(DoubleObservation(first=pair[0][1], second=pair[1][1]) for pair in pairs if len(pair) == 2)


def check_bundle(
    bundle: Bundle,
    state: ChainState,
    previous_manifest_hash: Hash32,
    network: Network,
    own: SignedObservation | None = None,
) -> None:
    """Refuse a bundle a member must not vote on.

    Args:
        bundle: what the leader, or a mirror, gave.
        state: the chain, folded up to the reference block of the bundle's epoch by this member itself.
        previous_manifest_hash: of the report this one builds on; zero for the first.
        network: chain and params.
        own: this member's observation, which must be in the bundle unchanged; None for a reader without keys.

    Raises:
        InvalidInputError: wrong chain, epoch, block, params or predecessor; too few, foreign, forged or missing
            observations; a node message that is unsigned, of another epoch or of nobody; a commitment for a seed the
            chain did not give its window; a false equivocation; a receipt that is not the one on chain.
    """
    _check_ground(bundle, state, previous_manifest_hash, network)
    require_ordered(bundle)
    domain = domain_separator(network.chain_id, network.beacon)
    _check_observations(bundle, state, domain, own)
    nodes = {node for provider in state.providers for node in (*provider.nodes, *provider.past_nodes)}
    seeds = _seeds(state)
    for signed in _all_commitments(bundle):
        c = signed.commitment
        _check_message(c.window_id, c.node in nodes, bundle.epoch)
        _check_seed(c, seeds)
        require_signed_by(c.node, commitment_digest(domain, c), signed.signature)
    for shown in bundle.proofs:
        _check_message(shown.proof.window_id, shown.proof.node in nodes, bundle.epoch)
        require_signed_by(shown.proof.node, proof_digest(domain, shown.proof), shown.signature)
    for pair in bundle.equivocations:
        _check_equivocation(pair)
    for receipt in bundle.receipts:
        _check_receipt(receipt, state, domain)


def _seeds(state: ChainState) -> Mapping[WindowId, Hash32]:
    return {window.window_id: window.window_seed for window in state.windows if window.opened_at}


def _of_epoch(commitments: Iterable[SignedCommitment], epoch: EpochNumber, state: ChainState) -> list[SignedCommitment]:
    seeds = {window: seed for window, seed in _seeds(state).items() if epoch_of(window) == epoch}
    return [one for one in commitments if seeds.get(one.commitment.window_id) == one.commitment.window_seed]


def _receipts_on_chain(
    receipts: Iterable[SignedReceipt], state: ChainState, domain: Hash32
) -> tuple[SignedReceipt, ...]:
    digests = {job.job_id: job.receipt_digest for job in state.jobs}
    named = (r for r in receipts if digests.get(r.receipt.job_id) == receipt_digest(domain, r.receipt))
    return tuple(sorted(named, key=lambda signed: signed.receipt.job_id))


def _check_ground(bundle: Bundle, state: ChainState, previous_manifest_hash: Hash32, network: Network) -> None:
    wrong = {
        "chain": bundle.chain_id != network.chain_id,
        "params": bundle.params_version != network.params.version,
        "reference block": bundle.ref_block != state.block,
        "epoch of the reference block": not state.block.timestamp < network.epoch_end(bundle.epoch),
        "predecessor": bundle.previous_manifest_hash != previous_manifest_hash,
    }
    names = [name for name, holds in wrong.items() if holds]
    if names:
        raise _refused(f"bundle of epoch {bundle.epoch} is of another {', '.join(names)}")


def _check_observations(bundle: Bundle, state: ChainState, domain: Hash32, own: SignedObservation | None) -> None:
    both = [one for pair in bundle.double_observations for one in (pair.first, pair.second)]
    for signed in (*bundle.observations, *both):
        check_observation(signed, bundle.epoch, state, domain)
    _check_double_observations(bundle)
    if len(bundle.observations) < state.quorum:
        raise _refused(f"{len(bundle.observations)} observations are less than the quorum of {state.quorum}")
    if own is not None and own not in bundle.observations:
        raise _refused("this member's own observation is missing or was changed")


def check_observation(signed: SignedObservation, epoch: EpochNumber, state: ChainState, domain: Hash32) -> None:
    """Refuse an observation that is not a member's own word on an epoch.

    Args:
        signed: what was received.
        epoch: the epoch it must be of.
        state: the chain; names the members.
        domain: EIP-712 domain of ChallengeBeacon.

    Raises:
        InvalidInputError: another epoch, no member, or not signed by it.
    """
    observation = signed.observation
    if observation.epoch != epoch or observation.member not in state.members:
        raise _refused(f"{observation.member} has no say in epoch {epoch}")
    require_signed_by(observation.member, signing_digest(observation, domain), signed.signature)


def _check_double_observations(bundle: Bundle) -> None:
    heard = {signed.observation.member for signed in bundle.observations}
    for pair in bundle.double_observations:
        first, second = pair.first.observation, pair.second.observation
        if first.member != second.member or not content_hash(first) < content_hash(second):
            raise _refused(f"two observations of {first.member} do not contradict each other")
        if first.member in heard:
            raise _refused(f"{first.member} signed two observations, so none of them counts")


def _all_commitments(bundle: Bundle) -> Iterable[SignedCommitment]:
    yield from bundle.commitments
    for pair in bundle.equivocations:
        yield from (pair.first, pair.second)


def _check_message(window_id: WindowId, known: bool, epoch: EpochNumber) -> None:
    if not known or epoch_of(window_id) != epoch:
        raise _refused(
            f"a message of window {window_id} is of no node of the network, or of another epoch than {epoch}"
        )


def _check_seed(commitment: Commitment, seeds: Mapping[WindowId, Hash32]) -> None:
    if seeds.get(commitment.window_id) != commitment.window_seed:
        raise _refused(
            f"a commitment of {commitment.node} names a seed the chain did not give window {commitment.window_id}"
        )


def _check_equivocation(pair: Equivocation) -> None:
    # Both seeds are the chain's, so they are one.
    first, second = pair.first.commitment, pair.second.commitment
    same = (first.window_id, first.node, first.device) == (second.window_id, second.node, second.device)
    if not same or not commitment_hash(first) < commitment_hash(second):
        raise _refused(f"two commitments of {first.node} in window {first.window_id} are no equivocation")


def _check_receipt(signed: SignedReceipt, state: ChainState, domain: Hash32) -> None:
    # Another receipt than the one on chain would let a leader fail an honest job.
    digest = receipt_digest(domain, signed.receipt)
    if not any((job.job_id, job.receipt_digest) == (signed.receipt.job_id, digest) for job in state.jobs):
        raise _refused(f"the receipt of job {signed.receipt.job_id} is not the one the chain names")
    require_signed_by(signed.receipt.node, digest, signed.signature)


def _refused(why: str) -> InvalidInputError:
    return InvalidInputError(why, code="bad_bundle", fix="do not vote on it; wait for the next leader's bundle")
