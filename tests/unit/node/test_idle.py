"""Sentences of `why-idle`: each fault alone, and which one is told first."""

from dataclasses import replace

import pytest

from node.doctor.checks import Check
from node.doctor.facts import Standing
from node.idle.reasons import SHOWN, ChainSide, Situation, missed_windows, why_idle
from node.model import JobOffer, OwnCommitment
from node.standing import ChainNodeView
from node.status import MemberView
from swarm_chain.core.checkup import fail, warn
from swarm_chain.core.compute import ComputeShape
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import JobKind, JobState, WindowState
from swarm_chain.core.model import Commitment, SignedCommitment, WindowRecord
from swarm_chain.core.units import (
    UINT64_MAX,
    Hash32,
    JobId,
    ProviderId,
    Signature,
    Timestamp,
    Wei,
    WindowId,
)
from swarm_chain.testing import FakeSigner

NODE = FakeSigner("node").address
SEED, OTHER_SEED = keccak(b"seed"), keccak(b"other")
VIEW = ChainNodeView(
    provider_id=ProviderId(1), suspended_until=Timestamp(0), retired=False, balance_wei=Wei(1), now=Timestamp(100)
)
OFFER = JobOffer(job_id=JobId(1), state=JobState.POSTED, kind=JobKind.TRAIN, spec_hash=SEED, accept_by=Timestamp(101))
CHAIN = ChainSide(standing=Standing(node=VIEW, active_stake_wei=Wei(10)), minimum_wei=Wei(10), offers=(OFFER,))
MEMBER = MemberView(url="http://m", plans=({"device": 0},))
WELL = Situation(has_key=True, chain=CHAIN, is_running=True, members=(MEMBER,), takes_jobs=True)
WINDOW = WindowRecord(window_id=WindowId(7), state=WindowState.DRAWN, window_seed=SEED, opened_at=Timestamp(50))


def codes(found: Situation) -> list[str]:
    """Codes of the reasons; every one has a sentence and something to do."""
    reasons = why_idle(found)
    assert all(one.sentence.endswith(".") and one.next for one in reasons)
    return [one.code for one in reasons]


def on_chain(**changes: object) -> Situation:
    """A well situation with another view of the node."""
    standing = replace(CHAIN.standing, node=replace(VIEW, **changes))  # type: ignore[arg-type]  # replace checks names
    return replace(WELL, chain=replace(CHAIN, standing=standing))


def committed(*, seed: Hash32 = SEED, delivered: str = "", opened: str = "") -> OwnCommitment:
    """An own commitment in WINDOW."""
    shape = ComputeShape(m=64, n=64, steps=1)
    commitment = Commitment(
        window_id=WINDOW.window_id,
        window_seed=seed,
        node=NODE,
        device=0,
        m=shape.m,
        n=shape.n,
        steps=shape.steps,
        root=keccak(b"root"),
    )
    signed = SignedCommitment(commitment=commitment, signature=Signature(bytes(65)))
    return OwnCommitment(signed=signed, delivered=frozenset(delivered.split()), opened=frozenset(opened.split()))


def with_window(*commitments: OwnCommitment, window: WindowRecord = WINDOW) -> Situation:
    """A well situation after a window."""
    return replace(WELL, chain=replace(CHAIN, windows=(window,)), commitments=commitments)


def test_reasons_when_all_is_well_then_none() -> None:
    assert codes(WELL) == []


