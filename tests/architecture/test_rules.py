"""The house rules hold in the tree as it is."""

from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.architecture import rules
from tests.architecture.tree import DECIDING, PACKAGES, ROOT, Module, modules, solidity_files

EXACT_MONEY = ("oracle/rewards", "oracle/violations", "oracle/settle")
TOOLS = ("bench", "tools")

Rule = Callable[[Module], Iterator[str]]


def _complaints(rule: Rule, found: Iterable[Module]) -> list[str]:
    return [complaint for module in found for complaint in rule(module)]


@pytest.mark.parametrize(
    ("rule", "folders"),
    [
        (rules.inexact_arithmetic, DECIDING),
        (rules.float_types, EXACT_MONEY),
        (rules.environment_at_import, PACKAGES),
        (rules.forbidden_words, (*PACKAGES, *TOOLS, "tests")),
        (rules.patching, ("tests",)),
        (rules.network_imports, ("tests/unit",)),
    ],
)
def test_rule_holds_in_its_rooms(rule: Rule, folders: tuple[str, ...]) -> None:
    assert _complaints(rule, modules(*folders)) == []


def test_environment_is_read_in_config_only() -> None:
    outside = [module for module in modules(*PACKAGES) if not module.path.endswith("/config.py")]

    assert _complaints(rules.environment_reads, outside) == []


def test_every_deciding_room_is_looked_at() -> None:
    looked_at = {room for room in DECIDING for module in modules(room) if module.path.startswith(room)}

    assert looked_at == set(DECIDING)


@pytest.mark.parametrize(("folders", "lid"), [((*PACKAGES, *TOOLS), 400), (("tests",), 600)])
def test_python_modules_stay_under_their_lid(folders: tuple[str, ...], lid: int) -> None:
    too_long = [f"{module.path}: {len(module.lines)} lines" for module in modules(*folders) if len(module.lines) > lid]

    assert too_long == []


def test_python_functions_stay_under_their_lid() -> None:
    complaints = [found for module in modules(*PACKAGES, *TOOLS) for found in rules.long_functions(module, 40)]

    assert complaints == []


def test_solidity_stays_under_its_lids() -> None:
    complaints = []
    for path in solidity_files():
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        lid = 600 if path.is_relative_to(ROOT / "contracts" / "test") else 450
        if len(text.splitlines()) > lid:
            complaints.append(f"{name}: {len(text.splitlines())} lines, the lid is {lid}")
        if path.is_relative_to(ROOT / "contracts" / "src"):
            complaints.extend(rules.long_solidity_functions(name, text, 45))

    assert complaints == []


def test_solidity_uses_the_glossary() -> None:
    complaints = [
        complaint
        for path in solidity_files()
        for complaint in rules.forbidden_solidity_words(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]

    assert complaints == []
