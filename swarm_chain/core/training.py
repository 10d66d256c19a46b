"""An audit of training: how much work a claim is, which segments are drawn, and where their checkpoints lie in the tree.

    run 0   checkpoint 0 --segment 0--> 1 --segment 1--> 2 … --> `segments`      leaves 0 … segments
    run 1   checkpoint 0 --segment `segments`--> 1 …                             leaves segments + 1 …
    …       as many independent runs as the claim needs; all leaves together have one root

Runs are of one size, so a larger claim is more of them: they can be trained side by side, each only step after step.
Source: docs/spec/training.md.
"""

from dataclasses import dataclass

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address, Hash32

MAX_LEAVES = 65_536
MAX_OPENED_BYTES = 900_000  # of checkpoints in base64: they and their paths fit the MiB a member takes in
SEED_TAG = keccak(b"swarm.training.seed.v1")
SEED_BITS = 53
_HEADER_BYTES, _PARAMETER_BYTES = 144, 12  # of a checkpoint: its header, and a parameter with two moments


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingParams:
    """Model, sizes and times of an audit of training; rates are samples/s."""

    context: int
    vocabulary: int
    width: int
    heads: int
    layers: int
    batch: int
    segment_steps: int
    segments: int
    draws: int
    most_rate: int
    target_ms: int
    answer_ms: int
    ask_for: int

    @property
    def run_samples(self) -> int:
        """Samples one run trains on."""
        return self.segments * self.segment_steps * self.batch

    @property
    def limit_ms(self) -> int:
        """How long an answer may take, whatever is claimed."""
        return self.target_ms + self.answer_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingWork:
    """Independent runs of a claim, of `segments` segments each."""

    runs: int
    segments: int

    @property
    def drawable(self) -> int:
        """Segments of all runs, numbered one run after the other."""
        return self.runs * self.segments

    @property
    def leaves(self) -> int:
        """Checkpoints of all runs."""
        return self.runs * (self.segments + 1)

    def place(self, segment: int) -> tuple[int, int]:
        """Run of a segment in [0, drawable), and its number in that run."""
        return divmod(segment, self.segments)

    def leaf(self, run: int, checkpoint: int) -> int:
        """Leaf of a run's checkpoint, which is in [0, segments]."""
        return run * (self.segments + 1) + checkpoint


def planned_work(params: TrainingParams, claim: int) -> TrainingWork:
    """Give the work that shows a claimed rate: as many runs as it trains in `target_ms`, rounded up.

    Args:
        params: the preset's numbers.
        claim: samples/s.

    Raises:
        InvalidInputError: a claim outside [1, most_rate] (code "claim").
    """
    if not 1 <= claim <= params.most_rate:
        raise InvalidInputError(
            f"{claim} samples/s of training cannot be claimed",
            code="claim",
            fix=f"claim from 1 to {params.most_rate} samples/s",
        )
    return TrainingWork(runs=-(-claim * params.target_ms // (1000 * params.run_samples)), segments=params.segments)


def run_seed(nonce: Hash32, node: Address, device: int, run: int) -> int:
    """Seed of a run's data and starting values: nobody knows it before the nonce, and no other device has it.

    Returns:
        An integer in [0, 2^53), as the spec of a training run takes it.
    """
    digest = keccak(words(SEED_TAG, nonce, node, device, run))
    return int.from_bytes(digest, "big") >> (256 - SEED_BITS)


def draw_trained(draw: Hash32, root: Hash32, work: TrainingWork, draws: int) -> tuple[int, ...]:
    """Draw the segments an answer has to open.

    Args:
        draw: the 32 bytes whose hash was the nonce.
        root: the answer.
        work: what was asked for.
        draws: how many; fewer segments than that are all opened.

    Returns:
        Distinct segments in draw order.
    """
    drawn: dict[int, None] = {}
    counter = 0
    while len(drawn) < min(draws, work.drawable):
        drawn[int.from_bytes(keccak(words(draw, root, counter)), "big") % work.drawable] = None
        counter += 1
    return tuple(drawn)


def proven_rate(params: TrainingParams, claim: int, elapsed_ms: int) -> int:
    """Samples/s that an answer in time shows, rounded down: what was trained over what it took, at most the claim.

    Args:
        params: the preset's numbers.
        claim: samples/s, as in the request.
        elapsed_ms: > 0, by the member's clock.
    """
    return min(claim, planned_work(params, claim).runs * params.run_samples * 1000 // elapsed_ms)


def training_rules(training: TrainingParams) -> dict[str, bool]:
    """Give what must hold between the numbers, and whether it does."""
    t = training
    sizes = (t.context, t.vocabulary, t.width, t.heads, t.layers, t.batch, t.segment_steps, t.segments)
    positive = min(*sizes, t.draws, t.most_rate, t.target_ms, t.answer_ms, t.ask_for) > 0
    return {
        "sizes and times of an audit of training must be positive": positive,
        "width of the trained model must be a multiple of heads": positive and t.width % t.heads == 0,
        f"the largest claim of training may have {MAX_LEAVES} checkpoints": positive
        and planned_work(t, t.most_rate).leaves <= MAX_LEAVES,
        f"opened checkpoints may have {MAX_OPENED_BYTES} bytes in base64": positive
        and t.draws * max(map(_opened_bytes, (_transformer(t), _mlp(t)))) <= MAX_OPENED_BYTES,
    }


def _opened_bytes(parameters: int) -> int:
    return -(-(_HEADER_BYTES + _PARAMETER_BYTES * parameters) // 3) * 4


def _transformer(t: TrainingParams) -> int:
    return t.width * (2 * t.vocabulary + t.context + 12 * t.layers * t.width)


def _mlp(t: TrainingParams) -> int:
    return t.width * (2 * t.vocabulary + (t.context + t.layers - 1) * t.width)
