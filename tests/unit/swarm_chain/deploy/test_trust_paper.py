"""The paper on trust says mainnet's numbers, names every role, and stays readable."""

import re
from pathlib import Path

import pytest

from swarm_chain.core.units import Wei, format_swm
from swarm_chain.deploy.words import duration
from swarm_chain.params import load_params

PAPER = Path(__file__).resolve().parents[4] / "docs" / "spec" / "trust.md"
TEXT = PAPER.read_text(encoding="utf-8")
NUMBERS = re.findall(r"^\| `(\w+\.\w+)` \| (.+) \|$", TEXT, re.MULTILINE)
ROLES = (
    "owner",
    "operator",
    "node",
    "defender",
    "payout",
    "oracle member",
    "reporter",
    "quorum",
    "guardian",
    "veto",
    "proposers",
    "timelock",
    "deployer",
    "watcher",
)


@pytest.mark.parametrize(("path", "said"), NUMBERS)
def test_number_of_the_paper_is_mainnets(path: str, said: str) -> None:
    part, field = path.split(".")

    assert said == _in_words(path, getattr(getattr(load_params("mainnet"), part), field))


def test_paper_has_the_numbers_its_claims_rest_on() -> None:
    assert len(NUMBERS) == len(dict(NUMBERS)) >= 30


@pytest.mark.parametrize("role", ROLES)
def test_every_role_says_what_it_may_and_cannot(role: str) -> None:
    rows = re.findall(rf"^\| {role} \|(.*)\|$", TEXT, re.MULTILINE)

    assert any(len(row.split(" | ")) == 4 for row in rows)


def test_paper_is_short() -> None:
    assert len(TEXT.splitlines()) <= 200


def _in_words(path: str, value: int) -> str:
    if path.endswith("_for"):
        return duration(value)
    if path.endswith("_bps"):
        return f"{value // 100}.{value % 100:02d} %"
    return f"{format_swm(Wei(value), 0)} SWM" if path.endswith("_wei") else str(value)
