"""No lie of a gateway or a member becomes a file."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_chain.client.model import GatewayWord
from swarm_chain.client.results import (
    Source,
    check_contents,
    check_countersigned,
    check_last,
    check_receipt,
    fetch_results,
)
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InconsistentError, InvalidInputError, UnavailableError
from swarm_chain.core.kinds import JobState
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import receipt_digest, receipt_hash
from swarm_chain.core.units import Hash32, Signature
from swarm_chain.testing import FakeSigner
from tests.unit.swarm_chain.client.conftest import DOMAIN, Made, make_job, make_receipt

GATEWAY = FakeSigner("gateway")


def _source(made: Made, contents: Sequence[bytes] | None = None, name: str = "gateway g") -> Source:
    given = made.contents if contents is None else contents
    return Source(
        name=name,
        receipt=lambda: check_receipt(made.job, receipt_json(made.receipt), DOMAIN),
        indices=lambda receipt: range(receipt.checkpoint_count),
        content=lambda index: given[index],
    )


def _member(made: Made, last: bytes) -> Source:
    return Source(
        name="oracle o",
        receipt=lambda: check_receipt(made.job, receipt_json(made.receipt), DOMAIN),
        indices=lambda receipt: (receipt.checkpoint_count - 1,),
        content=lambda _: last,
    )


def _word(signature: Signature | None) -> GatewayWord:
    return GatewayWord(
        state="completed", node=None, units=4, units_done=4, why=None, receipt=None, gateway_signature=signature
    )


def test_results_when_all_is_true_then_every_content_is_written(made: Made, tmp_path: Path) -> None:
    found = fetch_results(made.job, [_source(made)], tmp_path / "out")

    files = sorted((tmp_path / "out" / "contents").iterdir())
    assert [file.read_bytes() for file in files] == list(made.contents)
    assert found.last.read_bytes() == made.contents[-1]
    assert json.loads((tmp_path / "out" / "receipt.json").read_text()) == receipt_json(made.receipt)
    assert (found.contents, found.of, found.size) == (4, 4, sum(map(len, made.contents)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_results_when_fetched_again_then_are_replaced(made: Made, tmp_path: Path) -> None:
    fetch_results(made.job, [_source(made)], tmp_path)
    (tmp_path / "result").write_bytes(b"damaged")

    assert fetch_results(made.job, [_source(made)], tmp_path).last.read_bytes() == made.contents[-1]


@pytest.mark.parametrize(
    "lie",
    [
        lambda contents: [b"other", *contents[1:]],
        lambda contents: [contents[0], b"other", *contents[2:]],
        lambda contents: [*contents[:-1], b"other"],
        lambda contents: [contents[0], contents[2], contents[1], contents[3]],
        lambda contents: [*contents[:2], b"", contents[3]],
    ],
    ids=["first", "middle", "last", "order", "empty"],
)
def test_content_when_swapped_then_nothing_is_written(
    made: Made, tmp_path: Path, lie: Callable[[Sequence[bytes]], list[bytes]]
) -> None:
    with pytest.raises(InconsistentError) as refused:
        fetch_results(made.job, [_source(made, lie(made.contents))], tmp_path / "out")

    assert refused.value.code == "result_mismatch"
    assert list(tmp_path.iterdir()) == []


def test_content_when_missing_then_member_gives_the_last_one_and_the_gateway_is_named(
    made: Made, tmp_path: Path
) -> None:
    def missing(index: int) -> bytes:
        raise InvalidInputError(f"no content {index}")

    gateway = replace(_source(made), content=missing)
    found = fetch_results(made.job, [gateway, _member(made, made.contents[-1])], tmp_path / "out")

    assert (found.contents, found.of, found.source) == (1, 4, "oracle o")
    assert found.last.read_bytes() == made.contents[-1]
    assert found.refused == ("gateway g: no content 0",)


def test_member_when_it_lies_as_well_then_nothing_is_written(made: Made, tmp_path: Path) -> None:
    with pytest.raises(InconsistentError):
        fetch_results(made.job, [_source(made, [b""] * 4), _member(made, b"other")], tmp_path / "out")

    assert list(tmp_path.iterdir()) == []


def test_errors_when_one_lies_and_one_is_away_then_the_lie_is_told(made: Made, tmp_path: Path) -> None:
    def away() -> Receipt:
        raise UnavailableError("away")

    sources = [_source(made, [b""] * 4), replace(_source(made), receipt=away)]
    with pytest.raises(InconsistentError):
        fetch_results(made.job, sources, tmp_path / "out")


@pytest.mark.parametrize(
    "lie",
    [
        {"outputDigest": to_hex(keccak(b"mine"))},
        {"checkpointRoot": to_hex(keccak(b"mine"))},
        {"checkpointCount": 3},
        {"exitCode": 1},
        {"jobId": 2},
        {"jobId": "1"},
        {"jobId": True},
        {"node": FakeSigner("mallory").address},
        {"node": ""},
        {"startedAt": -1},
        {"kind": 9},
        {"specHash": None},
    ],
)
def test_receipt_when_it_is_not_the_one_on_chain_then_is_refused(made: Made, lie: dict[str, Any]) -> None:
    with pytest.raises(InconsistentError) as refused:
        check_receipt(made.job, receipt_json(made.receipt) | lie, DOMAIN)

    assert refused.value.code == "result_mismatch"


@pytest.mark.parametrize("document", [None, [], "receipt", {}])
def test_receipt_when_there_is_none_then_is_refused(made: Made, document: Any) -> None:
    with pytest.raises(InconsistentError):
        check_receipt(made.job, document, DOMAIN)


def test_signature_when_the_gateways_own_then_passes(made: Made) -> None:
    signature = GATEWAY.sign_typed(DOMAIN, receipt_hash(made.receipt))

    check_countersigned(made.job, _word(signature), GATEWAY.address)


def test_signature_when_anybody_elses_or_none_then_is_refused(made: Made) -> None:
    theirs = FakeSigner("mallory").sign_typed(DOMAIN, receipt_hash(made.receipt))
    other = GATEWAY.sign_typed(DOMAIN, receipt_hash(replace(made.receipt, device_seconds=4)))

    for signature in (theirs, other, Signature(b"\x01" * 65), Signature(b""), None):
        with pytest.raises(InconsistentError):
            check_countersigned(made.job, _word(signature), GATEWAY.address)


def test_contents_when_too_few_or_too_many_then_are_refused(made: Made) -> None:
    check_contents(made.job, made.receipt, made.hashes)

    for hashes in (made.hashes[:3], [*made.hashes, made.hashes[0]], [], made.hashes[:1]):
        with pytest.raises(InconsistentError):
            check_contents(made.job, made.receipt, hashes)


def test_last_when_not_the_output_then_is_refused(made: Made) -> None:
    check_last(made.job, made.receipt, made.hashes[-1:])

    for hashes in (made.hashes[:1], made.hashes, []):
        with pytest.raises(InconsistentError):
            check_last(made.job, made.receipt, hashes)


def test_results_when_nothing_is_on_chain_then_nobody_is_asked(tmp_path: Path) -> None:
    def asked() -> Receipt:
        raise AssertionError("asked")

    job = make_job(JobState.ACCEPTED)
    source = Source(name="g", receipt=asked, indices=lambda _: (), content=lambda _: b"")
    with pytest.raises(InvalidInputError) as refused:
        fetch_results(job, [source], tmp_path / "out")

    assert refused.value.code == "no_result"


def test_results_when_the_job_failed_then_no_content_is_asked_for(tmp_path: Path) -> None:
    receipt = make_receipt((b"a", b"b"), exit_code=1)
    made = Made(job=make_job(JobState.COMPLETED, receipt_digest(DOMAIN, receipt)), receipt=receipt, contents=())

    with pytest.raises(InvalidInputError) as refused:
        fetch_results(made.job, [_source(made)], tmp_path / "out")

    assert refused.value.code == "job_failed"
    assert list(tmp_path.iterdir()) == []


def test_results_when_the_folder_is_a_file_then_it_stays(made: Made, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"mine")

    with pytest.raises(InvalidInputError, match="cannot write"):
        fetch_results(made.job, [_source(made)], tmp_path / "out")

    assert (tmp_path / "out").read_bytes() == b"mine"


def test_contents_when_hashes_of_another_job_with_the_same_ends_then_are_refused(made: Made) -> None:
    swapped = [made.hashes[0], Hash32(keccak(b"x")), made.hashes[2], made.hashes[3]]

    with pytest.raises(InconsistentError, match="root"):
        check_contents(made.job, made.receipt, swapped)
