"""No key and no password ever shows: not in output, not in logs, not in tracebacks, not in the list of processes."""

import stat
import subprocess
from pathlib import Path

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.cli.oracle_client import OracleClient
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import PASSWORD, CommandLine, Finished, Shelf

KEY = keccak(b"alice")
SECRETS = (PASSWORD, KEY.hex(), KEY.hex().upper())

# Ends in an error nobody foresaw, with the key and the password in variables and in the message.
CRASHING_NOUN = """
import typer
from swarm_chain.cli.context import session_of
app = typer.Typer()

@app.command()
def crash(ctx: typer.Context, key_file: str) -> None:
    session = session_of(ctx)
    key = session.secret("private key", __import__("pathlib").Path(key_file))
    password = session.secret("password", session.settings.password_file)
    raise ZeroDivisionError(f"{key} and {password} divided by zero")
"""


def no_secret_in(text: str) -> None:
    """None of the secrets stands in the text."""
    assert [secret for secret in SECRETS if secret in text] == []


def test_no_command_shows_key_or_password(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> None:
    tools.fund(alice.address)
    (connected.home / "key").write_text(to_hex(KEY), encoding="utf-8")
    commands: list[tuple[object, ...]] = [
        ("wallet", "import", "copy", "--key-file", connected.home / "key"),
        ("wallet", "list"),
        ("wallet", "sign", "hello", "--account", "alice"),
        ("wallet", "export", "alice", "--out", connected.home / "plain"),
        ("--account", "alice", "provider", "register"),
        ("--account", "alice", "stake", "add", "1000"),
        ("--account", "alice", "stake", "add", "1000000"),
        ("--account", "alice", "provider", "set-payout", "nonsense"),
        ("wallet", "import", "copy", "--key-file", connected.home / "key"),
    ]

    for command in commands:
        done = connected.finished("--yes", "--debug", *command)
        no_secret_in(done.text)


def test_wrong_key_in_a_file_is_not_quoted_even_with_debug(swarm: CommandLine) -> None:
    (swarm.home / "key").write_text(to_hex(KEY) + "00", encoding="utf-8")

    done = swarm.finished("--debug", "wallet", "import", "alice", "--key-file", swarm.home / "key")

    assert done.code == 3
    no_secret_in(done.text)


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_unforeseen_error_gives_an_id_and_a_redacted_log(
    swarm: CommandLine, tmp_path: Path, debug: tuple[str, ...]
) -> None:
    done = _crash(swarm, tmp_path, *debug)
    logs = list((swarm.home / "logs").iterdir())

    assert done.code == 1
    assert "error: unexpected error " in done.err
    assert ("Traceback" in done.err) is bool(debug)
    assert len(logs) == 1
    assert logs[0].stem.removeprefix("error-") in done.err
    assert stat.S_IMODE(logs[0].stat().st_mode) == 0o600
    assert "ZeroDivisionError" in logs[0].read_text(encoding="utf-8")
    no_secret_in(done.text + logs[0].read_text(encoding="utf-8"))


def test_unforeseen_error_is_one_json_document(swarm: CommandLine, tmp_path: Path) -> None:
    done = _crash(swarm, tmp_path, "--json")

    assert done.document["error"] == "unexpected"
    assert done.document["exitCode"] == 1
    no_secret_in(done.text)


def test_key_of_an_endpoint_is_not_shown(connected: CommandLine, shelf: Shelf) -> None:
    url = shelf.url.replace("http://", "http://user:sesame@") + "/v3/0123456789abcdef"

    done = connected("--rpc-url", url, "stake", "status", 1)

    assert done.code == 4
    assert "sesame" not in done.text
    assert "0123456789abcdef" not in done.text


def test_credentials_of_an_oracle_address_are_not_shown(connected: CommandLine, shelf: Shelf) -> None:
    for url in (shelf.url, "http://127.0.0.1:9"):
        secret = url.replace("http://", "http://user:sesame@")

        done = connected("--oracle-url", secret, "rewards", "explain", 1, "--epoch", 0)

        assert done.code in {2, 4}
        assert "sesame" not in done.text


def test_answer_when_longer_than_asked_for_then_refused_and_an_error_is_still_read(shelf: Shelf) -> None:
    shelf.documents["/v1/epochs/0/manifest"] = {"long": "x" * 100}
    client = OracleClient(shelf.url)

    with pytest.raises(UnavailableError, match="exceeds 50 bytes"):
        client.get_bytes("/v1/epochs/0/manifest", 50)
    with pytest.raises(InvalidInputError):
        client.get_bytes("/v1/epochs/9/manifest", 1)
    assert len(client.get_bytes("/v1/epochs/0/manifest", 200)) > 100


def _crash(swarm: CommandLine, tmp_path: Path, *options: str) -> Finished:
    """Runs a noun that another package brings through the entry-point group and that crashes."""
    package = tmp_path / "plugin"
    (package / "crasher-1.dist-info").mkdir(parents=True)
    (package / "crasher.py").write_text(CRASHING_NOUN, encoding="utf-8")
    (package / "crasher-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: crasher\nVersion: 1\n")
    (package / "crasher-1.dist-info" / "entry_points.txt").write_text("[swarm.commands]\ncrash = crasher:app\n")
    (tmp_path / "key").write_text(to_hex(KEY), encoding="utf-8")
    swarm.environment["PYTHONPATH"] = str(package)
    return swarm.finished(*options, "crash", tmp_path / "key", stderr=subprocess.PIPE)
