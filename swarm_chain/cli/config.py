"""Settings of the command line: options first, then the environment, then defaults. The only place that reads the environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from swarm_chain.core.errors import InvalidInputError

DEFAULT_RPC_URL = "http://127.0.0.1:8545"


class Settings(BaseSettings):
    """Where things are. Environment: SWARM_<NAME>, and ETH_PASSWORD for the password file, as cast has it."""

    model_config = SettingsConfigDict(
        env_prefix="SWARM_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    home: Path = Field(default_factory=lambda: user_data_path("swarm"))
    rpc_url: str = DEFAULT_RPC_URL
    rpc_agree: int | None = None
    deployment: Path | None = None
    oracle_url: str | None = Field(default=None, pattern=r"^https?://[^,]+(,\s*https?://[^,]+)*$")
    gateway_url: str | None = Field(default=None, pattern=r"^https?://[^,\s]+$")
    signer_url: str | None = Field(default=None, repr=False)  # may hold a password
    signer_address: str | None = None
    signer_plain_http: bool = False
    account: str | None = None
    keystore: Path | None = None
    keystore_dir: Path | None = None
    password_file: Path | None = Field(default=None, validation_alias=AliasChoices("password_file", "ETH_PASSWORD"))

    @property
    def endpoints(self) -> list[str]:
        """RPC endpoints; several are separated by commas, and `rpc_agree` of them must agree (a majority if not said)."""
        return [url.strip() for url in self.rpc_url.split(",") if url.strip()]

    @property
    def oracle_urls(self) -> tuple[str, ...]:
        """Base URLs of oracle members, best first, none twice; several are separated by commas."""
        urls = (url.strip().rstrip("/") for url in (self.oracle_url or "").split(","))
        return tuple(dict.fromkeys(url for url in urls if url))


def load_settings(options: Mapping[str, Any]) -> Settings:
    """Settings from the options given and the environment.

    Args:
        options: values of the shared options by name; other names are ignored.

    Raises:
        InvalidInputError: a value is malformed (exit 3).
    """
    try:
        return Settings(**{name: value for name, value in options.items() if name in Settings.model_fields})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        raise InvalidInputError(
            f"{name.replace('_', '-')}: {first['msg']}",
            fix=f"correct --{name.replace('_', '-')} or SWARM_{name.upper()}",
            code="bad_setting",
            exit_code=3,
        ) from error
