"""The root that counts now and a provider's leaf in it, fetched from an oracle and verified against the chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarm_chain.cli.context import Session
from swarm_chain.cli.views import chain_time, view
from swarm_chain.core.encoding import SETTLEMENT_TAG, hash_from_hex, leaf_domain, settlement_leaf
from swarm_chain.core.errors import InconsistentError, InvalidInputError
from swarm_chain.core.merkle import path_length, verify
from swarm_chain.core.model import SettlementLeaf
from swarm_chain.core.units import EpochNumber, Hash32, ProviderId, RootIndex, Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRoot:
    """The latest root that may be settled against, as the chain has it."""

    index: RootIndex
    epoch: EpochNumber
    root: Hash32
    leaf_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenLeaf:
    """A leaf whose path was checked to lead to the root on chain."""

    root: ActiveRoot
    leaf: SettlementLeaf
    path: tuple[Hash32, ...]

    @property
    def call_args(self) -> tuple[object, ...]:
        """Arguments of RewardSettlement.settle."""
        leaf = self.leaf
        return (self.root.index, (leaf.provider_id, leaf.cum_reward_wei, leaf.cum_penalty_wei), list(self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Netting:
    """What settling a leaf would move, wei: `pay_wei` to the payout address or `take_wei` from stake; never both."""

    reward_wei: Wei
    penalty_wei: Wei

    @property
    def pay_wei(self) -> Wei:
        """Reward left after the penalty."""
        return Wei(max(0, self.reward_wei - self.penalty_wei))

    @property
    def take_wei(self) -> Wei:
        """Penalty the reward does not cover."""
        return Wei(max(0, self.penalty_wei - self.reward_wei))


def latest_active_root(session: Session) -> ActiveRoot | None:
    """The newest root that is activated and not disabled; None before the first."""
    now = chain_time(session)
    for index in reversed(range(view(session, "RewardSettlement", "rootCount"))):
        record = view(session, "RewardSettlement", "rootAt", index)
        if record["activatesAt"] <= now and not record["disabled"]:
            return ActiveRoot(
                index=RootIndex(index),
                epoch=EpochNumber(record["epoch"]),
                root=Hash32(record["root"]),
                leaf_count=record["leafCount"],
            )
    return None


def fetch_leaf(session: Session, root: ActiveRoot, provider_id: ProviderId) -> ProvenLeaf | None:
    """A provider's leaf and path, from the oracle, believed only if they lead to the root on chain.

    Returns:
        None if the provider registered after the root's reference block and so has no leaf in it.

    Raises:
        InconsistentError: what the oracle says does not lead to the root on chain.
        UnavailableError: no oracle answers.
    """
    if provider_id > root.leaf_count:
        return None
    document = session.oracle.get(f"/v1/epochs/{root.epoch}/proofs/{provider_id}")
    try:
        proven = _parse(root, document)
    except (KeyError, TypeError, ValueError, InvalidInputError) as error:
        raise _lie(root, provider_id, f"its answer is malformed ({error})") from error
    if proven.leaf.provider_id != provider_id or int(document["rootIndex"]) != root.index:
        raise _lie(root, provider_id, "it answered for another provider or root")
    if not leads_to_root(proven, session.deployment.chain_id, session.deployment.contracts["RewardSettlement"]):
        raise _lie(root, provider_id, "the path does not lead to the root on chain")
    return proven


def leads_to_root(proven: ProvenLeaf, chain_id: int, settlement: Any) -> bool:
    """Whether the path leads from the leaf, at its own position, to the root on chain.

    Source: contracts.md "Settlement"; a lone leaf is padded to two.
    """
    leaves = max(2, proven.root.leaf_count)
    if len(proven.path) != path_length(leaves, proven.leaf.provider_id - 1):
        return False
    domain = leaf_domain(SETTLEMENT_TAG, chain_id, settlement)
    return verify(proven.root.root, settlement_leaf(domain, proven.leaf), proven.path)


def netting(account: Mapping[str, int], leaf: SettlementLeaf) -> Netting:
    """What settling a leaf would move, given what was netted so far; an older leaf moves nothing."""
    return Netting(
        reward_wei=Wei(max(0, leaf.cum_reward_wei - account["claimed"])),
        penalty_wei=Wei(max(0, leaf.cum_penalty_wei - account["penalised"])),
    )


def _parse(root: ActiveRoot, document: Mapping[str, Any]) -> ProvenLeaf:
    leaf = document["leaf"]
    return ProvenLeaf(
        root=root,
        leaf=SettlementLeaf(
            provider_id=ProviderId(int(leaf["providerId"])),
            cum_reward_wei=Wei(int(leaf["cumRewardWei"])),
            cum_penalty_wei=Wei(int(leaf["cumPenaltyWei"])),
        ),
        path=tuple(hash_from_hex(str(sibling)) for sibling in document["path"]),
    )


def _lie(root: ActiveRoot, provider_id: ProviderId, why: str) -> InconsistentError:
    return InconsistentError(
        f"the oracle's proof for provider {provider_id} in epoch {root.epoch} is wrong: {why}; nothing was sent",
        fix="ask another oracle member (--oracle-url) and report this one",
        code="proof_mismatch",
        values={"epoch": root.epoch, "rootIndex": root.index, "providerId": provider_id},
    )
