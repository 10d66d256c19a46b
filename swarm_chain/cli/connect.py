"""Finding the deployment and opening its chain."""

from collections.abc import Callable

from swarm_chain.adapters.connection import ChainConnection, connect_chain
from swarm_chain.adapters.panel import Dissent, Quorum
from swarm_chain.adapters.rpc import RpcPool
from swarm_chain.cli.config import Settings
from swarm_chain.core.model import Deployment
from swarm_chain.deploy import load_deployment


def find_deployment(settings: Settings) -> Deployment:
    """The deployment of the settings, else the one SWARM_HOME keeps for the endpoint's chain.

    Raises:
        InvalidInputError: there is none, or it is broken (exit 3).
        UnavailableError: no file was named and the endpoint does not answer.
    """
    if settings.deployment is not None:
        return load_deployment(settings.deployment)
    chain_id = int(RpcPool(settings.endpoints).request("eth_chainId"), 16)
    return load_deployment(settings.home / "deployments" / f"{chain_id}.json")


def open_chain(
    settings: Settings, deployment: Deployment, on_dissent: Callable[[Dissent], None] | None = None
) -> ChainConnection:
    """The deployment's chain; the first request to each endpoint checks that it serves that chain (exit 3 if not).

    Args:
        settings: endpoints, and how many of them must agree.
        deployment: where the contracts are.
        on_dissent: told of endpoints that were out-voted or did not answer.

    Raises:
        InvalidInputError: the endpoints cannot be used, or fewer are listed than must agree (exit 3).
    """
    return connect_chain(settings.endpoints, deployment, Quorum(agree=settings.rpc_agree, on_dissent=on_dissent))
