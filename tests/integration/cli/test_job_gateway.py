"""Jobs with a gateway that does what its document says, and with one that lies: nothing is paid or written on its word alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.client.spec_files import programs_of
from swarm_chain.core.checkpoints import checkpoint_tree, content_hash
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.jobs import parse_job_spec, spec_hash
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.merkle import root
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import domain_separator, receipt_digest, receipt_hash
from swarm_chain.core.units import WEI_PER_SWM, JobId, Timestamp
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine, Shelf
from tests.integration.cli.epochs import pay_job
from tests.integration.cli.gateway_shelf import GatewayShelf, serving
from tests.integration.cli.test_job_story import POSTED

CONTENTS = [b"start", b"one", b"two", b"\x00weights\xff"]


@pytest.fixture
def gateway(tools: ChainTools) -> Iterator[GatewayShelf]:
    """A gateway that is honest as long as the test lets it."""
    domain = domain_separator(tools.net.deployment.chain_id, tools.address("ChallengeBeacon"))
    with serving(GatewayShelf(tools=tools, key=KeySigner(keccak(b"gateway")), domain=domain)) as shelf:
        yield shelf


@pytest.fixture
def customer(
    connected: CommandLine,
    tools: ChainTools,
    alice: KeySigner,
    gateway: GatewayShelf,
    monkeypatch: pytest.MonkeyPatch,
) -> CommandLine:
    """Alice has 100 SWM and a gateway."""
    tools.fund(alice.address, swm=100)
    monkeypatch.setenv("SWARM_GATEWAY_URL", gateway.url)
    return connected


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec as a YAML file."""
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(POSTED), encoding="utf-8")
    return path


def _addressed(gateway: GatewayShelf) -> dict[str, Any]:
    return parse_job_spec(POSTED | {"gateway": gateway.key.address}).document()


def _nonce(tools: ChainTools, signer: KeySigner) -> int:
    return int(tools.net.rpc.request("eth_getTransactionCount", [signer.address, "latest"]), 16)


def test_plan_shows_price_nodes_and_refunds_and_posts_nothing(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path
) -> None:
    planned = customer.ask("job", "plan", spec)
    shown = customer("job", "plan", spec)

    assert (planned["priceWei"], planned["seconds"]) == (str(5 * WEI_PER_SWM), 40)
    assert planned["specHash"] == to_hex(spec_hash(_addressed(gateway)))
    assert [row["returnedWei"] for row in planned["refunds"]] == [str(5 * WEI_PER_SWM)] * 4 + ["0"]
    assert "5.0000 SWM" in shown.out
    assert gateway.key.address in shown.out
    assert "what comes back" in shown.out
    assert gateway.specs == {}
    assert tools.call("JobEscrow", "jobCount") == 0


def test_plan_without_a_node_says_what_is_missing_and_ends_with_1(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path
) -> None:
    gateway.missing = ["no node has 4 gpus", "no node is in eu-west"]

    planned = customer.ask("job", "plan", spec, code=1)
    refused = customer.ask("job", "submit", spec, "--max-cost", 10, code=4)

    assert planned["missing"] == gateway.missing
    assert "no node has 4 gpus" in refused["message"]
    assert tools.call("JobEscrow", "jobCount") == 0


def test_submit_posts_the_planned_price_with_the_gateway_in_the_spec(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path
) -> None:
    posted = customer.ask("job", "submit", spec, "--max-cost", 10)
    record: Any = tools.call("JobEscrow", "job", posted["jobId"])

    assert list(gateway.specs.values()) == [_addressed(gateway)]
    assert (record["budget"], record["specHash"]) == (5 * WEI_PER_SWM, spec_hash(_addressed(gateway)))
    assert posted["gateway"] == gateway.key.address
    assert len(posted["refunds"]) == 5


