"""Pages that say what a test proves: every name on them exists, and every invariant is cited where it is checked."""

from pathlib import Path

import pytest

from tests.architecture import citations
from tests.architecture.tree import ROOT, solidity_files

INVARIANTS = ROOT / "docs" / "invariants.md"
PAGES = [
    page for page in (INVARIANTS, ROOT / "docs" / "bug-classes.md", ROOT / "docs" / "attacks.md") if page.is_file()
]
NUMBERS = range(1, 50)

CONTRACT_TESTS = {
    str(path): path.read_text(encoding="utf-8")
    for path in solidity_files()
    if path.is_relative_to(ROOT / "contracts" / "test")
}
CONTRACTS = citations.contracts_in(CONTRACT_TESTS)
PYTHON = citations.python_tests(ROOT / "tests")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_on_the_page_exists(page: Path) -> None:
    assert list(citations.unknown_names(page.read_text(encoding="utf-8"), CONTRACTS, PYTHON)) == []


def test_every_invariant_has_a_row_that_names_a_test() -> None:
    rows = citations.rows(INVARIANTS.read_text(encoding="utf-8"))

    assert list(rows) == list(NUMBERS)
    assert [number for number, proof in rows.items() if not citations.named_tests(proof)] == []


def test_every_invariant_is_cited_where_it_is_checked() -> None:
    python = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    cited = frozenset().union(*map(citations.numbers_cited, (*CONTRACT_TESTS.values(), *python)))

    assert [number for number in NUMBERS if number not in cited] == []


SOURCE = """
abstract contract Walk is Test {
    function afterInvariant() public {}
    // function test_commented() public {}
}
contract CourtTest is Walk {
    /// @dev Invariants 8 to 10, 14 and 15.
    function testFuzz_pay_whenAny_thenExact() public { assertEq(a, b, "19, 20: exactly"); }
}
"""


@pytest.mark.parametrize(
    ("page", "unknown"),
    [
        ("`CourtTest.testFuzz_pay_whenAny_thenExact` and `CourtTest.afterInvariant`", []),
        ("`CourtTest.test_commented`", ["CourtTest.test_commented"]),
        ("`OtherTest.afterInvariant`", ["OtherTest.afterInvariant"]),
        ("`test_pay_whenRenamed_thenLost`", ["test_pay_whenRenamed_thenLost"]),
        ("`tests/architecture`, `contracts/test/unit/*.t.sol`", []),
        ("`tests/architecture/test_lost.py`", ["tests/architecture/test_lost.py"]),
        ("`tests/architecture/test_rules.py::test_lost`", ["tests/architecture/test_rules.py::test_lost"]),
    ],
)
def test_a_name_that_is_nowhere_is_found(page: str, unknown: list[str]) -> None:
    contracts = citations.contracts_in({"Court.t.sol": SOURCE})

    assert list(citations.unknown_names(page, contracts, frozenset())) == unknown


def test_a_row_without_a_test_is_found() -> None:
    rows = citations.rows(
        "| no. | promise | proven by |\n| 7 | kept | unit `CourtTest.test_a` |\n| 8 | hoped | thought |"
    )

    assert {number: citations.named_tests(proof) for number, proof in rows.items()} == {7: ["CourtTest.test_a"], 8: []}


def test_numbers_are_read_from_comments_and_messages() -> None:
    assert citations.numbers_cited(SOURCE) == {8, 9, 10, 14, 15, 19, 20}
