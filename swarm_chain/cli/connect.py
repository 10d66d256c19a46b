"""Finding the deployment and opening its chain."""

from swarm_chain.adapters.rpc import RpcPool, Web3Reader
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


def open_reader(settings: Settings, deployment: Deployment) -> Web3Reader:
    """A reader of the deployment's chain; its first request checks that the endpoint serves that chain (exit 3 if not)."""
    return Web3Reader(settings.endpoints, deployment)
