"""Forward passes of the reference models over one flat vector of parameters. The only module that knows layers."""

from math import prod, sqrt
from typing import TYPE_CHECKING

from swarm_chain.reference.spec import TrainSpec, parameter_shapes

if TYPE_CHECKING:
    from torch import Tensor


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
    weights = _views(spec, flat)
    if spec.model == "mlp":
        return _mlp(spec, weights, tokens[:, :-1]), tokens[:, -1]
    return _transformer(spec, weights, tokens[:, :-1]), tokens[:, 1:].reshape(-1)


def _views(spec: TrainSpec, flat: "Tensor") -> "dict[str, Tensor]":
    from torch import split

    shapes = parameter_shapes(spec)
    parts = split(flat, [prod(shape) for _, shape in shapes])
    return {name: part.view(shape) for (name, shape), part in zip(shapes, parts, strict=True)}


def _mlp(spec: TrainSpec, weights: "dict[str, Tensor]", tokens: "Tensor") -> "Tensor":
    x = weights["embed"][tokens].flatten(1)  # (batch, context · width)
    for layer in range(spec.layers):
        x = (x @ weights[f"hidden{layer}"]).relu()  # (batch, width)
    return x @ weights["head"]  # (batch, vocabulary)


def _transformer(spec: TrainSpec, weights: "dict[str, Tensor]", tokens: "Tensor") -> "Tensor":
    x = weights["embed"][tokens] + weights["position"]  # (batch, context, width)
    for layer in range(spec.layers):
        x = x + _attention(spec, _normed(x) @ weights[f"qkv{layer}"]) @ weights[f"out{layer}"]
        x = x + (_normed(x) @ weights[f"up{layer}"]).relu() @ weights[f"down{layer}"]
    return (_normed(x) @ weights["head"]).flatten(0, 1)  # (batch · context, vocabulary)


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
