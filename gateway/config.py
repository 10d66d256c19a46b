"""Settings of a gateway: options, then environment, then defaults. The only place here that touches the environment."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from swarm_chain.adapters.private_files import write_private
from swarm_chain.core.errors import InvalidInputError

START = "start it once: swarm cluster head"  # what makes key, password and token
MB = 10**6


def _shared(name: str) -> AliasChoices:
    """A setting every part of Swarm has: the gateway's own variable first, then the common one."""
    return AliasChoices(
        f"SWARM_GATEWAY_{name.upper()}", f"SWARM_{name.upper()}"
    )  # never the bare name: HOME is another's


class GatewaySettings(BaseSettings):
    """Where a gateway's things are and what it takes. Environment: SWARM_GATEWAY_<NAME>.

    `rpc_url` and `oracle_url` may list several, separated by commas. An empty `ray_address` starts a Ray head here; `ray_host`
    is the address it binds to and nodes join. `canary_units` of every job are computed here before its receipt is signed.
    Bytes are in MB (10^6).
    """

    model_config = SettingsConfigDict(
        env_prefix="SWARM_GATEWAY_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    home: Path = Field(default_factory=lambda: user_data_path("swarm"), validation_alias=_shared("home"))
    folder: Path | None = None
    key: Path | None = None
    password_file: Path | None = None
    host: str = Field(default="127.0.0.1", pattern=r"^[0-9a-f.:]+$")
    port: int = Field(default=8700, ge=0, le=65535)
    rpc_url: str = Field(default="http://127.0.0.1:8545", validation_alias=_shared("rpc_url"))
    rpc_agree: int | None = Field(default=None, ge=1, validation_alias=_shared("rpc_agree"))
    deployment: Path | None = Field(default=None, validation_alias=_shared("deployment"))
    oracle_url: str = Field(
        default="", pattern=r"^(https?://[^,]+(,\s*https?://[^,]+)*)?$", validation_alias=_shared("oracle_url")
    )
    ray_address: str = ""
    ray_host: str = Field(default="127.0.0.1", pattern=r"^[0-9a-f.:]+$")
    ray_port: int = Field(default=0, ge=0, le=65535)  # 0: a free one
    fee_bps: int = Field(default=0, ge=0, le=5000)
    canary_units: int = Field(default=1, ge=0, le=64)
    canary_for: int = Field(default=600, ge=1, le=24 * 3600)  # s one job's canaries may take
    blob_mb: int = Field(default=256, ge=1, le=10_000)
    job_mb: int = Field(default=4_000, ge=1, le=1_000_000)
    log_mb: int = Field(default=4, ge=1, le=1_000)
    store_mb: int = Field(default=50_000, ge=1)
    specs: int = Field(default=10_000, ge=1)
    poll_ms: int = Field(default=500, ge=50, le=60_000)
    log_level: str = Field(default="info", pattern=r"^(debug|info|warning|error)$")

    @property
    def own_folder(self) -> Path:
        """Folder of this gateway: key, password, store, Ray head."""
        return self.folder or self.home / "gateway"

    @property
    def key_file(self) -> Path:
        """Keystore of the gateway's key."""
        return self.key or self.own_folder / "key.json"

    @property
    def password(self) -> Path:
        """File with the password of the key."""
        return self.password_file or self.own_folder / "password"

    @property
    def endpoints(self) -> tuple[str, ...]:
        """RPC endpoints."""
        return tuple(url.strip() for url in self.rpc_url.split(",") if url.strip())

    @property
    def oracle_urls(self) -> tuple[str, ...]:
        """Base URLs of the oracle members, none twice."""
        urls = (url.strip().rstrip("/") for url in self.oracle_url.split(","))
        return tuple(dict.fromkeys(url for url in urls if url))


def load_settings(options: Mapping[str, Any]) -> GatewaySettings:
    """Settings from the options given and the environment.

    Args:
        options: values by name; None and unknown names are ignored.

    Raises:
        InvalidInputError: a value is malformed (exit 3).
    """
    known = {k: v for k, v in options.items() if v is not None and k in GatewaySettings.model_fields}
    # The wallet's password file belongs to another key than the gateway's.
    known.pop("password_file", None)
    try:
        return GatewaySettings(**known)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        raise InvalidInputError(
            f"{name}: {first['msg']}",
            fix=f"correct SWARM_GATEWAY_{name.upper()} or its option",
            code="bad_setting",
            exit_code=3,
        ) from error


def ray_token_file(settings: GatewaySettings) -> Path:
    """File with the token of the Ray head, made on first use: whoever joins needs it."""
    path = settings.own_folder / "ray-token"
    write_private(path, secrets.token_hex(32))
    return path


def ray_environment(token_file: Path, *, loopback: bool) -> dict[str, str]:
    """Environment of a Ray head: token authentication always, no usage statistics.

    Args:
        token_file: only its owner may read it.
        loopback: nothing listens beyond this machine; Ray wants a switch for that, an address alone does not do it.
    """
    foreign = ("RAY_AUTH_TOKEN", "RAY_ADDRESS", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    bound = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"} if loopback else {}
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token_file), "RAY_USAGE_STATS_ENABLED": "0"}
    return kept | own | bound
