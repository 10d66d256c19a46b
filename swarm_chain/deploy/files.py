"""Deployment files: `{"chainId", "block", "params", "contracts": {name: address}}`."""

import json
from pathlib import Path
from typing import Any

from swarm_chain.abi import CONTRACTS
from swarm_chain.core.encoding import address_bytes, checksum_address
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import Deployment
from swarm_chain.core.units import Address, BlockNumber


def save_deployment(deployment: Deployment, path: Path) -> None:
    """Write a deployment file; a reader never sees half of it."""
    document = {
        "chainId": deployment.chain_id,
        "block": deployment.block,
        "params": deployment.params,
        "contracts": dict(deployment.contracts),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def load_deployment(path: Path) -> Deployment:
    """Read a deployment file.

    Raises:
        InvalidInputError: no such file, or not a complete deployment (codes "deployment_missing", "deployment_broken";
            exit 3).
    """
    if not path.is_file():
        raise InvalidInputError(
            f"there is no deployment file {path}",
            code="deployment_missing",
            fix="start a chain with `swarm dev up`, or name the file with --deployment or SWARM_DEPLOYMENT",
            exit_code=3,
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return _deployment(document)
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInputError) as error:
        raise InvalidInputError(
            f"{path} is no deployment file: {error}",
            code="deployment_broken",
            fix="fetch it again, or deploy again",
            exit_code=3,
        ) from error


def _deployment(document: dict[str, Any]) -> Deployment:
    contracts = {name: _address(text) for name, text in document["contracts"].items()}
    missing = [name for name in CONTRACTS if name not in contracts]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    return Deployment(
        chain_id=int(document["chainId"]),
        block=BlockNumber(int(document["block"])),
        params=str(document["params"]),
        contracts=contracts,
    )


def _address(text: str) -> Address:
    return checksum_address(address_bytes(Address(text)))
