"""Forward passes of the reference models, whole over one flat vector or layer by layer. The only module that knows layers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import TYPE_CHECKING

from swarm_chain.reference.spec import TrainSpec, parameter_shapes

if TYPE_CHECKING:
    from torch import Tensor

    Weights = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A layer: names of its parameters, and what it makes of them and of what the layer before it gave."""

    names: tuple[str, ...]
    apply: "Callable[[Weights, Tensor], Tensor]"


def mean_loss(spec: TrainSpec, flat: "Tensor", tokens: "Tensor") -> "Tensor":
    """Mean cross-entropy of the model's predictions.

    Args:
        spec: the run.
        flat: (p,) float32.
        tokens: (batch, context + 1) int64.

    Returns:
        () float32, nats.
    """
    from torch.nn.functional import cross_entropy

    logits, targets = predict(spec, flat, tokens)
    return cross_entropy(logits, targets)


def predict(spec: TrainSpec, flat: "Tensor", tokens: "Tensor") -> "tuple[Tensor, Tensor]":
    """Logits and the tokens they should predict.

    Args:
        spec: the run.
        flat: (p,) float32.
        tokens: (batch, context + 1) int64.

    Returns:
        (r, vocabulary) float32 and (r,) int64; r is batch · context for the transformer, batch for the mlp.
    """
    weights = parameter_views(spec, flat)
    x = tokens[:, :-1]
    for stage in stages(spec):
        x = stage.apply({name: weights[name] for name in stage.names}, x)
    return x, targets_of(spec, tokens)


def targets_of(spec: TrainSpec, tokens: "Tensor") -> "Tensor":
    """(r,) int64: what the logits of a batch, (batch, context + 1) int64, should predict."""
    return tokens[:, -1] if spec.model == "mlp" else tokens[:, 1:].reshape(-1)


def stages(spec: TrainSpec) -> tuple[Stage, ...]:
    """The layers of a model, first to last: each can be a module of its own, whose parameters are sharded together."""
    return _mlp(spec) if spec.model == "mlp" else _transformer(spec)


def parameter_views(spec: TrainSpec, flat: "Tensor") -> "dict[str, Tensor]":
    """Parameters by name, as views of the flat vector (p,)."""
    from torch import split

    shapes = parameter_shapes(spec)
    parts = split(flat, [prod(shape) for _, shape in shapes])
    return {name: part.view(shape) for (name, shape), part in zip(shapes, parts, strict=True)}


def _mlp(spec: TrainSpec) -> tuple[Stage, ...]:
    def embed(weights: "Weights", tokens: "Tensor") -> "Tensor":
        return weights["embed"][tokens].flatten(1)  # (batch, context · width)

    def hidden(name: str, weights: "Weights", x: "Tensor") -> "Tensor":
        return (x @ weights[name]).relu()  # (batch, width)

    def head(weights: "Weights", x: "Tensor") -> "Tensor":
        return x @ weights["head"]  # (batch, vocabulary)

    names = [f"hidden{layer}" for layer in range(spec.layers)]
    layers = [Stage(names=(name,), apply=partial(hidden, name)) for name in names]
    return (Stage(names=("embed",), apply=embed), *layers, Stage(names=("head",), apply=head))


def _transformer(spec: TrainSpec) -> tuple[Stage, ...]:
    def embed(weights: "Weights", tokens: "Tensor") -> "Tensor":
        return weights["embed"][tokens] + weights["position"]  # (batch, context, width)

    def block(names: tuple[str, ...], weights: "Weights", x: "Tensor") -> "Tensor":
        qkv, out, up, down = (weights[name] for name in names)
        x = x + _attention(spec, _normed(x) @ qkv) @ out
        return x + (_normed(x) @ up).relu() @ down

    def head(weights: "Weights", x: "Tensor") -> "Tensor":
        return (_normed(x) @ weights["head"]).flatten(0, 1)  # (batch · context, vocabulary)

    names = [tuple(f"{part}{layer}" for part in ("qkv", "out", "up", "down")) for layer in range(spec.layers)]
    blocks = [Stage(names=these, apply=partial(block, these)) for these in names]
    return (Stage(names=("embed", "position"), apply=embed), *blocks, Stage(names=("head",), apply=head))


def _attention(spec: TrainSpec, qkv: "Tensor") -> "Tensor":
    batch, context, _ = qkv.shape
    parts = qkv.view(batch, context, 3, spec.heads, spec.width // spec.heads).permute(2, 0, 3, 1, 4)
    query, key, value = parts.unbind(0)  # (batch, heads, context, width / heads) each
    weight = query @ key.transpose(-1, -2) / sqrt(spec.width // spec.heads)  # (batch, heads, context, context)
    future = weight.new_ones(context, context).triu(1).bool()
    mixed = weight.masked_fill(future, float("-inf")).softmax(-1) @ value
    return mixed.transpose(1, 2).reshape(batch, context, spec.width)


def _normed(x: "Tensor") -> "Tensor":
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
