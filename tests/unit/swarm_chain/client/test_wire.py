"""What a gateway answers is read as the document says, or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from swarm_chain.client.wire import read_gateway, read_log, read_plan, read_receipt, read_spec_hash, read_word
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.testing import FakeSigner

NODE = FakeSigner("node").address
INFO = {"address": NODE, "chainId": 31337, "rayAddress": "10.0.0.1:6379", "feeBps": 100, "minPriceWei": "5"}
PLAN = {
    "specHash": to_hex(keccak(b"spec")),
    "spec": {},
    "nodes": [{"node": NODE.lower(), "provider": 3, "priceWei": "12000000000000000000"}],
    "priceWei": "12000000000000000000",
    "seconds": 40,
    "missing": [],
    "refunds": [],
}
WORD = {
    "jobId": 1,
    "state": "running",
    "specHash": to_hex(keccak(b"spec")),
    "node": NODE,
    "units": 4,
    "unitsDone": 1,
    "why": None,
    "receipt": None,
    "gatewaySignature": None,
}
LOG = {"offset": 4, "next": 7, "text": "é\n", "ended": False}


def test_answers_when_as_documented_then_are_read() -> None:
    info, plan, word, piece = read_gateway(INFO), read_plan(PLAN), read_word(WORD), read_log(LOG, 4)

    assert (info.address, info.chain_id, info.fee_bps, info.min_price_wei) == (NODE, 31337, 100, 5)
    assert (plan.nodes[0].node, plan.nodes[0].provider_id, plan.price_wei) == (NODE, 3, 12 * 10**18)
    assert (word.units, word.units_done, word.node) == (4, 1, NODE)
    assert (piece.next, piece.text, piece.ended) == (7, "é\n", False)
    assert read_spec_hash({"specHash": to_hex(keccak(b"x"))}) == keccak(b"x")


@pytest.mark.parametrize(
    ("read", "document"),
    [
        (read_gateway, INFO | {"address": "0x12"}),
        (read_gateway, INFO | {"chainId": "31337"}),
        (read_gateway, INFO | {"minPriceWei": 5}),
        (read_gateway, {}),
        (read_plan, PLAN | {"priceWei": 12}),
        (read_plan, PLAN | {"priceWei": "-1"}),
        (read_plan, PLAN | {"priceWei": "1" * 5000}),
        (read_plan, PLAN | {"priceWei": str(2**128)}),
        (read_plan, PLAN | {"priceWei": "١"}),
        (read_plan, PLAN | {"seconds": 1.5}),
        (read_plan, PLAN | {"seconds": True}),
        (read_plan, PLAN | {"seconds": -1}),
        (read_plan, PLAN | {"nodes": {}}),
        (read_plan, PLAN | {"nodes": [{"node": NODE}]}),
        (read_plan, PLAN | {"missing": [5]}),
        (read_plan, PLAN | {"missing": ["x" * 2001]}),
        (read_word, WORD | {"units": "4"}),
        (read_word, WORD | {"receipt": 5}),
        (read_word, WORD | {"gatewaySignature": "zz"}),
        (read_word, {key: value for key, value in WORD.items() if key != "why"}),
        (read_spec_hash, {"specHash": None}),
    ],
)
def test_answer_when_anything_is_not_as_documented_then_is_no_gateways(
    read: Callable[[Any], Any], document: dict[str, Any]
) -> None:
    with pytest.raises(UnavailableError) as refused:
        read(document)

    assert refused.value.code == "not_a_gateway"
    assert refused.value.fix


@pytest.mark.parametrize(
    "lie",
    [{"offset": 3}, {"next": 8}, {"next": 6}, {"ended": "no"}, {"text": "\ud800"}, {"text": None}],
)
def test_log_when_it_is_not_the_piece_asked_for_then_is_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(UnavailableError):
        read_log(LOG | lie, 4)


@pytest.mark.parametrize("document", [None, [], "x", {}, {"jobId": 1}])
def test_receipt_when_malformed_then_is_invalid(document: Any) -> None:
    with pytest.raises(InvalidInputError, match="malformed"):
        read_receipt(document)
