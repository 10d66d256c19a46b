"""Which commitments the court would look at, which rows of them are false, and what defends a true row."""

from dataclasses import replace

import pytest

from swarm_chain.core.compute import draw_rows
from swarm_chain.core.court import accusation_id
from swarm_chain.core.encoding import double_hash, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import AccusationState, WindowState
from swarm_chain.core.merkle import verify
from swarm_chain.core.model import (
    BlockRef,
    ChainState,
    Deployment,
    KeyRemoval,
    ProviderRecord,
    SignedCommitment,
    WindowRecord,
)
from swarm_chain.core.rowchain import NumpyCompute
from swarm_chain.core.signing import commitment_hash
from swarm_chain.core.units import (
    ZERO_ADDRESS,
    ZERO_HASH,
    BlockNumber,
    EpochNumber,
    Hash32,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
)
from swarm_chain.core.verdicts import PassedVerdicts, SignedVerdicts, passed_root
from swarm_chain.court.evidence import (
    Suspect,
    accusable,
    false_rows,
    is_true,
    opening_of,
    owned_by,
    passed_proof,
    provider_of,
    row_evidence,
    unaccused,
)
from swarm_chain.court.model import Accusation, CourtView, offence_of
from swarm_chain.court.recompute import Recomputer
from tests.compute_world import ALICE, CHALLENGE, DRAW_SEED, MALLORY, WINDOW
from tests.court_world import Prover, honest_prover, lying_prover

ACCUSE_FOR, CLOSED_AT, ROW = 300, Timestamp(1000), 5
HONEST, LIAR = honest_prover(CHALLENGE, ROW), lying_prover(CHALLENGE, ROW, 2)
RECOMPUTER = Recomputer(NumpyCompute())
DEPLOYMENT = Deployment(
    chain_id=WINDOW.chain_id,
    block=BlockNumber(0),
    params="minimal",
    contracts={"ChallengeBeacon": WINDOW.beacon},
)
DRAWN = WindowRecord(
    window_id=WINDOW.window_id,
    state=WindowState.DRAWN,
    window_seed=WINDOW.window_seed,
    draw_seed=DRAW_SEED,
    closed_at=CLOSED_AT,
)
PROVIDER = ProviderRecord(
    provider_id=ProviderId(1),
    owner=MALLORY,
    operator=MALLORY,
    payout=MALLORY,
    hardware_class=1,
    region=b"",
    registered_at=Timestamp(0),
    suspended_until=Timestamp(0),
    retired=False,
    nodes=(ALICE,),
    stake_wei=Wei(0),
    active_stake_wei=Wei(0),
)


def view(now: int = CLOSED_AT, window: WindowRecord = DRAWN, provider: ProviderRecord = PROVIDER) -> CourtView:
    """One window, one provider."""
    block = BlockRef(number=BlockNumber(9), hash=ZERO_HASH, timestamp=Timestamp(now))
    return CourtView(chain=ChainState(block=block, providers=(provider,), windows=(window,)))


def signed(prover: Prover) -> SignedCommitment:
    """Its commitment; signatures were checked before evidence is weighed."""
    return SignedCommitment(commitment=prover.commitment, signature=Signature(bytes(65)))


def suspect(prover: Prover, *rows: int) -> Suspect:
    """The prover's commitment with these rows opened."""
    found = accusable(signed(prover), prover.openings(*rows).proof.openings, view(), DEPLOYMENT, ACCUSE_FOR)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "now",
    [
        view(CLOSED_AT + ACCUSE_FOR + 1),
        view(window=replace(DRAWN, state=WindowState.CLOSED)),
        view(window=replace(DRAWN, window_seed=keccak(b"another branch"))),
        view(provider=replace(PROVIDER, nodes=())),
    ],
)
def test_what_the_court_would_not_look_at_is_not_accusable(now: CourtView) -> None:
    assert accusable(signed(LIAR), (), view(CLOSED_AT + ACCUSE_FOR), DEPLOYMENT, ACCUSE_FOR) is not None
    assert accusable(signed(LIAR), (), now, DEPLOYMENT, ACCUSE_FOR) is None


def test_an_impossible_shape_is_not_accusable() -> None:
    odd = SignedCommitment(commitment=replace(LIAR.commitment, m=65), signature=Signature(bytes(65)))

    assert accusable(odd, (), view(), DEPLOYMENT, ACCUSE_FOR) is None


def test_a_node_that_left_still_answers_for_what_it_signed() -> None:
    gone = view(provider=replace(PROVIDER, nodes=(), past_nodes=(ALICE,)))

    assert accusable(signed(LIAR), (), gone, DEPLOYMENT, ACCUSE_FOR) is not None
    assert provider_of(ALICE, gone) == 1
    assert owned_by(MALLORY, gone) == 1
    assert owned_by(ALICE, gone) is None


@pytest.mark.parametrize(("removed_at", "binds"), [(899, False), (900, True), (901, True), (5000, True)])
def test_a_removed_key_answers_for_windows_that_had_opened_by_then_only(removed_at: int, binds: bool) -> None:
    removal = KeyRemoval(node=ALICE, removed_at=Timestamp(removed_at))
    gone = replace(PROVIDER, nodes=(), past_nodes=(ALICE,), removals=(removal,))
    now = view(window=replace(DRAWN, opened_at=Timestamp(900)), provider=gone)

    assert (accusable(signed(LIAR), (), now, DEPLOYMENT, ACCUSE_FOR) is not None) is binds


