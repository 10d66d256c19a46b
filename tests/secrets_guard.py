"""No program of the suite ever writes a secret: at the end every log under the run's folders is searched for them.

Secrets are those the helpers `remember` (keys, passwords, credentials in URLs) and the development chain's keys. With
pytest-xdist each worker searches its own folder and tells the controller, which fails the run.
"""

import base64
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from eth_account.hdaccount import key_from_seed, seed_from_mnemonic

from swarm_chain.devnet.chain import MNEMONIC

LEAKS = "swarm_leaks"
ACCOUNTS = 10
LEAST_LENGTH = 6  # shorter ones stand in any text
_remembered: set[str] = set()


def remember(*secrets: str | bytes) -> None:
    """Adds secrets that no log may hold.

    Args:
        secrets: text, or the bytes of a key.

    Raises:
        ValueError: one is so short that it stands in honest text too.
    """
    for secret in secrets:
        if len(secret) < LEAST_LENGTH:
            raise ValueError("a secret of a test has at least six characters")
        _remembered.update(_spellings(secret))


def known_secrets() -> frozenset[str]:
    """Everything no log may hold, in every spelling that is looked for."""
    return frozenset(_remembered) | _development_keys()


def leaks_in(folder: Path, secrets: Iterable[str]) -> Iterator[str]:
    """Name the logs under a folder that hold a secret; the secret itself is not repeated.

    Args:
        folder: searched with everything below it.
        secrets: as they may be spelled, in any case.
    """
    needles = [(secret.lower().encode(), place) for place, secret in enumerate(sorted(secrets))]
    for path in sorted(logs_under(folder)):
        content = path.read_bytes().lower()
        found = [place for needle, place in needles if needle in content]
        if found:
            yield f"{path}: {len(found)} secrets, the first at byte {content.index(needles[found[0]][0])}"


def logs_under(folder: Path) -> Iterator[Path]:
    """Every log under a folder: files that end in .log, and whatever lies in a folder named logs."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and (path.suffix == ".log" or "logs" in path.parts):
            yield path


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Searches this process' logs; a worker tells the controller, anybody else fails the run."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    base: Path | None = factory.getbasetemp() if factory is not None else None
    found = list(leaks_in(base, known_secrets())) if base is not None else []
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[LEAKS] = found
        return
    told = session.config.stash.setdefault(_TOLD, [])
    told += found
    if told:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Takes in what a worker found."""
    output: dict[str, Sequence[str]] = getattr(node, "workeroutput", {})
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # xdist's class has no types
    config.stash[_TOLD] = [*config.stash.get(_TOLD, []), *output.get(LEAKS, [])]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the logs."""
    found = terminalreporter.config.stash.get(_TOLD, [])
    if found:
        terminalreporter.section("secrets in logs", red=True)
        for line in found:
            terminalreporter.line(line)


_TOLD = pytest.StashKey[list[str]]()


def _spellings(secret: str | bytes) -> Iterator[str]:
    raw = secret.encode() if isinstance(secret, str) else secret
    if isinstance(secret, str):
        yield secret
    else:
        yield secret.hex()
    yield base64.b64encode(raw).decode().rstrip("=")


@cache
def _development_keys() -> frozenset[str]:
    seed = seed_from_mnemonic(MNEMONIC, passphrase="")
    keys = (bytes(key_from_seed(seed, f"m/44'/60'/0'/0/{number}")) for number in range(ACCOUNTS))
    return frozenset({MNEMONIC, *(key.hex() for key in keys)})
