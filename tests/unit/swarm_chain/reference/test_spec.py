"""What a training spec may say."""

import pytest

from swarm_chain.core.encoding import canonical_json, keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.jobs import spec_hash
from swarm_chain.reference.spec import TrainSpec, parse_train_spec

DOCUMENT: dict[str, object] = {
    "kind": "train",
    "program": "swarm-train/1",
    "model": "transformer",
    "seed": 7,
    "steps": 12,
    "segment_steps": 4,
    "batch": 4,
    "context": 8,
    "vocabulary": 16,
    "width": 16,
    "heads": 2,
    "layers": 1,
    "learning_rate_micro": 3000,
}


def test_parse_of_a_good_document_gives_it_back() -> None:
    spec = parse_train_spec(DOCUMENT)
    assert spec.document() == DOCUMENT
    assert spec.segments == 3
    assert spec_hash(DOCUMENT) == keccak(canonical_json(spec.document()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "serve"}, "another kind"),
        ({"program": "swarm-train/2"}, "another kind"),
        ({"model": "gpt"}, "unknown"),
        ({"steps": 0}, "out of range"),
        ({"steps": 12.0}, "out of range"),
        ({"steps": True}, "out of range"),
        ({"steps": "12"}, "out of range"),
        ({"seed": 2**53}, "out of range"),
        ({"learning_rate_micro": -1}, "out of range"),
        ({"steps": 13}, "multiple of segment_steps"),
        ({"steps": 4096 * 4, "segment_steps": 4}, "at most 4096 checkpoints"),
        ({"heads": 3}, "multiple of heads"),
        ({"batch": 1024, "context": 256}, "batch times context"),
        ({"width": 512, "layers": 16}, "smaller model"),
        ({"batch": 512, "width": 128, "steps": 10**5, "segment_steps": 10**5}, "shorter ones"),
        ({"extra": 1}, "unknown"),
    ],
)
def test_parse_of_a_bad_document_is_refused_with_what_to_do(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        parse_train_spec({**DOCUMENT, **change})
    assert caught.value.fix


@pytest.mark.parametrize("document", [None, [], "train", 1, {}])
def test_parse_of_another_shape_is_refused(document: object) -> None:
    with pytest.raises(InvalidInputError):
        parse_train_spec(document)


def test_every_missing_field_is_named() -> None:
    for name in TrainSpec.__slots__:
        with pytest.raises(InvalidInputError, match=name):
            parse_train_spec({key: value for key, value in DOCUMENT.items() if key != name})
