"""What an operator asks before and while a member runs: check, keys, members, and a run without a key."""

import json
import signal
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_chain.adapters.keystore import KeySigner, import_key
from swarm_chain.devnet import Devnet
from tests.integration.oracle.committee import MEMBER_KEY
from tests.integration.oracle.conftest import Epochs, Here
from tests.integration.oracle.process import PASSWORD, MemberProgram, wait_until

MEMBER = KeySigner(MEMBER_KEY).address


def lines_of(here: Here, *arguments: str, **environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Exit code of `swarm oracle check` and its lines by name."""
    code, document = here("oracle", "check", "--port", "0", *arguments, **environment)
    found = document["lines"] if code == 0 else document["values"]["lines"]
    return code, {line["what"]: line for line in found}


def test_check_when_all_is_well_then_0_and_nothing_fails(here: Here, program: MemberProgram, chain: Devnet) -> None:
    code, lines = lines_of(here)

    assert code == 0, lines
    assert {line["level"] for line in lines.values()} <= {"ok", "warn"}
    names = {"contracts", "params", "committee", "keystore", "seat", "balance", "database", "disk", "port", "judge"}
    assert all(lines[name]["level"] == "ok" for name in names - {"disk"}), lines
    assert lines[f"rpc {chain.rpc_url}"]["level"] == "ok"
    assert lines["seat"]["found"] == f"{MEMBER} is a member"
    assert not (program.home / "oracle.db").exists(), "a preflight makes nothing"


def test_check_when_the_database_was_used_then_it_is_as_before(here: Here, program: MemberProgram) -> None:
    program.start()
    program.end(signal.SIGTERM)
    with sqlite3.connect(program.home / "oracle.db") as store:
        before = store.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()

    code, lines = lines_of(here)

    assert (code, lines["schema"]["level"], lines["writing"]["level"]) == (0, "ok", "ok"), lines
    with sqlite3.connect(program.home / "oracle.db") as store:
        assert store.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before


def _other_password(program: MemberProgram) -> dict[str, str]:
    (program.home / "password").write_text("something else")
    return {}


def _no_keystore(program: MemberProgram) -> dict[str, str]:
    (program.home / "keys" / "oracle").unlink()
    return {}


def _broken_database(program: MemberProgram) -> dict[str, str]:
    (program.home / "oracle.db").write_bytes(b"no database at all" * 100)
    return {}


def _newer_database(program: MemberProgram) -> dict[str, str]:
    with sqlite3.connect(program.home / "oracle.db") as store:
        store.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        store.execute("INSERT INTO alembic_version VALUES ('v9999')")
    return {}


def _locked_out_database(program: MemberProgram) -> dict[str, str]:
    return {"SWARM_ORACLE_DATABASE_URL": "postgresql+psycopg://member:sesame@127.0.0.1:9/swarm"}


def _other_contracts(program: MemberProgram) -> dict[str, str]:
    path = program.home / "deployment.json"
    document = json.loads(path.read_text())
    names = document["contracts"]
    names["JobEscrow"], names["SlashingCourt"] = names["SlashingCourt"], names["JobEscrow"]
    path.write_text(json.dumps(document))
    return {}


def _dead_endpoint(program: MemberProgram) -> dict[str, str]:
    return {"SWARM_RPC_URL": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (_other_password, "key"),
        (_no_keystore, "key"),
        (_broken_database, "database"),
        (_newer_database, "schema"),
        (_locked_out_database, "database"),
        (_other_contracts, "contracts"),
        (_dead_endpoint, "rpc http://127.0.0.1:9"),
    ],
)
def test_check_when_something_blocks_then_6_and_its_line_says_what_to_do(
    here: Here, program: MemberProgram, fault: Callable[[MemberProgram], dict[str, str]], line: str
) -> None:
    code, lines = lines_of(here, **fault(program))

    assert code == 6
    assert lines[line]["level"] == "fail", lines
    assert lines[line]["remedy"]
    assert "sesame" not in json.dumps(lines)


def test_check_when_the_port_is_in_use_then_6(here: Here, program: MemberProgram) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        code, lines = lines_of(here, "--port", str(other.getsockname()[1]))

    assert (code, lines["port"]["level"]) == (6, "fail")


def test_check_when_secrets_are_open_to_others_then_a_warning_names_the_file(
    here: Here, program: MemberProgram
) -> None:
    (program.home / "password").chmod(0o644)

    code, lines = lines_of(here)

    assert (code, lines["password file"]["level"]) == (0, "warn")
    assert lines["password file"]["remedy"].startswith("chmod 600")


def test_check_when_a_peer_is_silent_or_of_this_network_then_told_apart(here: Here, program: MemberProgram) -> None:
    program.start()

    code, lines = lines_of(here, SWARM_ORACLE_PEERS=f"{program.url},http://127.0.0.1:9")

    assert code == 0
    assert lines[f"peer {program.url}"]["level"] == "ok"
    assert lines["peer http://127.0.0.1:9"]["level"] == "warn"


def test_keys_when_the_key_is_a_members_then_says_so_and_how_long_it_can_pay(here: Here) -> None:
    _, document = here("oracle", "keys")

    assert (document["address"], document["member"], document["private"]) == (MEMBER, True, True)
    assert document["epochsOfGas"] > 1


def test_keys_when_none_is_configured_then_3(here: Here, tmp_path: Path) -> None:
    code, error = here("oracle", "keys", SWARM_KEYSTORE="", SWARM_KEYSTORE_DIR=str(tmp_path / "none"))

    assert (code, error["error"]) == (3, "no_account")


def test_once_when_no_key_is_configured_then_a_dry_run_with_a_warning(program: MemberProgram, tmp_path: Path) -> None:
    done = program.run("--json", "oracle", "once", SWARM_KEYSTORE="", SWARM_KEYSTORE_DIR=str(tmp_path / "none"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "no key is configured" in done.stderr
    assert json.loads(done.stdout)["performed"] is False


def test_once_when_the_configured_key_cannot_be_read_then_3_and_never_a_dry_run(program: MemberProgram) -> None:
    (program.home / "keys" / "oracle").write_text("{}")

    done = program.run("--json", "oracle", "once")

    assert done.returncode == 3
    assert "no key is configured" not in done.stderr


def test_once_when_several_keys_are_there_and_none_is_named_then_3(program: MemberProgram) -> None:
    import_key(program.home / "keys", "second", b"\2" * 32, PASSWORD, scrypt_n=1024)

    done = program.run("--json", "oracle", "once", SWARM_KEYSTORE="", SWARM_KEYSTORE_DIR=str(program.home / "keys"))

    assert (done.returncode, json.loads(done.stdout)["error"]) == (3, "no_account")


def test_members_when_one_voted_then_its_vote_and_its_answer_are_shown(
    here: Here, program: MemberProgram, chain: Devnet, epochs: Epochs
) -> None:
    epoch = epochs.begin()
    program.start()
    epochs.end(epoch)
    wait_until(lambda: epochs.has_report(epoch), chain.mine)

    urls = f"{program.url},http://127.0.0.1:9"
    _, document = here("--oracle-url", urls, "oracle", "members")

    (seat,) = document["members"]
    assert (document["quorum"], seat["member"], seat["lastVoteEpoch"], seat["agreed"]) == (1, MEMBER, epoch, True)
    assert seat["answer"]["url"] == program.url
    assert seat["answer"]["problem"] == ""
    assert seat["answer"]["version"]
    assert [one["url"] for one in document["unknown"]] == ["http://127.0.0.1:9"]
