"""Judgements of the doctor, at both sides of every limit; the probes that read files, on files of the test's own."""

from dataclasses import replace
from pathlib import Path

import pytest

from node.doctor import judge_machine as machine
from node.doctor import judge_network as network
from node.doctor import probe_machine
from node.doctor.checks import LEVELS, PURPOSES, Check, blocking
from node.doctor.facts import (
    Called,
    ClockSync,
    Compute,
    Disk,
    Endpoint,
    File,
    Gpu,
    Gpus,
    KnownAnswers,
    MemberSaid,
    Package,
    Reach,
    Standing,
    Toolchain,
)
from node.doctor.judge_ports import judge_ports, judge_unasked
from node.standing import ChainNodeView
from swarm_chain.core.checkup import Level, Room
from swarm_chain.core.units import UINT64_MAX, ProviderId, Timestamp, Wei
from swarm_chain.params import load_params

STAKE = load_params("minimal").stake
CARD = Gpu(index=0, name="card", memory_bytes=2**30, ecc_errors=0)
ONE_GPU = Gpus(driver="570", devices=(CARD,))
ALIVE = ChainNodeView(
    provider_id=ProviderId(1), suspended_until=Timestamp(0), retired=False, balance_wei=Wei(1), now=Timestamp(100)
)
MINE = File(path="/node/key.json", mode=0o600, owner=7, reader=7)
SOUND = Endpoint(name="http://a", chain_id=1, block=5, block_at=1_000)
WANT = {"chainId": 1, "paramsVersion": 2}
MEMBER = MemberSaid(name="http://m", said={**WANT, "epoch": 3, "state": "ready"}, ahead_s=0)


def level(check: Check) -> str:
    """Level as `--json` shows it; every line that is not ok says what to do."""
    assert check.line.level is Level.OK or check.line.remedy
    assert check.purpose
    return LEVELS[check.line.level]


@pytest.mark.parametrize(
    ("have", "wanted", "fits", "expected"),
    [
        ("2.13.0", "==2.13.0", True, "ok"),
        ("2.12.0", "==2.13.0", False, "blocking"),
        ("", "==2.13.0", None, "blocking"),
        ("2.13.0", "", None, "not measured"),
    ],
)
def test_package_when_its_version_is(have: str, wanted: str, fits: bool | None, expected: str) -> None:
    assert level(machine.judge_package(Package(name="torch", have=have, wanted=wanted, fits=fits))) == expected


@pytest.mark.parametrize(
    ("gpus", "torch", "ray", "configured", "expected"),
    [
        (Gpus(), 0, 0, 0, "ok"),
        (Gpus(), 0, 0, 1, "blocking"),
        (ONE_GPU, 1, 1, 1, "ok"),
        (ONE_GPU, 1, 1, 0, "warning"),
        (ONE_GPU, 1, 1, 2, "blocking"),
        (ONE_GPU, 0, 1, 1, "blocking"),
        (ONE_GPU, 1, 0, 1, "blocking"),
        (ONE_GPU, None, 1, 1, "not measured"),
        (Gpus(problem="Driver/library version mismatch"), 1, 1, 1, "not measured"),
    ],
)
def test_devices_when_counts_differ_then_only_agreement_is_ok(
    gpus: Gpus, torch: int | None, ray: int | None, configured: int, expected: str
) -> None:
    found = machine.judge_devices(gpus, Compute(torch_gpus=torch, ray_gpus=ray), configured)

    assert level(found) == expected


def test_devices_when_there_is_no_gpu_then_a_cpu_node_that_is_told_how_to_have_one() -> None:
    found = machine.judge_devices(Gpus(), Compute(torch_gpus=0, ray_gpus=0), 0)

    assert "CPU node" in found.line.found
    assert "SWARM_GPUS" in found.line.remedy


def test_driver_when_nvml_fails_then_blocking_and_without_gpu_ok() -> None:
    assert level(machine.judge_driver(Gpus(problem="mismatch"))) == "blocking"
    assert level(machine.judge_driver(Gpus())) == level(machine.judge_driver(ONE_GPU)) == "ok"


@pytest.mark.parametrize(("errors", "expected"), [(0, "ok"), (None, "ok"), (1, "blocking")])
def test_ecc_when_so_many_errors_then(errors: int | None, expected: str) -> None:
    assert level(machine.judge_ecc(Gpus(devices=(replace(CARD, ecc_errors=errors),)))) == expected


