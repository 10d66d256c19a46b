"""What a member signs right after its report: every commitment of the epoch that its judge passed.

A "passed" over a false row costs the member its stake, so nobody signs it lightly (docs/spec/compute-court.md).
"""

from oracle.model import Bundle, EpochFacts, Network
from oracle.publish.json_codec import commitment_key
from swarm_chain.core.encoding import address_bytes, canonical_json, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.signing import commitment_hash, domain_separator
from swarm_chain.core.units import Address, EpochNumber, Hash32
from swarm_chain.core.verdicts import (
    PassedVerdicts,
    SignedVerdicts,
    passed_root,
    signed_verdicts_json,
    verdicts_hash,
)
from swarm_chain.court.documents import parse_verdicts
from swarm_chain.ports import Signer

VERDICTS = "verdicts"


def passed_commitments(facts: EpochFacts, bundle: Bundle) -> tuple[Hash32, ...]:
    """Hash the commitments whose openings passed.

    Args:
        facts: the judged evidence.
        bundle: the evidence, its commitments in the only order they may have.

    Returns:
        Struct hashes in the order window, node bytes, device.
    """
    devices = ((v.window_id, address_bytes(v.node), v.device) for v in facts.verdicts if v.outcome is Outcome.PASSED)
    passed = frozenset(devices)
    return tuple(
        commitment_hash(signed.commitment) for signed in bundle.commitments if commitment_key(signed) in passed
    )


def sign_verdicts(epoch: EpochNumber, passed: tuple[Hash32, ...], network: Network, signer: Signer) -> bytes:
    """Sign the verdicts of an epoch and give the bytes a member publishes; they must be kept before anyone sees them.

    Args:
        epoch: the epoch.
        passed: what `passed_commitments` gave.
        network: domain of the signature and number of drawn rows.
        signer: the member's key.
    """
    verdicts = PassedVerdicts(
        epoch=epoch,
        member=signer.address,
        draws=network.params.compute.draws,
        passed_root=passed_root(passed),
    )
    signature = signer.sign_typed(domain_separator(network.chain_id, network.beacon), verdicts_hash(verdicts))
    return verdicts_bytes(SignedVerdicts(verdicts=verdicts, passed=passed, signature=signature))


def verdicts_bytes(signed: SignedVerdicts) -> bytes:
    """Canonical JSON of a member's verdicts."""
    return canonical_json(signed_verdicts_json(signed))


def verdicts_fault(
    data: bytes, epoch: EpochNumber, passed: tuple[Hash32, ...], members: tuple[Address, ...], network: Network
) -> str:
    """Say what is wrong with a member's published verdicts, empty if nothing is.

    Args:
        data: the published bytes.
        epoch: the epoch they should be of.
        passed: what the reader's own judge passed, as `passed_commitments` gives it.
        members: the committee at the reference block.
        network: domain of the signature and number of drawn rows.
    """
    try:
        signed = parse_verdicts(data, domain_separator(network.chain_id, network.beacon))
    except InvalidInputError as error:
        return f"verdicts are refused: {error.message}"
    said = signed.verdicts
    if verdicts_bytes(signed) != data:
        return "verdicts are not canonical"
    if said.member not in members:
        return f"verdicts are signed by {said.member}, who is no member"
    if (said.epoch, said.draws) != (epoch, network.params.compute.draws):
        return f"verdicts are of epoch {said.epoch} with {said.draws} draws"
    return _difference(signed.passed, passed)


def _difference(said: tuple[Hash32, ...], passed: tuple[Hash32, ...]) -> str:
    extra, missing = (next((h for h in one if h not in other), None) for one, other in ((said, passed), (passed, said)))
    if extra is not None:
        return f"verdicts pass commitment {to_hex(extra)}, which does not pass"
    if missing is not None:
        return f"verdicts leave out commitment {to_hex(missing)}, which passes"
    return "" if said == passed else "verdicts name the passed commitments in another order"
