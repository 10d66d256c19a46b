"""A gateway in one process over a chain in memory: real keys, real HTTP application, real SQLite and files, no sockets."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from gateway.api.app import create_app
from gateway.canaries import CanaryDesk, Check, find_fault
from gateway.chain import ChainWatch
from gateway.desk import Desk, Lids
from gateway.model import Terms
from gateway.planning import assign_jobs
from gateway.receipts import Canaries
from gateway.service import Gateway
from gateway.store.engine import meta, open_database
from gateway.store.files import Files
from swarm_chain.core.checkpoints import checkpoint_tree, content_hash
from swarm_chain.core.encoding import hash_from_hex, keccak, to_hex
from swarm_chain.core.gateway import (
    JobAccess,
    JobContent,
    JobLog,
    NodeAnnouncement,
    access_hash,
    announcement_hash,
    announcement_json,
    content_upload_hash,
    log_hash,
)
from swarm_chain.core.jobs import parse_job_spec, spec_hash
from swarm_chain.core.kinds import HardwareClass, JobKind
from swarm_chain.core.merkle import root
from swarm_chain.core.messages import Json, receipt_json
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import domain_separator, receipt_hash
from swarm_chain.core.units import ZERO_HASH, Address, BlockNumber, Hash32, JobId, ProviderId, Timestamp, Wei
from swarm_chain.ports import Signer
from swarm_chain.reference.programs.base import inputs_of
from swarm_chain.reference.programs.registry import open_program
from swarm_chain.testing import FakeChain, FakeClock, FakeSigner
from tests.http_clients import client_of

GATEWAY, CUSTOMER, STRANGER = FakeSigner("gateway"), FakeSigner("customer"), FakeSigner("a stranger")
ALICE, BOB = FakeSigner("alice's node"), FakeSigner("bob's node")
TERMS = Terms(fee_bps=500, min_price_wei=Wei(10))
LIDS = Lids(blob_bytes=10_000, job_bytes=10_000_000, log_bytes=100_000, store_bytes=20_000_000, specs=8)
WORK = {
    "model": "transformer",
    "seed": 3,
    "steps": 4,
    "segment_steps": 2,
    "batch": 2,
    "context": 8,
    "vocabulary": 16,
    "width": 16,
    "heads": 2,
    "layers": 1,
    "learning_rate_micro": 2000,
}
SPEC: Json = {"kind": "train", "program": "swarm-train/1", "work": WORK, "gateway": GATEWAY.address}
UNITS = 2
PRICE, BUDGET = 100, 10_000
WAIT_S = 60.0


@cache
def honest_contents() -> tuple[bytes, ...]:
    """What an honest node makes of the job."""
    program = open_program(parse_job_spec(SPEC), inputs_of({}))
    contents = [program.first()]
    for unit in range(program.units):
        contents.append(program.compute(unit, contents[program.source(unit)]))
    return tuple(contents)


def announcement_of(node: Signer, now: int, **changed: Any) -> NodeAnnouncement:
    """What a node offers: two CPUs for `PRICE` wei a device-second."""
    offered = NodeAnnouncement(
        node=node.address,
        region="eu-west",
        hardware_class=HardwareClass.CPU,
        cpus=2,
        gpus=0,
        memory_mb=4096,
        disk_mb=10_000,
        price_wei=Wei(PRICE),
        issued_at=Timestamp(now),
        expires_at=Timestamp(now + 600),
    )
    return replace(offered, **changed)


def receipt_of(contents: tuple[bytes, ...], now: int, **changed: Any) -> Receipt:
    """Receipt of the job over contents; of a failed one if there are none."""
    hashes = tuple(map(content_hash, contents))
    made = Receipt(
        job_id=JobId(1),
        kind=JobKind.TRAIN,
        node=ALICE.address,
        spec_hash=spec_hash(parse_job_spec(SPEC).document()),
        input_digest=hashes[0] if hashes else ZERO_HASH,
        output_digest=hashes[-1] if hashes else ZERO_HASH,
        checkpoint_root=root(checkpoint_tree(hashes)) if hashes else ZERO_HASH,
        checkpoint_count=len(hashes),
        device_seconds=3,
        started_at=Timestamp(now),
        finished_at=Timestamp(now),
        exit_code=0 if hashes else 1,
    )
    return replace(made, **changed)


class ToldMembers:
    """Members that take every spec and measured what they are told."""

    def __init__(self) -> None:
        self.specs: dict[Hash32, bytes] = {}

    def hand(self, spec_hash: Hash32, document: bytes) -> None:
        """Takes a spec."""
        self.specs[spec_hash] = document

    def measured(self, node: Address) -> Mapping[str, int]:
        """Nothing of any node."""
        del node
        return {}


class GatewayWorld:
    """A gateway that has seen the chain, with two staked providers of one node each.

    Args:
        folder: where its store is.
        chain: to go on with; None for a fresh one with the providers on it.
        check: what checks canaries.
        lids: of the store.
    """

    def __init__(
        self, folder: Path, *, chain: FakeChain | None = None, check: Check = find_fault, lids: Lids = LIDS
    ) -> None:
        self.folder, self.lids = folder, lids
        self.chain = chain or FakeChain()
        self.watch = ChainWatch(self.chain, BlockNumber(0))
        self.members = ToldMembers()
        self.measured: dict[Address, Mapping[str, int]] = {}
        self.domain = domain_separator(
            self.chain.deployment.chain_id, self.chain.deployment.contracts["ChallengeBeacon"]
        )
        self.desk = self._desk()
        self.canaries = CanaryDesk(check)
        self.client: TestClient = client_of(create_app(self._gateway()))
        for number, node in enumerate(() if chain else (ALICE, BOB), start=1):
            self._register(number, node)
        self.follow()

    @property
    def now(self) -> int:
        """Chain time."""
        return self.chain.block("latest").timestamp

    def follow(self, seconds: int = 1) -> None:
        """Mines a block and does a turn."""
        self.chain.mine(seconds=seconds)
        self.watch.look()
        assign_jobs(self.desk)

    def log(self, contract: str, event: str, **args: object) -> None:
        """Puts a log into the next block and does a turn."""
        self.chain.append(contract, event, **args)
        self.follow()

    def restarted(self) -> "GatewayWorld":
        """The same gateway after its process ended, on what it stored."""
        self.close()
        return GatewayWorld(self.folder, chain=self.chain)

    def announce(self, node: FakeSigner = ALICE, key: FakeSigner | None = None, **changed: Any) -> Response:
        """A node says what it offers."""
        offered = announcement_of(node, self.now, **changed)
        signature = (key or node).sign_typed(self.domain, announcement_hash(offered))
        return self.post("/v1/nodes", {"announcement": announcement_json(offered), "signature": to_hex(signature)})

    def post_job(self, spec: Json | None = None, budget: int = BUDGET, job_id: int = 1) -> None:
        """The customer leaves a spec here and posts its job on chain."""
        left = self.post("/v1/specs", {"spec": spec or SPEC})
        assert left.status_code == 201, left.json()
        posted = hash_from_hex(left.json()["specHash"])
        self.log(
            "JobEscrow",
            "JobPosted",
            jobId=job_id,
            customer=CUSTOMER.address,
            kind=1,
            specHash=posted,
            budget=budget,
            acceptBy=self.now + 1000,
            maxRunFor=3600,
        )

    def accept(self, node: FakeSigner = ALICE, job_id: int = 1) -> None:
        """A node accepts a job on chain."""
        self.log(
            "JobEscrow",
            "JobAccepted",
            jobId=job_id,
            providerId=ProviderId(1 if node is ALICE else 2),
            node=node.address,
            completeBy=self.now + 3600,
        )

    def accepted_job(self) -> None:
        """A job that Alice's node was given and has accepted."""
        assert self.announce().status_code == 200
        self.post_job()
        self.accept()

    def put_content(
        self,
        index: int,
        content: bytes,
        *,
        node: FakeSigner = ALICE,
        key: FakeSigner | None = None,
        late: int = 0,
        claimed: bytes | None = None,
        wire: tuple[bytes, str] | None = None,
    ) -> Response:
        """A node hands in a content; `claimed` are the bytes its signature is for, `wire` what is sent, with its encoding."""
        issued = Timestamp(self.now - late)
        hashed = content_hash(content if claimed is None else claimed)
        said = JobContent(job_id=JobId(1), node=node.address, index=index, content_hash=hashed, issued_at=issued)
        signature = (key or node).sign_typed(self.domain, content_upload_hash(said))
        headers = {
            "X-Swarm-Node": node.address,
            "X-Swarm-Issued-At": str(issued),
            "X-Swarm-Signature": to_hex(signature),
        }
        sent, encoding = wire or (content, "identity")
        headers["Content-Encoding"] = encoding
        return self.client.put(f"/v1/jobs/1/contents/{index}", content=sent, headers=headers)

    def put_contents(self, contents: tuple[bytes, ...]) -> None:
        """A node hands in all its contents."""
        for index, content in enumerate(contents):
            answer = self.put_content(index, content)
            assert answer.status_code == 201, answer.json()

    def post_receipt(
        self, contents: tuple[bytes, ...], *, key: FakeSigner = ALICE, checkpoints: int | None = None, **changed: Any
    ) -> Response:
        """A node hands in the receipt over contents; asked again while canaries are computed."""
        receipt = receipt_of(contents, self.now, **changed)
        signature = key.sign_typed(self.domain, receipt_hash(receipt))
        hashes = [to_hex(content_hash(content)) for content in contents][:checkpoints]
        body: Json = {"receipt": receipt_json(receipt), "signature": to_hex(signature), "checkpoints": hashes}
        return self.post("/v1/jobs/1/receipts", body)

    def add_log(self, text: str, offset: int, key: FakeSigner = ALICE) -> Response:
        """A node adds to its job's log."""
        entry = JobLog(
            job_id=JobId(1),
            node=ALICE.address,
            offset=offset,
            text_hash=keccak(text.encode()),
            issued_at=Timestamp(self.now),
        )
        signature = key.sign_typed(self.domain, log_hash(entry))
        body: Json = {
            "node": ALICE.address,
            "offset": offset,
            "text": text,
            "issuedAt": entry.issued_at,
            "signature": to_hex(signature),
        }
        return self.post("/v1/jobs/1/log", body)

    def read(self, path: str, key: FakeSigner = CUSTOMER) -> Response:
        """Somebody reads what belongs to the job's customer."""
        access = JobAccess(job_id=JobId(1), customer=key.address, issued_at=Timestamp(self.now))
        headers = {
            "X-Swarm-Customer": key.address,
            "X-Swarm-Issued-At": str(access.issued_at),
            "X-Swarm-Signature": to_hex(key.sign_typed(self.domain, access_hash(access))),
        }
        return self.client.get(f"/v1/jobs/1/{path}", headers=headers)

    def post(self, path: str, body: Json) -> Response:
        """Answer to a JSON body."""
        return self.client.post(path, json=body)

    def get(self, path: str) -> Any:
        """JSON at a path."""
        return self.client.get(path).json()

    def assigned(self, node: FakeSigner) -> list[int]:
        """Jobs a node is asked to accept."""
        return [one["jobId"] for one in self.get(f"/v1/nodes/{node.address}/assignments")]

    def close(self) -> None:
        """Gives the store back."""
        self.canaries.close()
        self.desk.database.close()

    def _desk(self) -> Desk:
        return Desk(
            domain=self.domain,
            signer=GATEWAY,
            sight=self.watch.sight,
            database=open_database(self.folder / "gateway.sqlite", GATEWAY.address),
            files=Files(folder=self.folder),
            terms=TERMS,
            lids=self.lids,
            measured=lambda: self.measured,
        )

    def _gateway(self) -> Gateway:
        secret = hash_from_hex(meta(self.desk.database, "canary_secret", to_hex(keccak(b"secret"))))
        return Gateway(
            desk=self.desk,
            canaries=Canaries(desk=self.canaries, secret=secret, units=UNITS, wait_s=WAIT_S),
            members=self.members,
            clock=FakeClock(),
            chain_id=self.chain.deployment.chain_id,
            ray_address="127.0.0.1:6379",
        )

    def _register(self, number: int, node: FakeSigner) -> None:
        owner = FakeSigner(f"owner {number}").address
        identity = {"owner": owner, "operator": owner, "payout": owner, "hardwareClass": 1, "region": b"eu-west\0"}
        self.chain.append("ProviderRegistry", "ProviderRegistered", providerId=number, **identity)
        self.chain.append("ProviderRegistry", "NodeAdded", providerId=number, node=node.address)
        self.chain.append("StakeVault", "Staked", **{"providerId": number, "from": owner, "amount": 10**18})
