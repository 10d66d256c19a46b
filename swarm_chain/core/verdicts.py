"""What an oracle member signs about an epoch: every commitment its judge passed, so that a false "passed" can be punished.

Source: docs/spec/compute-court.md "What is signed".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm_chain.core.encoding import double_hash, keccak, to_hex, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import build_tree, root
from swarm_chain.core.signing import typed_digest
from swarm_chain.core.units import ZERO_HASH, Address, EpochNumber, Hash32, Signature

PASSED_TYPE = "PassedVerdicts(uint32 epoch,address member,uint32 draws,bytes32 passedRoot)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedVerdicts:
    """The signed statement; `draws` is how many rows the member drew from each commitment."""

    epoch: EpochNumber
    member: Address
    draws: int
    passed_root: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedVerdicts:
    """A member's statement, its signature (domain: ChallengeBeacon), and the commitment hashes under its root, in order."""

    verdicts: PassedVerdicts
    passed: tuple[Hash32, ...]
    signature: Signature

    def __post_init__(self) -> None:
        if passed_root(self.passed) != self.verdicts.passed_root:
            raise InvalidInputError(
                f"the passed commitments of epoch {self.verdicts.epoch} do not lead to the signed root",
                fix="take the document as the member published it",
                code="bad_document",
            )


def verdicts_hash(verdicts: PassedVerdicts) -> Hash32:
    """Struct hash of a PassedVerdicts statement."""
    fields = (verdicts.epoch, verdicts.member, verdicts.draws, verdicts.passed_root)
    return keccak(words(keccak(PASSED_TYPE.encode()), *fields))


def verdicts_digest(domain: Hash32, verdicts: PassedVerdicts) -> Hash32:
    """What the member's key signs.

    Args:
        domain: EIP-712 domain separator of ChallengeBeacon.
        verdicts: the statement.
    """
    return typed_digest(domain, verdicts_hash(verdicts))


def passed_tree(passed: Sequence[Hash32]) -> bytes:
    """Tree over the hashes of passed commitments.

    Args:
        passed: commitment hashes in the order (windowId, node, device), at least one.

    Returns:
        The tree in the layout of `merkle`; one leaf alone is padded with double_hash(bytes32(0)).
    """
    leaves = [double_hash(item) for item in passed]
    return build_tree(leaves if len(leaves) > 1 else [*leaves, double_hash(ZERO_HASH)])


def passed_root(passed: Sequence[Hash32]) -> Hash32:
    """Root over the hashes of passed commitments; zero if nothing passed."""
    return root(passed_tree(passed)) if passed else ZERO_HASH


def signed_verdicts_json(signed: SignedVerdicts) -> dict[str, object]:
    """A member's verdicts the way it publishes them at `GET /v1/epochs/{e}/verdicts`."""
    return {
        "epoch": signed.verdicts.epoch,
        "member": signed.verdicts.member,
        "draws": signed.verdicts.draws,
        "passed": [to_hex(item) for item in signed.passed],
        "passedRoot": to_hex(signed.verdicts.passed_root),
        "signature": to_hex(signed.signature),
    }
