"""A leaf is believed only if its path leads, from its own position, to the root on chain; permits are what tokens accept."""

from dataclasses import replace

from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.cli.settlement import ActiveRoot, ProvenLeaf, leads_to_root, netting
from swarm_chain.cli.stake_moves import UnbondRequest, calendar_of, permit_hash
from swarm_chain.core.encoding import SETTLEMENT_TAG, checksum_address, keccak, leaf_domain, settlement_leaf
from swarm_chain.core.merkle import build_tree, path, root
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import EpochNumber, Hash32, ProviderId, RootIndex, Timestamp, Wei

CHAIN_ID = 31_337
SETTLEMENT = checksum_address(b"\x11" * 20)
AMOUNTS = st.lists(st.tuples(st.integers(0, 2**64), st.integers(0, 2**64)), min_size=1, max_size=9)


def proven_leaves(amounts: list[tuple[int, int]]) -> list[ProvenLeaf]:
    """Every provider's leaf and path in one tree; a lone leaf is padded."""
    domain = leaf_domain(SETTLEMENT_TAG, CHAIN_ID, SETTLEMENT)
    leaves = [
        SettlementLeaf(provider_id=ProviderId(i), cum_reward_wei=Wei(reward), cum_penalty_wei=Wei(penalty))
        for i, (reward, penalty) in enumerate(amounts, start=1)
    ]
    stone = SettlementLeaf(provider_id=ProviderId(0), cum_reward_wei=Wei(0), cum_penalty_wei=Wei(0))
    tree = build_tree(settlement_leaf(domain, leaf) for leaf in (leaves if len(leaves) > 1 else [*leaves, stone]))
    active = ActiveRoot(index=RootIndex(0), epoch=EpochNumber(0), root=root(tree), leaf_count=len(leaves))
    return [ProvenLeaf(root=active, leaf=leaf, path=path(tree, i)) for i, leaf in enumerate(leaves)]


@given(AMOUNTS)
def test_every_true_leaf_is_believed(amounts: list[tuple[int, int]]) -> None:
    assert all(leads_to_root(proven, CHAIN_ID, SETTLEMENT) for proven in proven_leaves(amounts))


@given(AMOUNTS, st.data())
def test_one_changed_bit_is_not_believed(amounts: list[tuple[int, int]], data: st.DataObject) -> None:
    proven = data.draw(st.sampled_from(proven_leaves(amounts)))
    step = data.draw(st.integers(0, len(proven.path) - 1))
    bit = data.draw(st.integers(0, 255))
    flipped = Hash32((int.from_bytes(proven.path[step], "big") ^ 1 << bit).to_bytes(32, "big"))
    lies = [
        replace(proven, path=(*proven.path[:step], flipped, *proven.path[step + 1 :])),
        replace(proven, path=proven.path[:-1]),
        replace(proven, path=(*proven.path, proven.path[0])),
        replace(proven, leaf=replace(proven.leaf, cum_reward_wei=Wei(proven.leaf.cum_reward_wei + 1))),
        replace(proven, leaf=replace(proven.leaf, cum_penalty_wei=Wei(proven.leaf.cum_penalty_wei + 1))),
    ]

    assert not any(leads_to_root(lie, CHAIN_ID, SETTLEMENT) for lie in lies)
    assert not leads_to_root(proven, CHAIN_ID + 1, SETTLEMENT)
    assert not leads_to_root(proven, CHAIN_ID, checksum_address(b"\x22" * 20))


@given(*[st.integers(0, 2**100)] * 4)
def test_netting_pays_or_takes_the_difference_and_an_older_leaf_moves_nothing(
    claimed: int, penalised: int, reward: int, penalty: int
) -> None:
    leaf = SettlementLeaf(
        provider_id=ProviderId(1), cum_reward_wei=Wei(claimed + reward), cum_penalty_wei=Wei(penalised + penalty)
    )
    account = {"claimed": claimed, "penalised": penalised}

    owed = netting(account, leaf)
    older = netting({"claimed": leaf.cum_reward_wei, "penalised": leaf.cum_penalty_wei}, leaf)

    assert owed.pay_wei - owed.take_wei == reward - penalty
    assert min(owed.pay_wei, owed.take_wei) == 0
    assert older.pay_wei == older.take_wei == 0


def test_permit_is_the_one_of_eip_2612() -> None:
    owner, spender, token = (KeySigner(keccak(name)) for name in (b"owner", b"spender", b"token"))
    fields = {"owner": owner.address, "spender": spender.address, "value": 7, "nonce": 3, "deadline": 99}
    domain = {"name": "Swarm", "version": "1", "chainId": CHAIN_ID, "verifyingContract": token.address}
    kinds = {"owner": "address", "spender": "address", "value": "uint256", "nonce": "uint256", "deadline": "uint256"}
    theirs = encode_typed_data(domain, {"Permit": [{"name": n, "type": t} for n, t in kinds.items()]}, fields)

    struct_hash = permit_hash((owner.address, spender.address, Wei(7), 3, 99))

    assert struct_hash == theirs.body
    signature = owner.sign_typed(Hash32(theirs.header), struct_hash)
    assert Account.recover_message(theirs, signature=signature) == owner.address


def test_calendar_is_one_event_a_request() -> None:
    requests = [
        UnbondRequest(request_id=i, value_wei=Wei(10**18 * i), matures_at=Timestamp(1_800_000_000 + i)) for i in (1, 2)
    ]

    text = calendar_of(ProviderId(4), requests, Timestamp(1_700_000_000))

    assert text.count("BEGIN:VEVENT\r\n") == text.count("END:VEVENT\r\n") == 2
    assert "DTSTART:20270115T080001Z\r\n" in text
    assert text.startswith("BEGIN:VCALENDAR\r\n")
    assert text.endswith("END:VCALENDAR\r\n")