def test_job_cheaper_than_escrow_takes_is_posted_at_its_least(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path
) -> None:
    gateway.price_wei = 100

    planned = customer.ask("job", "plan", spec)
    posted = customer.ask("job", "submit", spec, "--max-cost", 1)

    assert (planned["priceWei"], planned["budgetWei"]) == ("100", str(WEI_PER_SWM))
    assert posted["budgetWei"] == str(WEI_PER_SWM)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--max-cost", "4.9"], "above_max_cost"),
        (["--max-cost", "10", "--budget", "4"], "below_price"),
        (["--budget", "4.9"], "above_max_cost"),
        ([], "no_max_cost"),
    ],
)
def test_too_expensive_a_job_is_refused_before_anything_is_sent(
    customer: CommandLine,
    tools: ChainTools,
    alice: KeySigner,
    gateway: GatewayShelf,
    spec: Path,
    options: list[str],
    code: str,
) -> None:
    sent = _nonce(tools, alice)

    refused = customer.ask("job", "submit", spec, *options, code=2)

    assert refused["error"] == code
    assert (_nonce(tools, alice), gateway.specs, gateway.blobs) == (sent, {}, {})


def test_dry_run_reaches_neither_the_gateways_shelves_nor_the_chain(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, gateway: GatewayShelf, spec: Path
) -> None:
    sent = _nonce(tools, alice)

    simulated = customer.ask("job", "submit", spec, "--max-cost", 10, "--dry-run")

    assert simulated["state"] == "simulated"
    assert (_nonce(tools, alice), gateway.specs) == (sent, {})


def test_repeating_pays_once_also_when_a_node_has_it_and_the_gateway_is_busy(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, gateway: GatewayShelf, spec: Path
) -> None:
    first = customer.ask("job", "submit", spec, "--max-cost", 10)
    waiting = customer.ask("job", "submit", spec, "--max-cost", 10)
    _accept(tools, first["jobId"])
    gateway.missing = ["every node is busy"]
    running = customer.ask("job", "submit", spec, "--max-cost", 10)

    assert [job["jobId"] for job in (waiting, running)] == [first["jobId"]] * 2
    assert (waiting["posted"], running["posted"]) == (False, False)
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 95 * WEI_PER_SWM


def test_failure_between_approval_and_post_is_repaired_by_repeating(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, gateway: GatewayShelf, spec: Path
) -> None:
    customer.ask("job", "submit", spec, "--max-cost", 10, "--run-for", 2**32 - 1, code=5)
    sent = _nonce(tools, alice)
    customer.ask("job", "submit", spec, "--max-cost", 10)

    assert _nonce(tools, alice) == sent + 1
    assert tools.call("JobEscrow", "jobCount") == 1


@pytest.mark.parametrize(
    ("route", "answer", "code", "error"),
    [
        ("POST /v1/plans", {"specHash": to_hex(keccak(b"another"))}, 70, "spec_mismatch"),
        ("POST /v1/specs", {"specHash": to_hex(keccak(b"another"))}, 70, "spec_mismatch"),
        ("POST /v1/plans", {"priceWei": 5}, 4, "not_a_gateway"),
        ("GET /v1/gateway", {"chainId": 1}, 3, "wrong_chain"),
        ("GET /v1/gateway", {"address": "0x"}, 4, "not_a_gateway"),
    ],
)
def test_gateway_that_does_not_do_as_asked_gets_no_job(
    customer: CommandLine,
    tools: ChainTools,
    gateway: GatewayShelf,
    spec: Path,
    route: str,
    answer: dict[str, Any],
    code: int,
    error: str,
) -> None:
    gateway.lies[route] = answer

    assert customer.ask("job", "submit", spec, "--max-cost", 10, code=code)["error"] == error
    assert tools.call("JobEscrow", "jobCount") == 0


def test_spec_that_names_another_gateway_is_not_sent(customer: CommandLine, gateway: GatewayShelf, spec: Path) -> None:
    other = KeySigner(keccak(b"other")).address
    spec.write_text(yaml.safe_dump(POSTED | {"gateway": other}), encoding="utf-8")

    assert customer.ask("job", "plan", spec, code=2)["error"] == "other_gateway"
    assert "POST /v1/plans" not in gateway.asked


def _accept(tools: ChainTools, job_id: int) -> KeySigner:
    bob, node = KeySigner(keccak(b"bob")), KeySigner(keccak(b"node"))
    tools.register(bob, node, stake_wei=1000 * WEI_PER_SWM)
    tools.fund(node.address)
    tools.send(node, "JobEscrow", "accept", job_id, 1, node.address)
    return node


def _word(**more: Any) -> dict[str, Any]:
    word: dict[str, Any] = {"state": "running", "node": None, "units": 4, "unitsDone": 1, "why": None}
    return word | {"receipt": None, "gatewaySignature": None} | more


