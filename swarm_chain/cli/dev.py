"""`swarm dev`: a local chain to play with, and checks for developers."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.cli.amounts import parse_address, parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address

app = typer.Typer(help="A local chain, and checks.")
MAX_VECTOR_BYTES = 64 * 2**20


@app.command()
def up(
    ctx: typer.Context,
    params: Annotated[str, typer.Option(help="Preset of protocol numbers: minimal or mainnet.")] = "minimal",
    port: Annotated[int | None, typer.Option(help="Port of the chain; default: 8545 or a free one.")] = None,
) -> None:
    """Starts a chain with everything deployed and keeps it running until Ctrl-C or `swarm dev down`."""
    from swarm_chain.cli.devnets import run_devnet

    run_devnet(session_of(ctx), params, port)


@app.command()
def down(ctx: typer.Context) -> None:
    """Ends the chain that `swarm dev up` started, and nothing else."""
    from swarm_chain.cli.devnets import state_dir
    from swarm_chain.devnet import stop_devnet

    session = session_of(ctx)
    stopped = stop_devnet(state_dir(session))
    session.output.show({"stopped": stopped}, facts("devnet", {"state": "stopped" if stopped else "none was running"}))


@app.command()
def deploy(
    ctx: typer.Context,
    params: Annotated[str, typer.Option(help="Preset of protocol numbers: minimal or mainnet.")] = "minimal",
    roles: Annotated[Path | None, typer.Option(help="TOML file: owner, members, guardian, veto, proposers.")] = None,
    member: Annotated[list[str] | None, typer.Option(help="Oracle member; repeat for more.")] = None,
    owner: Annotated[str | None, typer.Option(help="Gets the initial supply.")] = None,
    guardian: Annotated[str | None, typer.Option(help="May pause and disable roots.")] = None,
    veto: Annotated[str | None, typer.Option(help="May dismiss cases.")] = None,
    proposer: Annotated[list[str] | None, typer.Option(help="May schedule changes; repeat for more.")] = None,
    genesis_at: Annotated[int | None, typer.Option(help="Start of epoch 0, unix seconds; default: now.")] = None,
    out: Annotated[Path | None, typer.Option(help="Deployment file; default: deploy/chains/CHAIN.json.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan, send nothing.")] = False,
) -> None:
    """Deploys all contracts, each transaction once, and compares every fact on the chain with the plan."""
    from swarm_chain.cli.deployments import DeployRequest, deploy_all, print_plan
    from swarm_chain.cli.role_files import given_roles

    session = session_of(ctx)
    options = {
        "owner": [owner] if owner else [],
        "members": member or [],
        "guardian": [guardian] if guardian else [],
        "veto": [veto] if veto else [],
        "proposers": proposer or [],
    }
    asked = DeployRequest(params=params, given=given_roles(roles, options), genesis_at=genesis_at, out=out)
    if plan:
        print_plan(session, asked)
    else:
        deploy_all(session, asked)


@app.command()
def verify(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Deployment file; default: the one commands use.")] = None,
    roles: Annotated[Path | None, typer.Option(help="Roles you expect; default: those in the file.")] = None,
) -> None:
    """Compares a deployment on the chain with its plan: code, immutables, settings, every role; exit 70 if anything differs."""
    from swarm_chain.cli.deployments import verify_file
    from swarm_chain.cli.role_files import given_roles

    session = session_of(ctx)
    verify_file(session, file, given_roles(roles, {}))


@app.command()
def faucet(
    ctx: typer.Context,
    to: Annotated[str, typer.Argument(help="Address, or name of a keystore.")],
    eth: Annotated[str, typer.Option(help="ETH for gas.")] = "10",
    swm_amount: Annotated[str, typer.Option("--swm", help="SWM to stake or spend.")] = "10000",
) -> None:
    """Gives an address ETH and SWM on the local chain."""
    from swarm_chain.cli.devnets import attached

    session = session_of(ctx)
    address = _address_or_name(session, to)
    eth_wei, swm_wei = parse_amount(eth), parse_amount(swm_amount)
    attached(session).faucet(address, eth_wei=eth_wei, swm_wei=swm_wei)
    session.output.show(
        {"address": address, "ethWei": eth_wei, "swmWei": swm_wei},
        facts("given", {"to": address, "ETH": eth, "SWM": swm(swm_wei)}),
    )


@app.command()
def accounts(
    ctx: typer.Context,
    number: Annotated[int | None, typer.Option("--import", help="Take this account's key over.", min=0)] = None,
    name: Annotated[str, typer.Option("--as", help="Name of the keystore it becomes.")] = "dev",
) -> None:
    """Lists the accounts of the local chain; their keys are public knowledge."""
    from swarm_chain.cli.devnets import attached, import_account, role_of
    from swarm_chain.params import load_params

    session = session_of(ctx)
    if number is not None:
        import_account(session, number, name)
        return
    devnet = attached(session)
    members = load_params(devnet.deployment.params).governance.members
    found = [
        {"number": number, "address": signer.address, "role": role_of(number, members)}
        for number, signer in enumerate(devnet.accounts)
    ]
    rows = [(item["number"], item["address"], item["role"]) for item in found]
    session.output.show({"accounts": found}, table("accounts", (">number", "address", "role"), rows))


@app.command("time")
def time_(ctx: typer.Context, seconds: Annotated[int, typer.Argument(help="How far forward.", min=1)]) -> None:
    """Moves the local chain's clock forward."""
    from swarm_chain.cli.devnets import attached
    from swarm_chain.cli.views import when

    session = session_of(ctx)
    at = attached(session).warp(seconds)
    session.output.show({"chainTime": at}, facts("chain time", {"now": when(at)}))


@app.command("check-vectors")
def check_vectors(ctx: typer.Context, file: Annotated[Path, typer.Argument(help="Vector file.")]) -> None:
    """Recomputes every value of a compute-proof vector file; exit 1 on any mismatch."""
    from swarm_chain.core.vectors import check_vector_text

    session = session_of(ctx)
    text = _vector_text(file)
    with session.output.progress("recomputing"):
        mismatches = check_vector_text(text)
    session.output.show(
        {"file": str(file), "matches": not mismatches, "mismatches": mismatches},
        facts("vectors", {"file": file, "mismatches": len(mismatches)}),
    )
    for line in mismatches:
        session.output.note(line)
    if mismatches:
        session.output.finish()
        raise typer.Exit(1)


def _address_or_name(session: Session, text: str) -> Address:
    if text.startswith("0x"):
        return parse_address(text)
    from swarm_chain.adapters.keystore import find_keystore
    from swarm_chain.cli.keys import directory

    address = find_keystore(directory(session.settings), text).address
    if address is None:
        raise InvalidInputError(f"the keystore {text} does not name its address", fix="give the address", code="usage")
    return address


def _vector_text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_VECTOR_BYTES:
            raise InvalidInputError(f"{file} is larger than {MAX_VECTOR_BYTES} bytes", fix="name a vector file")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"cannot read {file}", fix="name a vector file, such as compute-proof.json") from error
