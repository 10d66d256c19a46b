"""A completed job with everything a client compares."""

from dataclasses import dataclass

import pytest

from swarm_chain.client.model import ChainJob
from swarm_chain.core.checkpoints import checkpoint_tree, content_hash
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import JobKind, JobState
from swarm_chain.core.merkle import root
from swarm_chain.core.model import Receipt
from swarm_chain.core.signing import domain_separator, receipt_digest
from swarm_chain.core.units import Hash32, JobId, ProviderId, Timestamp, Wei
from swarm_chain.testing import FakeSigner

DOMAIN = domain_separator(31337, FakeSigner("beacon").address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an honest node made, and what the chain says of it."""

    job: ChainJob
    receipt: Receipt
    contents: tuple[bytes, ...]

    @property
    def hashes(self) -> list[Hash32]:
        """Of the contents."""
        return [content_hash(content) for content in self.contents]


def make_receipt(contents: tuple[bytes, ...], exit_code: int = 0) -> Receipt:
    """An honest node's receipt for its contents."""
    hashes = [content_hash(content) for content in contents]
    return Receipt(
        job_id=JobId(1),
        kind=JobKind.TRAIN,
        node=FakeSigner("node").address,
        spec_hash=keccak(b"spec"),
        input_digest=hashes[0],
        output_digest=hashes[-1],
        checkpoint_root=root(checkpoint_tree(hashes)),
        checkpoint_count=len(hashes),
        device_seconds=3,
        started_at=Timestamp(1),
        finished_at=Timestamp(4),
        exit_code=exit_code,
    )


def make_job(state: JobState, digest: Hash32 = Hash32(bytes(32))) -> ChainJob:
    """A job of alice on the chain; times are 100, 200 and 300."""
    return ChainJob(
        job_id=JobId(1),
        state=state,
        kind=JobKind.TRAIN,
        customer=FakeSigner("alice").address,
        provider_id=ProviderId(1),
        node=FakeSigner("node").address,
        budget_wei=Wei(10**19),
        accept_by=Timestamp(100),
        complete_by=Timestamp(200),
        judge_by=Timestamp(300),
        spec_hash=keccak(b"spec"),
        receipt_digest=digest,
    )


@pytest.fixture
def made() -> Made:
    """Four contents and their receipt, recorded on chain."""
    contents = (b"start", b"one", b"two", b"\x00result\xff")
    receipt = make_receipt(contents)
    job = make_job(JobState.COMPLETED, receipt_digest(DOMAIN, receipt))
    return Made(job=job, receipt=receipt, contents=contents)
