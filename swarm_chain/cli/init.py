"""`swarm init`: what to do next, judged by what is already there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import table
from swarm_chain.core.errors import SwarmError

app = typer.Typer()
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the way in; `done` is False also when nobody can tell."""

    command: str
    why: str
    done: bool


@app.command()
def init(ctx: typer.Context) -> None:
    """Prints the next three commands."""
    session = session_of(ctx)
    todo = [step for step in _steps(session) if not step.done][:SHOWN]
    session.output.show(
        {"next": [{"command": step.command, "why": step.why} for step in todo]},
        table("next", ("command", "why"), [(step.command, step.why) for step in todo]),
    )


def _steps(session: Session) -> Iterator[Step]:
    from swarm_chain.adapters.keystore import list_keystores
    from swarm_chain.cli.keys import directory

    found = list_keystores(directory(session.settings))
    name = session.settings.account or (found[0].name if found else "alice")
    address = next((keystore.address for keystore in found if keystore.name == name), None)
    chain = _chain_facts(session, address) if address else {}
    connected = bool(chain) or (address is None and _has_deployment(session))
    yield Step(command="swarm dev up", why="a local chain with everything on it", done=connected)
    yield Step(command=f"swarm wallet create {name}", why="a key of your own", done=address is not None)
    yield Step(command=f"swarm dev faucet {name}", why="ETH and SWM to play with", done=chain.get("balance", 0) > 0)
    registered, staked = chain.get("provider", 0) > 0, chain.get("stake", 0) > 0
    yield Step(command=f"swarm provider register --account {name}", why="your entry in the registry", done=registered)
    yield Step(command=f"swarm stake add 1000 --account {name}", why="tokens at risk, so that work pays", done=staked)
    yield Step(command="swarm node register", why="a machine that proves", done=chain.get("nodes", 0) > 0)
    yield Step(command="swarm node run", why="prove and earn", done=False)
    yield Step(command="swarm rewards show", why="what it brought", done=False)


def _has_deployment(session: Session) -> bool:
    try:
        return session.reader.chain_id() == session.deployment.chain_id
    except SwarmError:
        return False


def _chain_facts(session: Session, address: Any) -> dict[str, int]:
    from swarm_chain.cli.views import token_balance, view

    try:
        provider = view(session, "ProviderRegistry", "providerIdOf", address)
        found = {"provider": provider, "balance": token_balance(session, address)}
        if provider:
            found["stake"] = view(session, "StakeVault", "activeStake", provider)
            found["nodes"] = view(session, "ProviderRegistry", "nodeCount", provider)
    except SwarmError:
        return {}
    return found | {"balance": found["balance"] + found.get("stake", 0)}