@pytest.fixture
def completed(customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path) -> int:
    """A job that bob's node completed; the gateway has all of it. Gives its id."""
    job_id = int(customer.ask("job", "submit", spec, "--max-cost", 10)["jobId"])
    node = _accept(tools, job_id)
    hashes = [content_hash(content) for content in CONTENTS]
    receipt = Receipt(
        job_id=JobId(job_id),
        kind=JobKind.TRAIN,
        node=node.address,
        spec_hash=spec_hash(_addressed(gateway)),
        input_digest=hashes[0],
        output_digest=hashes[-1],
        checkpoint_root=root(checkpoint_tree(hashes)),
        checkpoint_count=len(hashes),
        device_seconds=3,
        started_at=Timestamp(1),
        finished_at=Timestamp(4),
        exit_code=0,
    )
    signature = to_hex(gateway.key.sign_typed(gateway.domain, receipt_hash(receipt)))
    tools.send(node, "JobEscrow", "complete", job_id, receipt_digest(gateway.domain, receipt))
    gateway.words[job_id] = _word(state="completed", receipt=receipt_json(receipt), gatewaySignature=signature)
    gateway.contents[job_id] = list(CONTENTS)
    return job_id


def test_results_are_every_content_the_receipt_names(customer: CommandLine, completed: int) -> None:
    out = customer.home / "out"
    fetched = customer.ask("job", "results", completed, "--out", out)

    assert [file.read_bytes() for file in sorted((out / "contents").iterdir())] == CONTENTS
    assert Path(fetched["file"]).read_bytes() == CONTENTS[-1]
    assert (fetched["contents"], fetched["of"], fetched["refused"]) == (4, 4, [])


