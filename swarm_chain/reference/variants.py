"""Smaller variants of a model: quantised by torchao, pruned by torch; how they are stored, and how good they are.

    int8    8-bit weights, one scale an output             int4    4-bit weights, one scale a group of inputs
    prune   the weights of least magnitude become zero     all: weights only, activations stay float32

A stored model is a safetensors file: `name` float32, or `name.qdata` and `name.scale` (int8 as it is; int4 two in a byte, each
plus 8, the first in the low half), or `name.mask` (a bit a weight, the first highest) and `name.values` (the weights that are
left). Matrices lie as (out, in).

torchao's Int4WeightOnlyConfig has no kernel for CPUs: its packings want CUDA or the package mslk. IntxWeightOnlyConfig with int4
is the same arithmetic on any machine, and keeps a byte a weight in memory; the stored model has four bits of it.
"""

from dataclasses import replace
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.utils import prune

from swarm_chain.reference.data import held_out_batch
from swarm_chain.reference.reference_module import ReferenceModule
from swarm_chain.reference.spec import MAX_TOKENS_PER_STEP, TrainSpec
from swarm_chain.reference.torchao_quiet import quantisation
from swarm_chain.reference.train import Metrics
from swarm_chain.reference.variant_kinds import Int4, Int8, Prune, Variant

_MOST_SEQUENCES = 256


def make_variant(model: ReferenceModule, variant: Variant) -> None:
    """Change a model in place.

    Args:
        model: float32; afterwards its Linear modules are the variant's.
        variant: what is done to it.

    Raises:
        UnavailableError: torchao is not the one that is meant.
    """
    if isinstance(variant, Prune):
        _prune(model, variant)
        return
    ao = quantisation()
    if isinstance(variant, Int8):
        ao.quantize_(model.linears, ao.Int8WeightOnlyConfig())
    else:
        groups = ao.PerGroup(variant.group)
        ao.quantize_(model.linears, ao.IntxWeightOnlyConfig(weight_dtype=ao.int4, granularity=groups))


def stored(model: ReferenceModule, variant: Variant | None) -> bytes:
    """The model as a file.

    Args:
        model: as `make_variant` left it.
        variant: what was done to it; None: nothing.
    """
    tensors = dict(model.tables())
    for name, linear in model.matrices():
        tensors |= {name + suffix: part.contiguous() for suffix, part in _parts(linear.weight, variant).items()}
    return save(tensors)


def measured(spec: TrainSpec, model: ReferenceModule) -> Metrics:
    """Loss and accuracy on data the model never saw: up to 256 sequences of the run's own kind.

    Args:
        spec: the run that trained it.
        model: any variant.
    """
    tokens = held_out(spec)
    targets = tokens[:, -1] if spec.model == "mlp" else tokens[:, 1:].reshape(-1)
    with torch.no_grad():
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits, targets).item()
        hits = int((logits.argmax(-1) == targets).sum().item())
    return Metrics(loss_micro=round(loss * 1_000_000), accuracy_bps=10_000 * hits // len(targets))


def held_out(spec: TrainSpec) -> Tensor:
    """(b, context + 1) int64: the sequences models are measured on."""
    sequences = min(_MOST_SEQUENCES, MAX_TOKENS_PER_STEP // spec.context)
    return torch.from_numpy(held_out_batch(replace(spec, batch=sequences, segment_steps=1)))


def _prune(model: ReferenceModule, variant: Prune) -> None:
    weights = [(linear, "weight") for _, linear in model.matrices()]
    count = sum(linear.weight.numel() for linear, _ in weights) * variant.pruned_bps // 10_000
    prune.global_unstructured(weights, pruning_method=prune.L1Unstructured, amount=count)
    for linear, name in weights:
        prune.remove(linear, name)  # type: ignore[no-untyped-call]  # torch does not type it


def _parts(weight: Any, variant: Variant | None) -> dict[str, Tensor]:
    if isinstance(variant, Int8):
        return {".qdata": weight.qdata, ".scale": weight.scale}
    if isinstance(variant, Int4):
        return {".qdata": _nibbles(weight.qdata), ".scale": weight.scale}
    if isinstance(variant, Prune):
        left = weight.detach() != 0
        return {".mask": _bits(left), ".values": weight.detach()[left]}
    return {"": weight.detach()}


def _nibbles(numbers: Tensor) -> Tensor:
    """Two numbers from -8 to 7 in a byte; a group has an even number of them."""
    low, high = (numbers.flatten().to(torch.int16) + 8).view(-1, 2).unbind(1)
    return (low + 16 * high).to(torch.uint8)


def _bits(flags: Tensor) -> Tensor:
    padded = nn.functional.pad(flags.flatten().to(torch.int16), (0, -flags.numel() % 8)).view(-1, 8)
    return (padded * torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.int16)).sum(1).to(torch.uint8)
