"""`swarm node doctor` as it is typed: on a bare machine, on a real chain, and against everything that lies or hangs."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from node.config import load_settings
from node.doctor.examine import examine
from swarm_chain.adapters.keystore import KeySigner, create_keystore, load_signer
from swarm_chain.core.units import WEI_PER_SWM
from swarm_chain.deploy import save_deployment
from swarm_chain.params import load_params
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import LIGHT_SCRYPT, PASSWORD, CommandLine, Shelf

Rows = dict[str, dict[str, str]]
PARAMS = load_params("minimal")


def rows_of(swarm: CommandLine, **options: Any) -> Rows:
    """Rows of an examination without the known answers, by id; nothing it says holds the password."""
    found = examine(load_settings({"home": swarm.home, **options}), deep=False)
    document = {check.id: check.as_dict() for check in found}
    assert PASSWORD not in json.dumps(document)
    return document


@pytest.fixture
def node_key(connected: CommandLine) -> KeySigner:
    """A node key in its folder, its password beside it."""
    folder = connected.home / "node"
    folder.mkdir(mode=0o700)
    create_keystore(folder, "key.json", PASSWORD, scrypt_n=LIGHT_SCRYPT)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o600)
    return load_signer(folder / "key.json", PASSWORD)


@pytest.fixture
def hanging() -> Iterator[str]:
    """A server that takes connections and never answers."""
    release = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            release.wait(30)

        def do_POST(self) -> None:
            release.wait(30)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    release.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_doctor_when_the_machine_has_no_gpu_fio_iperf3_or_clock_sync_then_each_is_named_with_its_remedy(
    swarm: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))

    done = swarm("--json", "node", "doctor")

    assert done.code == 6
    rows: Rows = {row["id"]: row for row in done.document["values"]["checks"]}
    assert rows["fio"]["remediation"] == "apt install fio"
    assert rows["iperf3"]["remediation"] == "apt install iperf3"
    assert rows["systemd"]["level"] == "warning"
    assert rows["sandbox"]["level"] == "ok" or "namespaces" in rows["sandbox"]["remediation"]
    assert rows["compute"]["level"] == "ok", rows["compute"]
    for name in ("devices", "clock.sync"):  # what they show is this machine's own; how they are told is not
        assert rows[name]["level"] == "ok" or rows[name]["remediation"]
    assert "programs: none" in rows["clock.sync"]["actual"]
    if "CPU node" in rows["devices"]["actual"]:
        assert "apt install nvidia-driver" in rows["devices"]["remediation"]
    assert all(row["remediation"] for row in rows.values() if row["level"] != "ok")
    assert {rows[name]["level"] for name in ("rpc.1", "deployment", "oracle")} == {"blocking"}
    assert {rows[name]["level"] for name in ("ports", "mesh", "stake")} == {"not measured"}
    assert not (swarm.home / "node").exists(), "a doctor makes nothing"


def test_doctor_when_node_chain_and_oracle_are_well_then_nothing_blocks(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, node_key: KeySigner, shelf: Shelf
) -> None:
    tools.register(alice, node_key, stake_wei=2000 * WEI_PER_SWM)
    tools.fund(node_key.address)
    shelf.documents["/v1/status"] = {
        "chainId": tools.net.deployment.chain_id,
        "paramsVersion": PARAMS.version,
        "epoch": 4,
        "state": "ready",
    }

    rows = rows_of(connected, rpc_url=tools.net.rpc_url, oracle_url=shelf.url)

    expected = (
        "rpc.1",
        "deployment",
        "folder",
        "key",
        "password",
        "unlock",
        "registration",
        "stake",
        "gas",
        "oracle.1",
    )
    assert {name: rows[name]["level"] for name in expected} == dict.fromkeys(expected, "ok"), rows
    assert "covers 20 TOPS" in rows["stake"]["actual"]
    assert shelf.posted == [], "a doctor sends nothing"


def test_doctor_when_the_stake_is_below_the_minimum_then_it_blocks_and_says_how_much_is_missing(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, node_key: KeySigner
) -> None:
    tools.register(alice, node_key, stake_wei=1 * WEI_PER_SWM)

    rows = rows_of(connected, rpc_url=tools.net.rpc_url)

    assert rows["stake"]["level"] == "blocking"
    assert "swarm stake add 999" in rows["stake"]["remediation"]
    assert rows["gas"]["level"] == "warning"


def test_doctor_when_the_endpoint_serves_another_chain_then_it_blocks(swarm: CommandLine, tools: ChainTools) -> None:
    other = swarm.home / "other.json"
    save_deployment(replace(tools.net.deployment, chain_id=77), other)

    rows = rows_of(swarm, rpc_url=tools.net.rpc_url, deployment=other)

    assert rows["rpc.1"]["level"] == "blocking"
    assert f"serves chain {tools.net.deployment.chain_id}" in rows["rpc.1"]["actual"]
    assert rows["registration"]["level"] == "not measured"


def test_doctor_when_endpoint_and_member_hang_then_lines_of_their_own_and_the_others_stand(
    swarm: CommandLine, hanging: str
) -> None:
    began = time.monotonic()

    rows = rows_of(swarm, rpc_url=hanging, oracle_url=hanging)

    assert time.monotonic() - began < 20
    assert {rows[name]["level"] for name in ("rpc.1", "oracle.1")} == {"blocking"}
    assert rows["python"]["level"] == "ok"


def test_doctor_when_the_member_is_no_oracle_then_says_so(swarm: CommandLine, shelf: Shelf) -> None:
    shelf.documents["/v1/status"] = b"[]"

    rows = rows_of(swarm, oracle_url=shelf.url)

    assert "does not answer like an oracle" in rows["oracle.1"]["actual"]


def test_doctor_when_a_url_holds_a_secret_then_it_is_not_shown(swarm: CommandLine) -> None:
    rows = rows_of(swarm, rpc_url="http://me:sesame@127.0.0.1:9/v3/apikey", oracle_url="http://me:sesame@127.0.0.1:9")

    assert "sesame" not in json.dumps(rows)
    assert "apikey" not in json.dumps(rows)


@pytest.mark.usefixtures("node_key")
def test_doctor_when_key_files_are_loose_broken_or_locked_then_each_blocks(connected: CommandLine) -> None:
    folder = connected.home / "node"
    (folder / "password").chmod(0o644)
    folder.chmod(0o777)
    rows = rows_of(connected)
    assert [rows[name]["level"] for name in ("folder", "password", "unlock")] == ["blocking"] * 3
    assert rows["password"]["remediation"] == f"chmod 600 {folder / 'password'}"

    (folder / "password").chmod(0o600)
    (folder / "password").write_text("something else")
    assert "wrong password" in rows_of(connected)["unlock"]["actual"]

    (folder / "key.json").write_text("{")
    rows = rows_of(connected)
    assert rows["unlock"]["level"] == "blocking"
    assert rows["rpc.1"]["id"] == "rpc.1", "a broken key ends no other line"