Lie = Callable[[GatewayShelf, int], Any]
LIES: dict[str, Lie] = {
    "swapped content": lambda gateway, job: gateway.contents[job].__setitem__(1, b"mine"),
    "missing content": lambda gateway, job: gateway.contents[job].pop(),
    "another receipt": lambda gateway, job: gateway.words[job]["receipt"].update(deviceSeconds=1),
    "wrong signature": lambda gateway, job: gateway.words[job].update(gatewaySignature="0x" + "01" * 65),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_gateways_lie_is_not_written_and_a_member_stands_in(
    customer: CommandLine, gateway: GatewayShelf, shelf: Shelf, completed: int, lie: Lie
) -> None:
    out = customer.home / "out"
    shelf.documents[f"/v1/jobs/{completed}"] = {"receipt": dict(gateway.words[completed]["receipt"])}
    shelf.documents[f"/v1/jobs/{completed}/result"] = CONTENTS[-1]
    lie(gateway, completed)

    alone = customer("--json", "job", "results", completed, "--out", out)
    written = out.exists()
    helped = customer.ask("--oracle-url", shelf.url, "job", "results", completed, "--out", out)

    assert alone.code in {2, 70}
    assert not written
    assert (helped["contents"], helped["source"]) == (1, f"oracle {shelf.url}")
    assert helped["refused"][0].startswith(f"gateway {gateway.url}")
    assert (out / "result").read_bytes() == CONTENTS[-1]


def test_somebody_else_reads_neither_log_nor_contents(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, completed: int
) -> None:
    customer.add_key("mallory", keccak(b"mallory"))
    gateway.log = ["secret\n"]

    log = customer.ask("--account", "mallory", "job", "logs", completed, code=2)
    results = customer.ask("--account", "mallory", "job", "results", completed, "--out", customer.home / "o", code=2)

    assert (log["error"], results["error"]) == ("wrong_signer", "wrong_signer")


def test_log_is_followed_until_it_ends(customer: CommandLine, gateway: GatewayShelf, completed: int) -> None:
    gateway.log = ["loss 3\n", "loss é\n", "\x1b[31mred\n"]

    shown = customer("job", "logs", completed, "-f")
    document = customer.ask("job", "logs", completed)

    assert shown.code == 0
    assert shown.out.startswith("loss 3\nloss é\n�[31mred\n")
    assert document["text"] == "".join(gateway.log)
    assert document["next"] == len("".join(gateway.log).encode())


def test_log_is_followed_until_the_job_ends_though_the_gateway_never_says_so(
    customer: CommandLine, gateway: GatewayShelf, spec: Path
) -> None:
    job_id = customer.ask("job", "submit", spec, "--max-cost", 10)["jobId"]
    gateway.log, gateway.log_ends = ["waiting\n"], False
    customer.ask("job", "cancel", job_id)

    assert customer("job", "logs", job_id, "-f").out == "waiting\n"


def test_submit_that_waits_follows_the_log_and_ends_with_1_if_it_is_not_paid(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, gateway: GatewayShelf, spec: Path
) -> None:
    customer.ask("job", "submit", spec, "--max-cost", 10)
    gateway.log = ["one\n", "two\n"]
    tools.send(alice, "JobEscrow", "cancel", 1)
    gateway.words[1] = _word()
    again = customer("--yes", "job", "submit", spec, "--max-cost", 10, "--wait", "--wait-for", 1)

    assert again.out.count("one\ntwo\n") == 1
    assert again.code == 7
    assert "job 2 is still posted" in again.err


def test_paid_job_ends_waiting_with_0_and_is_not_paid_again(
    customer: CommandLine, tools: ChainTools, member: KeySigner, gateway: GatewayShelf, spec: Path, completed: int
) -> None:
    gateway.log = ["done\n"]
    pay_job(tools, member, completed)

    waited = customer("--yes", "job", "submit", spec, "--max-cost", 10, "--wait")
    explained = customer.ask("job", "explain", completed)

    assert (waited.code, waited.out.count("done\n")) == (0, 1)
    assert customer.ask("job", "status", completed, "--wait")["state"] == "paid"
    assert "found right" in explained["reasons"][0]
    assert tools.call("JobEscrow", "jobCount") == 1


def test_explain_joins_chain_and_gateway(
    customer: CommandLine, tools: ChainTools, gateway: GatewayShelf, spec: Path
) -> None:
    job_id = customer.ask("job", "submit", spec, "--max-cost", 10)["jobId"]
    unheard = customer.ask("job", "explain", job_id)
    gateway.words[job_id] = _word(state="queued", why="both nodes of eu-west are busy")
    heard = customer.ask("job", "explain", job_id)

    assert (heard["jobId"], heard["state"]) == (job_id, "posted")
    assert "no node has accepted it" in heard["reasons"][0]
    assert "the gateway says: both nodes of eu-west are busy" in heard["reasons"]
    assert any("is unknown here" in reason for reason in unheard["reasons"])


def test_status_has_the_gateways_word_beside_the_chains(customer: CommandLine, completed: int) -> None:
    status = customer.ask("job", "status", completed)

    assert (status["state"], status["gateway"]["unitsDone"], status["judgement"]) == ("completed", 1, None)


def test_missed_deadline_is_taken_back_with_cancel(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, gateway: GatewayShelf, spec: Path
) -> None:
    job_id = customer.ask("job", "submit", spec, "--max-cost", 10, "--run-for", 60)["jobId"]
    _accept(tools, job_id)
    early = customer.ask("job", "cancel", job_id, code=2)
    tools.net.warp(61)
    returned = customer.ask("job", "cancel", job_id)
    over = customer.ask("job", "cancel", job_id, code=2)

    assert (early["error"], over["error"]) == ("deadline_not_passed", "job_over")
    assert returned["returnedWei"] == str(5 * WEI_PER_SWM)
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 100 * WEI_PER_SWM


@pytest.mark.parametrize("verb", ["plan", "logs", "submit"])
def test_gateway_that_is_away_is_named(customer: CommandLine, gateway: GatewayShelf, spec: Path, verb: str) -> None:
    customer.ask("job", "submit", spec, "--max-cost", 10)
    what: dict[str, list[object]] = {"plan": [spec], "logs": [1], "submit": [spec, "--max-cost", 10]}

    refused = customer.ask("--gateway-url", "http://127.0.0.1:9", "job", verb, *what[verb], code=4)

    assert refused["error"] == "gateway_unreachable"
    assert "--gateway-url" in refused["fix"]


def test_schema_is_that_of_the_kind(swarm: CommandLine) -> None:
    schema = swarm.ask("job", "schema", "train")
    unknown = swarm.ask("job", "schema", "paint", code=2)

    assert schema["properties"]["program"] == {"const": programs_of("train")[-1]}
    assert "learning_rate_micro" in schema["$defs"]["Work"]["properties"]
    assert {"code_file", "input_files"} <= set(schema["properties"])
    assert not schema["$defs"]["Work"]["additionalProperties"]
    assert "train" in unknown["fix"]
