"""Deployment files: `{"chainId", "block", "params", "contracts": {name: address}}`, and, written by who deployed,
`"paramsVersion"`, `"origin"` and `"roles"`, from which anyone recomputes the plan and compares the chain with it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swarm_chain.abi import CONTRACTS
from swarm_chain.core.encoding import address_bytes, checksum_address
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.model import Deployment
from swarm_chain.core.units import Address, BlockNumber, Timestamp
from swarm_chain.deploy.plan import DeploymentPlan, Origin, plan_deployment
from swarm_chain.deploy.roles import Roles
from swarm_chain.params import load_params

_BROKEN = (ValueError, KeyError, TypeError, AttributeError, InvalidInputError)


def save_deployment(deployment: Deployment, path: Path) -> None:
    """Write a deployment file that says where the contracts are; a reader never sees half of it."""
    _write(_address_book(deployment), path)


def save_plan(plan: DeploymentPlan, path: Path) -> None:
    """Write a deployment file that also says how it came about; a reader never sees half of it."""
    origin = plan.origin
    record = {
        "paramsVersion": plan.params.version,
        "origin": {"deployer": origin.deployer, "firstNonce": origin.first_nonce, "genesisAt": origin.genesis_at},
        "roles": asdict(plan.roles),
    }
    _write(_address_book(plan.deployment) | record, path)


def load_deployment(path: Path) -> Deployment:
    """Read where the contracts are.

    Raises:
        InvalidInputError: no such file, or not a complete deployment (codes "deployment_missing", "deployment_broken";
            exit 3).
    """
    document = _read(path)
    try:
        return _deployment(document)
    except _BROKEN as error:
        raise _no_deployment(path, error) from error


def load_plan(path: Path) -> DeploymentPlan:
    """Read a deployment file and recompute its plan.

    Raises:
        InvalidInputError: no such file, or it does not say how it came about (codes "deployment_missing",
            "deployment_broken"; exit 3).
        InconsistentError: its addresses are not those of its deployer, or its preset has other numbers now.
    """
    document = _read(path)
    try:
        deployment, origin = _deployment(document), _origin(document)
        roles, version = _roles(document["roles"]), int(document["paramsVersion"])
    except _BROKEN as error:
        raise _no_deployment(path, error) from error
    params = load_params(deployment.params)
    if params.version != version:
        raise InconsistentError(
            f"{path} was deployed with version {version} of params {params.name}, installed is {params.version}",
            code="other_params",
            fix="use the release that deployed it",
        )
    plan = plan_deployment(params, roles, origin)
    if plan.deployment != deployment:
        raise InconsistentError(
            f"the addresses in {path} are not those that {origin.deployer} creates from transaction {origin.first_nonce} on",
            code="deployment_differs",
            fix="do not use it: fetch the file again from who deployed",
        )
    return plan


def _address_book(deployment: Deployment) -> dict[str, object]:
    return {
        "chainId": deployment.chain_id,
        "block": deployment.block,
        "params": deployment.params,
        "contracts": dict(deployment.contracts),
    }


def _write(document: dict[str, object], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def _read(path: Path) -> Any:
    if not path.is_file():
        raise InvalidInputError(
            f"there is no deployment file {path}",
            code="deployment_missing",
            fix="start a chain with `swarm dev up`, or name the file with --deployment or SWARM_DEPLOYMENT",
            exit_code=3,
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _no_deployment(path, error) from error


def _no_deployment(path: Path, error: Exception) -> InvalidInputError:
    reason = f"it lacks {error}" if isinstance(error, KeyError) else error
    return InvalidInputError(
        f"{path} is no deployment file: {reason}",
        code="deployment_broken",
        fix="fetch it again, or deploy again",
        exit_code=3,
    )


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


def _origin(document: dict[str, Any]) -> Origin:
    origin = document["origin"]
    return Origin(
        deployer=_address(origin["deployer"]),
        first_nonce=int(origin["firstNonce"]),
        chain_id=int(document["chainId"]),
        block=BlockNumber(int(document["block"])),
        genesis_at=Timestamp(int(origin["genesisAt"])),
    )


def _roles(roles: dict[str, Any]) -> Roles:
    return Roles(
        owner=_address(roles["owner"]),
        members=tuple(map(_address, roles["members"])),
        guardian=_address(roles["guardian"]),
        veto=_address(roles["veto"]),
        proposers=tuple(map(_address, roles["proposers"])),
    )


def _address(text: str) -> Address:
    return checksum_address(address_bytes(Address(text)))
