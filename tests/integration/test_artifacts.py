"""The committed artifacts are what both compilers' front doors make of the sources: py-solc-x and forge."""

import json
import subprocess
from pathlib import Path

import pytest

from swarm_chain.abi import CONTRACTS, load_artifact
from swarm_chain.devnet.anvil import find_anvil
from tools import abi

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def forge_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of a fresh forge build of the deployed contracts."""
    folder = tmp_path_factory.mktemp("forge")
    command = [str(find_anvil().with_name("forge")), "build", "contracts/src", *abi.OPENZEPPELIN.values()]
    command += ["--quiet", "--out", str(folder / "out"), "--cache-path", str(folder / "cache")]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder / "out"


@pytest.mark.long
def test_committed_files_are_what_py_solc_x_makes_of_the_sources() -> None:
    assert abi.stale_files() == ()


@pytest.mark.parametrize("name", CONTRACTS)
def test_forge_gives_the_same_code_and_the_same_places_of_immutables(forge_out: Path, name: str) -> None:
    built = json.loads((forge_out / f"{name}.sol" / f"{name}.json").read_text())
    artifact = load_artifact(name)
    references = built["deployedBytecode"].get("immutableReferences", {})

    assert bytes.fromhex(built["bytecode"]["object"][2:]) == artifact.creation_code
    assert bytes.fromhex(built["deployedBytecode"]["object"][2:]) == artifact.runtime_code
    assert sorted(place["start"] for places in references.values() for place in places) == sorted(
        place for places in artifact.immutables.values() for place in places
    )
