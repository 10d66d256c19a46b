"""The training runs of an audit: their specs follow from params, node, device and nonce alone (docs/spec/training.md)."""

from dataclasses import dataclass

from swarm_chain.core.training import TrainingParams, run_seed
from swarm_chain.core.units import Address, Hash32
from swarm_chain.reference.spec import MODELS, TrainSpec

LEARNING_RATE_MICRO = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingQuestion:
    """What a device is asked: to train under a nonce."""

    node: Address
    device: int
    nonce: Hash32


def audited_spec(params: TrainingParams, question: TrainingQuestion, run: int) -> TrainSpec:
    """Spec of one run; models take turns.

    Args:
        params: the preset's numbers.
        question: whose run.
        run: number of the run, >= 0.
    """
    return TrainSpec(
        model=MODELS[run % len(MODELS)],
        seed=run_seed(question.nonce, question.node, question.device, run),
        steps=params.segments * params.segment_steps,
        segment_steps=params.segment_steps,
        batch=params.batch,
        context=params.context,
        vocabulary=params.vocabulary,
        width=params.width,
        heads=params.heads,
        layers=params.layers,
        learning_rate_micro=LEARNING_RATE_MICRO,
    )
