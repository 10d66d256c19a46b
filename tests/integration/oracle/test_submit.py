"""`swarm node bench --submit` against a running member: sent only when asked for, and only by a node that everybody knows."""

from pathlib import Path

import httpx2
import pytest

from swarm_chain.adapters.keystore import KeySigner, import_key
from swarm_chain.core.encoding import keccak
from swarm_chain.core.units import WEI_PER_SWM
from tests.chain_fixtures import ChainTools
from tests.integration.oracle.conftest import Here
from tests.integration.oracle.process import PASSWORD, MemberProgram
from tests.secrets_guard import remember

NOBODY = "http://127.0.0.1:9"
NODE_KEY = keccak(b"a node that measures itself")
BENCH = ("node", "bench", "compute", "--preset", "minimal", "--runs", "1")


@pytest.fixture
def folder(program: MemberProgram) -> Path:
    """A node's folder with its key."""
    made = program.home / "node"
    remember(NODE_KEY, PASSWORD)
    import_key(made, "key.json", NODE_KEY, PASSWORD, scrypt_n=1024)
    (made / "password").write_text(PASSWORD + "\n", encoding="utf-8")
    for name in ("key.json", "password"):
        (made / name).chmod(0o600)
    return made


@pytest.fixture
def known(tools: ChainTools, folder: Path) -> KeySigner:
    """The node, added to a provider with stake."""
    node = KeySigner(NODE_KEY)
    tools.register(KeySigner(keccak(b"its owner")), node, stake_wei=2_000 * WEI_PER_SWM)
    return node


@pytest.mark.long
def test_bench_when_submitted_then_every_member_shows_it_and_without_it_none_does(
    here: Here, program: MemberProgram, folder: Path, known: KeySigner
) -> None:
    program.start()
    page = f"{program.url}/v1/benchmarks/{known.address}"
    urls = {"SWARM_ORACLE_URL": f"{program.url},{NOBODY}"}

    assert here(*BENCH, "--folder", str(folder), **urls)[0] == 0
    assert httpx2.get(page).status_code == 404
    code, document = here(*BENCH, "--folder", str(folder), "--submit", **urls)

    assert code == 0
    assert [(one["isNewest"], bool(one["refusal"])) for one in document["submitted"]] == [(True, False), (False, True)]
    shown = httpx2.get(page).json()
    (measured,) = [one for one in document["metrics"] if one["value"] is not None]
    assert shown["figures"] == [{name: measured[name] for name in ("category", "name", "unit", "value")}]
    assert (shown["measured"], bool(shown["problem"])) == (None, True)


@pytest.mark.long
def test_bench_when_no_member_takes_it_then_4_and_what_was_measured_is_not_lost(
    here: Here, folder: Path, known: KeySigner
) -> None:
    code, document = here(*BENCH, "--folder", str(folder), "--submit", SWARM_ORACLE_URL=NOBODY)

    assert (code, document["error"]) == (4, "not_submitted")
    assert [one["refusal"] != "" for one in document["values"]["submitted"]] == [True]
    assert document["values"]["metrics"][0]["value"] > 0


@pytest.mark.parametrize(
    ("missing", "code", "error"),
    [
        ({"SWARM_ORACLE_URL": ""}, 3, "no_oracle"),
        ({"SWARM_NODE_FOLDER": "elsewhere"}, 3, "keystore_missing"),
        ({"SWARM_DEPLOYMENT": "elsewhere.json"}, 3, "deployment_missing"),
        ({}, 2, "unknown_node"),
    ],
    ids=["oracle", "key", "deployment", "registration"],
)
@pytest.mark.long
def test_bench_when_something_to_submit_with_is_missing_then_refused_before_measuring(
    here: Here, folder: Path, tmp_path: Path, missing: dict[str, str], code: int, error: str
) -> None:
    have = {"SWARM_ORACLE_URL": NOBODY, "SWARM_NODE_FOLDER": str(folder)}
    named = {name: str(tmp_path / value) if value else "" for name, value in missing.items()}

    found, document = here(*BENCH, "--submit", **(have | named))

    assert (found, document["error"]) == (code, error), document
    assert "metrics" not in document["values"]