@pytest.mark.parametrize(
    ("xids", "problem", "expected"),
    [((), "", "ok"), ((13,), "", "warning"), ((13, 79), "", "blocking"), ((), "not permitted", "not measured")],
)
def test_xids_when_the_log_shows_then(xids: tuple[int, ...], problem: str, expected: str) -> None:
    assert level(machine.judge_xids(ONE_GPU, xids, problem)) == expected


def test_xids_when_there_is_no_gpu_then_an_unreadable_log_is_no_matter() -> None:
    assert level(machine.judge_xids(Gpus(), (), "not permitted")) == "ok"


def test_xids_when_the_kernel_logged_faults_then_their_numbers_are_read(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    log.write_text("4,1,1,-;NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus\n6,2,2,-;usb 1-1: Xid 5\n")

    assert probe_machine.xids(log) == (79,)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((KnownAnswers(device="cpu", trusted=("torch-cpu", "numpy")),), "ok"),
        ((KnownAnswers(device="cpu", trusted=("numpy",), rejected=("torch-cpu",)),), "warning"),
        ((KnownAnswers(device="cpu", rejected=("torch-cpu", "numpy")),), "blocking"),
        ((KnownAnswers(device="cuda:0", trusted=("a",)), KnownAnswers(device="cuda:1", problem="no")), "blocking"),
        ((), "blocking"),
    ],
)
def test_compute_when_backends_gave_wrong_answers_then(answers: tuple[KnownAnswers, ...], expected: str) -> None:
    (found,) = machine.judge_compute(Compute(answers=answers))

    assert level(found) == expected


@pytest.mark.parametrize(
    ("free", "expected"), [(2**30 - 1, "blocking"), (2**30, "warning"), (4 * 2**30 - 1, "warning"), (4 * 2**30, "ok")]
)
def test_memory_when_so_much_is_available_then(free: int, expected: str) -> None:
    assert level(machine.judge_memory(free, 2**40)) == expected


@pytest.mark.parametrize(("free", "expected"), [(9, "blocking"), (10, "warning"), (19, "warning"), (20, "ok")])
def test_folder_when_so_much_is_free_then(free: int, expected: str) -> None:
    room = Room(folder="/", free_bytes=free, least_bytes=10, good_bytes=20)

    assert level(machine.judge_free("disk.home", room)) == expected


@pytest.mark.parametrize(("rotates", "expected"), [(False, "ok"), (True, "warning"), (None, "not measured")])
def test_disk_when_it_rotates_then(rotates: bool | None, expected: str) -> None:
    assert level(machine.judge_kind(Disk(folder="/", is_rotational=rotates, problem="overlay"))) == expected


@pytest.mark.parametrize("flag", ["0", "1"])
def test_disk_when_the_kernel_says_it_of_a_partitions_disk_then_read_there(tmp_path: Path, flag: str) -> None:
    number = tmp_path.stat().st_dev
    partition = tmp_path / "sda" / "sda1"
    (tmp_path / "sda" / "queue").mkdir(parents=True)
    partition.mkdir()
    (tmp_path / "sda" / "queue" / "rotational").write_text(f"{flag}\n")
    devices = tmp_path / "block"
    devices.mkdir()
    (devices / f"{number >> 8 & 0xFFF}:{number & 0xFF}").symlink_to(partition)

    assert probe_machine.disk(tmp_path / "not yet there", devices).is_rotational is (flag == "1")


def test_disk_when_the_kernel_knows_none_then_not_measured(tmp_path: Path) -> None:
    assert probe_machine.disk(tmp_path, tmp_path).is_rotational is None


@pytest.mark.parametrize(
    ("synchronised", "programs", "expected", "remedy"),
    [
        (True, (), "ok", ""),
        (False, (), "warning", "apt install chrony"),
        (False, ("timedatectl",), "warning", "timedatectl set-ntp true"),
        (False, ("chronyc", "timedatectl"), "warning", "systemctl enable --now chrony"),
        (None, (), "not measured", "apt install chrony"),
    ],
)
def test_clock_when_nobody_keeps_it_then_the_remedy_fits_what_is_installed(
    synchronised: bool | None, programs: tuple[str, ...], expected: str, remedy: str
) -> None:
    found = machine.judge_sync(ClockSync(is_synchronised=synchronised, programs=programs))

    assert level(found) == expected
    assert found.line.remedy.startswith(remedy)


def test_sandbox_when_there_are_no_walls_then_says_what_fails_and_what_to_do() -> None:
    assert level(machine.judge_sandbox("", "")) == "ok"
    found = machine.judge_sandbox("unshare: Operation not permitted", "allow user namespaces")
    assert level(found) == "warning"
    assert "customers' code fail" in found.line.found
    assert found.line.remedy == "allow user namespaces"


