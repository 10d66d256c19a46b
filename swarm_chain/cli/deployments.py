"""`swarm dev deploy` and `swarm dev verify`: show the plan, carry it out once, compare the chain with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.rpc import RpcPool, Web3Reader
from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import View, facts, table
from swarm_chain.cli.role_files import Given, complete_roles
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address, Timestamp
from swarm_chain.deploy import (
    TRIAL_PRESETS,
    DeploymentPlan,
    check_separation,
    compare,
    differing,
    load_plan,
    plan_deployment,
    plan_document,
    read_origin,
    run_plan,
    save_plan,
)
from swarm_chain.params import load_params

REPO_FOLDER = Path("deploy") / "chains"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployRequest:
    """What `swarm dev deploy` was asked for; `given` are the roles that were named."""

    params: str
    given: Given = field(default_factory=dict)
    genesis_at: int | None = None
    out: Path | None = None


def home_file(session: Session, chain_id: int) -> Path:
    """Where commands look for the deployment of a chain."""
    return session.settings.home / "deployments" / f"{chain_id}.json"


def print_plan(session: Session, asked: DeployRequest) -> None:
    """Shows what a deployment would do; needs the deployer's address, not its key."""
    plan, _ = _plan(session, asked, own_address(session))
    document = plan_document(plan)
    session.output.show(document, *_views(document))


def deploy_all(session: Session, asked: DeployRequest) -> None:
    """Deploys with the chosen key, or goes on where an earlier run was cut, and writes the deployment file."""
    signer = session.signer
    plan, out = _plan(session, asked, signer.address)
    document = plan_document(plan)
    session.output.show(document, *_views(document))
    session.output.confirm(f"Deploy this with {signer.address} into {out}?")
    reader, started = Web3Reader(session.settings.endpoints, plan.deployment), _started(out)
    if not out.exists():
        save_plan(plan, started)
    with session.output.steps("deploying") as progress:
        sent = run_plan(plan, reader, signer, clock=SystemClock(), progress=progress)
    for path in (out, home_file(session, plan.origin.chain_id)):
        save_plan(plan, path)
    started.unlink(missing_ok=True)
    contracts = dict(plan.deployment.contracts)
    session.output.show(
        {"chainId": plan.origin.chain_id, "file": str(out), "contracts": contracts, "sent": sent, "plan": document},
        facts(f"deployed on chain {plan.origin.chain_id}", {**contracts, "transactions sent": sent, "file": out}),
    )


def verify_file(session: Session, file: Path | None, expected: Given) -> None:
    """Compares a deployment with its plan; `expected` roles replace those in the file."""
    path = file or session.settings.deployment or home_file(session, _chain_id(session))
    plan = load_plan(path)
    if expected:
        roles = complete_roles(plan.params.name, {**_held(plan), **expected}, plan.origin.deployer)
        plan = plan_deployment(plan.params, roles, plan.origin)
    reader = Web3Reader(session.settings.endpoints, plan.deployment)
    with session.output.progress("comparing the chain with the plan"):
        compared, found = compare(plan, reader)
    if found:
        rows = [(difference.what, difference.want, difference.have) for difference in found]
        session.output.show(found, table("not as planned", ("what", "planned", "on the chain"), rows))
        raise differing(found)
    session.output.show(
        {"chainId": plan.origin.chain_id, "file": str(path), "compared": compared, "differences": []},
        facts("as planned", {"file": path, "facts compared": compared, "params": plan.params.name}),
    )


def _plan(session: Session, asked: DeployRequest, deployer: Address) -> tuple[DeploymentPlan, Path]:
    """The plan of this request and its file; the one an earlier run wrote, if there is one."""
    params = load_params(asked.params)
    roles = complete_roles(asked.params, asked.given, deployer)
    if asked.params not in TRIAL_PRESETS:
        check_separation(roles, deployer)
    genesis_at = None if asked.genesis_at is None else Timestamp(asked.genesis_at)
    origin = read_origin(session.settings.endpoints, deployer, genesis_at)
    out = asked.out or _usual_file(session, origin.chain_id)
    known = next((path for path in (out, _started(out)) if path.exists()), None)
    if known is None:
        return plan_deployment(params, roles, origin), out
    earlier = load_plan(known)
    begun = earlier.origin
    again = replace(begun, deployer=deployer, chain_id=origin.chain_id, genesis_at=genesis_at or begun.genesis_at)
    _require_same(known, earlier, plan_deployment(params, roles, again))
    session.output.note(f"{known} names an earlier run: going on where it stopped")
    return earlier, out


def _require_same(path: Path, earlier: DeploymentPlan, wanted: DeploymentPlan) -> None:
    """What an earlier run began can only be finished as it was begun."""
    pairs = {
        "chain, deployer or genesis": (earlier.origin, wanted.origin),
        "preset": (earlier.params, wanted.params),
        "set of role holders": (earlier.roles, wanted.roles),
    }
    other = [what for what, (have, want) in pairs.items() if have != want]
    if other:
        raise InvalidInputError(
            f"{path} holds a deployment with another {' and another '.join(other)}",
            code="other_deployment",
            fix="repeat the command that began it, or name another file with --out",
            values={"differs": other},
        )


def _held(plan: DeploymentPlan) -> Given:
    """The roles of a plan, as a roles file would give them."""
    roles = plan.roles
    return {
        "owner": (roles.owner,),
        "members": roles.members,
        "guardian": (roles.guardian,),
        "veto": (roles.veto,),
        "proposers": roles.proposers,
    }


def _started(out: Path) -> Path:
    """Where a deployment is noted from its first transaction until it is verified."""
    return out.with_suffix(".started.json")


def _usual_file(session: Session, chain_id: int) -> Path:
    """deploy/chains/<chainId>.json in a checkout, else in SWARM_HOME."""
    return REPO_FOLDER / f"{chain_id}.json" if REPO_FOLDER.is_dir() else home_file(session, chain_id)


def _chain_id(session: Session) -> int:
    return int(RpcPool(session.settings.endpoints).request("eth_chainId"), 16)


def _views(document: Mapping[str, Any]) -> tuple[View, ...]:
    contracts = [
        (item["name"], item["address"], "\n".join(f"{part['name']}: {part['words']}" for part in item["constructor"]))
        for item in document["contracts"]
    ]
    immutables = [(item["contract"], item["name"], item["words"]) for item in document["immutables"]]
    roles = [(item["role"], "\n".join(item["names"]), "\n".join(item["functions"])) for item in document["roles"]]
    delays = [(item["what"], item["words"]) for item in document["delays"]]
    windows = [(item["name"], item["haveFor"], item["sum"]) for item in document["windows"]]
    summary = {key: document[key] for key in ("chainId", "params", "deployer", "genesisAt", "transactions")}
    return (
        facts("deployment plan", summary),
        table("contracts", ("contract", "address", "constructor"), contracts),
        table("immutables", ("contract", "name", "value"), immutables),
        table("roles", ("role", "holder", "may call"), roles),
        table("delays", ("what", "time"), delays),
        table("windows, seconds", ("window", ">is", "at least"), windows),
    )
