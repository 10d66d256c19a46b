"""Keys: made, imported, listed, signed with, exported, re-encrypted and removed; secrets only through files and stdin."""

import io
import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from swarm_chain.adapters.keystore import load_signer
from swarm_chain.core.encoding import keccak, to_hex
from tests.integration.cli.conftest import PASSWORD, CommandLine

KEY = keccak(b"wallet test")
CAST = Path(__file__).parents[3] / "node_modules" / "@foundry-rs"


def test_created_key_is_private_encrypted_at_full_cost_and_names_its_address(swarm: CommandLine) -> None:
    made = swarm.finished("--json", "wallet", "create", "alice").document
    path = Path(made["path"])
    content = json.loads(path.read_text(encoding="utf-8"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert content["crypto"]["kdfparams"]["n"] == 262_144
    assert "0x" + content["address"].removeprefix("0x").lower() == made["address"].lower()
    assert load_signer(path, PASSWORD).address == made["address"]


def test_everything_works_with_stdin_closed(swarm: CommandLine) -> None:
    key_file = swarm.home / "key"
    key_file.write_text(to_hex(KEY) + "\n", encoding="utf-8")

    made = swarm.finished(
        "--json", "wallet", "import", "alice", "--key-file", key_file, stdin=None, preexec_fn=_no_stdin
    )
    signed = swarm.finished("--json", "wallet", "sign", "hello", stdin=None, preexec_fn=_no_stdin)
    stuck = swarm.finished("wallet", "remove", "alice", stdin=None, preexec_fn=_no_stdin)

    assert made.document["address"] == Account.from_key(KEY).address
    assert (
        Account.recover_message(encode_defunct(text="hello"), signature=signed.document["signature"])
        == (made.document["address"])
    )
    assert (stuck.code, "confirmation needed" in stuck.err) == (2, True)


def test_key_comes_from_stdin(swarm: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(to_hex(KEY) + "\n"))

    made = swarm.ask("wallet", "import", "alice", "--key-file", "-")

    assert made["address"] == Account.from_key(KEY).address


@pytest.mark.parametrize(("second", "code"), [("sesame", 0), ("sesami", 3)])
def test_password_is_typed_twice_and_not_shown(
    swarm: CommandLine, monkeypatch: pytest.MonkeyPatch, second: str, code: int
) -> None:
    del swarm.environment["ETH_PASSWORD"]
    monkeypatch.delenv("ETH_PASSWORD")
    ours, theirs = os.openpty()

    with swarm.program("wallet", "create", "alice", stdin=theirs, start_new_session=True) as process:
        assert process.stderr is not None
        seen = ""
        for prompt, answer in (("new password: ", "sesame"), ("again: ", second)):
            while not seen.endswith(prompt):
                seen += process.stderr.read(1) or pytest.fail(seen)
            os.write(ours, answer.encode() + b"\n")
        out, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)

    assert process.returncode == code, err
    assert "sesam" not in seen + out + err
    assert (swarm.home / "keys" / "alice").exists() is (code == 0)


@pytest.mark.parametrize("text", ["", "0x12", "zz" * 32, "00" * 32, "ff" * 32, "11" * 33])
def test_what_is_no_key_is_refused_and_not_quoted(swarm: CommandLine, text: str) -> None:
    (swarm.home / "key").write_text(text, encoding="utf-8")

    done = swarm("wallet", "import", "alice", "--key-file", swarm.home / "key")

    assert done.code == 3
    assert len(text) < 8 or text not in done.text
    assert not (swarm.home / "keys" / "alice").exists()


def test_an_existing_key_is_never_overwritten(swarm: CommandLine) -> None:
    swarm.add_key("alice", KEY)
    before = (swarm.home / "keys" / "alice").read_bytes()

    refused = swarm.ask("wallet", "create", "alice", code=3)

    assert refused["error"] == "keystore_exists"
    assert (swarm.home / "keys" / "alice").read_bytes() == before


def test_list_needs_no_password_and_no_chain(swarm: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ETH_PASSWORD")
    address = swarm.add_key("alice", KEY).address

    found = swarm.ask("wallet", "list")["keystores"]

    assert [(keystore["name"], keystore["address"]) for keystore in found] == [("alice", address)]


def test_typed_message_is_signed_as_wallets_do(swarm: CommandLine) -> None:
    signer = swarm.add_key("alice", KEY)
    message = {
        "types": {
            "EIP712Domain": [{"name": "name", "type": "string"}],
            "Mail": [{"name": "to", "type": "address"}, {"name": "text", "type": "string"}],
        },
        "primaryType": "Mail",
        "domain": {"name": "Mail"},
        "message": {"to": signer.address, "text": "hello"},
    }
    (swarm.home / "mail.json").write_text(json.dumps(message), encoding="utf-8")

    signed = swarm.ask("wallet", "sign", "--typed", swarm.home / "mail.json")

    recovered = Account.recover_message(encode_typed_data(full_message=message), signature=signed["signature"])
    assert recovered == signer.address


@pytest.mark.parametrize("arguments", [(), ("hello", "--typed", "x"), ("--typed", "/nowhere")])
def test_signing_what_is_not_clear_is_refused(swarm: CommandLine, arguments: tuple[str, ...]) -> None:
    swarm.add_key("alice", KEY)

    assert swarm("wallet", "sign", *arguments).code == 2


def test_export_writes_a_private_file_and_shows_nothing(swarm: CommandLine) -> None:
    swarm.add_key("alice", KEY)
    out = swarm.home / "plain"

    done = swarm("--yes", "wallet", "export", "alice", "--out", out)
    again = swarm("--yes", "wallet", "export", "alice", "--out", out)

    assert done.code == 0
    assert out.read_text(encoding="utf-8").strip() == to_hex(KEY)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert KEY.hex() not in done.text
    assert again.code == 2


def test_changed_password_is_the_only_one_that_opens(swarm: CommandLine) -> None:
    swarm.add_key("alice", KEY)
    (swarm.home / "new").write_text("another one", encoding="utf-8")

    swarm.ask("wallet", "change-password", "alice", "--new-password-file", swarm.home / "new")
    refused = swarm.ask("wallet", "sign", "hello", code=3)
    signed = swarm.ask("--password-file", swarm.home / "new", "wallet", "sign", "hello")

    assert refused["error"] == "wrong_password"
    assert signed["address"] == Account.from_key(KEY).address


def test_wrong_old_password_changes_nothing(swarm: CommandLine) -> None:
    swarm.add_key("alice", KEY)
    before = (swarm.home / "keys" / "alice").read_bytes()
    (swarm.home / "password").write_text("wrong", encoding="utf-8")
    (swarm.home / "new").write_text("another one", encoding="utf-8")

    refused = swarm.ask("wallet", "change-password", "alice", "--new-password-file", swarm.home / "new", code=3)

    assert refused["error"] == "wrong_password"
    assert (swarm.home / "keys" / "alice").read_bytes() == before


def test_removing_needs_a_yes(swarm: CommandLine) -> None:
    swarm.add_key("alice", KEY)

    kept = swarm("wallet", "remove", "alice")
    there = (swarm.home / "keys" / "alice").exists()
    swarm.ask("wallet", "remove", "alice")

    assert (kept.code, there) == (2, True)
    assert not (swarm.home / "keys" / "alice").exists()


def test_foundry_reads_our_keys(swarm: CommandLine) -> None:
    cast = next(CAST.glob("cast-*/bin/cast"))
    signer = swarm.add_key("alice", KEY)

    command = [str(cast), "wallet", "address", "--keystore", str(swarm.home / "keys" / "alice")]
    done = subprocess.run(
        [*command, "--password-file", str(swarm.home / "password")], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == signer.address


def _no_stdin() -> None:
    os.close(0)
