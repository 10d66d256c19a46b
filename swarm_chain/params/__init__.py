"""Presets of protocol numbers, shipped with the package."""

from importlib.resources import files

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.params import Params, parse_params

PRESETS = ("mainnet", "minimal")


def load_params(name: str) -> Params:
    """Params of a shipped preset.

    Args:
        name: one of PRESETS.

    Raises:
        InvalidInputError: no such preset.
    """
    if name not in PRESETS:
        raise InvalidInputError(f"no preset {name!r}", fix=f"choose one of {', '.join(PRESETS)}")
    return parse_params(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
