"""The digest a customer signs is the one every EIP-712 library makes."""

from eth_account.messages import encode_typed_data

from swarm_chain.core.encoding import keccak
from swarm_chain.core.job_access import JOB_ACCESS_TYPE, job_access_digest, job_access_hash
from swarm_chain.core.signing import domain_separator
from swarm_chain.core.units import Address, JobId, Timestamp
from swarm_chain.testing import FakeSigner

BEACON = FakeSigner("beacon").address


def test_digest_when_made_by_another_library_then_is_the_same() -> None:
    alice = FakeSigner("alice").address
    message = encode_typed_data(
        domain_data={"name": "Swarm", "version": "1", "chainId": 31337, "verifyingContract": BEACON},
        message_types={
            "JobAccess": [
                {"name": name, "type": kind}
                for kind, name in (field.split() for field in JOB_ACCESS_TYPE[10:-1].split(","))
            ]
        },
        message_data={"jobId": 7, "customer": alice, "issuedAt": 1_700_000_000},
    )
    theirs = keccak(b"\x19" + message.version + message.header + message.body)

    ours = job_access_digest(domain_separator(31337, BEACON), JobId(7), alice, Timestamp(1_700_000_000))

    assert ours == theirs


def test_struct_hash_when_any_field_differs_then_differs() -> None:
    alice, bob = FakeSigner("alice").address, FakeSigner("bob").address
    fields: list[tuple[int, Address, int]] = [(1, alice, 5), (2, alice, 5), (1, bob, 5), (1, alice, 6)]

    assert len({job_access_hash(JobId(job), who, Timestamp(at)) for job, who, at in fields}) == len(fields)
