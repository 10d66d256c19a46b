"""Jobs through the command line: paid once, whatever happens between the two transactions."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.jobs import parse_job_spec, spec_hash
from swarm_chain.core.kinds import JobKind
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import domain_separator, receipt_digest
from swarm_chain.core.units import WEI_PER_SWM, JobId, Timestamp
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine, Shelf

WORK = {
    "model": "mlp",
    "seed": 7,
    "steps": 20,
    "segment_steps": 5,
    "batch": 8,
    "context": 8,
    "vocabulary": 16,
    "width": 16,
    "heads": 1,
    "layers": 1,
    "learning_rate_micro": 1000,
}
POSTED = {"kind": "train", "program": "swarm-train/1", "work": WORK}
SPEC = parse_job_spec(POSTED).document()


@pytest.fixture
def customer(
    connected: CommandLine, tools: ChainTools, alice: KeySigner, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """Alice has 100 SWM and an oracle that keeps her spec."""
    tools.fund(alice.address, swm=100)
    shelf.documents["/v1/jobs/specs"] = {"specHash": to_hex(spec_hash(SPEC))}
    monkeypatch.setenv("SWARM_ORACLE_URL", shelf.url)
    return connected


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec as a YAML file."""
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(POSTED), encoding="utf-8")
    return path


def test_submitted_job_is_posted_with_its_budget_locked(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, shelf: Shelf, spec: Path
) -> None:
    posted = customer.ask("job", "submit", spec, "--budget", 40, "--run-for", 600)
    status = customer.ask("job", "status", posted["jobId"])
    listed = customer.ask("job", "list", "--mine")["jobs"]

    assert shelf.posted == [("/v1/jobs/specs", {"spec": SPEC})]
    assert posted["specHash"] == to_hex(spec_hash(SPEC))
    assert (status["state"], status["budgetWei"]) == ("posted", str(40 * WEI_PER_SWM))
    assert [job["jobId"] for job in listed] == [posted["jobId"]]
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 60 * WEI_PER_SWM


def test_json_and_yaml_are_one_spec(customer: CommandLine, spec: Path) -> None:
    path = spec.with_suffix(".json")
    path.write_text(json.dumps(POSTED), encoding="utf-8")

    first = customer.ask("job", "submit", spec, "--budget", 10)
    second = customer.ask("job", "submit", path, "--budget", 10)

    assert first["specHash"] == second["specHash"]
    assert (second["posted"], second["jobId"]) == (False, first["jobId"])


def test_repeating_pays_once_and_again_means_again(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, spec: Path
) -> None:
    first = customer.ask("job", "submit", spec, "--budget", 10)
    repeated = customer.ask("job", "submit", spec, "--budget", 10)
    another = customer.ask("job", "submit", spec, "--budget", 10, "--again")

    assert (first["posted"], repeated["posted"], another["posted"]) == (True, False, True)
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 80 * WEI_PER_SWM


def test_failure_between_approval_and_post_is_repaired_by_repeating(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, spec: Path
) -> None:
    cut_off = customer.ask("job", "submit", spec, "--budget", 10, "--run-for", 2**32 - 1, code=5)
    left = tools.call("SwarmToken", "allowance", alice.address, tools.address("JobEscrow"))
    sent = _nonce(tools, alice)
    customer.ask("job", "submit", spec, "--budget", 10)

    assert cut_off["error"] == "InvalidTimes"
    assert left == 10 * WEI_PER_SWM
    assert _nonce(tools, alice) == sent + 1
    assert tools.call("SwarmToken", "allowance", alice.address, tools.address("JobEscrow")) == 0
    assert tools.call("JobEscrow", "jobCount") == 1


def test_cancelled_job_gives_the_budget_back(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, spec: Path
) -> None:
    posted = customer.ask("job", "submit", spec, "--budget", 10)

    cancelled = customer.ask("job", "cancel", posted["jobId"])

    assert cancelled["returnedWei"] == str(10 * WEI_PER_SWM)
    assert tools.call("SwarmToken", "balanceOf", alice.address) == 100 * WEI_PER_SWM


def test_waiting_ends_with_the_job_and_says_unpaid(customer: CommandLine, spec: Path) -> None:
    posted = customer.ask("job", "submit", spec, "--budget", 10)

    pending = customer.ask("job", "status", posted["jobId"], "--wait", "--wait-for", 1, code=7)
    customer.ask("job", "cancel", posted["jobId"])
    ended = customer.ask("job", "status", posted["jobId"], "--wait", code=1)

    assert pending["error"] == "timed_out"
    assert ended["state"] == "cancelled"


CONTENT = b"\x00weights\xff"


