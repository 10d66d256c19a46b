"""What pages say about tests, held against the tests: names, paths and invariant numbers."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.architecture.tree import ROOT, strip_solidity

# A page's row about one invariant: | 7 | promise | proven by |
_ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
# Spans of code on a page.
_SPAN = re.compile(r"`([^`\n]+)`")
# "Invariants 8 to 12, 14 and 15", and the messages of assertions: "19, 20: exactly the shortfall".
_CITED = (re.compile(r"[Ii]nvariants? (\d+(?:(?:, | and | to )\d+)*)"), re.compile(r'"(\d+(?:, \d+)*): '))

Contracts = Mapping[str, frozenset[str]]


def rows(page: str) -> dict[int, str]:
    """What each invariant is said to be proven by, by number."""
    return {int(number): proof for number, _, proof in _ROW.findall(page)}


def contracts_in(texts: Mapping[str, str]) -> Contracts:
    """The functions of each contract, inherited ones included, in Solidity sources by path."""
    own: dict[str, set[str]] = {}
    bases: dict[str, list[str]] = {}
    for text in texts.values():
        for found in re.finditer(
            r"^(?:abstract )?(?:contract|library) (\w+)(?: is ([^{]+))?\s*\{(.*?)^\}",
            strip_solidity(text),
            re.DOTALL | re.MULTILINE,
        ):
            name, parents, body = found.groups()
            own[name] = set(re.findall(r"\bfunction (\w+)", body))
            bases[name] = re.findall(r"\w+", parents or "")
    return {name: frozenset(_inherited(name, own, bases)) for name in own}


def python_tests(folder: Path) -> frozenset[str]:
    """Names of every Python test under a folder."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("test_*.py"))
    functions = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def unknown_names(page: str, contracts: Contracts, python: frozenset[str]) -> Iterator[str]:
    """Spans of a page that name a test, a contract's function or a file which is not there."""
    everywhere = frozenset().union(*contracts.values()) | python
    for span in _SPAN.findall(page):
        if re.fullmatch(r"[\w*.-]+(/[\w*.-]+)+(::\w+)?", span):
            path, _, test = span.partition("::")
            if not any(ROOT.glob(path)) or (test and test not in python):
                yield span
        elif re.fullmatch(r"[A-Z]\w+\.\w+", span):
            contract, _, function = span.partition(".")
            if function not in contracts.get(contract, frozenset()):
                yield span
        elif re.fullmatch(r"(test(Fuzz)?_|invariant_|_check)\w+", span) and span not in everywhere:
            yield span


def named_tests(proof: str) -> list[str]:
    """The tests that a row names: functions of contracts and files of Python tests."""
    return [span for span in _SPAN.findall(proof) if re.search(r"\.(test|invariant_|afterInvariant)|^tests/", span)]


def numbers_cited(text: str) -> frozenset[int]:
    """Invariant numbers that a source cites in its comments and in the messages of its assertions."""
    lists = [found for pattern in _CITED for found in pattern.findall(text)]
    return frozenset(number for listed in lists for number in _expanded(listed))


def _expanded(listed: str) -> Iterator[int]:
    for part in re.split(r", | and ", listed):
        first, _, last = part.partition(" to ")
        yield from range(int(first), int(last or first) + 1)


def _inherited(name: str, own: Mapping[str, set[str]], bases: Mapping[str, list[str]]) -> Iterator[str]:
    yield from own.get(name, ())
    for base in bases.get(name, ()):
        yield from _inherited(base, own, bases)
