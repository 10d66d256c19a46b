"""The arrows are enforced: the tree keeps them, and one planted import breaks them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGES, ROOT


@pytest.fixture
def copied_tree(tmp_path: Path) -> Path:
    """The packages and their arrows, somewhere they may be broken."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "importlinter.ini", tmp_path)
    return tmp_path


def _lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--config", "importlinter.ini"],
        cwd=tree,
        env=dict(os.environ, PYTHONPATH=str(tree), COLUMNS="200"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_lint_imports_when_the_tree_is_as_it_is_then_passes(copied_tree: Path) -> None:
    result = _lint_imports(copied_tree)

    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "statement", "contract"),
    [
        ("swarm_chain/core/planted.py", "import ray", "The core sees no clock"),
        ("swarm_chain/core/planted.py", "from time import time", "The core sees no clock"),
        ("swarm_chain/core/planted.py", "import web3", "The core sees no clock"),
        ("swarm_chain/core/planted.py", "import swarm_chain.ports", "swarm_chain: cli"),
        ("oracle/judge/planted.py", "import oracle.store", "oracle: main"),
        ("swarm_chain/planted.py", "import node", "The kernel knows neither"),
        ("oracle/planted.py", "import node", "The oracle, the node and the gateway never import each other"),
        ("node/planted.py", "import oracle", "The oracle, the node and the gateway never import each other"),
        ("gateway/planted.py", "import oracle", "The oracle, the node and the gateway never import each other"),
        ("swarm_chain/planted.py", "import torch", "The base install"),
        ("swarm_chain/reference/planted.py", "import triton", "The base install"),
        ("oracle/judge/planted.py", "import torch", "What decides money or guilt"),
        ("oracle/judge/planted.py", "import swarm_chain.adapters.rpc", "What decides money or guilt"),
        ("oracle/planted.py", "import swarm_chain.testing", "Services never run on the shipped fakes"),
    ],
)
def test_lint_imports_when_a_forbidden_import_is_planted_then_fails(
    copied_tree: Path, module: str, statement: str, contract: str
) -> None:
    (copied_tree / module).write_text(f"{statement}\n", encoding="utf-8")

    result = _lint_imports(copied_tree)

    broken = [line for line in result.stdout.splitlines() if " BROKEN" in line]
    assert result.returncode != 0
    assert any(line.startswith(contract) for line in broken), result.stdout
