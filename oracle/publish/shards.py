"""Shards: the leaves of an epoch as raw bytes, 16,384 a file, so that anyone rebuilds the tree from half a megabyte each.

leaf     cumReward uint128 big-endian | cumPenalty uint128 big-endian      32 bytes; provider id = firstId + position
"""

from collections.abc import Iterable, Sequence
from struct import Struct

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import ProviderId, Wei

LEAVES_PER_SHARD = 16_384
LEAF_BYTES = 32
_LEAF = Struct(">QQQQ")
_LOW = 2**64 - 1


def shard_bytes(leaves: Sequence[SettlementLeaf]) -> tuple[bytes, ...]:
    """Cut the leaves of all providers into shards.

    Args:
        leaves: one for each provider, ordered by id from 1.

    Returns:
        Shards of 32 bytes a leaf; all but the last hold 16,384 leaves.
    """
    return tuple(
        b"".join(map(_pack, leaves[start : start + LEAVES_PER_SHARD]))
        for start in range(0, len(leaves), LEAVES_PER_SHARD)
    )


def parse_shards(shards: Iterable[bytes]) -> tuple[SettlementLeaf, ...]:
    """Read what `shard_bytes` wrote.

    Args:
        shards: all shards of an epoch, in order.

    Raises:
        InvalidInputError: a shard is cut off, empty, or short though another follows.
    """
    whole = tuple(shards)
    for index, shard in enumerate(whole):
        last = index == len(whole) - 1
        full = LEAVES_PER_SHARD * LEAF_BYTES
        if len(shard) % LEAF_BYTES or not 0 < len(shard) <= full or (not last and len(shard) != full):
            raise InvalidInputError(
                f"shard {index} has {len(shard)} bytes", code="bad_document", fix="fetch the shard again"
            )
    numbers = (number for shard in whole for number in _LEAF.iter_unpack(shard))
    return tuple(_leaf(number, ProviderId(provider_id)) for provider_id, number in enumerate(numbers, start=1))


def parse_leaf(data: bytes, provider_id: ProviderId) -> SettlementLeaf:
    """Read one leaf of a shard.

    Args:
        data: its 32 bytes.
        provider_id: firstId of the shard + position in it.

    Raises:
        InvalidInputError: the shard is cut off.
    """
    if len(data) != LEAF_BYTES:
        raise InvalidInputError("the shard is cut off", code="bad_document", fix="fetch the shard again")
    return _leaf(_LEAF.unpack(data), provider_id)


def _leaf(number: tuple[int, int, int, int], provider_id: ProviderId) -> SettlementLeaf:
    reward_high, reward_low, penalty_high, penalty_low = number
    return SettlementLeaf(
        provider_id=provider_id,
        cum_reward_wei=Wei(reward_high << 64 | reward_low),
        cum_penalty_wei=Wei(penalty_high << 64 | penalty_low),
    )


def _pack(leaf: SettlementLeaf) -> bytes:
    reward, penalty = leaf.cum_reward_wei, leaf.cum_penalty_wei
    return _LEAF.pack(reward >> 64, reward & _LOW, penalty >> 64, penalty & _LOW)
