"""Offers, URLs a hostile node may give, and what a probe asks when."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from swarm_chain.core.encoding import keccak, words
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.probing import (
    ProbeSample,
    Rung,
    arrivals,
    drawn_answers,
    ladder_for,
    percentile,
    prompt_of,
    rates_of,
    rung_figures,
    turn_order,
)
from swarm_chain.core.serving import (
    ServingOffer,
    ServingParams,
    completion_request,
    model_name,
    model_seed,
    offer_digest,
    require_endpoint,
    require_rate,
    serving_rules,
    tokens_digest,
)
from swarm_chain.core.units import BPS, Address, EpochNumber, Timestamp
from swarm_chain.params import load_params

PARAMS = load_params("minimal").serving
MAINNET = load_params("mainnet").serving
NODE, MEMBER = (
    Address("0x6156fEB3ED0e75F93e3B3353A313aeB5382D7FAC"),
    Address("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"),
)
OFFER = ServingOffer(
    epoch=EpochNumber(3),
    node=NODE,
    url="http://127.0.0.1:8000",
    rate=8,
    issued_at=Timestamp(1_700_000_000),
    member=MEMBER,
)
SEED = keccak(b"seed")


def test_offer_digest_when_any_field_differs_then_another_digest() -> None:
    others = (
        replace(OFFER, epoch=EpochNumber(4)),
        replace(OFFER, node=MEMBER),
        replace(OFFER, url="http://127.0.0.1:8001"),
        replace(OFFER, rate=9),
        replace(OFFER, issued_at=Timestamp(1)),
        replace(OFFER, member=NODE),
    )
    digests = {offer_digest(SEED, offer) for offer in (OFFER, *others)} | {offer_digest(keccak(b"other"), OFFER)}

    assert len(digests) == 8


def test_offer_digest_when_known_then_the_known_answer() -> None:
    assert offer_digest(SEED, OFFER).hex()[:16] == "7b60f8c7aad50b8c"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000",
        "https://127.0.0.1:8000/",
        "http://8.8.8.8:80/v1",
        "http://8.8.8.8",
        "http://8.8.8.8:0",
        "http://8.8.8.8:65536",
        "http://8.8.8.8:80#x",
        "http://user:pass@8.8.8.8:80",
        "http://8.8.8.8:80@10.0.0.1:80",
        "ftp://8.8.8.8:80",
        "file:///etc/passwd",
        "http://example.com:80",
        "http://localhost:80",
        "http://2130706433:80",
        "http://0x7f.0.0.1:80",
        "http://0177.0.0.1:80",
        "http://10.0.0.1:80",
        "http://192.168.1.1:80",
        "http://172.16.0.1:80",
        "http://100.64.0.1:80",
        "http://169.254.169.254:80",
        "http://0.0.0.0:80",
        "http://224.0.0.1:80",
        "http://255.255.255.255:80",
        "http://[::1]:80",
        "http://[::]:80",
        "http://[fe80::1]:80",
        "http://[fd00::1]:80",
        "http://[::ffff:7f00:1]:80",
        "http://[2002:7f00:1::]:80",
        "http://[64:ff9b::7f00:1]:80",
        "http://[2001:0:7f00:1::]:80",
        "http://[ff0e::1]:80",
        "http://8.8.8.8:80\n",
        "http://8.8.8.8:８０",
        "HTTP://8.8.8.8:80",
        "",
    ],
)
def test_endpoint_when_hostile_then_refused(url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        require_endpoint(url, private=False)

    assert caught.value.code == "bad_url"


@pytest.mark.parametrize("url", ["http://8.8.8.8:8000", "https://8.8.8.8:443", "http://[2606:4700::1111]:80"])
def test_endpoint_when_public_then_as_it_is(url: str) -> None:
    assert require_endpoint(url, private=False) == url


def test_endpoint_when_private_hosts_are_allowed_then_loopback_but_neither_link_local_nor_multicast() -> None:
    assert require_endpoint("http://127.0.0.1:8000", private=True) == "http://127.0.0.1:8000"
    for url in ("http://169.254.169.254:80", "http://224.0.0.1:80", "http://0.0.0.0:80", "http://[::ffff:7f00:1]:80"):
        with pytest.raises(InvalidInputError):
            require_endpoint(url, private=True)


@pytest.mark.parametrize("rate", [0, -1, PARAMS.most_rate + 1])
def test_rate_when_out_of_bounds_then_refused(rate: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        require_rate(PARAMS, rate)

    assert caught.value.code == "claim"


def test_model_when_of_another_epoch_chain_or_seed_then_another_name() -> None:
    seeds = {
        model_seed(chain, NODE, EpochNumber(epoch), keccak(seed))
        for chain in (1, 2)
        for epoch in (1, 2)
        for seed in (b"a", b"b")
    }

    assert len({model_name(seed) for seed in seeds}) == 8


def test_request_when_built_then_one_form_only() -> None:
    request = completion_request("http://127.0.0.1:8000", "swarm-reference-ab", (1, 2, 3), 8)

    assert request.url == "http://127.0.0.1:8000/v1/completions"
    assert request.body == b'{"max_tokens":8,"model":"swarm-reference-ab","prompt":[1,2,3],"stream":true}'
    assert dict(request.headers)["accept-encoding"] == "identity"


def test_tokens_digest_when_order_or_length_differs_then_another() -> None:
    assert len({tokens_digest(tokens) for tokens in ((1, 2), (2, 1), (1,), (1, 2, 0), ())}) == 5


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"width": 60}, "width"),
        ({"width": 2048}, "width"),
        ({"prompt_tokens": 4}, "64 bits"),
        ({"answer_tokens": 0}, "context"),
        ({"low_rate": 65}, "ascend"),
        ({"step_bps": BPS}, "ascend"),
        ({"draws": 0}, "positive"),
    ],
)
def test_rules_when_broken_then_named(change: dict[str, Any], rule: str) -> None:
    broken = [name for name, holds in serving_rules(replace(PARAMS, **change)).items() if not holds]

    assert len(broken) == 1
    assert rule in broken[0]


@pytest.mark.parametrize("params", [PARAMS, MAINNET])
def test_ladder_when_the_largest_claim_then_it_fits_a_turn(params: ServingParams) -> None:
    assert ladder_for(params, params.most_rate) <= params.slot_for


@pytest.mark.parametrize(
    ("claim", "expected"), [(1, [1]), (2, [2]), (3, [2, 3]), (4, [2, 4]), (9, [2, 4, 8, 9]), (16, [2, 4, 8, 16])]
)
def test_rates_when_climbing_then_ascending_with_the_claim_last(claim: int, expected: list[int]) -> None:
    assert list(rates_of(PARAMS, claim)) == expected


def test_arrivals_when_drawn_then_exactly_the_rate_spread_over_the_rung() -> None:
    moments = arrivals(SEED, 1000, 4)

    assert len(moments) == 4000
    assert list(moments) == sorted(moments)
    assert moments[0] >= 0
    assert moments[-1] < 4 * 10**6
    halves = sum(1 for moment in moments if moment < 2 * 10**6)
    assert 1800 < halves < 2200  # six standard deviations of a fair coin


def test_arrivals_when_gaps_are_looked_at_then_exponential_as_poisson_has_them() -> None:
    moments = arrivals(SEED, 1000, 10)
    gaps = [after - before for before, after in pairwise(moments)]
    longer_than_mean = sum(1 for gap in gaps if gap > 1000)

    assert 3400 < longer_than_mean < 3960  # 1/e of 10,000; a regular pace would have none or all


def test_prompts_when_drawn_then_none_twice_and_every_token_exists() -> None:
    prompts = [prompt_of(SEED, number, PARAMS) for number in range(2000)]

    assert len(set(prompts)) == 2000
    assert all(0 <= token < PARAMS.vocabulary for prompt in prompts for token in prompt)
    assert len(prompts[0]) == PARAMS.prompt_tokens


def test_draw_when_fewer_were_answered_than_drawn_then_all_of_them() -> None:
    assert drawn_answers(SEED, [3, 1, 7], 8) == (1, 3, 7)
    assert len(drawn_answers(SEED, range(100), 8)) == 8
    assert drawn_answers(SEED, range(100), 8) != drawn_answers(keccak(b"other"), range(100), 8)


@pytest.mark.parametrize(("percent", "expected"), [(50, 50), (95, 95), (99, 99), (100, 100), (0, 1)])
def test_percentile_when_of_a_hundred_then_by_nearest_rank(percent: int, expected: int) -> None:
    assert percentile(range(1, 101), percent) == expected


def test_figures_when_late_or_failed_then_from_the_scheduled_moment_and_no_less_than_the_timeout() -> None:
    quick = ProbeSample(scheduled_us=1000, sent_us=1100, first_us=2000, done_us=4000)
    held_up = ProbeSample(scheduled_us=1000, sent_us=900_000, first_us=901_000, done_us=902_000)
    failed = ProbeSample(scheduled_us=1000, sent_us=1000, error="timeout")
    figures = rung_figures(Rung(rate=2, timeout_us=5_000_000, samples=(quick, held_up, failed)))

    assert (figures.requests, figures.errors, figures.error_bps) == (3, 1, 3334)
    assert (figures.p50_us, figures.p95_us, figures.p99_us) == (901_000, 5_000_000, 5_000_000)
    assert (figures.ttft_us, figures.lag_us) == (900_000, 899_000)


def test_turns_when_ordered_then_every_member_once_and_nodes_differ() -> None:
    members = [Address(f"0x{number:040x}") for number in range(1, 8)]
    orders = {turn_order(keccak(words(epoch)), NODE, members) for epoch in range(20)}

    assert all(sorted(order) == members for order in orders)
    assert len({order[0] for order in orders}) > 3
