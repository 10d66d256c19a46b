"""How a node comes to Ray: a small one of its own, one the operator names, or a gateway's cluster that it joins as a node.

Whoever has the token of a cluster can run code on every node of it. A node joins a gateway's cluster only when told to
(SWARM_CLUSTER_ADDRESS), and then lends its jobs the nodes of its own provider, no others.
"""

import logging
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from node.cluster import ClusterNode, joined_cluster, measured_labels, node_labels, provider_selector
from node.config import NodeSettings, prepare_ray_environment
from node.proven import proven_units
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.model import ContractCall
from swarm_chain.core.regions import region_text
from swarm_chain.core.units import Address, ProviderId
from swarm_chain.ports import ChainReader

OBJECT_STORE_BYTES = 80 * 2**20  # heads are a few megabytes at most; checkpoints stay on disk
LISTENER_S = 5


@contextmanager
def ray_connection(settings: NodeSettings) -> Iterator[Mapping[str, str]]:
    """Connects to the Ray cluster of the settings, or starts a small one that ends with this process; both want the token.

    Yields:
        What selects the Ray nodes this node's jobs may use: nothing in particular.

    Raises:
        UnavailableError: no cluster answers at the address, or it wants another token.
    """
    prepare_ray_environment(settings)
    import ray

    where = _ray_arguments(settings)
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _no_ray(settings.ray_address, str(error).splitlines()[0]) from error
    try:
        yield MappingProxyType({})
    finally:
        ray.shutdown()


@contextmanager
def cluster_connection(settings: NodeSettings, labels: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Joins the Ray cluster of a gateway with a Ray node of this machine's own, and connects through that one.

    Args:
        settings: where the head is and what this machine gives.
        labels: of this node.

    Yields:
        What selects the Ray nodes this node's jobs may use.

    Raises:
        UnavailableError: nobody answers at the head's address, or it wants another token.
    """
    prepare_ray_environment(settings)
    import ray

    own = ClusterNode(
        head=settings.cluster_address,
        host=settings.cluster_host,
        labels=labels,
        cpus=max(settings.threads, settings.job_cpus + settings.reserved_cpus),
        gpus=settings.gpus,
        object_store_bytes=OBJECT_STORE_BYTES,
    )
    with joined_cluster(own) as folder:
        ray.init(own.head, _temp_dir=str(folder), log_to_driver=False, logging_level=logging.WARNING)
        try:
            yield provider_selector(labels)
        finally:
            ray.shutdown()


def cluster_labels(chain: ChainReader, oracle_urls: Sequence[str], node: Address) -> Mapping[str, str]:
    """All labels of a node in a cluster: what the registry says of it, and what members proved of it.

    Args:
        chain: where the registry is.
        oracle_urls: members; where none says what it proved, there are no labels of that.
        node: address of the node key.

    Raises:
        InvalidInputError: no provider has added this node, or its region cannot be a label.
        UnavailableError: the chain does not answer.
    """
    registered = registered_labels(chain, node)
    return MappingProxyType({**registered, **measured_labels(proven_units(oracle_urls, node))})


def registered_labels(chain: ChainReader, node: Address) -> Mapping[str, str]:
    """Labels of a node in a cluster that are the registry's, where the gateway's placement reads them too.

    Args:
        chain: where the registry is.
        node: address of the node key.

    Raises:
        InvalidInputError: no provider has added this node, or its region cannot be a label.
        UnavailableError: the chain does not answer.
    """
    found = chain.call(ContractCall(contract="ProviderRegistry", function="providerIdOfNode", args=(node,)))
    if not isinstance(found, int) or not found:
        raise InvalidInputError(
            f"no provider has added node {node}", fix="swarm node register", code="not_registered", exit_code=3
        )
    provider: Any = chain.call(ContractCall(contract="ProviderRegistry", function="provider", args=(found,)))
    hardware_class = HardwareClass(provider["hardwareClass"]).name.lower()
    return node_labels(node, ProviderId(found), region_text(provider["region"]), hardware_class)


def _ray_arguments(settings: NodeSettings) -> dict[str, Any]:
    if settings.ray_address:
        _require_listener(settings.ray_address)
        return {"address": settings.ray_address}
    return {
        "address": "local",
        "num_cpus": max(settings.threads, settings.job_cpus + settings.reserved_cpus),
        "num_gpus": settings.gpus,
        "object_store_memory": OBJECT_STORE_BYTES,
        "include_dashboard": False,
    }


def _require_listener(address: str) -> None:
    # ray.init waits for minutes where nobody listens.
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=LISTENER_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _no_ray(address, f"nobody answers there ({error})") from error


def _no_ray(address: str, reason: str) -> UnavailableError:
    return UnavailableError(
        f"cannot join Ray at {address or 'this machine'}: {reason}",
        fix="check SWARM_RAY_ADDRESS (host:port) and the token in SWARM_RAY_TOKEN_FILE or RAY_AUTH_TOKEN",
        code="ray_unreachable",
    )
