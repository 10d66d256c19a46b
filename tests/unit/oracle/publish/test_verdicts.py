"""Signed verdicts: exactly the commitments that passed, in one order, under one root; every lie about them is named."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from oracle.publish.report import build_report
from oracle.publish.verdicts import sign_verdicts, verdicts_bytes, verdicts_fault
from swarm_chain.core.encoding import address_bytes, canonical_json, to_hex
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import ZERO_HASH, EpochNumber, Hash32
from swarm_chain.core.verdicts import PassedVerdicts, SignedVerdicts, passed_root, verdicts_hash
from swarm_chain.court.documents import parse_verdicts
from swarm_chain.testing import FakeSigner
from tests.oracle_world import DOMAIN, NETWORK, PARAMS, Device, provider, scene

MEMBER, STRANGER = FakeSigner("member 1"), FakeSigner("a stranger")
PROVIDERS = tuple(provider(number, name) for number, name in enumerate(("alice", "bob", "mallory", "carol"), start=1))
HONEST = (Device(node="alice"), Device(node="bob"))
OTHERS = (Device(node="mallory", garbage_from=128), Device(node="carol", opens=False))
PLAYED = scene(PROVIDERS, (*HONEST, *OTHERS))
PUBLISHED = build_report(PLAYED.state, PLAYED.bundle(), None, NETWORK)
PASSED, EPOCH, DRAWS = PUBLISHED.passed, EpochNumber(0), PARAMS.compute.draws
PUBLISHED_BYTES = sign_verdicts(EPOCH, PASSED, NETWORK, MEMBER)
FAILED = next(
    commitment_hash(signed.commitment)
    for signed in PLAYED.pool.commitments
    if signed.commitment.node == PROVIDERS[2].nodes[0]
)


def _signed(passed: tuple[Hash32, ...], signer: FakeSigner = MEMBER, epoch: int = 0, draws: int = DRAWS) -> bytes:
    said = PassedVerdicts(epoch=EpochNumber(epoch), member=signer.address, draws=draws, passed_root=passed_root(passed))
    signature = signer.sign_typed(DOMAIN, verdicts_hash(said))
    return verdicts_bytes(SignedVerdicts(verdicts=said, passed=passed, signature=signature))


def _changed(**fields: object) -> bytes:
    return canonical_json(json.loads(PUBLISHED_BYTES) | fields)


def _fault(data: bytes) -> str:
    return verdicts_fault(data, EPOCH, PASSED, (MEMBER.address,), NETWORK)


def test_passed_when_judged_then_the_honest_commitments_of_all_windows_in_order() -> None:
    honest = {PROVIDERS[0].nodes[0], PROVIDERS[1].nodes[0]}
    commitments = [signed.commitment for signed in PLAYED.pool.commitments if signed.commitment.node in honest]
    ordered = sorted(commitments, key=lambda c: (c.window_id, address_bytes(c.node), c.device))

    assert tuple(map(commitment_hash, ordered)) == PASSED
    assert len(PASSED) == 4
    assert sum(verdict.outcome is Outcome.PASSED for verdict in PUBLISHED.facts.verdicts) == len(PASSED)


def test_passed_when_a_window_is_void_then_nothing_of_it_is_named() -> None:
    other = replace(PLAYED.state.windows[0], commitments_root=Hash32(b"\1" * 32))
    state = replace(PLAYED.state, windows=(other, PLAYED.state.windows[1]))

    passed = build_report(state, PLAYED.bundle(), None, NETWORK).passed

    assert passed == PASSED[2:]


def test_verdicts_when_signed_then_what_a_watcher_reads() -> None:
    signed = parse_verdicts(PUBLISHED_BYTES, DOMAIN)

    assert signed.passed == PASSED
    assert signed.verdicts == PassedVerdicts(
        epoch=EPOCH, member=MEMBER.address, draws=DRAWS, passed_root=passed_root(PASSED)
    )
    assert _fault(PUBLISHED_BYTES) == ""


def test_verdicts_when_nothing_passed_then_the_root_is_zero() -> None:
    data = sign_verdicts(EPOCH, (), NETWORK, MEMBER)

    assert json.loads(data)["passedRoot"] == to_hex(ZERO_HASH)
    assert verdicts_fault(data, EPOCH, (), (MEMBER.address,), NETWORK) == ""


LIES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a failed commitment": (lambda: _signed((*PASSED, FAILED)), to_hex(FAILED)),
    "one left out": (lambda: _signed(PASSED[1:]), f"leave out commitment {to_hex(PASSED[0])}"),
    "another order": (lambda: _signed(PASSED[::-1]), "another order"),
    "one twice": (lambda: _signed((PASSED[0], *PASSED)), "another order"),
    "fewer draws": (lambda: _signed(PASSED, draws=DRAWS - 1), f"with {DRAWS - 1} draws"),
    "another epoch": (lambda: _signed(PASSED, epoch=1), "of epoch 1"),
    "a stranger's": (lambda: _signed(PASSED, STRANGER), "who is no member"),
    "another root": (lambda: _changed(passedRoot=to_hex(FAILED)), "refused"),
    "a changed list": (lambda: _changed(passed=[to_hex(FAILED)]), "refused"),
    "another signer": (lambda: _changed(member=STRANGER.address), "refused"),
    "no hashes": (lambda: _changed(passed=[1]), "refused"),
    "another spelling": (lambda: PUBLISHED_BYTES.replace(b",", b", "), "not canonical"),
    "an unknown field": (lambda: _changed(note="trust me"), "not canonical"),
}


@pytest.mark.parametrize("lie", LIES)
def test_verdicts_when_they_lie_then_the_lie_is_named(lie: str) -> None:
    make, complaint = LIES[lie]

    assert complaint in _fault(make())
