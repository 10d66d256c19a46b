"""A small transformer of the transformers library and its adapters by peft, both made from numbers alone, never fetched.

ModelShape --base_model--> model --adapted--> the same with low-rank adapters --merged--> a model of the first shape
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from swarm_chain.reference.data import initial_parameters

if TYPE_CHECKING:
    from torch import Tensor

Architecture = Literal["gpt2", "llama"]
_ADAPTED: Final[Mapping[str, list[str]]] = {"gpt2": ["c_attn"], "llama": ["q_proj", "v_proj"]}
_WRAPPER: Final = "base_model.model."
_HEAD: Final = "lm_head"
_BASE_TAG: Final = b"swarm.finetune.base.v1"
_ADAPTER_TAG: Final = b"swarm.finetune.adapter.v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """Sizes of a decoder; `context` is the most tokens it sees."""

    architecture: Architecture
    vocabulary: int
    context: int
    width: int
    heads: int
    layers: int

    @property
    def most_parameters(self) -> int:
        """No fewer than the model has."""
        width, layer = self.width, 16 * self.width * self.width + 16 * self.width
        return (2 * self.vocabulary + self.context + 2) * width + self.layers * layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What starting values come from: matrices are uniform in ±1/sqrt(width)."""

    seed: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterShape:
    """Rank of the adapters; what they add is multiplied by alpha / rank."""

    rank: int
    alpha: int


def base_model(shape: ModelShape) -> Any:
    """A model of transformers with whatever numbers it starts from; write its own with `set_tensors`."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    if shape.architecture == "gpt2":
        sizes: dict[str, Any] = {
            "n_positions": shape.context,
            "n_embd": shape.width,
            "n_head": shape.heads,
            "n_layer": shape.layers,
        }
        still: dict[str, Any] = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
        config = GPT2Config(**sizes, **still, **_common(shape))
        return GPT2LMHeadModel(config)
    llama: dict[str, Any] = {
        "max_position_embeddings": shape.context,
        "hidden_size": shape.width,
        "num_attention_heads": shape.heads,
    }
    inner: dict[str, Any] = {"num_hidden_layers": shape.layers, "intermediate_size": 4 * shape.width}
    return LlamaForCausalLM(LlamaConfig(**llama, **inner, **_common(shape)))


def base_tensors(model: Any) -> "dict[str, Tensor]":
    """Parameters of a model by name."""
    return dict(model.named_parameters())


def set_initial(model: Any, start: Start) -> None:
    """Writes the starting values of a base: its matrices, the rest stays as the library has it."""
    _set_uniform({name: one for name, one in base_tensors(model).items() if one.dim() > 1}, start, _BASE_TAG)


def adapted(model: Any, shape: AdapterShape, start: Start) -> Any:
    """The model with fresh adapters, which alone want gradients; they change nothing yet.

    Args:
        model: as `base_model` gives it; becomes part of the result.
        shape: of the adapters.
        start: of their first matrices; the second are zero.
    """
    from peft import LoraConfig, get_peft_model

    architecture = model.config.model_type
    config = LoraConfig(
        r=shape.rank,
        lora_alpha=shape.alpha,
        lora_dropout=0.0,
        target_modules=_ADAPTED[architecture],
        fan_in_fan_out=architecture == "gpt2",
    )
    wrapped = get_peft_model(model, config)
    _set_uniform(
        {name: one for name, one in adapter_tensors(wrapped).items() if ".lora_A." in name}, start, _ADAPTER_TAG
    )
    return wrapped


def quantised(wrapped: Any, group: int) -> None:
    """Gives the base's Linear matrices 4 bits a weight, one scale for `group` inputs of an output (QLoRA, arXiv 2305.14314,
    with torchao's integers in place of its NF4, which has no implementation for CPUs); tables, head, norms and adapters stay
    float32. In place.

    Args:
        wrapped: as `adapted` gives it, its base of an architecture made of Linear modules.
        group: divides the base's widths.

    Raises:
        UnavailableError: torchao is not the one that is meant.
    """
    from swarm_chain.reference.torchao_quiet import quantisation

    ao, held = quantisation(), {id(module) for _, module in _base_linears(wrapped)}
    config = ao.IntxWeightOnlyConfig(weight_dtype=ao.int4, granularity=ao.PerGroup(group))
    ao.quantize_(wrapped, config, filter_fn=lambda module, _: id(module) in held)


def restored(wrapped: Any) -> None:
    """Gives the base's matrices float32 again, each weight as its 4 bits have it. In place."""
    from torch import nn

    for _, module in _base_linears(wrapped):
        module.weight = nn.Parameter(module.weight.dequantize(), requires_grad=False)


def _base_linears(wrapped: Any) -> Iterator[tuple[str, Any]]:
    from torch import nn

    for name, module in wrapped.named_modules():
        if isinstance(module, nn.Linear) and ".lora_" not in name and not name.endswith(_HEAD):
            yield name, module


def adapter_tensors(wrapped: Any) -> "dict[str, Tensor]":
    """Parameters of the adapters, by the names under which peft writes them to files."""
    held = {name: one for name, one in wrapped.named_parameters() if one.requires_grad}
    return {name.replace(".default.", "."): one for name, one in held.items()}


def merged(wrapped: Any) -> Any:
    """The base with what the adapters add written into its matrices."""
    return wrapped.merge_and_unload()


def token_loss(model: Any, tokens: "Tensor") -> "Tensor":
    """Mean cross-entropy of every next token: () float32, nats; tokens are (batch, context + 1) int64."""
    from torch.nn.functional import cross_entropy

    return cross_entropy(token_logits(model, tokens).flatten(0, 1), tokens[:, 1:].flatten())


def token_logits(model: Any, tokens: "Tensor") -> "Tensor":
    """(batch, context, vocabulary) float32."""
    logits: Tensor = model(input_ids=tokens[:, :-1], use_cache=False).logits
    return logits


def _common(shape: ModelShape) -> dict[str, Any]:
    # Eager attention: fused kernels add in an order that depends on the machine.
    plain = {"attn_implementation": "eager", "tie_word_embeddings": False}
    return {"vocab_size": shape.vocabulary, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None, **plain}


def _set_uniform(tensors: "Mapping[str, Tensor]", start: Start, tag: bytes) -> None:
    import torch

    sizes = tuple((one.numel(), start.width) for one in tensors.values())
    flat = torch.from_numpy(initial_parameters(start, sizes, tag))
    with torch.no_grad():
        for one, part in zip(tensors.values(), torch.split(flat, [size for size, _ in sizes]), strict=True):
            one.copy_(part.view(one.shape))
