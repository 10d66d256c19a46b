"""Plans, specs and inputs over HTTP."""

import pytest

from swarm_chain.core.encoding import canonical_json, hash_from_hex, keccak, to_hex
from tests.gateway_world import ALICE, GATEWAY, SPEC, STRANGER, WORK, GatewayWorld, honest_contents


def test_plan_names_nodes_price_time_and_refunds_and_keeps_nothing(world: GatewayWorld) -> None:
    world.announce()

    plan = world.post("/v1/plans", {"spec": {**SPEC, "gateway": None}}).json()

    assert plan["nodes"] == [{"node": ALICE.address, "provider": 1, "priceWei": "210"}]  # 2 s x 100 wei + 5 %
    assert (plan["priceWei"], plan["seconds"], plan["missing"]) == ("210", 2, [])
    assert {line["case"]: line["refundBps"] for line in plan["refunds"]} == {
        "cancelled": 10_000,
        "not_completed": 10_000,
        "not_judged": 10_000,
        "failed": 10_000,
        "passed": 0,
    }
    assert plan["spec"]["gateway"] == GATEWAY.address
    assert plan["specHash"] == to_hex(keccak(canonical_json(plan["spec"])))
    assert world.members.specs == {}


def test_spec_asking_for_more_than_exists_is_planned_with_what_is_missing(world: GatewayWorld) -> None:
    world.announce()

    plan = world.post("/v1/plans", {"spec": {**SPEC, "resources": {"gpus": 8}}}).json()

    assert plan["nodes"] == []
    assert plan["missing"] == ["no node has 8 gpus; the most is 0"]
    assert plan["priceWei"] == "0"


def test_plan_learns_from_finished_jobs_of_the_program(world: GatewayWorld) -> None:
    world.accepted_job()
    world.put_contents(honest_contents())
    assert world.post_receipt(honest_contents(), device_seconds=40).status_code == 200

    assert world.post("/v1/plans", {"spec": SPEC}).json()["seconds"] == 40


def test_spec_is_kept_whole_and_handed_to_the_members(world: GatewayWorld) -> None:
    answer = world.post("/v1/specs", {"spec": SPEC})

    assert answer.status_code == 201
    posted = hash_from_hex(answer.json()["specHash"])
    assert keccak(world.members.specs[posted]) == posted
    assert world.post("/v1/specs", {"spec": SPEC}).json() == answer.json()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"work": {**WORK, "width": "x"}}, "work.width"),
        ({"work": {**WORK, "steps": 0}}, "steps"),
        ({"program": "swarm-nothing/1"}, "swarm-nothing/1"),
        ({"kind": "tune"}, "kind train"),
        ({"resources": {"gpus": 17}}, "resources.gpus"),
        ({"extra": 1}, "extra"),
        ({"gateway": STRANGER.address}, STRANGER.address),
        ({"code": "print(1)"}, "neither code nor inputs"),
    ],
)
def test_spec_that_is_none_is_refused_and_names_the_fault(
    world: GatewayWorld, changed: dict[str, object], said: str
) -> None:
    for path in ("/v1/plans", "/v1/specs"):
        answer = world.post(path, {"spec": {**SPEC, **changed}})
        assert answer.status_code == 422
        assert said in answer.json()["message"]
        assert answer.json()["fix"]


def test_spec_with_a_float_is_refused(world: GatewayWorld) -> None:
    assert world.post("/v1/specs", {"spec": {**SPEC, "work": {**WORK, "seed": 0.5}}}).json()["error"] == "invalid_spec"


def test_specs_beyond_the_lid_are_sent_elsewhere(world: GatewayWorld) -> None:
    answers = [world.post("/v1/specs", {"spec": {**SPEC, "work": {**WORK, "seed": seed}}}) for seed in range(9)]

    assert [one.status_code for one in answers] == [201] * 8 + [503]
    assert world.post("/v1/specs", {"spec": {**SPEC, "work": {**WORK, "seed": 0}}}).status_code == 201


def test_input_is_kept_under_its_hash_and_read_back(world: GatewayWorld) -> None:
    content = b"rows" * 100
    path = f"/v1/blobs/{to_hex(keccak(content))}"

    assert world.client.put(path, content=content).json() == {"size": 400}
    assert world.client.put(path, content=content).status_code == 201
    assert world.client.get(path).content == content


def test_input_of_another_hash_is_refused_and_leaves_nothing(world: GatewayWorld) -> None:
    path = f"/v1/blobs/{to_hex(keccak(b'named'))}"

    assert world.client.put(path, content=b"sent").json()["error"] == "wrong_hash"
    assert world.client.get(path).status_code == 404
    assert list((world.folder / "incoming").iterdir()) == []


def test_input_beyond_the_lid_is_refused(world: GatewayWorld) -> None:
    content = bytes(world.lids.blob_bytes + 1)

    answer = world.client.put(f"/v1/blobs/{to_hex(keccak(content))}", content=content)

    assert answer.status_code == 413
    assert answer.json()["error"] == "too_large"


def test_body_that_is_too_large_too_deep_or_no_json_is_refused(world: GatewayWorld) -> None:
    def sent(body: bytes, kind: str = "application/json") -> int:
        return world.client.post("/v1/plans", content=body, headers={"Content-Type": kind}).status_code

    assert sent(b"[" * 1_100_000) == 413
    assert sent(b'{"spec":' + b"[" * 40 + b"]" * 40 + b"}") == 422
    assert sent(b"{}", "text/plain") == 415
    assert sent(b'{"spec":{},"spec":{}}') == 422
    assert sent(b'{"spec":{"work":NaN}}') == 422
    assert sent(b'{"spec":{},"more":1}') == 422
