"""Builds swarm_chain/abi: `python -m tools.abi` writes the files, `python -m tools.abi check` compares them.

contracts/src + OpenZeppelin --py-solc-x, contracts/bin/solc, settings of foundry.toml--> interfaces, code, immutables
the custom errors of all of them + contracts/errors.toml                              --> errors.json
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import solcx
from eth_utils.abi import function_abi_to_4byte_selector

from swarm_chain.abi import CONTRACTS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "swarm_chain" / "abi"
SENTENCES = ROOT / "contracts" / "errors.toml"
# Deployed from OpenZeppelin as they are; everything else is contracts/src/<name>.sol.
OPENZEPPELIN = {
    "AccessManager": "node_modules/@openzeppelin/contracts/access/manager/AccessManager.sol",
    "TimelockController": "node_modules/@openzeppelin/contracts/governance/TimelockController.sol",
}


def source_path(name: str) -> str:
    """Path of a contract's source below the repository root."""
    return OPENZEPPELIN.get(name, f"contracts/src/{name}.sol")


def compile_contracts() -> dict[str, dict[str, Any]]:
    """Compile every deployed contract with the program and the settings that forge uses.

    Returns:
        `{name: {"abi": [...], "creationCode": "0x...", "runtime": [offset, length], "immutables": {name: [offset, ...]}}}`,
        all in bytes; the runtime lies within the creation code, and immutables are 32-byte words within the runtime.

    Raises:
        SystemExit: the sources do not compile.
    """
    config = tomllib.loads((ROOT / "foundry.toml").read_text())["profile"]["default"]
    sources = {source_path(name): {"content": (ROOT / source_path(name)).read_text()} for name in CONTRACTS}
    document = {"language": "Solidity", "sources": sources, "settings": _settings(config)}
    compiler = ROOT / os.environ.get("FOUNDRY_SOLC", config["solc"])
    try:
        output = solcx.compile_standard(document, base_path=ROOT, solc_binary=compiler)
    except solcx.exceptions.SolcError as error:
        raise SystemExit(f"the contracts do not compile:\n{error}") from error
    names = dict(_immutable_names(output["sources"]))
    return {name: _artifact(output["contracts"][source_path(name)][name], names) for name in CONTRACTS}


def error_table(artifacts: Mapping[str, Mapping[str, Any]], sentences: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Table of every custom error by selector.

    Args:
        artifacts: what `compile_contracts` returned.
        sentences: what to do, by error name.

    Raises:
        SystemExit: an error without a sentence, or a sentence without an error.
    """
    errors = {function_abi_to_4byte_selector(item): item for item in _errors(artifacts)}  # type: ignore[arg-type]  # an error's selector is made like a function's
    names = {item["name"] for item in errors.values()}
    if names != sentences.keys():
        missing, unused = sorted(names - sentences.keys()), sorted(sentences.keys() - names)
        raise SystemExit(
            f"{SENTENCES.relative_to(ROOT)}: errors without a sentence {missing}, unused sentences {unused}"
        )
    rows = sorted(errors.items(), key=lambda pair: (pair[1]["name"], pair[0]))
    return {f"0x{selector.hex()}": _row(item, sentences[item["name"]]) for selector, item in rows}


def generated_files() -> dict[str, str]:
    """File name to text of everything `make abi` writes."""
    artifacts = compile_contracts()
    table = error_table(artifacts, tomllib.loads(SENTENCES.read_text()))
    rows = ",\n".join(f"{json.dumps(selector)}: {json.dumps(row)}" for selector, row in table.items())
    texts = {f"{name}.json": json.dumps(item, separators=(",", ":")) + "\n" for name, item in artifacts.items()}
    return texts | {"errors.json": f"{{\n{rows}\n}}\n"}


def stale_files() -> tuple[str, ...]:
    """Names of committed files that differ from what the sources give now."""
    fresh = generated_files()
    leftovers = {path.name for path in TARGET.glob("*.json")} - fresh.keys()
    changed = {name for name, text in fresh.items() if not _is(TARGET / name, text)}
    return tuple(sorted(leftovers | changed))


def main(arguments: list[str]) -> int:
    """Writes the files, or with `check` compares them."""
    if arguments == ["check"]:
        stale = stale_files()
        print("\n".join(f"swarm_chain/abi/{name} is stale: run `make abi`" for name in stale))  # noqa: T201 - a command's answer
        return 1 if stale else 0
    for name, text in generated_files().items():
        (TARGET / name).write_text(text)
    return 0


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "remappings": [line for line in config["remappings"] if line.startswith("@openzeppelin/")],
        "optimizer": {"enabled": config["optimizer"], "runs": config["optimizer_runs"]},
        "evmVersion": config["evm_version"],
        "viaIR": config["via_ir"],
        "metadata": {"bytecodeHash": config["bytecode_hash"], "appendCBOR": config["cbor_metadata"]},
        "outputSelection": {
            "*": {
                "*": [
                    "abi",
                    "evm.bytecode.object",
                    "evm.deployedBytecode.object",
                    "evm.deployedBytecode.immutableReferences",
                ],
                "": ["ast"],
            }
        },
    }


def _artifact(output: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    creation, runtime = (bytes.fromhex(output["evm"][kind]["object"]) for kind in ("bytecode", "deployedBytecode"))
    references = output["evm"]["deployedBytecode"]["immutableReferences"]
    return {
        "abi": output["abi"],
        "creationCode": f"0x{creation.hex()}",
        "runtime": [creation.index(runtime), len(runtime)],
        "immutables": {
            names[node]: sorted(place["start"] for place in places)
            for node, places in sorted(references.items(), key=lambda item: names[item[0]])
        },
    }


def _immutable_names(sources: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """(id in the syntax tree, name) of every immutable of every source."""
    for source in sources.values():
        for contract in source["ast"]["nodes"]:
            for node in contract.get("nodes", ()):
                if node.get("mutability") == "immutable":
                    yield str(node["id"]), node["name"]


def _errors(artifacts: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for artifact in artifacts.values():
        yield from (item for item in artifact["abi"] if item["type"] == "error")


def _row(item: Mapping[str, Any], fix: str) -> dict[str, Any]:
    inputs = [{"name": arg["name"], "type": arg["type"]} for arg in item["inputs"]]
    return {"name": item["name"], "inputs": inputs, "fix": fix}


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
