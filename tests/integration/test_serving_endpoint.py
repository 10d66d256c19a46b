"""The real Serve application, probed over loopback as members do: right answers, in time, to everybody alike."""

import asyncio
import json
from collections.abc import Iterator
from time import monotonic_ns

import httpx2
import pytest

from node.serving.batches import Batching
from node.serving.endpoint import EndpointOptions, RayEndpoint
from swarm_chain.adapters.completions import Shot, complete, fire
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.probing import prompt_of
from swarm_chain.core.serving import completion_request, model_name
from swarm_chain.params import load_params
from swarm_chain.reference.rescoring import rescored
from swarm_chain.reference.tokenmodel import answers, build_model

PARAMS = load_params("minimal").serving
MODEL, SEED = keccak(b"epoch"), keccak(b"rung")
BATCHING = Batching(max_batch_size=16)


@pytest.fixture(scope="module")
def endpoint(ray_cluster: object) -> Iterator[RayEndpoint]:
    """An endpoint that serves the model of one epoch."""
    made = RayEndpoint(EndpointOptions(name="swarm-test", host="127.0.0.1", port=0, batching=BATCHING), PARAMS)
    made.serve_model(MODEL)
    yield made
    made.close()


def url(endpoint: RayEndpoint) -> str:
    return f"http://127.0.0.1:{endpoint.port}"


def test_rung_when_fired_at_the_real_application_then_every_drawn_answer_is_right(endpoint: RayEndpoint) -> None:
    shot = Shot(endpoint=url(endpoint), model=model_name(MODEL), seed=SEED, rate=8, params=PARAMS)
    answered = asyncio.run(fire(shot, lambda: monotonic_ns() // 1000))
    samples = rescored([one.sample for one in answered], [one.tokens for one in answered], PARAMS, MODEL, SEED)

    assert [one.error for one in samples] == [""] * 8
    assert all(one.expected is not None and one.digest == one.expected for one in samples)
    assert all(one.first_us is not None and one.done_us is not None and one.first_us <= one.done_us for one in samples)


def test_customer_when_served_without_stream_then_the_same_tokens(endpoint: RayEndpoint) -> None:
    prompt = prompt_of(SEED, 0, PARAMS)
    right = answers(build_model(PARAMS, MODEL), [prompt], 20)[0]
    request = completion_request(url(endpoint), model_name(MODEL), prompt, 20)
    body = {**json.loads(request.body), "stream": False}
    with httpx2.Client(trust_env=False) as client:
        answer = client.post(request.url, json=body, timeout=10).json()

    assert tuple(answer["choices"][0]["token_ids"]) == right == complete(request, 10_000)
    assert answer["usage"] == {"prompt_tokens": 8, "completion_tokens": 20}


def test_request_when_of_another_model_then_refused_and_health_names_what_is_served(endpoint: RayEndpoint) -> None:
    with httpx2.Client(trust_env=False) as client:
        assert client.get(url(endpoint) + "/healthz").json() == {"status": "ok", "models": [model_name(MODEL)]}
    with pytest.raises(UnavailableError) as caught:
        complete(completion_request(url(endpoint), "swarm-reference-00", (1,), 4), 5000)

    assert caught.value.code == "http_404"


def test_second_agent_when_on_the_same_cluster_then_both_serve_and_one_may_leave(endpoint: RayEndpoint) -> None:
    other = RayEndpoint(EndpointOptions(name="swarm-other", host="127.0.0.1", port=0, batching=BATCHING), PARAMS)
    other.serve_model(SEED)
    asked = completion_request(f"http://127.0.0.1:{other.port}", model_name(SEED), (1, 2), 4)

    assert complete(asked, 10_000) == answers(build_model(PARAMS, SEED), [(1, 2)], 4)[0]
    other.close()
    with pytest.raises(UnavailableError):
        complete(asked, 1000)
    assert len(complete(completion_request(url(endpoint), model_name(MODEL), (1, 2), 4), 10_000)) == 4


def test_endpoint_when_the_port_is_taken_then_refused_with_a_remedy(endpoint: RayEndpoint) -> None:
    options = EndpointOptions(name="swarm-late", host="127.0.0.1", port=endpoint.port, batching=BATCHING)
    with pytest.raises(InvalidInputError) as caught:
        RayEndpoint(options, PARAMS)

    assert (caught.value.code, caught.value.exit_code) == ("cannot_listen", 3)
