"""The root of the command line: light, lazy, and the one place where errors end."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from swarm_chain.cli.connect import open_chain
from swarm_chain.cli.context import Session
from swarm_chain.cli.lazy import ENTRY_POINT_GROUP, EXTRA_HELP, load_noun
from swarm_chain.cli.main import NOUNS, root_command, run
from swarm_chain.cli.shared import shared_options
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.testing import FakeChain

ROOT = Path(__file__).parents[4]
HEAVY = (
    "ray",
    "torch",
    "triton",
    "fastapi",
    "web3",
    "eth_account",
    "numpy",
    "pydantic",
    "rich",
    "httpx2",
    "swarm_chain.adapters",
)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from swarm_chain.cli.main import main; sys.argv = ['swarm', '--help']; sys.exit(main())"
    probe = f"import atexit, sys; atexit.register(lambda: print(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)); "

    done = subprocess.run([sys.executable, "-c", probe + code], capture_output=True, text=True, check=True)

    assert done.stderr.split() == []
    assert all(f"  {noun} " in done.stdout for noun in (*NOUNS, *EXTRA_HELP))


def test_every_noun_loads_and_every_command_takes_the_shared_options(capsys: pytest.CaptureFixture[str]) -> None:
    for noun in NOUNS:
        assert run([noun, "--help"], Session()) == 0
        assert noun in capsys.readouterr().out
    assert run(["stake", "add", "--help"], Session()) == 0
    text = capsys.readouterr().out
    assert all(option.opts[0] in text for option in shared_options())
    assert "--dry-run" in text


def test_nouns_of_other_packages_come_from_the_entry_point_group() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]

    assert set(points["swarm.commands"]) == set(EXTRA_HELP)
    assert set(EXTRA_HELP) <= set(root_command().commands)


@pytest.mark.parametrize(
    "arguments", [["--json", "nonsense"], ["nonsense", "--json"], ["stake", "--json", "--nonsense"]]
)
def test_usage_error_is_one_json_document(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = run(arguments, Session(as_json=True))
    document = json.loads(capsys.readouterr().out)

    assert code == document["exitCode"] == 2
    assert document["error"] == "usage"
    assert document["fix"].startswith("see: swarm")


def test_noun_without_its_extra_says_what_to_install() -> None:
    with pytest.raises(UnavailableError) as missing:
        load_noun(EntryPoint("node", "package_that_nobody_has.cli:app", ENTRY_POINT_GROUP))

    assert missing.value.exit_code == 3
    assert missing.value.fix == "install it with: pip install 'swarm[node]'"


def test_a_bug_of_ours_is_not_taken_for_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError):
        load_noun(EntryPoint("node", "swarm_chain.cli.no_such_noun:app", ENTRY_POINT_GROUP))


def test_close_misses_are_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stakes"], Session()) == 2
    assert "'stake'" in capsys.readouterr().err


def test_no_arguments_show_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], Session()) == 0
    assert "Usage: swarm" in capsys.readouterr().out


def test_shared_options_count_before_and_after_the_verb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SWARM_KEYSTORE_DIR", str(tmp_path))
    before, after = Session(), Session()

    run(["--account", "alice", "wallet", "list"], before)
    run(["wallet", "list", "--account", "alice"], after)

    assert before.options == after.options == {"account": "alice"}


def test_options_beat_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_RPC_URL", "http://from-environment")
    given, found = Session(), Session()
    given.options["rpc_url"] = "http://from-option,http://second"

    assert given.settings.endpoints == ["http://from-option", "http://second"]
    assert found.settings.endpoints == ["http://from-environment"]


@pytest.mark.parametrize("agree", ["0", "3", "-1"])
def test_agreement_of_more_endpoints_than_there_are_is_refused(monkeypatch: pytest.MonkeyPatch, agree: str) -> None:
    monkeypatch.setenv("SWARM_RPC_AGREE", agree)
    session = Session()
    session.options["rpc_url"] = "http://first, http://second"

    with pytest.raises(InvalidInputError) as caught:
        open_chain(session.settings, FakeChain().deployment)

    assert (caught.value.code, caught.value.exit_code) == ("bad_rpc_agree", 3)
    assert "SWARM_RPC_AGREE" in caught.value.fix


def test_agreement_that_is_no_number_names_option_and_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SWARM_RPC_AGREE", "most")

    assert run(["wallet", "list"], Session()) == 3
    assert "correct --rpc-agree or SWARM_RPC_AGREE" in capsys.readouterr().err


def test_bad_setting_names_option_and_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SWARM_ORACLE_URL", "gopher://old")

    assert run(["wallet", "list"], Session()) == 3
    assert "correct --oracle-url or SWARM_ORACLE_URL" in capsys.readouterr().err
