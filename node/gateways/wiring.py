"""The gateways of an agent, from its settings and its machine."""

import os
import shutil
from contextlib import ExitStack

import psutil

from node.config import NodeSettings
from node.gateway_model import Offer
from node.gateways.blobs import BlobCache
from node.gateways.client import HttpGatewayDesk, HttpGatewayInbox
from node.gateways.courier import ThreadCourier
from node.gateways.ports import Gateway, Gateways
from node.oracle_client import JsonHttp
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.units import Wei

MB = 1_000_000


def connected_gateways(settings: NodeSettings, stack: ExitStack) -> Gateways | None:
    """The gateways of the settings; None if there are none, or this node takes no jobs.

    Args:
        settings: of the node.
        stack: closes the connections.
    """
    if not settings.gateway_urls or not settings.jobs:
        return None
    settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Gateways(
        known={url: _gateway(url, stack) for url in settings.gateway_urls},
        courier=ThreadCourier(),
        offer=machine_offer(settings),
        inputs=BlobCache(folder=settings.folder / "inputs", most=settings.input_cache_mb * MB),
        jobs=settings.folder / "jobs",
    )


def machine_offer(settings: NodeSettings) -> Offer:
    """What this machine offers: memory of all of it, disk that is free now."""
    return Offer(
        region=settings.region,
        hardware_class=HardwareClass[settings.hardware_class.upper()],
        cpus=os.cpu_count() or 1,
        gpus=settings.gpus,
        memory_mb=psutil.virtual_memory().total // MB,
        disk_mb=shutil.disk_usage(settings.folder).free // MB,
        price_wei=Wei(settings.price_wei),
    )


def _gateway(url: str, stack: ExitStack) -> Gateway:
    # Contents go over a connection of their own: no upload keeps a question waiting.
    desk, inbox = JsonHttp(url, who="gateway"), JsonHttp(url, who="gateway")
    stack.callback(desk.close)
    stack.callback(inbox.close)
    return Gateway(desk=HttpGatewayDesk(desk), inbox=HttpGatewayInbox(inbox))
