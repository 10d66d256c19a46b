"""The built-in model in the `work` of other programs than training's own: a TrainSpec without the length of the run."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pydantic import ConfigDict

from swarm_chain.core.jobs import STRICT
from swarm_chain.reference.spec import TrainSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWork:
    """Fields of TrainSpec, which checks them."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    model: str
    seed: int
    batch: int
    context: int
    vocabulary: int
    width: int
    heads: int
    layers: int
    learning_rate_micro: int

    def run(self, steps: int, segment_steps: int, **changes: int) -> TrainSpec:
        """A training run of the model.

        Args:
            steps: of the whole run.
            segment_steps: of one segment.
            changes: fields that differ.

        Raises:
            InvalidInputError: a field is out of range, or they do not go together.
        """
        fields: dict[str, Any] = {**asdict(self), "steps": steps, "segment_steps": segment_steps, **changes}
        return TrainSpec(**fields)
