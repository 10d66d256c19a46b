"""Who may call every function that changes state: the table of invariant 35, one line a function."""

from dataclasses import dataclass

from swarm_chain.deploy.plan import ADMIN, COURT, GUARDIAN, MINTER, ORACLE, SETTLEMENT, VAULT, VETO

# Public by design, with the reason.
PUBLIC = {
    ("TimelockController", "execute"): "what was scheduled and has waited; the contract checks that it did",
    ("TimelockController", "executeBatch"): "the same for several calls",
    ("TimelockController", "onERC1155BatchReceived"): "OpenZeppelin's receiver: answers its selector, changes nothing",
    ("TimelockController", "onERC1155Received"): "OpenZeppelin's receiver: answers its selector, changes nothing",
    ("TimelockController", "onERC721Received"): "OpenZeppelin's receiver: answers its selector, changes nothing",
    ("TimelockController", "renounceRole"): "gives up a role of the caller's own",
    ("AccessManager", "renounceRole"): "gives up a role of the caller's own",
    ("AccessManager", "multicall"): "each call in it is checked as if it were sent alone",
    ("SwarmToken", "approve"): "the caller's own tokens",
    ("SwarmToken", "burn"): "the caller's own tokens",
    ("SwarmToken", "transfer"): "the caller's own tokens",
    ("SwarmToken", "transferFrom"): "within the allowance that the holder gave the caller",
    ("SwarmToken", "permit"): "carries the holder's signature",
    ("ProviderRegistry", "register"): "makes the caller the owner of a new provider",
    ("SlashSink", "claimBounty"): "pays the reporter, whoever calls",
    ("StakeVault", "withdraw"): "pays the owner, whoever calls",
    ("EpochOracle", "submitReport"): "the report must hash to what a quorum voted for",
    ("ChallengeBeacon", "draw"): "the seed is a block hash that nobody chooses",
    ("RewardSettlement", "flushPenalties"): "moves penalties to the sink, nowhere else",
    ("RewardSettlement", "fund"): "gives the caller's own tokens",
    ("RewardSettlement", "settle"): "pays the recorded payout address what a proven leaf says",
    ("RewardSettlement", "settleAndWithdraw"): "pays the provider's payout address and owner",
    ("RewardSettlement", "settleMany"): "pays what proven leaves say, as settle does",
    ("SlashingCourt", "open"): "the case must be proven under an active root",
    ("SlashingCourt", "openWithBond"): "the caller's own bond",
    ("SlashingCourt", "execute"): "carries out a case whose veto window is over",
    ("SlashingCourt", "expire"): "ends a case that nobody carried out",
    ("JobEscrow", "post"): "the caller's own budget",
    ("JobEscrow", "refund"): "pays the customer once a deadline passed, whoever calls",
    ("JobEscrow", "settleJob"): "the outcome must be proven under an active root",
    ("ComputeCourt", "seal"): "notes a hash; worth nothing to anybody but who can open it",
    ("ComputeCourt", "accuse"): "the caller's own bond, and a seal of its own",
    ("ComputeCourt", "accuseMember"): "the caller's own bond, and a seal of its own",
    ("ComputeCourt", "equivocate"): "the two signatures are the proof; a seal of the caller's own",
    ("ComputeCourt", "contradict"): "the two heads are the proof; the accuser is rewarded, whoever calls",
    ("ComputeCourt", "prove"): "the arithmetic is the proof; the accuser is rewarded, whoever calls",
    ("ComputeCourt", "execute"): "an earlier proof decides; the accuser is rewarded, whoever calls",
    ("ComputeCourt", "timeout"): "a passed deadline decides",
    ("ComputeCourt", "dismiss"): "an earlier conviction decides",
}

# Reached through a role of the AccessManager only: (contract, functions, role).
RESTRICTED = (
    ("SwarmToken", ("mint",), MINTER),
    ("StakeVault", ("takePenalty",), SETTLEMENT),
    ("StakeVault", ("slash", "openCase", "closeCase"), COURT),
    ("ProviderRegistry", ("suspend",), COURT),
    ("RewardSettlement", ("acceptReport",), ORACLE),
    ("SlashSink", ("deposit",), VAULT),
    ("RewardSettlement", ("disableRoot", "pauseFor", "resume"), GUARDIAN),
    ("StakeVault", ("pauseFor", "resume"), GUARDIAN),
    ("JobEscrow", ("pauseFor", "resume"), GUARDIAN),
    ("SlashingCourt", ("veto",), VETO),
    ("ProviderRegistry", ("reinstate",), ADMIN),
    ("SlashSink", ("distribute",), ADMIN),
    ("StakeVault", ("setBuckets", "setExitGate", "setUnbonding"), ADMIN),
    ("EpochOracle", ("addMember", "removeMember", "setQuorum", "setLimits", "setSettlement"), ADMIN),
)

