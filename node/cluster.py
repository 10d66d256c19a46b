"""This machine as a node of a gateway's Ray cluster: a child of the agent that ends with it, whatever ends the agent.

agent --node.cluster_child--> raylet of its own (temporary folder of its own) --joins--> head
      --ray.init(address, that folder)--> connected through its own raylet, so that "here" is this node

Labels follow Kubernetes' syntax: swarm/node, swarm/provider, swarm/region, swarm/class, and for each category in which
the node proved something swarm/measured-compute and the like, an integer in the category's unit. Ray labels are static: they
stay what they were when the Ray node started, and they are the node's own word. So gateways go on asking members what a node
proved; a label only chooses among nodes of one provider (node.jobs.workers).
Source: https://docs.ray.io/en/latest/ray-core/scheduling/labels.html
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import psutil
import structlog

from node.cluster_child import JOINED
from node.config import cluster_environment
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import Category
from swarm_chain.core.units import Address, ProviderId

log = structlog.get_logger()

NODE_LABEL: Final = "swarm/node"
PROVIDER_LABEL: Final = "swarm/provider"
REGION_LABEL: Final = "swarm/region"
CLASS_LABEL: Final = "swarm/class"
MEASURED_LABEL: Final = "swarm/measured-"  # and the name of a category
JOINED_WITHIN_S, STOP_WITHIN_S, POLL_S = 90.0, 15.0, 0.1
LISTENER_S = 5

_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """What joins: address of the head, as host:port; own address for other nodes; labels; what Ray may give to tasks."""

    head: str
    host: str
    labels: Mapping[str, str]
    cpus: int
    gpus: int
    object_store_bytes: int


def node_labels(node: Address, provider: ProviderId, region: str, hardware_class: str) -> Mapping[str, str]:
    """Labels of a node.

    Args:
        node: its address.
        provider: that added it.
        region: where it stands.
        hardware_class: as the registry knows it.

    Raises:
        InvalidInputError: a value is none that Ray takes as a label.
    """
    return _checked(
        {NODE_LABEL: node, PROVIDER_LABEL: str(provider), REGION_LABEL: region, CLASS_LABEL: hardware_class}
    )


def measured_labels(units: Mapping[Category, int]) -> Mapping[str, str]:
    """Labels of what was measured of a node, one for each category in which it proved something.

    Args:
        units: by category, in its unit, at least 0; none where it is not known, for a label is never invented.

    Raises:
        InvalidInputError: a value is none that Ray takes as a label.
    """
    return _checked({measured_label(category): str(units[category]) for category in Category if units.get(category)})


def measured_label(category: str) -> str:
    """Name of the label of a category."""
    return f"{MEASURED_LABEL}{category}"


def is_label_value(value: str) -> bool:
    """Whether Ray takes a value as a label's."""
    return _LABEL_VALUE.fullmatch(value) is not None


def _checked(labels: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in labels.items():
        if not is_label_value(value):
            raise InvalidInputError(
                f"{value!r} cannot be the label {name}",
                fix="use at most 63 letters, digits, '-', '_' and '.', and none of the three at its ends",
                code="bad_label",
                exit_code=3,
            )
    return MappingProxyType(dict(labels))


def provider_selector(labels: Mapping[str, str]) -> Mapping[str, str]:
    """What selects the nodes a job of this node may use: those of the same provider."""
    return MappingProxyType({PROVIDER_LABEL: labels[PROVIDER_LABEL]})


@contextmanager
def joined_cluster(own: ClusterNode) -> Iterator[Path]:
    """Joins a cluster for as long as the context lasts. Ray's environment must be prepared: the token is read there.

    Args:
        own: what joins.

    Returns:
        Ray's temporary folder of this node; `ray.init` finds the node by it.

    Raises:
        UnavailableError: nobody answers there, or it does not join in time.
    """
    _require_head(own.head)
    folder = Path(tempfile.mkdtemp(prefix="swarm-ray-"))  # its path must be short: sockets lie in it
    with (folder / "node.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "node.cluster_child", json.dumps(_options(own, folder))],
            env=cluster_environment(own.host),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # signals for the agent are not for it
        )
    try:
        _wait_until_joined(process, folder)
        log.info("cluster_joined", head=own.head, labels=dict(own.labels))
        yield folder
    finally:
        _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _options(own: ClusterNode, folder: Path) -> dict[str, object]:
    return {
        "gcs_address": own.head,
        "node_ip_address": own.host,
        "temp_dir": str(folder),
        "num_cpus": own.cpus,
        "num_gpus": own.gpus,
        "object_store_memory": own.object_store_bytes,
        "labels": dict(own.labels),
        "min_worker_port": 0,  # any free one
        "max_worker_port": 0,
    }


def _wait_until_joined(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + JOINED_WITHIN_S
    while f"{JOINED}\n".encode() not in (said := (folder / "node.log").read_bytes()):
        if process.poll() is not None or time.monotonic() > deadline:
            last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it says nothing"]
            raise _unreachable(last[0].strip())
        time.sleep(POLL_S)


def _require_head(head: str) -> None:
    # A Ray node waits for minutes where nobody listens.
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=LISTENER_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _unreachable(f"nobody answers at {head} ({error})") from error


def _unreachable(reason: str) -> UnavailableError:
    return UnavailableError(
        f"cannot join the gateway's Ray cluster: {reason}",
        fix="check SWARM_CLUSTER_ADDRESS (host:port of the head) and the head's token in SWARM_RAY_TOKEN_FILE",
        code="cluster_unreachable",
    )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    with suppress(psutil.NoSuchProcess):
        command = psutil.Process(process.pid)
        family = [*command.children(recursive=True), command]
        process.terminate()
        _, left = psutil.wait_procs(family, timeout=STOP_WITHIN_S)
        for one in left:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(left, timeout=STOP_WITHIN_S)
    process.wait()
