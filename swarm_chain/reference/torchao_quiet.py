"""torchao, without what it says while it is loaded: it tries the libraries of every accelerator and names those that fail."""

import logging
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any, Final

from swarm_chain.core.errors import UnavailableError

# Another release may round in another way, and a program's name never changes what it means.
TORCHAO: Final = "0.18.0"


def quantisation() -> Any:
    """torchao's `quantize_` and the configurations that run on every machine.

    Raises:
        UnavailableError: it is not installed, or another release.
    """
    _require_release()
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        import torch
        import torchao.quantization as ao
        from torchao.quantization.granularity import PerGroup
    finally:
        logging.disable(before)
    wanted = ("quantize_", "Int8WeightOnlyConfig", "IntxWeightOnlyConfig")
    int4 = getattr(torch, "int4")  # noqa: B009  # torch's types do not name it
    return SimpleNamespace(PerGroup=PerGroup, int4=int4, **{name: getattr(ao, name) for name in wanted})


def _require_release() -> None:
    try:
        found = version("torchao")
    except PackageNotFoundError:
        found = "none"
    if found.partition("+")[0] != TORCHAO:
        fix = f"install torchao=={TORCHAO}, as the extra swarm[jobs] does"
        raise UnavailableError(f"torchao {TORCHAO} is wanted, {found} is installed", fix=fix, code="missing_package")
