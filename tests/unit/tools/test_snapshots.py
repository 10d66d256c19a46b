"""The snapshot check notices every way in which the build can drift from the committed files."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tools.snapshots import find_differences, read_build, render_layout, write_layouts

TYPES = {
    "t_uint64": {"encoding": "inplace", "label": "uint64", "numberOfBytes": "8"},
    "t_uint128": {"encoding": "inplace", "label": "uint128", "numberOfBytes": "16"},
    "t_struct(Pool)7_storage": {
        "encoding": "inplace",
        "label": "struct Vault.Pool",
        "numberOfBytes": "32",
        "members": [
            {"label": "tokens", "slot": "0", "offset": 0, "type": "t_uint128"},
            {"label": "maturesAt", "slot": "0", "offset": 16, "type": "t_uint64"},
        ],
    },
    "t_mapping(t_uint64,t_struct(Pool)7_storage)": {
        "encoding": "mapping",
        "label": "mapping(uint64 => struct Vault.Pool)",
        "numberOfBytes": "32",
        "value": "t_struct(Pool)7_storage",
    },
}
ARTIFACT: Mapping[str, Any] = {
    "abi": [{"type": "function", "name": "stake"}, {"type": "error", "name": "ZeroAmount"}],
    "bytecode": {"object": "0x6001"},
    "deployedBytecode": {"object": "0x6001"},
    "metadata": {"settings": {"compilationTarget": {"contracts/src/Vault.sol": "Vault"}}},
    "storageLayout": {
        "storage": [
            {"label": "pausedUntil", "slot": "0", "offset": 8, "type": "t_uint64"},
            {"label": "own", "slot": "1", "offset": 0, "type": "t_struct(Pool)7_storage"},
            {"label": "pools", "slot": "2", "offset": 0, "type": "t_mapping(t_uint64,t_struct(Pool)7_storage)"},
        ],
        "types": TYPES,
    },
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one built contract, its layout and its packaged artifact committed."""
    (tmp_path / "contracts/src").mkdir(parents=True)
    (tmp_path / "contracts/src/Vault.sol").write_text("contract Vault {}", encoding="utf-8")
    (tmp_path / "out/Vault.sol").mkdir(parents=True)
    (tmp_path / "out/Vault.sol/Vault.json").write_text(json.dumps(ARTIFACT), encoding="utf-8")
    (tmp_path / "swarm_chain/abi").mkdir(parents=True)
    packaged = {"abi": ARTIFACT["abi"], "creationCode": "0x6001"}
    (tmp_path / "swarm_chain/abi/Vault.json").write_text(json.dumps(packaged), encoding="utf-8")
    write_layouts(tmp_path, read_build(tmp_path))
    (tmp_path / "contracts/snapshots/gas.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_layout_names_slot_offset_size_and_members() -> None:
    assert render_layout(ARTIFACT).splitlines() == [
        "slot offset bytes  name : type",
        "   0      8     8  pausedUntil : uint64",
        "   1      0    32  own : struct Vault.Pool",
        "   1      0    16    tokens : uint128",
        "   1     16     8    maturesAt : uint64",
        "   2      0    32  pools : mapping(uint64 => struct Vault.Pool)",
        "   0      0    16    tokens : uint128",
        "   0     16     8    maturesAt : uint64",
    ]


def test_check_when_nothing_changed_then_finds_nothing(tree: Path) -> None:
    assert list(find_differences(tree, read_build(tree))) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda a: a["storageLayout"]["storage"][0].update(slot="5"), "storage layout differs"),
        (lambda a: a["storageLayout"]["types"]["t_uint64"].update(label="int64"), "storage layout differs"),
        (lambda a: a["deployedBytecode"].update(object="0x" + "00" * 24_577), "24577 bytes deployed"),
        (lambda a: a["abi"].append({"type": "error", "name": "New"}), "ABI differs"),
        (lambda a: a["bytecode"].update(object="0x6002"), "creation code differs"),
    ],
)
def test_check_when_the_build_drifted_then_says_how(tree: Path, change: Any, complaint: str) -> None:
    drifted = copy.deepcopy(dict(ARTIFACT))
    change(drifted)

    assert [complaint in difference for difference in find_differences(tree, {"Vault": drifted})] == [True]


def test_check_when_a_contract_is_gone_then_says_so(tree: Path) -> None:
    differences = list(find_differences(tree, {}))

    assert differences == ["Vault: its storage layout is committed but it is not built"]


def test_check_when_the_gas_snapshot_is_missing_then_says_so(tree: Path) -> None:
    (tree / "contracts/snapshots/gas.json").unlink()

    assert ["gas" in difference for difference in find_differences(tree, read_build(tree))] == [True]


def test_read_build_when_nothing_was_built_then_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="forge build"):
        read_build(tmp_path)
