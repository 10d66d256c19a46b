"""Nodes that would rather not do their job: each makes what it hands in from an example, another one of the same program, and
the honest contents of the first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from swarm_chain.core.checkpoints import content_hash
from swarm_chain.reference.chain import parse_link
from swarm_chain.reference.checkpoint import HEADER_BYTES, MAGIC
from swarm_chain.reference.programs.serve import Answered, dump_log, parse_log
from tests.job_examples import Contents, Example
from tests.job_world import noise
from tests.serve_world import given

Cheat = Callable[[Example, Example, Contents], Contents]


def swapped(_: Example, __: Example, contents: Contents) -> Contents:
    """Two contents in each other's place."""
    return (contents[0], contents[-1], *contents[2:-1], contents[1])


def repeated(_: Example, __: Example, contents: Contents) -> Contents:
    """No work at all: the first content over and over."""
    return (contents[0],) * len(contents)


def half_skipped(_: Example, __: Example, contents: Contents) -> Contents:
    """Work until the middle, then what there is."""
    middle = len(contents) // 2
    return contents[:middle] + (contents[middle],) * (len(contents) - middle)


def made_up(_: Example, __: Example, contents: Contents) -> Contents:
    """Random bytes of the right length."""
    return (contents[0], *(noise(len(content), f"{i}") for i, content in enumerate(contents[1:])))


def one_bit(_: Example, __: Example, contents: Contents) -> Contents:
    """Everything computed, and one bit of one content turned."""
    middle = len(contents) // 2
    turned = contents[middle][:-1] + bytes([contents[middle][-1] ^ 1])
    return (*contents[:middle], turned, *contents[middle + 1 :])


def of_another_seed(_: Example, other: Example, contents: Contents) -> Contents:
    """All contents of another job."""
    return (other.contents * 2)[: len(contents)]


def after_the_start_of_another_seed(_: Example, other: Example, contents: Contents) -> Contents:
    """The right start, then the contents of another job."""
    return (contents[0], *(other.contents * 2)[1 : len(contents)])


CHEATERS: tuple[Cheat, ...] = (
    swapped,
    repeated,
    half_skipped,
    made_up,
    one_bit,
    of_another_seed,
    after_the_start_of_another_seed,
)


def early_stopped(_: Example, __: Example, contents: Contents) -> Contents:
    """Trained until the middle; every later content is well-formed and holds the weights of then."""
    middle = len(contents) // 2
    made = list(contents[: middle + 1])
    while len(made) < len(contents):
        made.append(_after(made[-1], contents[middle]))
    return tuple(made)


def wrong_weights(_: Example, other: Example, contents: Contents) -> Contents:
    """The right start, then the weights of another job, written as if they were this one's."""
    made = [contents[0]]
    for theirs in other.contents[1:]:
        made.append(_after(made[-1], theirs))
    return tuple(made)


def _after(previous: bytes, held: bytes) -> bytes:
    """The weights and the loss of a content, written as the content after another one, in its chain."""
    if previous.startswith(MAGIC):
        index = int.from_bytes(previous[72:76], "big") + 1
        chained = previous[:40] + content_hash(previous) + index.to_bytes(4, "big")
        return chained + held[76:80] + previous[80:HEADER_BYTES] + held[HEADER_BYTES:]
    link = parse_link(held)
    return parse_link(previous).next(previous, link.tensors, link.loss_micro)


def truncated_batch(_: Example, __: Example, contents: Contents) -> Contents:
    """The last row of every unit left out."""
    return (contents[0], *(b"".join(content.splitlines(keepends=True)[:-1]) for content in contents[1:]))


def one_output_for_all_rows(_: Example, __: Example, contents: Contents) -> Contents:
    """One row computed, and its output given for all of them."""
    output = contents[1].splitlines(keepends=True)[0]
    return (contents[0], *(output * len(content.splitlines()) for content in contents[1:]))


def canned_inference(_: Example, __: Example, contents: Contents) -> Contents:
    """One request computed, and its answer given to all of them."""
    answer = parse_log(contents[1]).log[0].answer
    return _answered(contents, lambda _: answer)


def other_models_inference(_: Example, __: Example, contents: Contents) -> Contents:
    """The requests as they came, answered with the weights of a model that is not the customer's."""
    return _answered(contents, lambda one: given(1000, one.request.prompt, one.request.max_tokens))


def answers_cut_short(_: Example, __: Example, contents: Contents) -> Contents:
    """The last token of every answer left out."""
    return _answered(contents, lambda one: one.answer[:-1])


def _answered(contents: Contents, edit: Callable[[Answered], Sequence[int]]) -> Contents:
    """The logs with other answers to the same requests."""
    logs = map(parse_log, contents[1:])
    edited = (dump_log(one.unit, [replace(entry, answer=tuple(edit(entry))) for entry in one.log]) for one in logs)
    return (contents[0], *edited)


_TRAINING = (early_stopped, wrong_weights)
_BATCH = (truncated_batch, one_output_for_all_rows)
# What only nodes of a program can do: it looks like that program's contents all through. By the names of EXAMPLES.
OF_A_PROGRAM: Mapping[str, tuple[Cheat, ...]] = {
    "swarm-train/1": _TRAINING,
    "swarm-train/2": _TRAINING,
    "swarm-train-code/1": _TRAINING,
    "swarm-finetune/1": _TRAINING,
    "swarm-batch/1": _BATCH,
    "swarm-batch/1 with code": _BATCH,
    "swarm-serve/1": (canned_inference, other_models_inference, answers_cut_short),
}