@pytest.mark.parametrize(
    ("found", "first"),
    [
        (Situation(has_key=False, chain=None), "no_key"),
        (replace(WELL, chain=None, chain_problem="refused"), "chain_unreachable"),
        (on_chain(provider_id=ProviderId(0)), "not_registered"),
        (on_chain(suspended_until=Timestamp(101)), "suspended"),
        (on_chain(suspended_until=Timestamp(UINT64_MAX)), "excluded"),
        (on_chain(retired=True), "retired"),
        (on_chain(removed_at=Timestamp(99)), "retired"),
        (on_chain(maintenance_starts_at=Timestamp(100), maintenance_ends_at=Timestamp(101)), "maintenance"),
        (replace(WELL, chain=replace(CHAIN, minimum_wei=Wei(11))), "stake_below_minimum"),
        (replace(WELL, is_running=False), "agent_not_running"),
        (replace(WELL, members=()), "no_oracle"),
        (replace(WELL, members=(replace(MEMBER, error="refused"),)), "oracle_unreachable"),
        (replace(WELL, members=(replace(MEMBER, plans=()),)), "no_plan"),
        (replace(WELL, checks=(Check(line=warn("clock.chain", "60 s", "NTP"), required=""),)), "clock_off"),
        (with_window(), "missed_windows"),
        (replace(WELL, own_jobs=("3",)), "device_busy"),
        (replace(WELL, load_percent=150), "device_busy"),
        (replace(WELL, takes_jobs=False), "jobs_not_taken"),
        (replace(WELL, chain=replace(CHAIN, offers=())), "no_jobs"),
        (on_chain(now=Timestamp(101)), "no_jobs"),
        (replace(WELL, checks=(Check(line=fail("unlock", "wrong", "repair"), required=""),)), "doctor_blocks"),
    ],
)
def test_reasons_when_one_thing_is_wrong_then_it_is_the_only_one(found: Situation, first: str) -> None:
    assert codes(found) == [first]


def test_reasons_when_everything_is_wrong_then_what_explains_the_others_comes_first() -> None:
    standing = Standing(node=replace(VIEW, suspended_until=Timestamp(200)), active_stake_wei=Wei(0))
    chain = replace(CHAIN, standing=standing, windows=(WINDOW,), offers=())
    found = Situation(has_key=True, chain=chain)

    assert codes(found) == [
        "suspended",
        "stake_below_minimum",
        "agent_not_running",
        "no_oracle",
        "missed_windows",
        "jobs_not_taken",
    ]


def test_reasons_when_the_doctor_blocks_for_something_told_already_then_not_told_twice() -> None:
    checks = tuple(Check(line=fail(what, "x", "y"), required="") for what in ("rpc.1", "oracle.2", "stake", "key"))

    assert [one.sentence for one in why_idle(replace(WELL, checks=checks))] == ["The doctor's key blocks: x."]


@pytest.mark.parametrize(
    ("commitments", "why"),
    [
        ((), "no run was committed in time"),
        ((committed(seed=OTHER_SEED, delivered="m", opened="m"),), "no run was committed in time"),
        ((committed(),), "no oracle member took the commitment"),
        ((committed(delivered="m"),), "its drawn rows were not opened yet"),
    ],
)
def test_missed_windows_when_something_is_lacking_then_it_is_named(
    commitments: tuple[OwnCommitment, ...], why: str
) -> None:
    assert missed_windows(with_window(*commitments)) == ((WINDOW.window_id, why),)


def test_missed_windows_when_opened_or_still_open_or_before_the_node_was_added_then_none() -> None:
    assert missed_windows(with_window(committed(delivered="m", opened="m"))) == ()
    assert missed_windows(with_window(window=replace(WINDOW, state=WindowState.OPEN))) == ()
    late = with_window()
    assert late.chain is not None
    assert missed_windows(replace(late, chain=replace(late.chain, added_at=Timestamp(51)))) == ()
    assert missed_windows(replace(late, chain=None)) == ()


def test_missed_windows_when_many_then_the_newest_are_shown_and_the_others_counted() -> None:
    windows = tuple(replace(WINDOW, window_id=WindowId(number)) for number in range(1, SHOWN + 3))

    (reason,) = why_idle(replace(WELL, chain=replace(CHAIN, windows=windows)))

    assert f"missed {SHOWN + 2} windows ({SHOWN + 2}: " in reason.sentence
    assert "and 2 more" in reason.sentence
