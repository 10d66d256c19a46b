"""The source tree as the architecture tests see it: parsed once, named by path from the repository root."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("swarm_chain", "oracle", "node", "gateway")

# Where money and guilt are decided: a package folder or a module of that name.
DECIDING = ("swarm_chain/core", "oracle/rewards", "oracle/violations", "oracle/settle", "oracle/judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file: its path from the root, its lines and its syntax tree."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module

    def place(self, node: ast.AST) -> str:
        """Where a node stands, as `path:line`."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Every Python file under the folders (relative to the root, no suffix needed for a single module)."""
    return tuple(read_module(path) for path in sorted(set(_python_files(folders))))


def read_module(path: Path) -> Module:
    """One Python file, parsed."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    return Module(path=name, lines=tuple(text.splitlines()), tree=ast.parse(text, filename=name))


@cache
def solidity_files() -> tuple[Path, ...]:
    """Every Solidity file of ours."""
    return tuple(sorted((ROOT / "contracts").rglob("*.sol")))


def strip_solidity(text: str) -> str:
    """Solidity without comments and string contents, line breaks kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return pattern.sub(lambda found: "\n" * found.group().count("\n"), text)


def words_of(identifier: str) -> tuple[str, ...]:
    """The lower-case words of an identifier in snake_case, camelCase or UPPER_CASE."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier))


def _python_files(folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        single = ROOT / f"{folder}.py"
        if single.is_file():
            yield single
        yield from (ROOT / folder).rglob("*.py")
