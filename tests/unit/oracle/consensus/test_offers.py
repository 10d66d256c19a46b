"""What the cycle does with bundles that others offer, and with votes that are split."""

from dataclasses import replace

import pytest

from oracle.consensus.cycle import next_action
from oracle.consensus.views import (
    Action,
    AdoptReport,
    AssembleBundle,
    CastVote,
    Observe,
    Offer,
    TakeBundle,
    Vote,
    Wait,
)
from swarm_chain.core.units import Hash32
from tests.oracle_world import address
from tests.unit.oracle.consensus.test_cycle import (
    BUILT,
    COMMITTEE,
    END,
    HASH,
    ME,
    OTHER,
    REPORTED,
    _report,
    _reporting,
    _turn,
    _vote,
)

FOURTH = address("member 4")
OFFERED = Offer(member=COMMITTEE[1], bundle_hash=Hash32(b"\5" * 32))
OTHER_OFFER = Offer(member=COMMITTEE[2], bundle_hash=Hash32(b"\4" * 32))


def test_bundle_when_another_member_offers_one_then_taken_before_an_own_one_is_made() -> None:
    mine = _turn(ME, REPORTED)
    own = _report(observers=frozenset(COMMITTEE), offers=(OFFERED,))

    assert next_action(_reporting(mine, members=COMMITTEE), own) == TakeBundle(
        epoch=REPORTED, bundle_hash=OFFERED.bundle_hash
    )


def test_bundle_when_the_offered_one_was_refused_then_the_next_one_or_the_leaders_own() -> None:
    mine, refused = _turn(ME, REPORTED), TakeBundle(epoch=REPORTED, bundle_hash=OFFERED.bundle_hash)
    two = _report(observers=frozenset(COMMITTEE), offers=(OFFERED, OTHER_OFFER))
    one = _report(observers=frozenset(COMMITTEE), offers=(OFFERED,))
    view = _reporting(mine, members=COMMITTEE)

    assert next_action(view, replace(two, refused=frozenset({refused}))) == TakeBundle(
        epoch=REPORTED, bundle_hash=OTHER_OFFER.bundle_hash
    )
    assert next_action(view, replace(one, refused=frozenset({refused}))) == AssembleBundle(epoch=REPORTED)


def test_bundle_when_an_offer_has_votes_behind_it_then_tried_first() -> None:
    view = _reporting(3, members=COMMITTEE, votes=(_vote(COMMITTEE[2], OTHER),))
    own = _report(observers=frozenset(COMMITTEE), offers=(OFFERED, OTHER_OFFER))

    assert next_action(view, own) == TakeBundle(epoch=REPORTED, bundle_hash=OTHER_OFFER.bundle_hash)


@pytest.mark.parametrize(("second", "complete"), [(0, False), (9, False), (10, True), (19, True)])
def test_leader_when_an_observation_is_missing_then_it_waits_for_half_of_its_slot(second: int, complete: bool) -> None:
    start = _turn(ME, REPORTED)
    own = _report(observers=frozenset(COMMITTEE[:2]))

    action = next_action(_reporting(start + second, members=COMMITTEE), own)

    assert action == (AssembleBundle(epoch=REPORTED) if complete else Wait(reason="observations"))


def test_observation_when_it_was_signed_and_lost_then_never_signed_again() -> None:
    lost = _report(observers=frozenset(), signed=True)

    assert next_action(_reporting(_turn(ME, REPORTED), members=COMMITTEE), lost) != Observe(epoch=REPORTED)


ADOPTIONS: dict[str, tuple[tuple[Vote, ...], Action]] = {
    "more votes for another report": (
        (_vote(COMMITTEE[1], OTHER), _vote(COMMITTEE[2], OTHER), _vote(ME)),
        AdoptReport(epoch=REPORTED, report_hash=OTHER, bundle_hash=OFFERED.bundle_hash),
    ),
    "as many, and the own hash is lower": ((_vote(COMMITTEE[1], OTHER), _vote(ME)), Wait(reason="quorum", until=END)),
    "a vote of somebody else's for a higher hash": (
        (_vote(COMMITTEE[1], OTHER),),
        AdoptReport(epoch=REPORTED, report_hash=OTHER, bundle_hash=OFFERED.bundle_hash),
    ),
    "votes of a removed member": (
        (_vote(FOURTH, OTHER), _vote(ME)),
        Wait(reason="quorum", until=END),
    ),
}


@pytest.mark.parametrize("name", ADOPTIONS)
def test_votes_when_split_then_they_gather_where_most_are(name: str) -> None:
    votes, expected = ADOPTIONS[name]
    own = _report(**BUILT, offers=(OFFERED,))

    assert next_action(_reporting((_turn(ME, REPORTED) + 20) % 60, members=COMMITTEE, votes=votes), own) == expected


def test_vote_when_the_other_report_cannot_be_checked_then_the_own_one_stays() -> None:
    votes = (_vote(COMMITTEE[1], OTHER), _vote(COMMITTEE[2], OTHER))
    unoffered = _report(**BUILT)
    refused = frozenset({AdoptReport(epoch=REPORTED, report_hash=OTHER, bundle_hash=OFFERED.bundle_hash)})
    view = _reporting(_turn(ME, REPORTED), members=COMMITTEE, votes=votes)

    assert next_action(view, unoffered) == CastVote(epoch=REPORTED, report_hash=HASH)
    assert next_action(view, replace(_report(**BUILT, offers=(OFFERED,)), refused=refused)) == CastVote(
        epoch=REPORTED, report_hash=HASH
    )


def test_vote_when_the_adopted_report_leads_then_moved_there_once() -> None:
    adopted = _report(bundle_hash=OFFERED.bundle_hash, report_hash=OTHER, published=True)
    before = (_vote(COMMITTEE[1], OTHER), _vote(COMMITTEE[2], OTHER), _vote(ME))
    after = (*before[:2], _vote(ME, OTHER))
    second = (_turn(ME, REPORTED) + 20) % 60

    assert next_action(_reporting(second, members=COMMITTEE, votes=before), adopted) == CastVote(
        epoch=REPORTED, report_hash=OTHER
    )
    assert next_action(_reporting(second, members=COMMITTEE, votes=after), adopted) == Wait(
        reason="submission", until=END
    )
