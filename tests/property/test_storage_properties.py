"""What is held passes for every volume and audit; one changed bit in a block that is read fails."""

from hypothesis import given, settings
from hypothesis import strategies as st

from swarm_chain.core.encoding import checksum_address
from swarm_chain.core.storageset import StorageAudit, Volume, block, volume_key
from swarm_chain.core.units import EpochNumber, Hash32
from tests.storage_world import KEY, audit_of, case_of, passes

addresses = st.binary(min_size=20, max_size=20).map(checksum_address)
hashes = st.binary(min_size=32, max_size=32).map(Hash32)
volumes = st.builds(
    Volume,
    chain_id=st.integers(0, 2**64),
    beacon=addresses,
    member=addresses,
    node=addresses,
    epoch=st.integers(0, 2**32).map(EpochNumber),
    index=st.integers(0, 2**32),
)
audits = st.builds(StorageAudit, volume=volumes, blocks=st.integers(1, 2**40), nonce=hashes, reads=st.integers(1, 20))


@settings(max_examples=60, deadline=None)
@given(audit=audits, secret=hashes)
def test_what_is_held_passes(audit: StorageAudit, secret: Hash32) -> None:
    key = volume_key(secret, audit.volume)

    assert passes(iter([case_of(lambda index: block(key, index), audit, key)])) == 1


@settings(max_examples=100, deadline=None)
@given(bit=st.integers(0, 32_767), position=st.integers(0, 7))
def test_one_bit_of_any_block_that_is_read_fails(bit: int, position: int) -> None:
    reads = iter(range(8))

    def read(index: int) -> bytes:
        content = bytearray(block(KEY, index))
        content[bit // 8] ^= (next(reads) == position) << bit % 8
        return bytes(content)

    assert passes(iter([case_of(read, audit_of(reads=8))])) == 0
