"""What every GatewayDesk and GatewayInbox promises: the shipped fake, and the node's client at a real gateway's application."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.gateways.client import HttpGatewayDesk, HttpGatewayInbox
from node.gateways.ports import ContentUpload, GatewayDesk, GatewayInbox, LogUpload
from node.model import SignedReceipt
from node.oracle_client import JsonHttp
from node.testing import GatewayInMemory
from swarm_chain.core.checkpoints import content_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError, RejectedError
from swarm_chain.core.gateway import JobContent, JobLog, announcement_hash, content_upload_hash, log_hash
from swarm_chain.core.signing import receipt_digest, receipt_hash, require_signed_by
from swarm_chain.core.units import Hash32, JobId, Timestamp
from swarm_chain.testing import FakeSigner
from tests.gateway_world import ALICE, BOB, GATEWAY, GatewayWorld, announcement_of, honest_contents, receipt_of

JOB = JobId(1)
INPUT = b"an input"
TEXT = "epoch 1: loss 3.2\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A gateway through its ports, with a job for Alice's node; `accept` lets the chain say that the node accepted it."""

    desk: GatewayDesk
    inbox: GatewayInbox
    domain: Hash32
    now: Callable[[], Timestamp]
    post: Callable[[], None]
    accept: Callable[[], None]


def in_memory(folder: Path) -> Iterator[Stage]:
    """The shipped fake."""
    del folder
    now, domain = Timestamp(1_800_000_000), keccak(b"domain")
    gateway = GatewayInMemory(signer=GATEWAY, domain=domain, blobs={content_hash(INPUT): INPUT})

    def post() -> None:
        gateway.assigned[ALICE.address] = (JOB,)

    yield Stage(desk=gateway, inbox=gateway, domain=domain, now=lambda: now, post=post, accept=lambda: None)


def over_http(folder: Path) -> Iterator[Stage]:
    """A gateway's own application, its store on disk."""
    world = GatewayWorld(folder)
    world.client.put(f"/v1/blobs/0x{content_hash(INPUT).hex()}", content=INPUT)
    http = JsonHttp("http://testserver", client=world.client, who="gateway")
    yield Stage(
        desk=HttpGatewayDesk(http),
        inbox=HttpGatewayInbox(http),
        domain=world.domain,
        now=lambda: Timestamp(world.now),
        post=world.post_job,
        accept=world.accept,
    )
    world.close()


@pytest.fixture(params=[in_memory, over_http])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    yield from request.param(tmp_path)


@pytest.fixture
def accepted(stage: Stage) -> Stage:
    """A stage whose node was given the job and has accepted it."""
    announce(stage)
    stage.post()
    stage.accept()
    return stage


def announce(stage: Stage, key: FakeSigner = ALICE) -> None:
    """Alice's node says what it offers."""
    offered = announcement_of(ALICE, stage.now())
    stage.desk.announce(offered, key.sign_typed(stage.domain, announcement_hash(offered)))


def hand_in(stage: Stage, index: int, content: bytes, claimed: bytes | None = None) -> None:
    """Alice's node hands in a content; `claimed` are the bytes its signature is for."""
    hashed = content_hash(content if claimed is None else claimed)
    said = JobContent(job_id=JOB, node=ALICE.address, index=index, content_hash=hashed, issued_at=stage.now())
    signature = ALICE.sign_typed(stage.domain, content_upload_hash(said))
    stage.inbox.content(ContentUpload(said=said, content=content, signature=signature))


def add_log(stage: Stage, text: str, offset: int, key: FakeSigner = ALICE) -> int:
    """Alice's node adds to the job's log; gives the bytes the gateway has then."""
    said = JobLog(job_id=JOB, node=ALICE.address, offset=offset, text_hash=keccak(text.encode()), issued_at=stage.now())
    return stage.inbox.log(LogUpload(said=said, text=text, signature=key.sign_typed(stage.domain, log_hash(said))))


def signed_receipt(stage: Stage, key: FakeSigner = ALICE) -> SignedReceipt:
    """The receipt over the honest contents."""
    contents = honest_contents()
    receipt = receipt_of(contents, stage.now())
    signature = key.sign_typed(stage.domain, receipt_hash(receipt))
    return SignedReceipt(receipt=receipt, signature=signature, contents=tuple(map(content_hash, contents)))


def test_gateway_says_whose_signature_receipts_need(stage: Stage) -> None:
    assert stage.desk.address() == GATEWAY.address


def test_node_that_announced_itself_is_given_the_job_and_another_is_not(stage: Stage) -> None:
    announce(stage)
    assert stage.desk.assignments(ALICE.address) == ()
    stage.post()
    assert stage.desk.assignments(ALICE.address) == (JOB,)
    assert stage.desk.assignments(BOB.address) == ()


def test_announcement_of_another_key_is_refused(stage: Stage) -> None:
    with pytest.raises(InvalidInputError):
        announce(stage, BOB)


def test_input_is_given_whole_and_none_that_is_too_large_or_unknown(stage: Stage) -> None:
    assert stage.inbox.blob(content_hash(INPUT), 100) == INPUT
    with pytest.raises(InvalidInputError):
        stage.inbox.blob(content_hash(b"another"), 100)
    with pytest.raises(InvalidInputError):
        stage.inbox.blob(content_hash(INPUT), 3)


def test_content_is_taken_twice_and_refused_where_its_signature_is_for_another(accepted: Stage) -> None:
    hand_in(accepted, 0, b"content")
    hand_in(accepted, 0, b"content")
    with pytest.raises(InvalidInputError):
        hand_in(accepted, 0, b"content", claimed=b"another")


def test_log_grows_and_whoever_is_behind_or_ahead_learns_where_to_go_on(accepted: Stage) -> None:
    assert add_log(accepted, TEXT, 0) == len(TEXT)
    assert add_log(accepted, TEXT, 0) == len(TEXT), "sent twice"
    assert add_log(accepted, TEXT + "more\n", 0) == len(TEXT), "sent twice, and longer by then"
    assert add_log(accepted, "far ahead\n", 1000) == len(TEXT)
    assert add_log(accepted, "more\n", len(TEXT)) == len(TEXT) + 5
    with pytest.raises(InvalidInputError):
        add_log(accepted, "another's\n", len(TEXT) + 5, BOB)


def test_receipt_is_signed_once_everything_is_here_and_not_before(accepted: Stage) -> None:
    signed = signed_receipt(accepted)
    with pytest.raises(RejectedError) as caught:
        accepted.inbox.receipt(signed)
    assert caught.value.code == "contents_missing"
    for index, content in enumerate(honest_contents()):
        hand_in(accepted, index, content)
    given = accepted.inbox.receipt(signed)
    require_signed_by(GATEWAY.address, receipt_digest(accepted.domain, signed.receipt), given)
    assert accepted.inbox.receipt(signed) == given
    with pytest.raises(InvalidInputError):
        accepted.inbox.receipt(signed_receipt(accepted, BOB))
