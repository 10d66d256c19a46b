"""docs/gas.md says what the committed snapshots say."""

import json
import re

import pytest

from tests.architecture.tree import ROOT

# | action | `group: name` | gas | goal | peer |
_ROW = re.compile(r"^\| [^|]+ \| `(\w+): ([^`]+)` \| ([\d,]+) \| ([\d,]*) ?\|", re.MULTILINE)
ROWS = _ROW.findall((ROOT / "docs/gas.md").read_text(encoding="utf-8"))


def test_page_has_every_goal_of_the_design() -> None:
    goals = sorted(int(goal.replace(",", "")) for _, _, _, goal in ROWS if goal)

    assert goals == [32_000, 55_000, 75_000, 80_000, 80_000, 260_000, 420_000]


@pytest.mark.parametrize(("group", "name", "gas", "goal"), ROWS)
def test_figure_is_the_snapshots_and_within_its_goal(group: str, name: str, gas: str, goal: str) -> None:
    snapshot = json.loads((ROOT / f"contracts/snapshots/{group}.json").read_text(encoding="utf-8"))

    assert int(gas.replace(",", "")) == int(snapshot[name])
    assert not goal or int(gas.replace(",", "")) <= int(goal.replace(",", ""))
