"""Storage layouts of our contracts as committed text, and the checks that the build still matches what is committed.

    python -m tools.snapshots write    rewrites contracts/snapshots/storage
    python -m tools.snapshots check    exit 1 when a layout, an ABI, creation code or the size limit no longer holds

Both read forge's build in out/, so `forge build` comes first.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STORAGE = Path("contracts/snapshots/storage")
PACKAGED = Path("swarm_chain/abi")
MAX_DEPLOYED_BYTES = 24_576  # EIP-170

Build = Mapping[str, Mapping[str, Any]]


def read_build(root: Path) -> Build:
    """Artifacts of every deployable contract under contracts/src, by contract name.

    Raises:
        FileNotFoundError: nothing was built yet.
    """
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((root / "out").glob("*.sol/*.json"))
    }
    ours = {name: artifact for name, artifact in found.items() if _is_deployable(root, name, artifact)}
    if not ours:
        raise FileNotFoundError(f"no contracts in {root / 'out'}: run 'forge build' first")
    return ours


def render_layout(artifact: Mapping[str, Any]) -> str:
    """Storage of one contract, a variable or struct member a line: slot, offset, bytes, name, type."""
    layout = artifact["storageLayout"]
    lines = [f"{'slot':>4} {'offset':>6} {'bytes':>5}  name : type"]
    for entry in layout["storage"]:
        lines.extend(_rows(entry, layout["types"] or {}, depth=0))
    return "\n".join(lines) + "\n"


def write_layouts(root: Path, build: Build) -> None:
    """Rewrites the committed layouts; those of contracts that are gone are removed."""
    folder = root / STORAGE
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.txt"):
        path.unlink()
    for name, artifact in build.items():
        (folder / f"{name}.txt").write_text(render_layout(artifact), encoding="utf-8")


def find_differences(root: Path, build: Build) -> Iterator[str]:
    """Everything in which the build and the committed files disagree, one sentence each."""
    if not list((root / STORAGE.parent).glob("*.json")):
        yield f"no gas snapshot is committed in {STORAGE.parent}"
    committed = {path.stem: path.read_text(encoding="utf-8") for path in (root / STORAGE).glob("*.txt")}
    yield from (
        f"{name}: its storage layout is committed but it is not built" for name in committed.keys() - build.keys()
    )
    for name, artifact in build.items():
        if committed.get(name) != render_layout(artifact):
            yield f"{name}: the storage layout differs from {STORAGE / name}.txt"
        size = _byte_length(artifact["deployedBytecode"]["object"])
        if size > MAX_DEPLOYED_BYTES:
            yield f"{name}: {size} bytes deployed, the chain takes {MAX_DEPLOYED_BYTES}"
    for path in sorted((root / PACKAGED).glob("*.json")):
        if path.stem in build:
            yield from _packaged_differences(path, build[path.stem])


def main(arguments: Sequence[str]) -> int:
    """Exit status of the command."""
    parser = argparse.ArgumentParser(prog="tools.snapshots", description="storage layouts of the contracts")
    parser.add_argument("action", choices=("write", "check"))
    action = parser.parse_args(arguments).action

    build = read_build(ROOT)
    if action == "write":
        write_layouts(ROOT, build)
        return 0
    differences = list(find_differences(ROOT, build))
    for difference in differences:
        sys.stderr.write(f"{difference}\n")
    if differences:
        sys.stderr.write("If that is meant, run 'make snapshots' and commit what it writes.\n")
    return 1 if differences else 0


def _is_deployable(root: Path, name: str, artifact: Mapping[str, Any]) -> bool:
    """Whether an artifact is a contract of contracts/src with code; libraries have no storage of their own."""
    targets = artifact.get("metadata", {}).get("settings", {}).get("compilationTarget", {})
    source = next((path for path, contract in targets.items() if contract == name), "")
    has_code = _byte_length(artifact.get("bytecode", {}).get("object", "0x")) > 0
    is_ours = source.startswith("contracts/src/") and not source.startswith("contracts/src/libraries/")
    return has_code and is_ours and (root / source).is_file()


def _rows(entry: Mapping[str, Any], types: Mapping[str, Any], depth: int, base: int = 0) -> Iterator[str]:
    kind = types[entry["type"]]
    slot = base + int(entry["slot"])
    name = "  " * depth + str(entry["label"])
    yield f"{slot:>4} {entry['offset']:>6} {kind['numberOfBytes']:>5}  {name} : {kind['label']}"
    for member in _innermost(kind, types).get("members", ()):
        in_place = kind["encoding"] == "inplace"
        yield from _rows(member, types, depth + 1, slot if in_place and "base" not in kind else 0)


def _innermost(kind: Mapping[str, Any], types: Mapping[str, Any]) -> Mapping[str, Any]:
    """The struct at the end of mappings and arrays, or the type itself."""
    inner = kind.get("value") or kind.get("base")
    return _innermost(types[inner], types) if inner else kind


def _packaged_differences(path: Path, artifact: Mapping[str, Any]) -> Iterator[str]:
    packaged = json.loads(path.read_text(encoding="utf-8"))
    if _sorted_abi(packaged["abi"]) != _sorted_abi(artifact["abi"]):
        yield f"{path.stem}: the ABI differs from {PACKAGED / path.name}"
    if packaged["creationCode"].removeprefix("0x") != artifact["bytecode"]["object"].removeprefix("0x"):
        yield f"{path.stem}: the creation code differs from {PACKAGED / path.name}"


def _sorted_abi(abi: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in abi)


def _byte_length(code: str) -> int:
    return len(code.removeprefix("0x")) // 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
