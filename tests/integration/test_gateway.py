"""A gateway as a process of its own on a real chain: killed at any moment it loses nothing and signs once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from swarm_chain.adapters.keystore import KeySigner, create_keystore
from swarm_chain.adapters.private_files import write_private
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import hash_from_hex, keccak, to_hex
from swarm_chain.core.gateway import JobContent, announcement_hash, announcement_json, content_upload_hash
from swarm_chain.core.messages import receipt_json
from swarm_chain.core.signing import domain_separator, receipt_digest, receipt_hash, recover
from swarm_chain.core.units import WEI_PER_SWM, Address, JobId, Signature, Timestamp
from swarm_chain.deploy import save_deployment
from tests.chain_fixtures import ChainTools
from tests.gateway_world import SPEC, announcement_of, honest_contents, receipt_of

WAIT_S, LIGHT_SCRYPT = 60, 1024
OWNER, NODE, CUSTOMER = (KeySigner(keccak(name)) for name in (b"gateway owner", b"gateway node", b"gateway customer"))
STAKE_WEI, BUDGET = 2000 * WEI_PER_SWM, 10 * WEI_PER_SWM


@dataclass(slots=True)
class Stage:
    """Where gateways are started one after the other on one folder; the last one is ended with it."""

    tools: ChainTools
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None
    client: httpx2.Client = field(default_factory=httpx2.Client)

    def start(self) -> None:
        """Starts the gateway and waits until it answers."""
        program = "from gateway.config import load_settings; from gateway.main import run_gateway; run_gateway(load_settings({}))"
        environment = {
            **os.environ,
            "SWARM_GATEWAY_FOLDER": str(self.folder),
            "SWARM_GATEWAY_PORT": "0",
            "SWARM_GATEWAY_RAY_ADDRESS": "127.0.0.1:6379",
            "SWARM_GATEWAY_RPC_URL": self.tools.net.rpc_url,
            "SWARM_GATEWAY_DEPLOYMENT": str(self.folder / "deployment.json"),
            "SWARM_GATEWAY_POLL_MS": "50",
        }
        (self.folder / "gateway.json").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=log)
        self.wait_for((self.folder / "gateway.json").exists)
        self.client.base_url = httpx2.URL(json.loads((self.folder / "gateway.json").read_text())["url"])

    def kill(self) -> None:
        """Ends it as a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """Ends it politely, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=WAIT_S)
        self.client.close()

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Waits until something holds."""
        deadline = time.monotonic() + WAIT_S
        while not holds():
            running = self.process is not None and self.process.poll() is None
            assert running, (self.folder / "log").read_text()[-3000:]
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.05)

    @property
    def now(self) -> int:
        """Chain time."""
        return self.tools.reader.block("latest").timestamp

    @property
    def domain(self) -> Any:
        """Of ChallengeBeacon."""
        return domain_separator(self.tools.net.deployment.chain_id, self.tools.address("ChallengeBeacon"))

    def announce(self) -> None:
        """The node offers itself."""
        offered = announcement_of(NODE, self.now)
        signature = to_hex(NODE.sign_typed(self.domain, announcement_hash(offered)))
        body = {"announcement": announcement_json(offered), "signature": signature}
        answer = self.client.post("/v1/nodes", json=body)
        assert answer.status_code == 200, answer.text

    def post_job(self) -> None:
        """The customer plans, leaves the spec and posts the job on chain."""
        plan = self.client.post("/v1/plans", json={"spec": {**SPEC, "gateway": None}}).json()
        assert plan["missing"] == []
        assert int(plan["priceWei"]) <= BUDGET
        left = self.client.post("/v1/specs", json={"spec": plan["spec"]}).json()["specHash"]
        assert left == plan["specHash"]
        self.tools.send(CUSTOMER, "SwarmToken", "approve", self.tools.address("JobEscrow"), BUDGET)
        self.tools.send(CUSTOMER, "JobEscrow", "post", 1, hash_from_hex(left), BUDGET, 3600, 3600)

    def put_content(self, index: int) -> int:
        """The node hands in a content; status of the answer."""
        content, issued = honest_contents()[index], Timestamp(self.now)
        said = JobContent(
            job_id=JobId(1), node=NODE.address, index=index, content_hash=content_hash(content), issued_at=issued
        )
        headers = {
            "X-Swarm-Node": NODE.address,
            "X-Swarm-Issued-At": str(issued),
            "X-Swarm-Signature": to_hex(NODE.sign_typed(self.domain, content_upload_hash(said))),
        }
        answer = self.client.put(f"/v1/jobs/1/contents/{index}", content=content, headers=headers, timeout=30)
        return answer.status_code

    def post_receipt(self, times: int, spec_hash: str) -> httpx2.Response:
        """The node hands in its receipt, again and again until the canaries are computed."""
        changed = {
            "node": NODE.address,
            "started_at": times,
            "finished_at": times,
            "spec_hash": hash_from_hex(spec_hash),
        }
        receipt = receipt_of(honest_contents(), times, **changed)
        body = {
            "receipt": receipt_json(receipt),
            "signature": to_hex(NODE.sign_typed(self.domain, receipt_hash(receipt))),
            "checkpoints": [to_hex(content_hash(content)) for content in honest_contents()],
        }
        deadline = time.monotonic() + WAIT_S
        while True:
            answer = self.client.post("/v1/jobs/1/receipts", json=body, timeout=30)
            if answer.status_code != 503 or time.monotonic() > deadline:
                return answer
            time.sleep(0.2)


