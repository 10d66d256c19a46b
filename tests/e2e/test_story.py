"""The story on real parts, played once; what it left behind is checked by others than those who wrote it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.adapters.keystore import export_key
from swarm_chain.core.errors import InvalidInputError
from tests.e2e.acts import PROVIDERS
from tests.e2e.summary import broken_promises
from tests.open_zeppelin import open_zeppelin
from tests.secrets_guard import leaks_in, logs_under

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the story's files."""
    return tmp_path_factory.mktemp("build")


@pytest.fixture(scope="module")
def demo(build: Path) -> dict[str, Any]:
    """The document `make demo` writes, of a story played for this module."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.story", "--build", str(build)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads((build / "demo.json").read_text())
    return document


def test_story_when_played_then_every_promise_is_kept(demo: dict[str, Any]) -> None:
    assert broken_promises(demo) == []


def test_dumps_when_loaded_by_open_zeppelin_then_roots_and_all_paths_agree(demo: dict[str, Any]) -> None:
    dumps = [json.loads(Path(one["dump"]).read_text()) for one in demo["epochs"]]

    answers = open_zeppelin(*({"dump": dump, "paths": []} for dump in dumps))

    assert [(a["root"], a["rebuiltRoot"]) for a in answers] == [(e["root"], e["root"]) for e in demo["epochs"]]


def test_claims_when_compared_with_the_last_tree_then_every_amount_is_its_leaf(demo: dict[str, Any]) -> None:
    dump = json.loads(Path(demo["epochs"][-1]["dump"]).read_text())
    leaves = {int(row["value"][1]): row["value"] for row in dump["values"]}

    for provider in demo["providers"].values():
        _, _, reward, penalty = leaves[provider["providerId"]]
        assert (provider["claimedWei"], provider["penaltyWei"]) == (reward, penalty)


def test_slash_when_split_then_half_is_burned_and_at_most_30_percent_goes_to_the_accuser(demo: dict[str, Any]) -> None:
    court = demo["court"]
    slashed, burned, reward = (int(court[name]) for name in ("slashedWei", "burnedWei", "rewardWei"))

    assert slashed >= int(demo["providers"]["mallory"]["stakedWei"]) // 2
    assert slashed // 2 <= burned < slashed
    assert 0 < reward <= slashed * 3 // 10
    assert court["proveGas"] <= 260_000
    assert court["accuser"] not in {provider["address"] for provider in demo["providers"].values()}


def test_document_when_written_then_it_has_the_agreed_form(demo: dict[str, Any]) -> None:
    assert set(demo) == {
        "chainId",
        "durationS",
        "contracts",
        "epochs",
        "providers",
        "job",
        "court",
        "silence",
        "claims",
    }
    assert {"id", "state", "paidWei", "receiptDigest", "judged"} <= set(demo["job"])
    agreed = {"accused", "step", "column", "proveGas", "slashedWei", "burnedWei", "rewardWei"}
    assert agreed <= set(demo["court"])
    assert all(isinstance(demo["court"][name], str) for name in agreed if name.endswith("Wei"))
    for one in demo["epochs"]:
        assert {"epoch", "root", "reportHash", "replayedHash", "leafCount", "submitGas", "dump"} <= set(one)
    wanted = {"address", "providerId", "stakedWei", "earnedWei", "claimedWei", "balanceGainWei", "penaltyWei"}
    for provider in demo["providers"].values():
        assert wanted | {"slashedWei", "status"} <= set(provider)


def test_logs_when_the_story_is_over_then_no_key_and_no_password_stands_in_them(
    build: Path, demo: dict[str, Any]
) -> None:
    passwords = {path.read_text().strip() for path in build.rglob("password")}
    keystores = [path for path in build.rglob("*") if path.is_file() and _is_keystore(path)]
    keys = {_unlocked(path, passwords).hex() for path in keystores}

    assert len(keys) >= len(PROVIDERS)
    assert len(list(logs_under(build))) >= len(PROVIDERS)
    assert list(leaks_in(build, passwords | keys)) == []


def _is_keystore(path: Path) -> bool:
    return path.stat().st_size < 4096 and path.read_bytes().startswith(b"{") and b'"ciphertext"' in path.read_bytes()


def _unlocked(path: Path, passwords: set[str]) -> bytes:
    for password in passwords:
        try:
            return export_key(path, password)
        except InvalidInputError:
            continue
    raise AssertionError(f"no password of the story opens {path}")
