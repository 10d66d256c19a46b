"""Every package imports only what its extra installs, and every pin is a plain one."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from typing import Any

import pytest

from tests.architecture.rules import imported_names
from tests.architecture.tree import PACKAGES, ROOT, Module, modules

# What an extra may bring in for a package besides the base install. The reference programs run on nodes and oracles only;
# a member imports Ray only where a cluster is configured, and names the extra that brings it if it is missing.
EXTRAS = {"swarm_chain": (), "oracle": ("oracle",), "node": ("node", "jobs"), "gateway": ("gateway",)}
BROUGHT_BY_OTHERS = {
    "swarm_chain/reference/": ("torch", "triton", "optuna", "safetensors", "torchao", "peft", "transformers"),
    "swarm_chain/web/": ("fastapi", "starlette"),
    "oracle/pipeline/ray_compute.py": ("ray",),
}


def _declared(*extras: str) -> frozenset[str]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return frozenset(_normal(re.split(r"[\[<>=!~ ;]", line, maxsplit=1)[0]) for line in lines)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _third_party(module: Module) -> Iterator[tuple[str, str]]:
    """Top-level names of imported modules that are neither ours nor Python's, with their place."""
    for node in ast.walk(module.tree):
        for name in imported_names(node):
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in PACKAGES:
                yield top, module.place(node)


def _undeclared(found: Iterable[Module], declared: frozenset[str]) -> list[str]:
    owners = packages_distributions()
    complaints = []
    for module in found:
        allowed = [names for prefix, names in BROUGHT_BY_OTHERS.items() if module.path.startswith(prefix)]
        for top, place in _third_party(module):
            distributions = {_normal(owner) for owner in owners.get(top, [top])}
            if not distributions & (declared | {name for names in allowed for name in names}):
                complaints.append(
                    f"{place}: imports {top} of {sorted(distributions)}, which pyproject.toml does not declare here"
                )
    return sorted(set(complaints))


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_what_its_extra_declares(package: str) -> None:
    assert _undeclared(modules(package), _declared(*EXTRAS[package])) == []


def test_an_undeclared_import_is_noticed() -> None:
    planted = Module(path="swarm_chain/planted.py", lines=("import ray",), tree=ast.parse("import ray"))

    assert _undeclared([planted], _declared()) == [
        "swarm_chain/planted.py:1: imports ray of ['ray'], which pyproject.toml does not declare here"
    ]


def test_base_install_is_light() -> None:
    assert (
        _declared() & {"ray", "torch", "triton", "fastapi", "uvicorn", "sqlalchemy", "alembic", "apscheduler"}
        == frozenset()
    )


def test_constraints_are_plain_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)] == []


def test_every_declared_package_is_pinned() -> None:
    pinned = {
        _normal(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }

    assert _declared("node", "gpu", "oracle", "dev", "nodejs") - pinned == frozenset()
