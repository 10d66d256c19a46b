"""What `swarm cluster status` shows and `swarm cluster down` ends, from outside of the gateway's process."""

import os
import signal
import time
from typing import Any

import httpx2

from gateway.config import GatewaySettings
from gateway.head import find_head, stop_head
from gateway.lock import Running, find_running
from swarm_chain.core.errors import UnavailableError

ANSWER_S = 3.0
STOP_WITHIN_S, POLL_S = 20.0, 0.1


def overview(settings: GatewaySettings) -> dict[str, Any]:
    """Gateway, Ray head and nodes of a folder, JSON-ready; None for what does not run."""
    running, head = find_running(settings.own_folder), find_head(settings.own_folder)
    return {
        "folder": str(settings.own_folder),
        "gateway": None if running is None else {"url": running.url, **_get(running, "/v1/gateway")},
        "rayHead": None if head is None else {"address": head.address, "pid": head.pid},
        "nodes": [] if running is None else _get(running, "/v1/nodes"),
    }


def end_cluster(settings: GatewaySettings) -> dict[str, bool]:
    """Ends gateway and Ray head of a folder; says which of them ran.

    Raises:
        UnavailableError: the gateway does not stop.
    """
    running = find_running(settings.own_folder)
    if running is not None:
        os.kill(running.pid, signal.SIGTERM)
        _wait_until_gone(settings, running)
    return {"gateway": running is not None, "rayHead": stop_head(settings.own_folder)}


def _wait_until_gone(settings: GatewaySettings, running: Running) -> None:
    deadline = time.monotonic() + STOP_WITHIN_S
    while find_running(settings.own_folder) is not None:
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"the gateway (process {running.pid}) does not stop", fix="look at its log, then end it", code="timeout"
            )
        time.sleep(POLL_S)


def _get(running: Running, path: str) -> Any:
    try:
        answer = httpx2.get(running.url + path, timeout=ANSWER_S)
    except httpx2.RequestError as error:
        raise UnavailableError(
            f"the gateway at {running.url} holds its folder and does not answer", code="gateway_unreachable"
        ) from error
    return answer.json()
