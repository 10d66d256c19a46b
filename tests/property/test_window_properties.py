"""Windows of any params: what the rules accept keeps stake until every case about it could open, what they refuse does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.params import Params
from swarm_chain.core.windows import check_windows, window_rules
from swarm_chain.params import PRESETS, load_params

SECONDS = st.integers(1, 2_000)
PRESET = st.sampled_from(PRESETS).map(load_params)
LONG = 10_000_000


@st.composite
def any_params(draw: st.DrawFn) -> Params:
    """A preset with every window drawn anew, short enough that the sums cross each other."""
    preset = draw(PRESET)
    epoch = replace(
        preset.epoch,
        epoch_for=draw(SECONDS),
        report_window_for=draw(SECONDS),
        activation_for=draw(SECONDS),
        stale_after_for=draw(st.integers(1, 6_000)),
    )
    stake = replace(
        preset.stake,
        min_unbonding_for=draw(st.integers(1, 12_000)),
        unbonding_for=draw(st.integers(1, 12_000)),
        max_unbonding_for=draw(st.integers(1, 12_000)),
        grace_for=draw(SECONDS),
    )
    court = replace(
        preset.court,
        veto_for=draw(SECONDS),
        severe_veto_for=draw(SECONDS),
        execute_for=draw(SECONDS),
        severe_execute_for=draw(SECONDS),
        max_offence_age_for=draw(st.integers(1, 12_000)),
    )
    compute = replace(preset.compute_court, accuse_for=draw(SECONDS), answer_for=draw(SECONDS), move_for=draw(SECONDS))
    return replace(preset, epoch=epoch, stake=stake, court=court, compute_court=compute)


@given(any_params())
def test_accepted_windows_hold_stake_until_the_last_case_about_it_can_open(params: Params) -> None:
    """Invariant 33: the provider asks its stake back in the second of its offence, at the worst second of an epoch."""
    accepted = _accepts(params)

    shortest_unbonding = params.stake.min_unbonding_for  # the timelock can go down to this
    epoch, court, compute = params.epoch, params.court, params.compute_court
    root_active = epoch.epoch_for + epoch.report_window_for + epoch.activation_for
    report_case_decided = root_active + params.stake.grace_for + max(court.veto_for, court.severe_veto_for)
    last_bonded_case = court.max_offence_age_for
    last_compute_case_ended = compute.accuse_for + compute.answer_for + 3 * compute.move_for
    stays = shortest_unbonding >= max(report_case_decided, last_bonded_case, last_compute_case_ended)
    report_is_young_enough = last_bonded_case >= root_active + params.stake.grace_for

    assert not accepted or (stays and report_is_young_enough)
    assert accepted or not all(rule.holds for rule in window_rules(params))


@given(any_params())
def test_one_second_less_than_the_longest_sum_is_refused_and_the_sum_itself_is_not(params: Params) -> None:
    roomy = _roomy(params)
    at_least = max(rule.need_for for rule in window_rules(roomy) if rule.name == "min_unbonding_for")

    check_windows(_with_minimum(roomy, at_least))
    with pytest.raises(InvalidInputError, match="min_unbonding_for is"):
        check_windows(_with_minimum(roomy, at_least - 1))


@given(any_params())
def test_refusal_names_every_broken_rule_and_no_other(params: Params) -> None:
    broken = [rule for rule in window_rules(params) if not rule.holds]
    if not broken:
        check_windows(params)
        return

    with pytest.raises(InvalidInputError) as caught:
        check_windows(params)

    texts = caught.value.values["broken"]
    assert isinstance(texts, list)
    assert [text.split(" is ")[0] for text in texts] == [rule.name for rule in broken]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_holds_every_rule(name: str) -> None:
    assert [rule for rule in window_rules(load_params(name)) if not rule.holds] == []


def test_mainnet_has_exactly_the_days_of_the_specification() -> None:
    first = window_rules(load_params("mainnet"))[0]

    assert [(name, seconds // 86_400) for name, seconds in first.parts] == [
        ("epoch", 1),
        ("report window", 1),
        ("activation", 1),
        ("veto", 7),
        ("grace", 3),
    ]
    assert first.have_for == first.need_for == 13 * 86_400


def _accepts(params: Params) -> bool:
    try:
        check_windows(params)
    except InvalidInputError:
        return False
    return True


def _roomy(params: Params) -> Params:
    """The same sums below one free choice: everything that is not min_unbonding_for has room."""
    stake = replace(params.stake, unbonding_for=LONG, max_unbonding_for=LONG)
    court = replace(params.court, max_offence_age_for=8_000)
    epoch = replace(params.epoch, stale_after_for=LONG, report_window_for=1)
    return replace(params, stake=stake, court=court, epoch=epoch)


def _with_minimum(params: Params, seconds: int) -> Params:
    return replace(params, stake=replace(params.stake, min_unbonding_for=seconds))
