"""Presets: complete, consistent, and bound to reports by a version."""

import re
from collections.abc import Callable
from importlib.resources import files

import pytest

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.params import parse_params
from swarm_chain.params import PRESETS, load_params

MINIMAL = files("swarm_chain.params").joinpath("minimal.toml").read_text()


def _with(name: str, value: str) -> str:
    text, count = re.subn(rf"^{name} = [^#\n]*", f"{name} = {value} ", MINIMAL, count=1, flags=re.MULTILINE)
    assert count == 1, f"the preset has no line {name}"
    return text


@pytest.mark.parametrize("name", PRESETS)
def test_preset_parses_and_is_named_like_its_file(name: str) -> None:
    assert load_params(name).name == name


def test_presets_have_different_versions_that_fit_a_uint32() -> None:
    versions = {load_params(name).version for name in PRESETS}

    assert len(versions) == len(PRESETS)
    assert all(0 <= version < 2**32 for version in versions)


@pytest.mark.parametrize(
    ("name", "value"), [("epoch_for", "61"), ("minimum_wei", '"7"'), ("draws", "9"), ("bounty_bps", "1001")]
)
def test_version_changes_with_every_number(name: str, value: str) -> None:
    assert parse_params(_with(name, value)).version != load_params("minimal").version


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda: MINIMAL.replace("[epoch]\n", "[epoch]\nspeed = 3\n"), r"unknown \['speed'\]"),
        (lambda: re.sub(r"^draws = .*$", "", MINIMAL, flags=re.MULTILINE), r"missing \['draws'\]"),
        (lambda: _with("draws", "-1"), "no non-negative integer"),
        (lambda: _with("draws", "1.5"), "no non-negative integer"),
        (lambda: _with("draws", "true"), "no non-negative integer"),
        (lambda: _with("minimum_wei", '"1e21"'), "no non-negative integer"),
        (lambda: MINIMAL.replace("compute = 3000", "compute = 3001"), "add up to 10000"),
        (
            lambda: _with("min_unbonding_for", "199"),
            r"min_unbonding_for is 199 s, it must be at least epoch 60 .* veto 30 \+ grace 60 = 230 s",
        ),
        (
            lambda: _with("min_unbonding_for", "599"),
            r"min_unbonding_for is 599 s, it must be at least accuse 300 \+ answer and moves 300 = 600",
        ),
        (lambda: _with("accuse_for", "301"), "accuse 301"),
        (lambda: _with("max_offence_age_for", "601"), "must be at least max_offence_age_for 601"),
        (lambda: _with("slash_bps", "0"), "a conviction takes nothing"),
        (lambda: _with("slash_bps", "10001"), "or more than everything"),
        (lambda: MINIMAL.replace("bounty_bps = 3000", "bounty_bps = 10001"), "or more than everything"),
        (lambda: _with("unbonding_for", "599"), "unbonding_for is 599 s, it must be at least min_unbonding_for 600 s"),
        (lambda: _with("members", "2"), "above half of the members"),
        (lambda: _with("quorum", "2"), "above half of the members"),
        (lambda: _with("first_steps", "4"), "steps must ascend"),
        (lambda: _with("availability_table", "[[0, 0], [9000, 5], [9000, 6], [10000, 7]]"), "availability must not"),
        (lambda: _with("availability_table", "[[0, 0], [9000, 6], [9990, 5]]"), "availability must not lower"),
        (lambda: _with("availability_table", "[[0, 0], [10000, 10001]]"), "nor raise it above 10000"),
        (lambda: _with("availability_table", "[[1, 0], [10000, 10000]]"), "availability must not"),
        (lambda: _with("error_table", "[[0, 9000], [10000, 10000]]"), "errors must not raise"),
        (lambda: _with("response_table", "[[0, 10001], [10000, 0]]"), "slow responses must not"),
        (lambda: _with("rating_table", "[[0, 7999], [11000, 11000]]"), "below 8000"),
        (lambda: _with("rating_table", "[[0, 8000], [20000, 12000]]"), "above 11000"),
        (lambda: _with("commitment_table", "[[0, 9999], [1, 10000]]"), "a longer lock"),
        (lambda: _with("scarcity_table", "[[0, 10000], [10000, 13000]]"), "a rarer region"),
        (lambda: _with("scarcity_table", "[[0, 13001], [10000, 10000]]"), "10000 to 13000"),
        (lambda: _with("tenure_epochs", "0"), "tenure and adoption"),
        (lambda: _with("tenure_cap_bps", "9999"), "tenure and adoption"),
        (lambda: _with("adoption_bps", "20001"), "tenure and adoption"),
        (lambda: _with("per_gib_wei", '"1023"'), "whole wei a unit"),
        (lambda: _with("per_tb_wei", '"0"'), "must be positive"),
        (lambda: _with("restoration_epochs", "0"), "at least one epoch"),
        (lambda: _with("budget_epochs", "0"), "at least one epoch"),
        (lambda: MINIMAL.replace("serving = { error_bps = 10, ", "serving = { speed = 10, "), r"unknown \['speed'\]"),
        (
            lambda: MINIMAL.replace("performance_bps = { penalty = 100, ", "performance_bps = { "),
            r"missing \['penalty'\]",
        ),
        (
            lambda: MINIMAL.replace("[services.storage]", "[services.disk]"),
            r"missing \['storage'\], unknown \['disk'\]",
        ),
        (lambda: _with("delivery_table", "[[0, 9000], [10000, 8000]]"), "delivering more"),
        (lambda: _with("burn_bps", "9600"), "takes more than everything"),
        (lambda: "name = [", "no TOML"),
    ],
)
def test_params_that_are_incomplete_or_contradict_themselves_are_refused(
    change: Callable[[], str], complaint: str
) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        parse_params(change())


@pytest.mark.parametrize("name", PRESETS)
def test_no_stake_leaves_before_the_last_case_about_it_can_open(name: str) -> None:
    params = load_params(name)

    court = params.compute_court
    assert court.longest_for == court.accuse_for + court.answer_for + 3 * court.move_for
    assert max(court.longest_for, params.court.max_offence_age_for) <= params.stake.min_unbonding_for


def test_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_params("testnet")

    assert "minimal" in caught.value.fix
