"""Messages of the gateway's routes are EIP-712, as another implementation hashes them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from eth_account.messages import encode_typed_data

from swarm_chain.core import gateway
from swarm_chain.core.encoding import keccak
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.gateway import (
    JobAccess,
    JobContent,
    JobLog,
    NodeAnnouncement,
    Plan,
    PlannedNode,
    announcement_json,
    plan_json,
)
from swarm_chain.core.kinds import HardwareClass
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Hash32, JobId, ProviderId, Timestamp, Wei
from swarm_chain.testing import FakeSigner

BEACON, NODE = FakeSigner("beacon contract").address, FakeSigner("node").address
DOMAIN = domain_separator(31337, BEACON)
JOB, NOW, CONTENT = JobId(2**200), Timestamp(1_700_000_000), keccak(b"content")
OFFER = NodeAnnouncement(
    node=NODE,
    region="eu-west",
    hardware_class=HardwareClass.GPU,
    cpus=64,
    gpus=8,
    memory_mb=512_000,
    disk_mb=2**40,
    price_wei=Wei(2**90),
    issued_at=NOW,
    expires_at=Timestamp(NOW + 600),
)
OFFER_FIELDS = announcement_json(OFFER) | {"priceWei": 2**90}


@pytest.mark.parametrize(
    ("digest", "message", "type_text", "fields"),
    [
        (gateway.announcement_digest, OFFER, gateway.ANNOUNCEMENT_TYPE, OFFER_FIELDS),
        (
            gateway.content_upload_digest,
            JobContent(job_id=JOB, node=NODE, index=7, content_hash=CONTENT, issued_at=NOW),
            gateway.CONTENT_TYPE,
            {"jobId": JOB, "node": NODE, "index": 7, "contentHash": CONTENT, "issuedAt": NOW},
        ),
        (
            gateway.log_digest,
            JobLog(job_id=JOB, node=NODE, offset=9, text_hash=CONTENT, issued_at=NOW),
            gateway.LOG_TYPE,
            {"jobId": JOB, "node": NODE, "offset": 9, "textHash": CONTENT, "issuedAt": NOW},
        ),
        (
            gateway.access_digest,
            JobAccess(job_id=JOB, customer=NODE, issued_at=NOW),
            gateway.ACCESS_TYPE,
            {"jobId": JOB, "customer": NODE, "issuedAt": NOW},
        ),
    ],
    ids=["announcement", "content", "log", "access"],
)
def test_digest_is_eip712(
    digest: Callable[[Hash32, object], Hash32], message: object, type_text: str, fields: dict[str, object]
) -> None:
    name, _, arguments = type_text.partition("(")
    members = [{"type": part.split(" ")[0], "name": part.split(" ")[1]} for part in arguments.rstrip(")").split(",")]
    domain = {"name": "Swarm", "version": "1", "chainId": 31337, "verifyingContract": BEACON}
    signable = encode_typed_data(domain, {name: members}, fields)

    assert digest(DOMAIN, message) == keccak(b"\x19" + signable.version + signable.header + signable.body)


@pytest.mark.parametrize(
    "changed",
    [
        {"region": ""},
        {"region": "r" * 65},
        {"cpus": 0},
        {"gpus": -1},
        {"memory_mb": 0},
        {"price_wei": -1},
        {"expires_at": NOW},
        {"expires_at": NOW + 3601},
    ],
)
def test_announcement_out_of_range_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        replace(OFFER, **changed)  # type: ignore[arg-type]


def test_plan_travels_with_wei_as_text() -> None:
    plan = Plan(
        spec_hash=CONTENT,
        spec={"kind": "train"},
        nodes=(PlannedNode(node=NODE, provider=ProviderId(3), price_wei=Wei(2**90)),),
        price_wei=Wei(2**90),
        seconds=4,
        missing=("no node has 8 gpus; the most is 2",),
        refunds=gateway.REFUNDS,
    )

    sent = plan_json(plan)

    assert sent["nodes"] == [{"node": NODE, "provider": 3, "priceWei": str(2**90)}]
    assert sent["priceWei"] == str(2**90)
    assert sent["missing"] == ["no node has 8 gpus; the most is 2"]
