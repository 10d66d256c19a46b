"""swarm-finetune/1: low-rank adapters on a small transformer; the base is trained in the job first, or is an input.

content 0 --pretrain_steps--> base --steps--> base, adapters --last unit--> merged weights and a report
base.*            weights of the base, unless it is an input
adapter.*         weights of the adapters, by peft's names
first.*, second.* moments of what is trained: base, later adapters
merged.*          in the last content: the base with the adapters in it, a model like the base; where adapters learn on a
                  base of 4 bits, the base that they learnt on
report.*          in the last content: int64, loss on held-out data in millionths before, after and merged, and the
                  largest difference of a merged model's logit from that of base and adapters, in millionths
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from swarm_chain.core.encoding import hash_from_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import JobSpec, spec_hash
from swarm_chain.core.units import Hash32
from swarm_chain.reference.chain import Link, micro, scalar, source_link
from swarm_chain.reference.data import held_out_batch, train_batch
from swarm_chain.reference.lora import (
    adapted,
    adapter_tensors,
    base_model,
    base_tensors,
    merged,
    quantised,
    restored,
    set_initial,
    token_logits,
    token_loss,
)
from swarm_chain.reference.modules import arrays_of, course_of, repeatable, set_tensors, train_steps
from swarm_chain.reference.programs.base import Inputs, ProgramEntry
from swarm_chain.reference.programs.finetune_work import FinetuneWork, Sequences, parse_finetune_work
from swarm_chain.reference.tensors import Tensors, parse_tensors, part_of, prefixed
from swarm_chain.reference.train import machine_kind

if TYPE_CHECKING:
    from torch import Tensor

# Merged and unmerged weights give logits that differ by rounding; more than this share of the largest is a fault.
MAX_MERGE_DIFFERENCE: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuneProgram:
    """Program of a FinetuneWork."""

    spec: JobSpec
    work: FinetuneWork
    inputs: Inputs

    @property
    def units(self) -> int:
        """Segments, and the unit that merges and measures."""
        return self.work.segments + 1

    def first(self) -> bytes:
        """The base as it starts; nothing if it is an input."""
        tensors: Tensors = {}
        if self.work.base is None:
            with repeatable(self.work.seed):
                model = base_model(self.work.model)
                set_initial(model, self.work.start)
                tensors = prefixed("base", arrays_of(base_tensors(model)))
        return Link(spec=self._hash(), platform=_kind(), tensors=tensors).dump()

    def source(self, unit: int) -> int:
        """Number of the content a unit starts from."""
        return unit

    def compute(self, unit: int, source: bytes) -> bytes:
        """Content `unit` + 1.

        Raises:
            InvalidInputError: source or inputs are not what they should be, or the run diverges.
            UnavailableError: the source was made on another kind of machine.
        """
        link = source_link(source, self._hash(), unit, _kind())
        with repeatable(self.work.seed):
            if unit < self.work.pretrain_segments:
                tensors, loss = self._pretrained(unit, link.tensors)
            elif unit < self.work.segments:
                tensors, loss = self._tuned(unit, link.tensors)
            else:
                tensors, loss = self._measured(link.tensors), link.loss_micro
        return link.next(source, tensors, loss)

    def _pretrained(self, unit: int, tensors: Tensors) -> tuple[Tensors, int]:
        work, model = self.work, base_model(self.work.model)
        held = base_tensors(model)
        set_tensors(held, part_of(tensors, "base"))
        source = self._sequences(work.seed)

        def loss_of(step: int) -> "Tensor":
            return token_loss(model, _tokens(train_batch(source, step)))

        course = course_of(unit, work.segment_steps, work.pretrain_rate_micro, work.seed)
        after, loss = train_steps(course, held, _moments(tensors), loss_of)
        return {**prefixed("base", arrays_of(held)), **after}, loss

    def _tuned(self, unit: int, tensors: Tensors) -> tuple[Tensors, int]:
        work, fresh = self.work, unit == self.work.pretrain_segments
        model = self._adapted(tensors, fresh=fresh)
        held, batch_of = adapter_tensors(model), self._batches()

        def loss_of(step: int) -> "Tensor":
            return token_loss(model, _tokens(batch_of(step)))

        index = unit - work.pretrain_segments
        course = course_of(index, work.segment_steps, work.learning_rate_micro, work.seed)
        after, loss = train_steps(course, held, {} if fresh else _moments(tensors), loss_of)
        kept = prefixed("base", part_of(tensors, "base"))
        return {**kept, **prefixed("adapter", arrays_of(held)), **after}, loss

    def _measured(self, tensors: Tensors) -> Tensors:
        import torch

        held_out = self._held_out()
        model = self._adapted(tensors, fresh=False)
        with torch.no_grad():
            with model.disable_adapter():
                before = token_loss(model, held_out)
            after, logits = token_loss(model, held_out), token_logits(model, held_out)
            if self.work.base_bits == 4:
                restored(model)
            whole = merged(model)
            loss, others = token_loss(whole, held_out), token_logits(whole, held_out)
        difference = (logits - others).abs().max().item()
        if not difference <= MAX_MERGE_DIFFERENCE * max(1.0, logits.abs().max().item()):
            raise InvalidInputError("the merged model is another one", fix="lower alpha", code="merge_differs")
        figures = {"before": before.item(), "after": after.item(), "merged": loss.item(), "difference": difference}
        report = {name: scalar(micro(value)) for name, value in figures.items()}
        return {**prefixed("merged", arrays_of(base_tensors(whole))), **prefixed("report", report)}

    def _adapted(self, tensors: Tensors, *, fresh: bool) -> Any:
        work, model = self.work, base_model(self.work.model)
        known = parse_tensors(self._input(work.base)) if work.base else part_of(tensors, "base")
        set_tensors(base_tensors(model), known)
        wrapped = adapted(model, work.adapters, work.start)
        if not fresh:
            set_tensors(adapter_tensors(wrapped), part_of(tensors, "adapter"))
        if work.base_bits == 4:
            quantised(wrapped, work.base_group)
        return wrapped

    def _batches(self) -> Callable[[int], Any]:
        """What gives the (batch, context + 1) tokens of a step."""
        if self.work.data is None:
            return partial(train_batch, self._sequences(self.work.data_seed))
        rows, batch = self._rows("train"), self.work.batch
        return lambda step: rows.take(range(step * batch, (step + 1) * batch), axis=0, mode="wrap")

    def _held_out(self) -> "Tensor":
        if self.work.data is None:
            return _tokens(held_out_batch(self._sequences(self.work.data_seed)))
        return _tokens(self._rows("held_out"))

    def _rows(self, name: str) -> Any:
        """(n, context + 1) int64 of the customer's own data."""
        tensors = parse_tensors(self._input(self.work.data))
        rows = tensors.get(name)
        if rows is None or rows.ndim != 2 or rows.shape[1] != self.work.context + 1 or not len(rows):
            raise _bad_data(f"has no {name!r} of (n, {self.work.context + 1}) tokens")
        if rows.dtype.kind != "i" or rows.min() < 0 or rows.max() >= self.work.vocabulary:
            raise _bad_data(f"has tokens in {name!r} that are not from 0 to {self.work.vocabulary - 1}")
        return rows

    def _input(self, content: str | None) -> bytes:
        return self.inputs(hash_from_hex(content or ""))

    def _sequences(self, seed: int) -> Sequences:
        work = self.work
        return Sequences(seed=seed, batch=work.batch, context=work.context, vocabulary=work.vocabulary)

    def _hash(self) -> Hash32:
        return spec_hash(self.spec.document())


def open_finetune(spec: JobSpec, inputs: Inputs) -> FinetuneProgram:
    """Make the program of a spec.

    Raises:
        InvalidInputError: `work` is not what it should be, or too much to keep or to judge.
    """
    return FinetuneProgram(spec=spec, work=parse_finetune_work(spec), inputs=inputs)


def _kind() -> str:
    import peft
    import transformers

    return f"{machine_kind()} {transformers.__version__} {peft.__version__}"[:64]


def _moments(tensors: Tensors) -> Tensors:
    return {name: array for name, array in tensors.items() if name.startswith(("first.", "second."))}


def _tokens(rows: Any) -> "Tensor":
    import torch

    return torch.from_numpy(rows)


def _bad_data(problem: str) -> InvalidInputError:
    return InvalidInputError(
        f"the data {problem}",
        fix="write int64 tensors train and held_out as reference.tensors does",
        code="invalid_data",
    )


ENTRY = ProgramEntry(kind="finetune", work=FinetuneWork, open=open_finetune)
