"""Settings of a member beside those of the command line; the only place of the oracle that reads the environment."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from swarm_chain.core.errors import InvalidInputError

LOOPBACK = "127.0.0.1"


class OracleSettings(BaseSettings):
    """How a member runs. Environment: SWARM_ORACLE_<NAME>; `peers` are base URLs of the other members, separated by commas."""

    model_config = SettingsConfigDict(env_prefix="SWARM_ORACLE_", env_ignore_empty=True, frozen=True, extra="ignore")

    database_url: str | None = None
    host: str = LOOPBACK
    port: Annotated[int, Field(ge=0, le=65535)] = 8700
    poll_ms: Annotated[int, Field(ge=50, le=10_000)] = 250
    lease_for: Annotated[int, Field(ge=3, le=300)] = 15  # seconds until a standby takes over from a process that died
    replay_for: Annotated[int, Field(ge=10, le=86_400)] = 900  # seconds one training segment may take to replay
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    ray_address: Annotated[str, Field(pattern=r"^[^:/\s]+:\d{1,5}$")] | None = (
        None  # judge on this cluster, as Ray tasks
    )
    ray_auth_mode: str = Field(default="", validation_alias="RAY_AUTH_MODE")  # Ray reads it too
    judge: Literal["auto", "numpy"] = "auto"  # auto: torch if it is the fastest that knows its answers; it costs 200 MB
    peers: str = Field(default="", pattern=r"^(https?://[^,]+(,https?://[^,]+)*)?$")

    @property
    def peer_urls(self) -> tuple[str, ...]:
        """Base URLs of the other members, none twice."""
        return tuple(dict.fromkeys(url.strip().rstrip("/") for url in self.peers.split(",") if url))

    def store_url(self, home: Path) -> str:
        """URL of the database: the one given, else a SQLite file in the home folder."""
        return self.database_url or f"sqlite:///{home / 'oracle.db'}"


def load_settings(**given: object) -> OracleSettings:
    """Settings from what the command line gave, then the environment, then defaults.

    Args:
        given: values by field name; None means not given.

    Raises:
        InvalidInputError: a value cannot be used (exit 3).
    """
    try:
        return OracleSettings.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(
            f"setting {name}: {first['msg']}",
            fix=f"correct --{name.replace('_', '-')}",
            code="bad_setting",
            exit_code=3,
        ) from error