@pytest.fixture
def stage(tools: ChainTools, tmp_path: Path) -> Iterator[Stage]:
    """A chain with a staked provider of one node and a customer, and a folder for the gateway."""
    tools.register(OWNER, NODE, stake_wei=STAKE_WEI)
    tools.fund(NODE.address)
    tools.fund(CUSTOMER.address)
    save_deployment(tools.net.deployment, tmp_path / "deployment.json")
    write_private(tmp_path / "password", "correct horse")
    create_keystore(tmp_path, "key.json", "correct horse", scrypt_n=LIGHT_SCRYPT)
    made = Stage(tools=tools, folder=tmp_path)
    yield made
    made.end()


@pytest.mark.long
def test_gateway_killed_between_upload_and_receipt_loses_nothing_and_signs_once(stage: Stage) -> None:
    stage.start()
    stage.announce()
    stage.post_job()
    stage.wait_for(lambda: len(stage.client.get(f"/v1/nodes/{NODE.address}/assignments").json()) == 1)
    given = stage.client.get(f"/v1/nodes/{NODE.address}/assignments").json()[0]
    stage.tools.send(NODE, "JobEscrow", "accept", given["jobId"], given["provider"], NODE.address)
    stage.wait_for(lambda: stage.put_content(0) == 201)
    assert stage.put_content(1) == 201
    address = stage.client.get("/v1/gateway").json()["address"]

    stage.kill()
    stage.start()
    assert stage.client.get("/v1/jobs/1").json()["unitsDone"] == 1
    assert stage.put_content(2) == 201
    times = stage.now
    first = stage.post_receipt(times, given["specHash"])
    assert first.status_code == 200, first.text
    stage.kill()
    stage.start()
    again = stage.post_receipt(times, given["specHash"])

    assert again.json() == first.json()
    assert stage.post_receipt(times + 1, given["specHash"]).status_code == 409
    _require_signed(stage, first.json()["gatewaySignature"], times, given["specHash"], address)
    shown = stage.client.get("/v1/jobs/1").json()
    assert (shown["state"], shown["unitsDone"], shown["units"]) == ("accepted", 2, 2)


def _require_signed(stage: Stage, signature: str, times: int, spec_hash: str, address: Address) -> None:
    changed = {"node": NODE.address, "started_at": times, "finished_at": times, "spec_hash": hash_from_hex(spec_hash)}
    digest = receipt_digest(stage.domain, receipt_of(honest_contents(), times, **changed))
    assert recover(digest, Signature(bytes.fromhex(signature[2:]))) == address