@pytest.fixture
def completed(customer: CommandLine, tools: ChainTools, shelf: Shelf, spec: Path) -> int:
    """A job that bob's node completed; the shelf has its receipt and its result. Gives its id."""
    job_id = int(customer.ask("job", "submit", spec, "--budget", 10)["jobId"])
    bob, node = KeySigner(keccak(b"bob")), KeySigner(keccak(b"node"))
    tools.register(bob, node, stake_wei=1000 * WEI_PER_SWM)
    tools.fund(node.address)
    receipt = Receipt(
        job_id=JobId(job_id),
        kind=JobKind.TRAIN,
        node=node.address,
        spec_hash=spec_hash(SPEC),
        input_digest=keccak(b"start"),
        output_digest=keccak(CONTENT),
        checkpoint_root=keccak(b"root"),
        checkpoint_count=5,
        device_seconds=3,
        started_at=Timestamp(1),
        finished_at=Timestamp(4),
        exit_code=0,
    )
    domain = domain_separator(tools.net.deployment.chain_id, tools.address("ChallengeBeacon"))
    tools.send(node, "JobEscrow", "accept", job_id, 1, node.address)
    tools.send(node, "JobEscrow", "complete", job_id, receipt_digest(domain, receipt))
    shelf.documents[f"/v1/jobs/{job_id}"] = {"receipt": receipt_json(receipt), "verdict": "passed"}
    shelf.documents[f"/v1/jobs/{job_id}/result"] = CONTENT
    return job_id


def test_results_are_what_the_receipt_on_chain_names(customer: CommandLine, completed: int) -> None:
    status = customer.ask("job", "status", completed)
    customer.ask("job", "results", completed, "--out", customer.home / "result")

    assert (status["state"], status["judgement"]["verdict"]) == ("completed", "passed")
    assert (customer.home / "result" / "result").read_bytes() == CONTENT


def test_swapped_result_is_not_written(customer: CommandLine, shelf: Shelf, completed: int) -> None:
    shelf.documents[f"/v1/jobs/{completed}/result"] = CONTENT + b"!"

    refused = customer.ask("job", "results", completed, "--out", customer.home / "result", code=70)

    assert refused["error"] == "result_mismatch"
    assert not (customer.home / "result").exists()


@pytest.mark.parametrize(
    "lie", [{"outputDigest": to_hex(keccak(b"mine"))}, {"exitCode": 1}, {"jobId": "x"}, {"node": ""}, {"startedAt": -1}]
)
def test_receipt_that_is_not_on_chain_is_not_believed(
    customer: CommandLine, shelf: Shelf, completed: int, lie: dict[str, object]
) -> None:
    shelf.documents[f"/v1/jobs/{completed}"]["receipt"] |= lie
    shelf.documents[f"/v1/jobs/{completed}/result"] = b"mine"

    refused = customer.ask("job", "results", completed, "--out", customer.home / "result", code=70)

    assert refused["error"] == "result_mismatch"
    assert not (customer.home / "result").exists()


def test_job_that_is_not_completed_has_no_result(customer: CommandLine, spec: Path) -> None:
    posted = customer.ask("job", "submit", spec, "--budget", 10)

    assert customer.ask("job", "results", posted["jobId"], code=2)["error"] == "no_result"


def test_oracle_that_keeps_another_spec_gets_no_job(
    customer: CommandLine, tools: ChainTools, shelf: Shelf, spec: Path
) -> None:
    shelf.documents["/v1/jobs/specs"] = {"specHash": to_hex(keccak(b"another"))}

    refused = customer.ask("job", "submit", spec, "--budget", 10, code=70)

    assert refused["error"] == "spec_mismatch"
    assert tools.call("JobEscrow", "jobCount") == 0


def test_budget_above_the_balance_is_refused_before_anything_is_sent(
    customer: CommandLine, tools: ChainTools, alice: KeySigner, spec: Path
) -> None:
    sent = _nonce(tools, alice)

    refused = customer.ask("job", "submit", spec, "--budget", "100.1", code=5)

    assert refused["error"] == "insufficient_balance"
    assert _nonce(tools, alice) == sent


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("job.yaml", "a: [1"),
        ("job.yaml", "!!python/object/apply:os.system ['true']"),
        ("job.json", "{"),
        ("job.json", "[" * 9000),
        ("job.json", "[]"),
        ("job.json", json.dumps({**SPEC, "colour": "blue"})),
        ("job.json", json.dumps({**POSTED, "work": {**WORK, "steps": 0}})),
        ("job.json", json.dumps({**POSTED, "work": {**WORK, "steps": 2.5}})),
        ("job.json", json.dumps({**SPEC, "kind": "serve"})),
        ("job.json", " " * 70_000),
    ],
)
def test_bad_spec_reaches_neither_oracle_nor_chain(
    customer: CommandLine, tools: ChainTools, shelf: Shelf, name: str, content: str
) -> None:
    (customer.home / name).write_text(content, encoding="utf-8")

    refused: Any = customer.ask("job", "submit", customer.home / name, "--budget", 10, code=2)

    assert refused["fix"]
    assert shelf.posted == []
    assert tools.call("JobEscrow", "jobCount") == 0


def _nonce(tools: ChainTools, signer: KeySigner) -> int:
    return int(tools.net.rpc.request("eth_getTransactionCount", [signer.address, "latest"]), 16)
