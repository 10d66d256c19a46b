"""Only what proves itself is taken from a bundle or from a member's verdicts."""

import json
from dataclasses import replace
from typing import Any

import pytest

from swarm_chain.core.encoding import double_hash, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.merkle import path, verify
from swarm_chain.core.signing import commitment_hash, domain_separator
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Hash32
from swarm_chain.core.verdicts import (
    PassedVerdicts,
    SignedVerdicts,
    passed_root,
    passed_tree,
    signed_verdicts_json,
    verdicts_hash,
)
from swarm_chain.court.documents import parse_evidence, parse_verdicts
from swarm_chain.testing import FakeSigner
from tests.compute_world import CHALLENGE, WINDOW
from tests.court_world import bundle_document, honest_prover, other_root

NODE, MEMBER = FakeSigner("node"), FakeSigner("member")
ASKED = replace(CHALLENGE, node=NODE.address)
DOMAIN = domain_separator(WINDOW.chain_id, WINDOW.beacon)
PROVER = honest_prover(ASKED, 5)
SIGNED = PROVER.signed(NODE)
FORGED = PROVER.signed(FakeSigner("somebody else"))
OTHER = other_root(SIGNED, ASKED, NODE)
PASSED = commitment_hash(SIGNED.commitment)


def parsed(document: dict[str, Any]) -> Any:
    """Evidence in a document."""
    return parse_evidence(json.dumps(document).encode(), WINDOW.chain_id, DOMAIN)


def verdicts(*passed: Hash32, signer: FakeSigner = MEMBER) -> SignedVerdicts:
    """What the member says it passed, signed by whom the test wants."""
    said = PassedVerdicts(epoch=EpochNumber(1), member=MEMBER.address, draws=8, passed_root=passed_root(passed))
    return SignedVerdicts(verdicts=said, passed=passed, signature=signer.sign_typed(DOMAIN, verdicts_hash(said)))


def read_verdicts(document: dict[str, object]) -> SignedVerdicts:
    """Verdicts in a document."""
    return parse_verdicts(json.dumps(document).encode(), DOMAIN)


def test_commitments_and_openings_are_found_together() -> None:
    evidence = parsed(bundle_document(WINDOW.chain_id, 1, [SIGNED], [PROVER.openings(5, 9)]))

    assert evidence.commitments == (SIGNED,)
    assert [opening.row for opening in evidence.openings(SIGNED.commitment)] == [5, 9]
    assert evidence.openings(OTHER.commitment) == ()


def test_what_the_node_did_not_sign_is_left_out() -> None:
    evidence = parsed(bundle_document(WINDOW.chain_id, 1, [FORGED, SIGNED], [], [(SIGNED, FORGED), (SIGNED, OTHER)]))

    assert evidence.commitments == (SIGNED,)
    assert evidence.equivocations == ((SIGNED, OTHER),)


@pytest.mark.parametrize(
    "change",
    [
        {"domain": "swarm/bundle/v2"},
        {"chainId": 1},
        {"commitments": [{}]},
        {"commitments": None},
        {"proofs": [{"proof": {"windowId": "x"}}]},
        {"equivocations": [[1]]},
        {"epoch": "soon"},
    ],
)
def test_other_documents_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parsed(bundle_document(WINDOW.chain_id, 1, [SIGNED]) | change)

    assert refused.value.code == "bad_document"
    assert refused.value.fix


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        parse_evidence(data, WINDOW.chain_id, DOMAIN)


@pytest.mark.parametrize(
    "passed", [(), (PASSED,), (PASSED, keccak(b"another")), tuple(map(keccak, (b"1", b"2", PASSED)))]
)
def test_verdicts_are_read_as_they_were_signed(passed: tuple[Hash32, ...]) -> None:
    said = verdicts(*passed)

    assert read_verdicts(signed_verdicts_json(said)) == said
    assert (said.verdicts.passed_root == ZERO_HASH) == (not passed)


@pytest.mark.parametrize(
    "change",
    [{"passed": []}, {"draws": 9}, {"epoch": 2}, {"member": NODE.address}, {"signature": "0x12"}, {"draws": None}],
)
def test_verdicts_somebody_changed_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        read_verdicts(signed_verdicts_json(verdicts(PASSED)) | change)


def test_verdicts_in_the_name_of_a_member_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        read_verdicts(signed_verdicts_json(verdicts(PASSED, signer=NODE)))


def test_a_verdict_alone_is_padded_so_that_its_leaf_is_not_the_root() -> None:
    leaf = double_hash(PASSED)

    assert passed_root((PASSED,)) != leaf
    assert verify(passed_root((PASSED,)), leaf, path(passed_tree((PASSED,)), 0))