# Functions of the managers themselves that only the timelock's scheduled operations reach; with what a stranger is told.
MANAGER = "AccessManagerUnauthorizedAccount"
GOVERNED = {
    ("AccessManager", "grantRole"): MANAGER,
    ("AccessManager", "labelRole"): MANAGER,
    ("AccessManager", "revokeRole"): MANAGER,
    ("AccessManager", "setGrantDelay"): MANAGER,
    ("AccessManager", "setRoleAdmin"): MANAGER,
    ("AccessManager", "setRoleGuardian"): MANAGER,
    ("AccessManager", "setTargetAdminDelay"): MANAGER,
    ("AccessManager", "setTargetClosed"): MANAGER,
    ("AccessManager", "setTargetFunctionRole"): MANAGER,
    ("AccessManager", "updateAuthority"): MANAGER,
    ("AccessManager", "execute"): "AccessManagerUnauthorizedCall",
    ("AccessManager", "schedule"): "AccessManagerUnauthorizedCall",
    ("AccessManager", "cancel"): "AccessManagerNotScheduled",
    ("AccessManager", "consumeScheduledOp"): "reverted",  # asks the caller, which a key cannot answer
    ("TimelockController", "cancel"): "AccessControlUnauthorizedAccount",
    ("TimelockController", "grantRole"): "AccessControlUnauthorizedAccount",
    ("TimelockController", "revokeRole"): "AccessControlUnauthorizedAccount",
    ("TimelockController", "schedule"): "AccessControlUnauthorizedAccount",
    ("TimelockController", "scheduleBatch"): "AccessControlUnauthorizedAccount",
    ("TimelockController", "updateDelay"): "TimelockUnauthorizedCaller",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A function that one party of a deal may call: what a stranger is told, and who gets past it, as the world names them."""

    error: str
    admits: tuple[str, ...]


OWNER = Gate(error="NotProviderOwner", admits=("owner",))
STAKER = Gate(error="NotStaker", admits=("owner",))
OPERATOR = Gate(error="NotProviderOwnerOrOperator", admits=("owner", "operator"))
MEMBER = Gate(error="NotMember", admits=("member",))
DEFENDER = Gate(error="MayNotDefend", admits=("owner", "operator", "defender", "node"))
SPEAKER = Gate(error="MayNotAnnounce", admits=("owner", "operator", "node"))
WORKER = Gate(error="NotJobNode", admits=("operator", "node"))
GATED = {
    ("ProviderRegistry", "addNode"): OPERATOR,
    ("ProviderRegistry", "removeNode"): OPERATOR,
    ("ProviderRegistry", "announceMaintenance"): SPEAKER,
    ("ProviderRegistry", "withdrawMaintenance"): SPEAKER,
    ("ProviderRegistry", "setOperator"): OWNER,
    ("ProviderRegistry", "setPayout"): OWNER,
    ("ProviderRegistry", "setDefender"): OWNER,
    ("ProviderRegistry", "retire"): OWNER,
    ("StakeVault", "stake"): STAKER,
    ("StakeVault", "stakeWithPermit"): STAKER,
    ("StakeVault", "requestUnbond"): STAKER,
    ("StakeVault", "cancelUnbond"): STAKER,
    ("EpochOracle", "vote"): MEMBER,
    ("EpochOracle", "setReporter"): MEMBER,
    ("ChallengeBeacon", "commitSecret"): MEMBER,
    ("ChallengeBeacon", "open"): MEMBER,
    ("ChallengeBeacon", "close"): MEMBER,
    ("SlashingCourt", "answer"): DEFENDER,
    ("JobEscrow", "accept"): WORKER,
    ("JobEscrow", "complete"): WORKER,
    ("JobEscrow", "cancel"): Gate(error="NotCustomer", admits=("customer",)),
    ("ComputeCourt", "answer"): DEFENDER,
    ("ComputeCourt", "reveal"): DEFENDER,
    ("ComputeCourt", "pick"): Gate(error="NotAccuser", admits=("accuser",)),
}
# Only the authority itself may name another authority.
AUTHORITY = "setAuthority"
