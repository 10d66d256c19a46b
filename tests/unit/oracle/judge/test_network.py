"""Bandwidth judged: the honest line passes a hundred times in a row, and each way of cheating fails every time."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from oracle.judge.network import NetworkCase, judge_network
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.network import BLOCK_BYTES, NetworkParams, network_rules, payload_blocks, rate_mbps
from swarm_chain.core.payload import PayloadKey, UploadCheck, payload_block, payload_key, payload_root, upload_order
from swarm_chain.core.units import Hash32
from swarm_chain.params import load_params

RUNS = 100
PARAMS = NetworkParams(target_ms=132, limit_ms=500, least_mbps=10, most_mbps=1000, at_once=1, ask_for=1)
CLAIM = 16
BLOCKS = payload_blocks(PARAMS, CLAIM)
SIZE = BLOCKS * BLOCK_BYTES
Cheat = Callable[["Audited"], bytes]


class Audited:
    """One audit: what the member made and drew, and what the node has of it.

    Args:
        number: another one has another secret and draw.
    """

    def __init__(self, number: int) -> None:
        self.audit_id = keccak(b"audit %d" % number)
        self.key: PayloadKey = payload_key(keccak(b"secret %d" % number), self.audit_id)
        self.draw = keccak(b"draw %d" % number)
        self.payload = [payload_block(self.key, index) for index in range(BLOCKS)]

    def back(self, draw: Hash32) -> bytes:
        """The payload in the order of a draw."""
        return b"".join(self.payload[index] for index in upload_order(draw, self.audit_id, BLOCKS))

    def fault(self, upload: bytes, piece: int = 50_000) -> str:
        """What the member finds wrong with an upload as it comes."""
        check = UploadCheck(self.key, upload_order(self.draw, self.audit_id, BLOCKS))
        right = all(check.feed(upload[at : at + piece]) for at in range(0, len(upload), piece))
        return "" if right and check.complete else "wrong_bytes"

    def case(self, root: Hash32, fault: str, down_ms: int = 120, up_ms: int = 120) -> NetworkCase:
        """What the judge is given."""
        sent = payload_root(self.audit_id, self.payload)
        return NetworkCase(
            claim=CLAIM,
            size=SIZE,
            limit_ms=PARAMS.limit_ms,
            sent_root=sent,
            root=root,
            down_ms=down_ms,
            up_ms=up_ms,
            fault=fault,
        )


def test_line_when_honest_then_it_passes_a_hundred_times() -> None:
    for number in range(RUNS):
        audited = Audited(number)
        root = payload_root(audited.audit_id, [b"".join(audited.payload)])
        verdict = judge_network(audited.case(root, audited.fault(audited.back(audited.draw), piece=7000 + number)))

        assert (verdict.outcome, verdict.mbps) == (Outcome.PASSED, CLAIM)
        assert verdict.down_mbps == verdict.up_mbps == rate_mbps(SIZE, 120) >= CLAIM


def changed_at(place: int) -> Cheat:
    """The right bytes but for one bit."""

    def spoil(audited: Audited) -> bytes:
        right = bytearray(audited.back(audited.draw))
        right[place] ^= 1
        return bytes(right)

    return spoil


@pytest.mark.parametrize(
    "cheat",
    [
        lambda audited: audited.back(keccak(b"an earlier draw")),
        lambda audited: b"".join(audited.payload),
        lambda audited: Audited(10**6).back(audited.draw),
        lambda _audited: bytes(SIZE),
        lambda audited: audited.back(audited.draw)[:-BLOCK_BYTES],
        lambda audited: audited.back(audited.draw) + audited.payload[0],
        changed_at(0),
        changed_at(SIZE - 1),
    ],
    ids=["begun before the draw", "not reordered", "another audit's", "zeros", "short", "long", "first", "last"],
)
def test_upload_when_not_what_was_drawn_then_nothing(cheat: Cheat) -> None:
    for number in range(3):
        audited = Audited(number)
        root = payload_root(audited.audit_id, audited.payload)
        verdict = judge_network(audited.case(root, audited.fault(cheat(audited))))

        assert (verdict.outcome, verdict.reason, verdict.mbps) == (Outcome.FAILED, "wrong_bytes", 0)


def test_root_when_guessed_or_of_another_audit_or_of_a_part_then_nothing() -> None:
    for number in range(RUNS):
        audited = Audited(number)
        roots = [
            keccak(b"guess"),
            payload_root(audited.audit_id, audited.payload[:-1]),
            payload_root(keccak(b"another audit"), audited.payload),
        ]
        for root in roots:
            assert judge_network(audited.case(root, "")).reason == "wrong_root"


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"sent_root": None}, Outcome.MISSING, "no_download"),
        ({"fault": "no_upload"}, Outcome.MISSING, "no_upload"),
        ({"down_ms": None}, Outcome.MISSING, "other_clock"),
        ({"up_ms": None}, Outcome.MISSING, "other_clock"),
        ({"down_ms": PARAMS.limit_ms + 1}, Outcome.FAILED, "too_late"),
        ({"up_ms": PARAMS.limit_ms + 1}, Outcome.FAILED, "too_late"),
    ],
)
def test_case_when_something_is_missing_or_late_then_nothing(
    changes: dict[str, object], outcome: Outcome, reason: str
) -> None:
    audited = Audited(1)
    case = audited.case(payload_root(audited.audit_id, audited.payload), "")

    verdict = judge_network(replace(case, **changes))  # type: ignore[arg-type]  # the changes of a case

    assert (verdict.outcome, verdict.reason, verdict.mbps) == (outcome, reason, 0)


def test_rate_when_ways_differ_then_the_slower_one_rounded_down_and_at_most_the_claim() -> None:
    audited = Audited(1)
    root = payload_root(audited.audit_id, audited.payload)

    slower = judge_network(audited.case(root, "", down_ms=120, up_ms=300))
    instant = judge_network(audited.case(root, "", down_ms=0, up_ms=0))

    assert slower.mbps == slower.up_mbps == SIZE * 8 // 300_000 < CLAIM
    assert instant.mbps == CLAIM


def test_order_when_drawn_then_every_block_once_and_another_draw_gives_another() -> None:
    one, other = (upload_order(keccak(seed), keccak(b"audit"), BLOCKS) for seed in (b"one", b"other"))

    assert sorted(one) == sorted(other) == list(range(BLOCKS))
    assert one != other


def test_key_when_of_another_audit_or_secret_then_another_payload() -> None:
    keys = {
        payload_key(keccak(secret), keccak(audit)).raw for secret, audit in [(b"a", b"1"), (b"a", b"2"), (b"b", b"1")]
    }

    assert len(keys) == 3
    assert "raw" not in repr(payload_key(keccak(b"a"), keccak(b"1")))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_key_when_the_secret_is_no_32_bytes_then_refused(size: int) -> None:
    with pytest.raises(InvalidInputError, match="a secret of"):
        payload_key(bytes(size), keccak(b"audit"))


@pytest.mark.parametrize("preset", ["mainnet", "minimal"])
def test_presets_when_loaded_then_the_rules_of_the_network_hold(preset: str) -> None:
    params = load_params(preset)

    assert all(network_rules(params.network, params.compute.open_for).values())
    assert payload_blocks(params.network, params.network.least_mbps) > 32


@pytest.mark.parametrize(
    "changes",
    [{"least_mbps": 0}, {"most_mbps": 9}, {"target_ms": 500}, {"target_ms": 1}, {"at_once": 0}, {"ask_for": 100}],
)
def test_params_when_they_contradict_each_other_then_a_rule_says_so(changes: dict[str, int]) -> None:
    broken = replace(PARAMS, **changes)

    assert not all(network_rules(broken, open_for=3).values())
