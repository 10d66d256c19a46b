"""Each house rule refuses a file that breaks it and lets a look-alike pass."""

import ast
import textwrap
from collections.abc import Callable, Iterator

import pytest

from tests.architecture import rules
from tests.architecture.tree import Module, words_of

Rule = Callable[[Module], Iterator[str]]


def _module(source: str) -> Module:
    text = textwrap.dedent(source)
    return Module(path="planted.py", lines=tuple(text.splitlines()), tree=ast.parse(text))


BREAKS = [
    (rules.inexact_arithmetic, "share = 0.5"),
    (rules.inexact_arithmetic, "share = total / 2"),
    (rules.inexact_arithmetic, "total /= 2"),
    (rules.inexact_arithmetic, "share = float(total)"),
    (rules.inexact_arithmetic, "share = 1e18"),
    (rules.float_types, "def pay(amount: float) -> None: ..."),
    (rules.float_types, "x = y.astype(np.float64)"),
    (rules.float_types, "x = y.astype('float32')"),
    (rules.patching, "with patch('time.time'): pass"),
    (rules.patching, "with mock.patch.object(clock, 'now'): pass\nfrom unittest import mock"),
    (rules.patching, "from unittest.mock import MagicMock"),
    (rules.network_imports, "import socket"),
    (rules.network_imports, "from urllib.request import urlopen"),
    (rules.environment_at_import, "import os\nURL = os.environ['URL']"),
    (rules.environment_at_import, "def f(url=os.getenv('URL')): ..."),
    (rules.environment_at_import, "class Settings:\n    url = os.environ.get('URL')"),
    (rules.environment_reads, "def f():\n    return os.environ.get('URL')"),
    (rules.forbidden_words, "def jail_provider(): ..."),
    (rules.forbidden_words, "class MinerState: ..."),
    (rules.forbidden_words, "def f(strike_count): ..."),
    (rules.forbidden_words, "self.collateral = 1"),
]

KEEPS = [
    (rules.inexact_arithmetic, "share = total // 2\nname = 'a / b'\nrefused = isinstance(x, float)"),
    (rules.float_types, "x = y.astype(np.int64)  # not float64"),
    (rules.patching, "dispatch(request)\nclient.patch_level = 1"),
    (rules.network_imports, "import sockets_of_ours\nfrom http import HTTPStatus\nfrom urllib.parse import quote"),
    (rules.environment_at_import, "def f():\n    return os.environ['URL']"),
    (rules.environment_reads, "environment = {}"),
    (rules.forbidden_words, "urban = bandwidth = refine = jailbreak = 1"),
]


@pytest.mark.parametrize(("rule", "source"), BREAKS)
def test_rule_refuses_the_breach(rule: Rule, source: str) -> None:
    assert list(rule(_module(source))) != []


@pytest.mark.parametrize(("rule", "source"), KEEPS)
def test_rule_lets_the_lookalike_pass(rule: Rule, source: str) -> None:
    assert list(rule(_module(source))) == []


def test_function_lid_counts_code_and_not_the_docstring() -> None:
    docstring = '"""' + "\n".join(["word"] * 60) + '"""'
    body = "\n".join(["    x = 1"] * 40)

    assert list(rules.long_functions(_module(f"def f():\n    {docstring}\n    x = 1"), 40)) == []
    assert len(list(rules.long_functions(_module(f"def f():\n{body}"), 40))) == 1


def test_solidity_function_lid_ends_at_the_closing_brace() -> None:
    long = "    function f() external {\n" + "        x = 1;\n" * 45 + "    }\n"
    many = "    function g() external;\n" * 60

    assert len(list(rules.long_solidity_functions("F.sol", long, 45))) == 1
    assert list(rules.long_solidity_functions("G.sol", many, 45)) == []


def test_solidity_words_are_looked_for_in_code_only() -> None:
    text = '// a miner\n/* jail */\nuint256 urban;\nstring a = "strike";\nuint256 jailedUntil;\n'

    assert len(list(rules.forbidden_solidity_words("F.sol", text))) == 1


def test_identifiers_split_into_words() -> None:
    assert words_of("maxJailFor") == ("max", "jail", "for")
    assert words_of("HTTPServer_url") == ("http", "server", "url")
    assert words_of("SEVERE_STRIKE2") == ("severe", "strike")
