"""Settings of a node: options, then environment, then defaults. The only place of this package that touches the environment."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from pydantic import Field, ValidationError, computed_field
from pydantic_settings import BaseSettings, SettingsConfigDict

from swarm_chain.adapters.private_files import read_private, write_private
from swarm_chain.core.errors import InvalidInputError

DEFAULT_RPC_URL = "http://127.0.0.1:8545"
REGISTER = "register first: swarm node register"  # what makes key, password and token


class NodeSettings(BaseSettings):
    """Where a node's things are and how much of the machine it uses. Environment: SWARM_<NAME>.

    `oracle_url` may list several members and `rpc_url` several endpoints of which `rpc_agree` must agree, separated by commas. An
    empty `ray_address` starts a Ray of its own. `reserve_wei` of the native coin is what the node key should hold to answer an
    accusation: 3 million gas, the largest plan's, at 16 gwei.
    """

    model_config = SettingsConfigDict(env_prefix="SWARM_", env_ignore_empty=True, frozen=True, extra="ignore")

    home: Path = Field(default_factory=lambda: user_data_path("swarm"))
    node_folder: Path | None = None
    node_password_file: Path | None = None
    rpc_url: str = Field(default=DEFAULT_RPC_URL, pattern=r"^https?://[^,]+(,https?://[^,]+)*$")
    rpc_agree: int | None = Field(default=None, ge=1)
    deployment: Path | None = None
    oracle_url: str = Field(default="", pattern=r"^(https?://[^,]+(,https?://[^,]+)*)?$")
    ray_address: str = ""
    ray_token_file: Path | None = None
    jobs: bool = False
    gateway_url: str = Field(default="", pattern=r"^(https?://[^,]+(,https?://[^,]+)*)?$")
    # A gateway's Ray head, host:port, that this machine joins as a Ray node; instead of ray_address.
    cluster_address: str = Field(default="", pattern=r"^([^:]+:[0-9]+)?$")
    cluster_host: str = Field(default="127.0.0.1", pattern=r"^[0-9a-f.:]+$")  # of this node, as the head reaches it
    region: str = Field(default="unknown", min_length=1, max_length=64)
    hardware_class: str = Field(default="cpu", pattern="^(cpu|gpu|storage)$")
    price_wei: int = Field(default=10**12, ge=0, lt=2**128)  # for one device-second of a job
    input_cache_mb: int = Field(default=10_000, ge=1, le=2**30)
    job_cpus: int = Field(default=1, ge=1, le=1024)
    gpus: int = Field(default=0, ge=0, le=16)
    memory_mib: int = Field(default=0, ge=0, le=2**24)  # claimed of each device; 0: not audited
    training_rate: int = Field(default=0, ge=0, le=2**31)  # samples/s claimed of each device; 0: not audited
    storage_mb: int = Field(default=0, ge=0, le=2**40)  # kept for all members together; 0: not audited
    storage_folder: Path | None = None
    network_mbps: int = Field(default=0, ge=0, le=2**20)  # claimed of the line, both ways; 0: not audited
    link_host: str = Field(default="", pattern=r"^[0-9a-f.:]*$")  # address that answers peers' pings; empty: none does
    link_port: int = Field(default=0, ge=0, le=65535)
    link_iperf: bool = False  # iperf3's server on the same port, TCP: peers measure throughput too
    link_public_host: str = Field(default="", pattern=r"^[0-9a-f.:]*$")  # as peers reach it, where that is another
    link_public_port: int = Field(default=0, ge=0, le=65535)
    serving_rate: int = Field(default=0, ge=0, le=2**20)  # requests/s claimed; 0: not served
    serving_host: str = Field(default="127.0.0.1", pattern=r"^[0-9a-f.:]+$")
    serving_port: int = Field(default=0, ge=0, le=65535)
    serving_url: str = ""  # as members reach it, where that is not host and port
    serving_batch: int = Field(default=32, ge=1, le=1024)
    threads: int = Field(default_factory=lambda: max(1, (os.cpu_count() or 1)), ge=1, le=1024)
    reserved_cpus: int = Field(default=1, ge=0, le=1024)
    poll_ms: int = Field(default=500, ge=50, le=60_000)
    lookback_blocks: int = Field(default=20_000, ge=1)
    reserve_wei: int = Field(default=5 * 10**16, ge=0)
    log_level: str = Field(default="info", pattern=r"^(debug|info|warning|error)$")

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way to combine the two
    @property
    def folder(self) -> Path:
        """Folder of this node: key, password, state, jobs, proofs, Ray token."""
        return self.node_folder or self.home / "node"

    @property
    def volumes_folder(self) -> Path:
        """Folder of the blocks kept for members, a folder a member and volume in it."""
        return self.storage_folder or self.folder / "storage"

    @property
    def endpoints(self) -> tuple[str, ...]:
        """RPC endpoints."""
        return tuple(url.strip() for url in self.rpc_url.split(","))

    @property
    def oracle_urls(self) -> tuple[str, ...]:
        """Base URLs of the oracle members, none twice."""
        return tuple(dict.fromkeys(url.rstrip("/") for url in self.oracle_url.split(",") if url))

    @property
    def gateway_urls(self) -> tuple[str, ...]:
        """Base URLs of the gateways this node works for, none twice."""
        return tuple(dict.fromkeys(url.rstrip("/") for url in self.gateway_url.split(",") if url))

    @property
    def key_file(self) -> Path:
        """Keystore of the node's hot key."""
        return self.folder / "key.json"

    @property
    def password_file(self) -> Path:
        """File with the password of the hot key."""
        return self.node_password_file or self.folder / "password"


def load_settings(options: Mapping[str, Any]) -> NodeSettings:
    """Settings from the options given and the environment.

    Args:
        options: values by name; None and unknown names are ignored.

    Raises:
        InvalidInputError: a value is malformed (exit 3).
    """
    known = {k: v for k, v in options.items() if v is not None and k in NodeSettings.model_fields}
    try:
        return NodeSettings(**known)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        raise InvalidInputError(
            f"{name}: {first['msg']}",
            fix=f"correct SWARM_{name.upper()} or its option",
            code="bad_setting",
            exit_code=3,
        ) from error


def prepare_ray_environment(settings: NodeSettings) -> None:
    """Puts into the environment what Ray reads from there: token authentication always, no usage statistics, and a Ray of
    this node's own on loopback only.

    Args:
        settings: the token is that of `ray_token_file`, else the one already in the environment, else a fresh one of
            this node's own.
    """
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if not settings.ray_address and settings.cluster_host.startswith("127."):
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = (
            "0"  # Ray's switch for loopback; an address alone does not do it
        )
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    if settings.ray_token_file is not None or not os.environ.get("RAY_AUTH_TOKEN"):
        os.environ["RAY_AUTH_TOKEN"] = _ray_token(settings)


def cluster_environment(host: str) -> dict[str, str]:
    """Environment of a Ray node that joins another's cluster; on loopback it listens nowhere else.

    Args:
        host: address of the node.
    """
    return os.environ | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0" if host.startswith("127.") else "1"}


def _ray_token(settings: NodeSettings) -> str:
    if settings.ray_token_file is not None:
        return read_private(settings.ray_token_file, "Ray token", REGISTER)
    path = settings.folder / "ray-token"
    write_private(path, secrets.token_hex(32))
    return read_private(path, "Ray token", REGISTER)


def ray_temporary_folder() -> Path:
    """Where Ray keeps sessions and logs: it looks at the same variables."""
    return Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp") / "ray"  # noqa: S108  # Ray's own default
