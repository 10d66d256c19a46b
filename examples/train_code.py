"""Hooks of a training job: a small network with dropout that learns which of two rings a point lies in.

The seed of whatever torch draws is set before build and before each step, so the judges draw the same.
"""

import torch
from torch import Tensor, nn


def build(work: dict) -> nn.Module:
    """The module that is trained; all its parameters are float32."""
    width = work["settings"]["width"]
    return nn.Sequential(
        nn.Linear(2, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)
    )


def batch(work: dict, number: int) -> tuple[Tensor, ...]:
    """Points and the rings they lie in, for one step; nothing but `work` and `number` decides them."""
    draw = torch.Generator().manual_seed(work["seed"] + number)
    count = work["settings"]["batch"]
    ring = torch.randint(2, (count,), generator=draw)
    angle = torch.rand(count, generator=draw) * 6.2831853
    radius = 1 + ring + 0.3 * torch.randn(count, generator=draw)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), ring


def loss(module: nn.Module, tensors: tuple[Tensor, ...]) -> Tensor:
    """What is to fall."""
    points, ring = tensors
    return nn.functional.cross_entropy(module(points), ring)
