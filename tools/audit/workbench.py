"""Where mutants are tried: a copy of the contracts in which the tests deploy their contract from a file that can be exchanged.

Every `new StakeVault(...)` of the copied tests reads the creation code from forge's out/. So a mutant costs one compilation of
one contract and one run of tests that are compiled already, about a second. (forge's own dynamic test linking does the same with
a cheatcode; there an expected revert of a constructor ends the test that expects it, and what follows is never run.)
"""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from swarm_chain.core.errors import InconsistentError, UnavailableError
from tools.audit.process import run_tool

SETTINGS = {
    "FOUNDRY_OPTIMIZER": "false",  # halves the compilation; what the code does stays the same
    "FOUNDRY_OUT": "out",
    "FOUNDRY_CACHE_PATH": "cache",
}
DEPLOYER = Path(__file__).with_name("Deployer.sol")
UNIT = Path("contracts/test/unit")
FUZZED = "^testFuzz_"
HELPERS = "contracts/test/utils"


class Workbench:
    """One copy of the contracts with the tests of one contract.

    Args:
        folder: of this copy.
        contract: whose code is exchanged.
        timeout_s: seconds after which a run counts as hanging.
        fuzz_runs: inputs each fuzz test tries.
    """

    def __init__(self, folder: Path, *, contract: str, timeout_s: int, fuzz_runs: int) -> None:
        self.folder = folder
        self._artifact = folder / "out" / f"{contract}.sol" / f"{contract}.json"
        self._timeout_s = timeout_s
        self._settings = {**SETTINGS, "FOUNDRY_FUZZ_RUNS": str(fuzz_runs)}

    def build(self) -> None:
        """Compiles contracts and tests.

        Raises:
            UnavailableError: they do not compile.
        """
        run_tool(["forge", "build", "--quiet"], folder=self.folder, settings=self._settings)
        self._retire_compiler()

    def put_code(self, creation_code: str) -> None:
        """Exchanges the creation code (hex without 0x) that the tests deploy."""
        artifact = json.loads(self._artifact.read_text(encoding="utf-8"))
        artifact["bytecode"]["object"] = f"0x{creation_code}"
        self._artifact.write_text(json.dumps(artifact), encoding="utf-8")

    def tests_pass(self) -> bool:
        """Whether every test passes with the code that lies there; a run that hangs does not pass.

        Raises:
            InconsistentError: forge ended without running tests.
        """
        # Inputs that failed another mutant would be tried first, and the verdict would depend on the order of mutants.
        shutil.rmtree(self.folder / "cache" / "fuzz", ignore_errors=True)
        # Most mutants fall to a unit test, which costs a fraction of a fuzz test.
        return self._pass("--no-match-test", FUZZED) and self._pass("--match-test", FUZZED)

    def _pass(self, *chosen: str) -> bool:
        command = ["forge", "test", "--fail-fast", "--threads", "1", *chosen]
        try:
            output = run_tool(
                command, folder=self.folder, settings=self._settings, good_statuses=(0, 1), timeout_s=self._timeout_s
            )
        except subprocess.TimeoutExpired:
            return False
        if "failing test" in output:
            return False
        if " tests passed, 0 failed" not in output and "No tests" not in output:
            raise InconsistentError("forge ran no tests", fix=f"run 'forge test' in {self.folder}")
        return True

    def _retire_compiler(self) -> None:
        """All is compiled: what is left of the compiler is its version, for which forge asks at every start."""
        program = self.folder / "contracts/bin/solc"
        version = run_tool([str(program), "--version"], folder=self.folder, settings={}).splitlines()[-1]
        program.write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")


def lay_out(root: Path, folder: Path, *, contract: str, tests: Sequence[str]) -> None:
    """Makes the folder a project of the contracts, the helpers of the tests and the named tests alone.

    Args:
        root: the repository.
        folder: replaced.
        contract: what the tests deploy from a file.
        tests: patterns of file names in contracts/test/unit.

    Raises:
        UnavailableError: no test has such a name.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("contracts/src", "contracts/bin", HELPERS, "tests/golden"):
        shutil.copytree(root / part, folder / part)
    shutil.copy(root / "foundry.toml", folder)
    shutil.copy(DEPLOYER, folder / HELPERS)
    (folder / "node_modules").symlink_to((root / "node_modules").resolve())
    chosen = sorted({path for pattern in tests for path in (root / UNIT).glob(pattern)})
    if not chosen:
        raise UnavailableError(
            f"no test in {UNIT} is named {' or '.join(tests)}", fix="correct tools/audit/targets.toml"
        )
    (folder / UNIT).mkdir(parents=True)
    for path in chosen:
        shutil.copy(path, folder / UNIT)
    for path in (folder / "contracts/test").rglob("*.sol"):
        path.write_text(deploy_from_file(path.read_text(encoding="utf-8"), contract), encoding="utf-8")


def deploy_from_file(text: str, contract: str) -> str:
    """A test's source whose `new Contract(...)` reads the creation code from the contract's artifact."""
    changed = text
    for found in reversed(list(re.finditer(rf"\bnew {contract}\(", text))):
        end = _closing(text, found.end())
        call = f'Deployer.deploy("{contract}.sol:{contract}", abi.encode({text[found.end() : end]}))'
        changed = f"{changed[: found.start()]}{contract}({call}){changed[end + 1 :]}"
    if changed == text:
        return text
    pragma = "pragma solidity 0.8.30;\n"
    return changed.replace(pragma, f'{pragma}import {{Deployer}} from "{HELPERS}/{DEPLOYER.name}";\n', 1)


def fingerprint(folder: Path, extra: str) -> str:
    """Hash of every file that decides a verdict besides the mutant."""
    digest = hashlib.sha256(extra.encode())
    for path in sorted([*folder.glob("contracts/**/*"), *folder.glob("tests/**/*"), folder / "foundry.toml"]):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _closing(text: str, start: int) -> int:
    """Index of the parenthesis that closes the one before `start`."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise InconsistentError(f"no closing parenthesis after: {text[start : start + 40]}")
