"""Settings of a member; the only place of the oracle that reads the environment."""

from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from swarm_chain.core.errors import InvalidInputError

LOOPBACK = "127.0.0.1"


def _expanded(path: Path) -> Path:
    return path.expanduser()


FilePath = Annotated[Path, AfterValidator(_expanded)]


class OracleSettings(BaseSettings):
    """Everything a member can be told; names in the environment begin with SWARM_ORACLE_, shared ones with SWARM_."""

    model_config = SettingsConfigDict(env_prefix="SWARM_ORACLE_", extra="ignore")

    home: FilePath = Field(default_factory=lambda: user_data_path("swarm"), validation_alias="SWARM_HOME")
    rpc_url: str = Field(default="http://127.0.0.1:8545", validation_alias="SWARM_RPC_URL")
    deployment: FilePath | None = Field(default=None, validation_alias="SWARM_DEPLOYMENT")
    database_url: str | None = None
    keystore: FilePath | None = None
    password_file: FilePath | None = None
    host: str = LOOPBACK
    port: Annotated[int, Field(ge=0, le=65535)] = 8700
    poll_ms: Annotated[int, Field(ge=50, le=10_000)] = 250
    max_fee_gwei: Annotated[int, Field(ge=1)] = 500
    log_json: bool = True

    @property
    def store_url(self) -> str:
        """URL of the database: the one given, else a SQLite file in the home folder."""
        return self.database_url or f"sqlite:///{self.home / 'oracle.db'}"


def load_settings(**given: object) -> OracleSettings:
    """Settings from what the command line gave, then the environment, then defaults.

    Args:
        given: values by field name; None means not given.

    Raises:
        InvalidInputError: a value cannot be used (exit 3).
    """
    try:
        return OracleSettings().model_copy(update=_validated(given))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(
            f"setting {name}: {first['msg']}", fix="see `swarm oracle run --help`", exit_code=3
        ) from error


def _validated(given: dict[str, object]) -> dict[str, object]:
    chosen = {name: value for name, value in given.items() if value is not None}
    aliases = {name: str(field.validation_alias or name) for name, field in OracleSettings.model_fields.items()}
    checked = OracleSettings.model_validate({aliases[name]: value for name, value in chosen.items()})
    return {name: getattr(checked, name) for name in chosen}
