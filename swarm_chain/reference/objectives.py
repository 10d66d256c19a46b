"""What a trial of a search measures: the built-in model, trained rung by rung, on data it never saw."""

from collections.abc import Iterator
from typing import Final

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.reference.checkpoint import parse_checkpoint
from swarm_chain.reference.data import Tokens
from swarm_chain.reference.models import mean_loss
from swarm_chain.reference.spec import TrainSpec
from swarm_chain.reference.train import initial_checkpoint, pinned, run_segment

# Value of a run that diverged and lid on all others: 20 nats, far above the 5.5 of guessing among 256 tokens.
WORST_MICRO: Final = 20_000_000


def rung_losses(spec: TrainSpec, held_out: Tokens) -> Iterator[int]:
    """Train a model segment by segment and measure it after each.

    Args:
        spec: the run; a segment is a rung.
        held_out: (b, context + 1) int64 tokens to measure on.

    Yields:
        Loss in millionths of a nat, up to WORST_MICRO; that for every rung from where the run diverges.
    """
    content = initial_checkpoint(spec)
    for rung in range(spec.segments):
        try:
            content = run_segment(spec, content, rung)
        except InvalidInputError as error:
            if error.code != "diverged":
                raise
            yield from [WORST_MICRO] * (spec.segments - rung)
            return
        yield _loss_micro(spec, content, held_out)


def _loss_micro(spec: TrainSpec, content: bytes, held_out: Tokens) -> int:
    import torch

    with pinned(), torch.no_grad():
        flat = torch.from_numpy(parse_checkpoint(spec, content).state[0].copy())
        loss = mean_loss(spec, flat, torch.from_numpy(held_out)).item()
    return min(round(loss * 1_000_000), WORST_MICRO) if loss == loss else WORST_MICRO  # noqa: PLR0124  # not a number
