"""The reference models as modules of torch, which is what its tools for pruning and quantisation work on.

Same layers as swarm_chain.reference.models, each matrix a Linear; a test holds the two together.
"""

from collections.abc import Iterator
from math import sqrt
from typing import cast

import torch
from torch import Tensor, nn

from swarm_chain.reference.spec import TrainSpec, parameter_shapes

_TABLES = ("embed", "position")  # looked up, not multiplied


class ReferenceModule(nn.Module):
    """A model with given parameters; matrices are Linear modules in `linears`, tables parameters of this module.

    Args:
        spec: the run that trained it.
        flat: (p,) float32.
    """

    def __init__(self, spec: TrainSpec, flat: Tensor) -> None:
        super().__init__()
        self._spec = spec
        self.linears = nn.ModuleDict()
        shapes = parameter_shapes(spec)
        sizes = [torch.Size(shape).numel() for _, shape in shapes]
        for (name, shape), part in zip(shapes, torch.split(flat, sizes), strict=True):
            if name in _TABLES:
                self.register_parameter(name, nn.Parameter(part.reshape(shape).clone(), requires_grad=False))
            else:
                self.linears[name] = _linear(part.reshape(shape))

    def matrices(self) -> Iterator[tuple[str, nn.Linear]]:
        """The Linear modules by the names of their parameters."""
        for name, linear in self.linears.items():
            yield name, cast(nn.Linear, linear)

    def tables(self) -> Iterator[tuple[str, Tensor]]:
        """What is looked up, by name."""
        for name in _TABLES:
            if hasattr(self, name):
                yield name, cast(Tensor, getattr(self, name)).detach()

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of (b, context) int64 tokens: (r, vocabulary) float32, rows as `models.predict` orders them."""
        x = cast(Tensor, self.embed)[tokens]  # (b, context, width)
        return self._mlp(x.flatten(1)) if self._spec.model == "mlp" else self._transformer(x)

    def _mlp(self, x: Tensor) -> Tensor:
        for layer in range(self._spec.layers):
            x = self._times(x, f"hidden{layer}").relu()  # (b, width)
        return self._times(x, "head")

    def _transformer(self, x: Tensor) -> Tensor:
        x = x + cast(Tensor, self.position)
        for layer in range(self._spec.layers):
            x = x + self._times(self._attention(self._times(_normed(x), f"qkv{layer}")), f"out{layer}")
            x = x + self._times(self._times(_normed(x), f"up{layer}").relu(), f"down{layer}")
        return self._times(_normed(x), "head").flatten(0, 1)

    def _attention(self, qkv: Tensor) -> Tensor:
        heads = self._spec.heads
        batch, context, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
        parts = qkv.view(batch, context, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)  # (b, heads, context, width / heads) each
        weight = query @ key.transpose(-1, -2) / sqrt(width // heads)  # (b, heads, context, context)
        future = weight.new_ones(context, context).triu(1).bool()
        mixed = weight.masked_fill(future, float("-inf")).softmax(-1) @ value
        return mixed.transpose(1, 2).reshape(batch, context, width)

    def _times(self, x: Tensor, name: str) -> Tensor:
        return cast(Tensor, self.linears[name](x))


def _linear(matrix: Tensor) -> nn.Linear:
    linear = nn.Linear(matrix.shape[0], matrix.shape[1], bias=False)
    linear.weight = nn.Parameter(matrix.t().contiguous(), requires_grad=False)  # (out, in)
    return linear


def _normed(x: Tensor) -> Tensor:
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
