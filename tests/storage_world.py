"""A member's volume, honest and dishonest holders of it, for every test that audits one."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from oracle.judge.storage import StorageCase, judge_storage
from swarm_chain.core.encoding import keccak
from swarm_chain.core.kinds import Outcome
from swarm_chain.core.storageset import (
    StorageAudit,
    StorageParams,
    Volume,
    VolumeKey,
    answer_to,
    block,
    volume_key,
)
from swarm_chain.core.units import Address, EpochNumber, Hash32

ALICE = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
MALLORY = Address("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
MEMBER = Address("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65")
SECRET = keccak(b"the member's secret")
VOLUME = Volume(
    chain_id=31337,
    beacon=Address("0x00000000000000000000000000000000000bEaC0"),
    member=MEMBER,
    node=ALICE,
    epoch=EpochNumber(7),
    index=0,
)
KEY = volume_key(SECRET, VOLUME)
PARAMS = StorageParams(ask_for=20, reads=32, read_us=2000, answer_ms=100, grow_blocks=16, max_blocks=1000)
BLOCKS = 40
ELAPSED_MS = 10

Read = Callable[[int], bytes]


def audit_of(number: int = 0, volume: Volume = VOLUME, reads: int = PARAMS.reads, blocks: int = BLOCKS) -> StorageAudit:
    """The audit with a nonce of its own for each number."""
    return StorageAudit(volume=volume, blocks=blocks, nonce=keccak(b"nonce %d" % number), reads=reads)


def held(key: VolumeKey = KEY, count: int = BLOCKS) -> dict[int, bytes]:
    """The first blocks of a volume, as a node that got them has them."""
    return {index: block(key, index) for index in range(count)}


def case_of(read: Read, audit: StorageAudit | None = None, key: VolumeKey = KEY) -> StorageCase:
    """What the member sees of a node that reads its blocks like this and answers quickly."""
    asked = audit or audit_of()
    params = replace(PARAMS, reads=asked.reads)
    return StorageCase(
        key=key,
        audit=asked,
        uploaded=asked.blocks,
        params=params,
        elapsed_ms=ELAPSED_MS,
        answer=answer_to(asked, read),
    )


def passes(cases: Iterator[StorageCase]) -> int:
    """How many of the cases the judge passes."""
    return sum(judge_storage(case).outcome is Outcome.PASSED for case in cases)


def misremembering(kept: dict[int, bytes]) -> Read:
    """A holder that invents what it does not have."""
    invented: Hash32 = keccak(b"nothing better comes to mind")
    return lambda index: kept.get(index, invented * 128)