def test_tool_when_absent_then_its_package_is_named() -> None:
    assert machine.judge_tool("fio", None).line.remedy == "apt install fio"
    assert machine.judge_tool("iperf3", None).line.remedy == "apt install iperf3"
    assert level(machine.judge_tool("fio", "")) == level(machine.judge_tool("fio", "fio-3.33")) == "ok"


@pytest.mark.parametrize(
    ("endpoint", "chain_id", "expected"),
    [
        (SOUND, 1, "ok"),
        (SOUND, None, "ok"),
        (SOUND, 2, "blocking"),
        (replace(SOUND, problem="refused"), 1, "blocking"),
    ],
)
def test_endpoint_when_silent_or_of_another_chain_then_blocking(
    endpoint: Endpoint, chain_id: int | None, expected: str
) -> None:
    (found,) = network.judge_endpoints([endpoint], chain_id)

    assert (found.id, level(found)) == ("rpc.1", expected)


@pytest.mark.parametrize(
    ("ahead", "expected"), [(0, "ok"), (30, "ok"), (31, "warning"), (-600, "ok"), (-601, "warning")]
)
def test_chain_clock_when_the_newest_block_is_ahead_by(ahead: int, expected: str) -> None:
    silent = replace(SOUND, block_at=10**9, problem="silent")

    assert level(network.judge_chain_clock(1_000 - ahead, [SOUND, silent])) == expected
    assert level(network.judge_chain_clock(1_000, [silent])) == "not measured"


@pytest.mark.parametrize(
    ("ahead", "expected"), [(0, "ok"), (30, "ok"), (-30, "ok"), (31, "warning"), (-31, "warning"), (None, "warning")]
)
def test_member_when_its_clock_is_ahead_by(ahead: int | None, expected: str) -> None:
    (found,) = network.judge_members([replace(MEMBER, ahead_s=ahead)], WANT)

    assert level(found) == expected


def test_member_when_another_answers_then_a_silent_one_is_a_warning() -> None:
    silent = replace(MEMBER, problem="no answer")

    assert [level(found) for found in network.judge_members([MEMBER, silent], WANT)] == ["ok", "warning"]
    assert [level(found) for found in network.judge_members([silent, silent], WANT)] == ["blocking", "blocking"]
    assert [level(found) for found in network.judge_members([], WANT)] == ["blocking"]


def test_member_when_it_works_for_another_network_then_blocking() -> None:
    (found,) = network.judge_members([replace(MEMBER, said={**MEMBER.said, "chainId": 9})], WANT)

    assert level(found) == "blocking"
    assert "chainId 9 instead of 1" in found.line.found


def test_member_when_it_says_far_too_much_then_the_table_stays_readable() -> None:
    wordy = {**MEMBER.said, "state": "x" * 10**6}
    liar = {**MEMBER.said, "chainId": "x" * 10**6}

    found = network.judge_members([replace(MEMBER, said=wordy), replace(MEMBER, said=liar)], WANT)

    assert [level(one) for one in found] == ["ok", "blocking"]
    assert all(len(one.line.found) < 300 for one in found)


def test_unmeasured_when_nobody_can_look_then_the_reason_stands_there() -> None:
    found = (judge_unasked(), network.judge_mesh())

    assert [(one.id, level(one)) for one in found] == [("ports", "not measured"), ("mesh", "not measured")]


THROUGH = Called(member="http://m", is_reached=True, came_through=True)
ELSEWHERE = Called(member="http://m", is_reached=True)
CLOSED = Called(member="http://m", problem="Connection refused")
REFUSED = Called(member="http://m", refusal="10.0.0.1 is not a public address")


