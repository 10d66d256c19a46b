"""`swarm node service`: below a folder of the test's own; systemd itself judges the unit where it is installed."""

import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from node.service.unit import STOP_S, Service, unit_text
from swarm_chain.params import load_params
from tests.architecture.tree import ROOT
from tests.integration.cli.conftest import PASSWORD, CommandLine

UNIT = Path("etc/systemd/system/swarm-node.service")


def test_install_when_nothing_is_there_then_unit_and_private_environment_file(
    swarm: CommandLine, tmp_path: Path
) -> None:
    done = swarm.ask("node", "service", "install", "--root", tmp_path)

    unit, environment = tmp_path / UNIT, tmp_path / "etc/swarm-node/environment"
    assert unit.read_text() == done["text"]
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644
    assert stat.S_IMODE(environment.stat().st_mode) == 0o600
    assert "systemctl enable --now swarm-node" in done["next"]
    assert PASSWORD not in done["text"]


def test_install_when_repeated_then_settings_stay_and_nothing_is_refused(swarm: CommandLine, tmp_path: Path) -> None:
    swarm.ask("node", "service", "install", "--root", tmp_path)
    environment = tmp_path / "etc/swarm-node/environment"
    environment.write_text("SWARM_GPUS=2\n")

    again = swarm.ask("node", "service", "install", "--root", tmp_path)

    assert (again["changed"], again["difference"]) == (False, "")
    assert environment.read_text() == "SWARM_GPUS=2\n"


def test_install_when_the_unit_was_changed_then_refused_with_the_difference_until_forced(
    swarm: CommandLine, tmp_path: Path
) -> None:
    swarm.ask("node", "service", "install", "--root", tmp_path)
    unit = tmp_path / UNIT
    unit.write_text(unit.read_text().replace("RestartSec=5", "RestartSec=50"))

    refused = swarm.ask("node", "service", "install", "--root", tmp_path, code=2)
    assert refused["error"] == "unit_changed"
    assert "-RestartSec=50\n+RestartSec=5" in refused["values"]["difference"]
    assert swarm.ask("node", "service", "uninstall", "--root", tmp_path, code=2)["error"] == "unit_changed"
    assert "RestartSec=50" in unit.read_text()

    swarm.ask("node", "service", "install", "--root", tmp_path, "--force")
    assert "RestartSec=50" not in unit.read_text()


def test_install_when_dry_run_then_shows_it_and_writes_nothing(swarm: CommandLine, tmp_path: Path) -> None:
    done = swarm.ask("node", "service", "install", "--root", tmp_path, "--dry-run")

    assert "ExecStart=" in done["text"]
    assert not (tmp_path / "etc").exists()


def test_install_when_for_the_user_then_in_its_own_folder_and_without_the_systems_settings(
    swarm: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/home/somebody/.config")

    done = swarm.ask("node", "service", "install", "--user", "--root", tmp_path)

    assert done["unit"] == str(tmp_path / "home/somebody/.config/systemd/user/swarm-node.service")
    assert "User=" not in done["text"]
    assert "WantedBy=default.target" in done["text"]
    assert "loginctl enable-linger" in done["next"]


def test_install_when_there_is_no_systemd_then_3_and_what_to_do(
    swarm: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    refused = swarm.ask("node", "service", "install", "--dry-run", code=3)

    assert refused["error"] == "no_systemd"
    assert "swarm node run" in refused["fix"]


def test_install_when_the_account_would_add_lines_to_the_unit_then_refused(swarm: CommandLine, tmp_path: Path) -> None:
    hostile = "swarm-node\nExecStartPre=/bin/true"

    refused = swarm.ask("node", "service", "install", "--root", tmp_path, "--service-user", hostile, code=2)

    assert refused["error"] == "bad_path"
    assert not (tmp_path / UNIT).exists()


def test_uninstall_when_installed_then_only_the_unit_goes(swarm: CommandLine, tmp_path: Path) -> None:
    swarm.ask("node", "service", "install", "--root", tmp_path)

    assert swarm.ask("node", "service", "uninstall", "--root", tmp_path)["removed"] is True
    assert not (tmp_path / UNIT).exists()
    assert (tmp_path / "etc/swarm-node/environment").exists()
    assert swarm.ask("node", "service", "uninstall", "--root", tmp_path)["removed"] is False


def test_unit_when_rendered_for_the_usual_places_then_it_is_the_one_in_deploy() -> None:
    assert (ROOT / "deploy/systemd/swarm-node.service").read_text(encoding="utf-8") == unit_text(Service())


def test_unit_when_stopped_then_only_the_agent_hears_it_and_has_time_to_drain() -> None:
    text = unit_text(Service())

    assert load_params("mainnet").compute.commit_for + 30 < STOP_S
    for line in ("KillMode=mixed", "KillSignal=SIGTERM", f"TimeoutStopSec={STOP_S}", "Restart=on-failure"):
        assert line in text.splitlines()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("service", [Service(), Service(user="", home="/home/somebody/swarm")])
def test_unit_when_systemd_reads_it_then_it_has_nothing_to_say(service: Service, tmp_path: Path) -> None:
    unit = tmp_path / "swarm-node.service"
    unit.write_text(unit_text(replace(service, program="/bin/true")))
    manager = "--system" if service.user else "--user"

    done = subprocess.run(
        ["systemd-analyze", "verify", manager, "--man=no", str(unit)], capture_output=True, text=True, check=False
    )

    assert [line for line in done.stderr.splitlines() if "swarm-node" in line] == []
