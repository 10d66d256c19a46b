"""Frozen values of the protocol, shared by wallet, oracle and node. Construction validates, later code trusts."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from swarm_chain.core.kinds import JobKind, JobState, Outcome, Severity, ViolationClass, WindowState
from swarm_chain.core.units import (
    UINT64_MAX,
    UINT128_MAX,
    ZERO_HASH,
    Address,
    BlockNumber,
    EpochNumber,
    Hash32,
    JobId,
    Mtops,
    ProviderId,
    RootIndex,
    Signature,
    Timestamp,
    Wei,
    WindowId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRef:
    """A block all reads of one decision are pinned to."""

    number: BlockNumber
    hash: Hash32
    timestamp: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEvent:
    """One decoded log. `args` holds ints, bytes, bools and checksummed addresses by their Solidity names."""

    contract: str
    name: str
    args: Mapping[str, object]
    block: BlockNumber
    log_index: int
    tx_hash: Hash32
    timestamp: Timestamp

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", MappingProxyType(dict(self.args)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractCall:
    """A call of a Swarm contract by its name in the deployment."""

    contract: str
    function: str
    args: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedTx:
    """A signed transaction that can be broadcast again; stored before the first broadcast."""

    hash: Hash32
    raw: bytes
    sender: Address
    nonce: int
    max_fee_wei: Wei
    call: ContractCall


@dataclass(frozen=True, slots=True, kw_only=True)
class TxOutcome:
    """What the chain says of a transaction; `events` are the Swarm events of its receipt."""

    hash: Hash32
    succeeded: bool
    block: BlockNumber
    gas_used: int
    fee_wei: Wei
    events: tuple[ChainEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Where the contracts of a chain are."""

    chain_id: int
    block: BlockNumber
    params: str
    contracts: Mapping[str, Address]

    def __post_init__(self) -> None:
        object.__setattr__(self, "contracts", MappingProxyType(dict(self.contracts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRemoval:
    """A node key that its provider gave up: what it signs for windows that open later binds nobody."""

    node: Address
    removed_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRecord:
    """A provider as the chain knew it at a block; `payout` is the address in force then."""

    provider_id: ProviderId
    owner: Address
    operator: Address
    payout: Address
    hardware_class: int
    region: bytes
    registered_at: Timestamp
    suspended_until: Timestamp
    retired: bool
    nodes: tuple[Address, ...]
    stake_wei: Wei
    active_stake_wei: Wei
    pending_payout: Address | None = None
    pending_payout_at: Timestamp = Timestamp(0)
    past_nodes: tuple[Address, ...] = ()
    removals: tuple[KeyRemoval, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """That a node will be away from `starts_at` until `ends_at` (exclusive), as it said at `announced_at`; unix s."""

    node: Address
    starts_at: Timestamp
    ends_at: Timestamp
    announced_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """A compute window as the chain knew it at a block."""

    window_id: WindowId
    state: WindowState
    window_seed: Hash32 = ZERO_HASH
    commitments_root: Hash32 = ZERO_HASH
    commitment_count: int = 0
    draw_seed: Hash32 = ZERO_HASH
    opened_at: Timestamp = Timestamp(0)
    opened_block: BlockNumber = BlockNumber(0)
    closed_at: Timestamp = Timestamp(0)
    closed_block: BlockNumber = BlockNumber(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job as the chain knew it at a block."""

    job_id: JobId
    state: JobState
    kind: JobKind
    customer: Address
    spec_hash: Hash32
    budget_wei: Wei
    posted_at: Timestamp
    provider_id: ProviderId = ProviderId(0)
    node: Address | None = None
    receipt_digest: Hash32 = ZERO_HASH
    completed_at: Timestamp = Timestamp(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RootRecord:
    """An accepted report as RewardSettlement keeps it."""

    index: RootIndex
    epoch: EpochNumber
    root: Hash32
    outcomes_root: Hash32
    manifest_hash: Hash32
    leaf_count: int
    total_reward_wei: Wei
    total_penalty_wei: Wei
    activates_at: Timestamp
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainState:
    """Everything settlement needs from the chain, folded from events up to `block`. Tuples are ordered by id.

    `announcements` are those that ended at most `windows.ANNOUNCED_FOR` ago, or did not end yet, by node and start.
    """

    block: BlockRef
    providers: tuple[ProviderRecord, ...] = ()
    windows: tuple[WindowRecord, ...] = ()
    jobs: tuple[JobRecord, ...] = ()
    roots: tuple[RootRecord, ...] = ()
    members: tuple[Address, ...] = ()
    quorum: int = 0
    announcements: tuple[Announcement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """ComputeCommitment of compute-proof.md; what a node signs before it knows the drawn rows.

    `window_seed` is the one it computed with: a chain that opens the window anew makes the commitment void, not false.
    """

    window_id: WindowId
    window_seed: Hash32
    node: Address
    device: int
    m: int
    n: int
    steps: int
    root: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCommitment:
    """A commitment and the node key's signature over its EIP-712 digest (domain: ChallengeBeacon)."""

    commitment: Commitment
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """One drawn row: its index, the first 64 bytes of its last state, and its path, leaf upwards."""

    row: int
    head: bytes
    path: tuple[Hash32, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A node's openings of one commitment, in draw order."""

    window_id: WindowId
    node: Address
    device: int
    root: Hash32
    openings: tuple[Opening, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedProof:
    """A proof and the node key's signature over ComputeProof(windowId,node,device,root,openingsHash)."""

    proof: Proof
    signature: Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judge's finding for one (window, node, device); `reason` is a stable code, empty when passed.

    `row` is the first drawn row that the node's own tree holds and arithmetic denies, the one to accuse; None without one.
    """

    window_id: WindowId
    node: Address
    device: int
    outcome: Outcome
    reason: str = ""
    row: int | None = None
    rows_checked: int = 0
    elapsed_ms: int = 0
    mtops: Mtops = Mtops(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A node's sign of life; `sequence` only grows, `expires_at` bounds a replay."""

    node: Address
    sequence: int
    issued_at: Timestamp
    expires_at: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The signed outcome of a job (jobs.md). `exit_code` 0 is success."""

    job_id: JobId
    kind: JobKind
    node: Address
    spec_hash: Hash32
    input_digest: Hash32
    output_digest: Hash32
    checkpoint_root: Hash32
    checkpoint_count: int
    device_seconds: int
    started_at: Timestamp
    finished_at: Timestamp
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementLeaf:
    """(provider, cumulative reward, cumulative penalty), wei."""

    provider_id: ProviderId
    cum_reward_wei: Wei
    cum_penalty_wei: Wei

    def __post_init__(self) -> None:
        for amount in (self.cum_reward_wei, self.cum_penalty_wei):
            if not 0 <= amount <= UINT128_MAX:
                raise ValueError(f"provider {self.provider_id}: {amount} wei is outside uint128")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken rule; same fields as the Solidity struct. `suspended_for` UINT64_MAX is exclusion."""

    provider_id: ProviderId
    violation_class: ViolationClass
    severity: Severity
    epoch: EpochNumber
    offence_at: Timestamp
    amount_wei: Wei
    suspended_for: int
    evidence_hash: Hash32

    def __post_init__(self) -> None:
        if not 0 <= self.amount_wei <= UINT128_MAX or not 0 <= self.suspended_for <= UINT64_MAX:
            raise ValueError(f"violation of provider {self.provider_id} is out of range")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The oracle's judgement of a completed job; `pay_wei` 0 refunds the customer."""

    job_id: JobId
    receipt_digest: Hash32
    pay_wei: Wei


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Same fields as the Solidity struct Report; members vote on keccak256(abi.encode(report))."""

    epoch: EpochNumber
    ref_block: BlockNumber
    ref_block_hash: Hash32
    params_version: int
    root: Hash32
    leaf_count: int
    total_reward_wei: Wei
    total_penalty_wei: Wei
    outcomes_root: Hash32
    manifest_hash: Hash32


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochResult:
    """What settle_epoch returns: the lines of the tree, ordered by provider id, and the outcomes, in tree order."""

    epoch: EpochNumber
    leaves: tuple[SettlementLeaf, ...]
    violations: tuple[Violation, ...] = ()
    jobs: tuple[JobOutcome, ...] = ()
    carry_wei: Wei = Wei(0)