def test_the_removal_of_another_key_takes_nothing_back() -> None:
    removal = KeyRemoval(node=MALLORY, removed_at=Timestamp(1))
    other = replace(PROVIDER, past_nodes=(MALLORY,), removals=(removal,))
    now = view(window=replace(DRAWN, opened_at=Timestamp(900)), provider=other)

    assert accusable(signed(LIAR), (), now, DEPLOYMENT, ACCUSE_FOR) is not None


def test_the_false_row_is_found_among_the_opened_ones() -> None:
    assert false_rows(suspect(LIAR, 1, ROW, 9), RECOMPUTER) == (ROW,)
    assert false_rows(suspect(LIAR, 1, 9), RECOMPUTER) == ()
    assert false_rows(suspect(HONEST, 1, ROW, 9), RECOMPUTER) == ()


def test_an_opening_that_leads_elsewhere_blames_nobody() -> None:
    openings = LIAR.openings(ROW).proof.openings

    found = accusable(signed(HONEST), openings, view(), DEPLOYMENT, ACCUSE_FOR)

    assert found is not None
    assert found.openings == ()
    assert false_rows(found, RECOMPUTER) == ()


def test_a_whole_commitment_is_true_or_not() -> None:
    told: list[tuple[int, int]] = []

    assert is_true(suspect(HONEST), RECOMPUTER, lambda done, total: told.append((done, total)))
    assert not is_true(suspect(LIAR), RECOMPUTER, lambda *_: None)
    assert told[-1] == (64, 64)


def test_a_row_is_accused_once_by_each_accuser() -> None:
    c = LIAR.commitment
    taken = Accusation(
        accusation_id=accusation_id(offence_of(c), commitment_hash(c), 2, ALICE),
        provider_id=ProviderId(1),
        accuser=ALICE,
        commitment=c,
        row=2,
        member=ZERO_ADDRESS,
        bond_wei=Wei(1),
        deadline=Timestamp(1),
        state=AccusationState.ACQUITTED,
    )
    busy = replace(view(), accusations={taken.accusation_id: taken})

    assert tuple(unaccused(c, (1, 2, 3), busy, ALICE)) == (1, 3)
    assert tuple(unaccused(c, (1, 2, 3), busy, MALLORY)) == (1, 2, 3)
    assert tuple(unaccused(c, (1, 2, 3), busy, ALICE, MALLORY)) == (1, 2, 3)


def test_a_true_row_is_defended_from_the_whole_run_as_its_opening_says() -> None:
    recomputed = row_evidence(HONEST.commitment, ROW, CHALLENGE, RECOMPUTER, tree=RECOMPUTER.tree(CHALLENGE))
    opened = opening_of(HONEST.commitment, ROW, CHALLENGE, HONEST.openings(1, ROW).proof.openings)

    assert recomputed == HONEST.evidence
    assert opened is not None
    assert (opened.head, opened.path) == (recomputed.trace.head, recomputed.path)
    assert opening_of(HONEST.commitment, ROW, CHALLENGE, HONEST.openings(1).proof.openings) is None
    assert opening_of(HONEST.commitment, ROW, CHALLENGE, LIAR.openings(ROW).proof.openings) is None


def test_a_false_commitment_cannot_be_defended_by_recomputing_it() -> None:
    with pytest.raises(InvalidInputError) as refused:
        row_evidence(LIAR.commitment, ROW, CHALLENGE, RECOMPUTER, tree=RECOMPUTER.tree(CHALLENGE))

    assert refused.value.code == "false_commitment"


def verdicts(*passed: Hash32, epoch: int = 1, draws: int = 8) -> SignedVerdicts:
    """A member's verdicts."""
    said = PassedVerdicts(epoch=EpochNumber(epoch), member=MALLORY, draws=draws, passed_root=passed_root(passed))
    return SignedVerdicts(verdicts=said, passed=passed, signature=Signature(bytes(65)))


def test_a_member_answers_for_rows_it_drew_of_what_it_passed() -> None:
    hashed = commitment_hash(LIAR.commitment)
    drawn = draw_rows(DRAW_SEED, CHALLENGE, LIAR.commitment.root, 3)
    undrawn = next(row for row in range(64) if row not in draw_rows(DRAW_SEED, CHALLENGE, LIAR.commitment.root, 8))
    said = verdicts(keccak(b"another"), hashed)

    proof = passed_proof(suspect(LIAR), drawn[2], said)

    assert proof is not None
    assert proof.counter >= 2
    assert verify(said.verdicts.passed_root, double_hash(hashed), proof.path)
    assert passed_proof(suspect(LIAR), undrawn, verdicts(hashed)) is None
    assert passed_proof(suspect(LIAR), drawn[2], verdicts(hashed, draws=1)) is None
    assert passed_proof(suspect(LIAR), drawn[0], verdicts(keccak(b"another"))) is None
    assert passed_proof(suspect(LIAR), drawn[0], verdicts(hashed, epoch=2)) is None
