"""Probes of what is outside and of the node's files: endpoints, members, deployment, standing; each waits a few seconds."""

import json
import os
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2

from node.config import NodeSettings
from node.doctor.facts import Endpoint, File, MemberSaid, Standing
from node.status import chain_view
from swarm_chain.adapters.rpc import RpcPool, Web3Reader, redacted
from swarm_chain.core.errors import SwarmError, UnavailableError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.units import Address, Wei
from swarm_chain.deploy import load_deployment

ANSWER_S = 3
MAX_STATUS_BYTES = 2**20


def endpoint(url: str) -> Endpoint:
    """Asks one chain endpoint which chain it serves and for its newest block."""
    name = redacted(url)
    try:
        rpc = RpcPool([url], timeout_s=ANSWER_S)
        chain_id = int(rpc.request("eth_chainId"), 16)
        header = rpc.request("eth_getBlockByNumber", ["latest", False])
        return Endpoint(
            name=name, chain_id=chain_id, block=int(header["number"], 16), block_at=int(header["timestamp"], 16)
        )
    except SwarmError as error:
        return Endpoint(name=name, problem=error.message)
    except (KeyError, TypeError, ValueError):
        return Endpoint(name=name, problem="its answer is no block")


def deployment(settings: NodeSettings, endpoints: Sequence[Endpoint]) -> Deployment:
    """The deployment file of the settings, else of the first endpoint's chain under SWARM_HOME.

    Raises:
        InvalidInputError: there is none, or it is broken.
        UnavailableError: none is named and no endpoint says which chain it would be.
    """
    if settings.deployment is not None:
        return load_deployment(settings.deployment)
    answering = next((one for one in endpoints if not one.problem), None)
    if answering is None:
        raise UnavailableError("none is named, and no endpoint says which chain to look for")
    return load_deployment(settings.home / "deployments" / f"{answering.chain_id}.json")


def member(url: str) -> MemberSaid:
    """Asks one oracle member for its status and compares its clock, halfway through the question, with ours."""
    name, began, began_ms = redacted(url), time.time(), _now_ms()
    try:
        with httpx2.Client(timeout=ANSWER_S) as client, client.stream("GET", f"{url}/v1/status") as response:
            content, date = _bounded(response, began_ms), response.headers.get("Date", "")
            said = json.loads(content)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        return MemberSaid(name=name, problem=f"no answer ({type(error).__name__})")
    except (ValueError, RecursionError):
        said = None
    if response.status_code != 200 or not isinstance(said, dict):
        return MemberSaid(name=name, problem=f"does not answer like an oracle (HTTP status {response.status_code})")
    took_ms = _now_ms() - began_ms
    return MemberSaid(name=name, said=said, ahead_s=_ahead(date, began + took_ms / 2000), took_ms=took_ms)


def file(path: Path) -> File:
    """Mode and owner of a file or folder."""
    try:
        found = path.stat()
    except OSError:
        return File(path=str(path), mode=None)
    return File(path=str(path), mode=found.st_mode & 0o7777, owner=found.st_uid, reader=os.geteuid())


def standing(url: str, where: Deployment, node: Address) -> Standing:
    """How the chain sees a node and its provider's stake.

    Raises:
        UnavailableError: the endpoint does not answer.
    """
    reader = Web3Reader(url, where, timeout_s=ANSWER_S)
    view = chain_view(reader, node)
    staked: object = 0
    if view.provider_id:
        staked = reader.call(ContractCall(contract="StakeVault", function="activeStake", args=(view.provider_id,)))
    return Standing(node=view, active_stake_wei=Wei(int(str(staked))))


def _bounded(response: httpx2.Response, began_ms: int) -> bytes:
    """The answer, if it is short and whole in time: a member that sends a byte a second would hold us for hours."""
    content = b""
    for part in response.iter_bytes():
        content += part
        if len(content) > MAX_STATUS_BYTES or _now_ms() - began_ms > ANSWER_S * 1000:
            raise TimeoutError
    return content


def _ahead(date: str, now: float) -> int | None:
    try:
        # The header counts whole seconds: half of one is added so that the mistake lies on both sides.
        return round(parsedate_to_datetime(date).timestamp() + 0.5 - now)
    except (TypeError, ValueError, OverflowError):
        return None


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
