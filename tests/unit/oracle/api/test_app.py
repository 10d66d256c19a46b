"""What everybody may read, the format of every error, and a complete OpenAPI document."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from swarm_chain.core.errors import InconsistentError, InvalidInputError, RejectedError, SwarmError, UnavailableError
from swarm_chain.web.errors import install_error_handlers
from tests.http_clients import client_of
from tests.member_world import ALICE, MemberWorld

FIELDS = {"error", "message", "fix", "values"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInputError("m", code="c", fix="f", values={"v": 1}), 422),
        (InvalidInputError("m", code="unknown_job"), 404),
        (InvalidInputError("m", code="unknown_provider"), 404),
        (UnavailableError("m", code="c", retry_after=7), 503),
        (UnavailableError("m", code="rate_limited", retry_after=1), 429),
        (RejectedError("m", code="c"), 409),
        (InconsistentError("m", code="c"), 500),
    ],
)
def test_error_when_of_a_family_then_its_status_and_the_four_fields(error: SwarmError, status: int) -> None:
    answer = _failing(_raiser(error)).get("/")
    assert (answer.status_code, answer.json()) == (status, error.as_dict())
    assert answer.headers.get("Retry-After") == (str(error.values["retryAfter"]) if status in (429, 503) else None)


def test_error_when_nobody_foresaw_it_then_an_id_and_no_inside_leaks() -> None:
    answer = _failing(_raiser(KeyError("secret"))).get("/")
    assert answer.status_code == 500
    assert answer.json().keys() == FIELDS
    assert "secret" not in answer.text


@pytest.mark.parametrize("path", ["/v1/epochs/0/manifest", "/v1/jobs/specs/0x" + "00" * 32])
def test_get_when_the_database_file_is_gone_then_503_and_the_member_goes_on_once_it_is_back(
    world: MemberWorld, tmp_path: Path, path: str
) -> None:
    (tmp_path / "oracle.db").rename(tmp_path / "away.db")
    answer = world.client.get(path)
    assert (answer.status_code, answer.json()["error"]) == (503, "store_lost")
    assert str(tmp_path) not in answer.text
    (tmp_path / "away.db").rename(tmp_path / "oracle.db")
    assert world.client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/nothing", 404),
        ("/v1/epochs/0/manifest", 404),
        ("/v1/epochs/0/verdicts", 404),
        ("/v1/epochs/0/nothing", 404),
        ("/v1/epochs/0/shards/0", 404),
        ("/v1/epochs/0/outcomes", 404),
        ("/v1/epochs/0/dump", 404),
        ("/v1/epochs/0/explain/1", 404),
        ("/v1/classes/quantum", 404),
        ("/v1/classes/cpu", 503),
        ("/v1/epochs/0/proofs/1", 503),
        ("/v1/epochs/-1/manifest", 422),
        (f"/v1/epochs/{2**64}/manifest", 422),
        (f"/v1/epochs/0/shards/{2**64}", 422),
        (f"/v1/epochs/0/proofs/{2**200}", 422),
        (f"/v1/jobs/{2**64}", 422),
        ("/v1/jobs/1", 404),
        ("/v1/jobs/1/result", 404),
        ("/v1/jobs/specs/0x12", 422),
        ("/v1/plans/0x12", 422),
        (f"/v1/plans/{ALICE.address.lower()}", 422),
        ("/v1/epochs/%00/manifest", 422),
        ("/v1/epochs/0/%ff%fe", 404),
    ],
)
def test_get_when_there_is_no_such_thing_then_refused_in_the_error_format(
    world: MemberWorld, path: str, status: int
) -> None:
    answer = world.client.get(path)
    assert (answer.status_code, answer.json().keys()) == (status, FIELDS)


def test_method_when_not_allowed_then_405_in_the_error_format(world: MemberWorld) -> None:
    answer = world.client.delete("/v1/status")
    assert (answer.status_code, answer.json().keys()) == (405, FIELDS)


def test_answers_that_must_be_computed_when_asked_too_often_then_429(world: MemberWorld) -> None:
    statuses = [world.client.get("/v1/epochs/0/dump").status_code for _ in range(41)]
    assert statuses == [404] * 40 + [429]


def test_status_when_asked_then_it_names_network_and_member(world: MemberWorld) -> None:
    document = world.client.get("/v1/status").json()
    assert document["member"] == world.signer.address
    assert document["deployment"] == dict(world.chain.deployment.contracts)
    assert (document["epoch"], document["chainTime"]) == (world.epoch, world.now)


def test_windows_when_asked_then_those_of_the_running_epoch(world: MemberWorld) -> None:
    window = world.open()
    (document,) = world.client.get("/v1/windows/current").json()["windows"]
    assert (document["windowId"], document["state"], document["committed"]) == (window, "open", 0)
    assert document["commitUntil"] == document["openedAt"] + world.network.params.compute.commit_for


def test_plans_when_a_node_has_no_history_then_device_0_with_the_first_steps(world: MemberWorld) -> None:
    compute = world.network.params.compute
    plans = world.client.get(f"/v1/plans/{ALICE.address}").json()["plans"]
    assert plans == [{"device": 0, "m": compute.m, "n": compute.n, "steps": compute.first_steps}]


def test_health_and_metrics_when_asked_then_plain(world: MemberWorld) -> None:
    assert world.client.get("/healthz").json() == {"ok": True}
    assert world.client.get("/readyz").json() == {"ok": True, "block": world.chain.block("latest").number}
    assert f"swarm_head_block {float(world.chain.block('latest').number)}" in world.client.get("/metrics").text


def test_openapi_when_read_then_every_route_is_described_with_its_errors(world: MemberWorld) -> None:
    document = world.client.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            answers = operation["responses"]
            assert operation.get("description"), where
            assert {"422", "500"} <= answers.keys(), where
            assert method == "get" or {"400", "408", "413", "429", "503"} <= answers.keys(), where
            for status, answer in answers.items():
                content = answer.get("content", {})
                assert answer["description"] not in ("", "Successful Response") or content, where
                if status >= "400":
                    assert content["application/json"]["schema"]["$ref"].endswith("/ErrorAnswer"), (where, status)


def _raiser(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def _failing(endpoint: Callable[[], None]) -> TestClient:
    app = FastAPI()
    install_error_handlers(app)
    app.get("/")(endpoint)
    return client_of(app)