@pytest.mark.parametrize(
    ("is_free", "called", "expected", "remedy"),
    [
        (True, (THROUGH, CLOSED), "ok", ""),
        (False, (ELSEWHERE,), "ok", ""),
        (True, (ELSEWHERE,), "warning", "forward the port"),
        (True, (CLOSED, REFUSED), "warning", "open it in the firewall (ufw allow 4000/tcp)"),
        (True, (REFUSED,), "not measured", "try from another machine"),
        (True, (), "not measured", "try from another machine"),
    ],
)
def test_port_when_members_called_it_then_only_what_came_through_counts(
    is_free: bool, called: tuple[Called, ...], expected: str, remedy: str
) -> None:
    (found,) = judge_ports([Reach(port=4000, is_free=is_free, called=called)])

    assert (found.id, level(found)) == ("ports.4000", expected)
    assert found.line.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("parts", "gpus", "expected"),
    [
        (("", "", ""), 0, ["ok"] * 3),
        (("installed", "/bin/cc", "/include"), 1, ["ok"] * 3),
        (("installed", "", ""), 1, ["ok", "warning", "warning"]),
        (("", "/bin/cc", "/include"), 1, ["warning", "ok", "ok"]),
    ],
)
def test_toolchain_when_triton_would_be_used_then_compiler_and_headers_are_needed(
    parts: tuple[str, str, str], gpus: int, expected: list[str]
) -> None:
    triton, compiler, headers = parts
    found = machine.judge_toolchain(Toolchain(triton=triton, compiler=compiler, headers=headers), gpus)

    assert [level(one) for one in found] == expected


def test_compute_when_every_backend_of_a_gpu_fails_then_blocking_though_the_cpus_reference_is_right() -> None:
    broken = KnownAnswers(device="cuda:0", trusted=("numpy",), rejected=("triton (no C compiler)", "torch-cuda (Xid)"))
    (found,) = machine.judge_compute(Compute(answers=(broken,)))

    assert level(found) == "blocking"
    assert "no C compiler" in found.line.found
    assert "SWARM_GPUS=0" in found.line.remedy


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (MINE, "ok"),
        (replace(MINE, mode=0o400), "ok"),
        (replace(MINE, mode=0o640), "blocking"),
        (replace(MINE, mode=0o604), "blocking"),
        (replace(MINE, owner=8), "blocking"),
        (replace(MINE, mode=None), "warning"),
    ],
)
def test_secret_when_its_mode_or_owner_is(file: File, expected: str) -> None:
    assert level(network.judge_secret("key", file)) == expected


@pytest.mark.parametrize(
    ("mode", "owner", "expected"),
    [
        (0o700, 7, "ok"),
        (0o755, 7, "warning"),
        (0o770, 7, "blocking"),
        (0o702, 7, "blocking"),
        (0o700, 8, "blocking"),
        (None, -1, "warning"),
    ],
)
def test_folder_when_its_mode_or_owner_is(mode: int | None, owner: int, expected: str) -> None:
    assert level(network.judge_folder(File(path="/node", mode=mode, owner=owner, reader=7))) == expected


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (ALIVE, "ok"),
        (replace(ALIVE, provider_id=ProviderId(0)), "warning"),
        (replace(ALIVE, suspended_until=Timestamp(101)), "warning"),
        (replace(ALIVE, suspended_until=Timestamp(100)), "ok"),
        (replace(ALIVE, suspended_until=Timestamp(UINT64_MAX)), "blocking"),
        (replace(ALIVE, retired=True), "blocking"),
    ],
)
def test_registration_when_the_chain_says(view: ChainNodeView, expected: str) -> None:
    assert level(network.judge_registration(view)) == expected


@pytest.mark.parametrize(("more", "expected"), [(-1, "blocking"), (0, "ok")])
def test_stake_when_it_is_the_minimum_then_enough_and_a_wei_less_not(more: int, expected: str) -> None:
    standing = Standing(node=ALIVE, active_stake_wei=Wei(STAKE.minimum_wei + more))

    assert level(network.judge_stake(standing, STAKE)) == expected


def test_stake_when_above_the_minimum_then_says_what_it_covers_rounded_down() -> None:
    staked = Wei(STAKE.minimum_wei + 3 * STAKE.per_tops_wei - 1)

    assert "covers 2 TOPS" in network.judge_stake(Standing(node=ALIVE, active_stake_wei=staked), STAKE).line.found


@pytest.mark.parametrize(("balance", "expected"), [(4, "warning"), (5, "ok")])
def test_gas_when_the_key_holds_so_much_then(balance: int, expected: str) -> None:
    assert level(network.judge_gas("0x1", balance, 5)) == expected


def test_unlock_when_the_password_is_wrong_then_blocking() -> None:
    assert level(network.judge_unlock("", "wrong password", "")) == "blocking"
    assert level(network.judge_unlock("0x1", "", "")) == "ok"


def test_table_when_a_line_blocks_then_named_and_warnings_do_not_block() -> None:
    bad, odd = network.judge_unlock("", "wrong password", ""), network.judge_gas("0x1", 0, 5)

    assert [check.id for check in blocking([bad, odd])] == ["unlock"]
    assert set(bad.as_dict()) == {"id", "level", "actual", "required", "purpose", "remediation"}
    assert all(PURPOSES.values())
