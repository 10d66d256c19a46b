// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Custody of stake: thaw pool, exit gates, penalties and slashes
interface IStakeVault {
    /// @notice One provider's stake. `tokens` includes `thawTokens`; active stake is the difference. Wei.
    ///         `settledRoots` is the later of what came with the last penalty and what the exit gate knows.
    struct Pool {
        uint128 tokens;
        uint128 thawTokens;
        uint128 thawShares;
        uint64 nonce;
        uint32 openCases;
        uint32 settledRoots;
    }

    /// @notice One unbond request; worthless when its nonce is not the pool's.
    struct UnbondRequest {
        uint128 shares;
        uint64 maturesAt;
        uint64 nonce;
    }

    /// @notice Windows in seconds, buckets in bps of the stake they bound.
    struct VaultParams {
        uint64 unbondingFor;
        uint64 minUnbondingFor;
        uint64 maxUnbondingFor;
        uint64 staleAfterFor;
        uint16 providerBucketBps;
        uint16 globalBucketBps;
        uint64 bucketFor;
    }

    event Staked(uint256 indexed providerId, address indexed from, uint256 amount);
    event UnbondRequested(
        uint256 indexed providerId,
        uint256 indexed requestId,
        uint256 amount,
        uint256 shares,
        uint64 nonce,
        uint64 maturesAt
    );
    event UnbondCancelled(uint256 indexed providerId, uint256 indexed requestId, uint256 amount, uint256 shares);
    event Withdrawn(
        uint256 indexed providerId, uint256 indexed requestId, address indexed to, uint256 amount, uint256 shares
    );
    event PenaltyTaken(
        uint256 indexed providerId, uint256 amount, uint256 shortfall, uint256 fromThawing, uint32 settledRoots
    );
    /// @notice What a court asked for; `Slashed` with the same case id, next in the log, says what was taken.
    event SlashOrdered(
        uint256 indexed providerId,
        bytes32 indexed caseId,
        uint256 amount,
        uint64 offenceAt,
        bool providerCapped,
        bool globalCapped
    );
    event Slashed(
        uint256 indexed providerId,
        bytes32 indexed caseId,
        uint256 amount,
        uint256 fromThawing,
        address reporter,
        uint256 bountyBps
    );
    /// @notice All thaw shares of the pool became worthless; `dust` wei returned to active stake.
    event ThawPoolReset(uint256 indexed providerId, uint64 nonce, uint256 dust);
    event CaseOpened(uint256 indexed providerId, uint256 openCases);
    event CaseClosed(uint256 indexed providerId, uint256 openCases);
    event ExitGateChanged(address indexed gate);
    event UnbondingChanged(uint64 unbondingFor);
    event BucketsChanged(uint256 providerBps, uint256 globalBps);

    error ZeroAmount();
    error ZeroShares(uint256 amount);
    error InsufficientActiveStake(uint256 have, uint256 want);
    error TooManyRequests(uint256 max);
    error UnknownRequest(uint256 providerId, uint256 requestId);
    error StaleRequest(uint256 providerId, uint256 requestId);
    error NotMatured(uint64 maturesAt, uint256 nowAt);
    error CaseOpen(uint256 providerId, uint256 openCases);
    error NotSettled(uint256 settledRoots, uint256 activatedRoots);
    error NoOpenCase(uint256 providerId);
    error UnbondingTooShort(uint256 have, uint256 min);
    error UnbondingTooLong(uint256 have, uint256 max);
    error InvalidBps(uint256 bps);
    error WrongAmountReceived(uint256 have, uint256 want);
    error NotStaker(uint256 providerId, address caller);
    error ProviderCannotStake(uint256 providerId);
    /// @notice The provider made `max` deposits within MAX_UNBONDING; one larger deposit replaces many small ones.
    error TooManyDeposits(uint256 max);
    error ExitGateNotSet();
    error ZeroAddress();
    error InvalidWindow(uint256 have);

    /// @notice Adds stake to a provider. Only its owner.
    function stake(uint256 providerId, uint256 amount) external;

    /// @notice `stake` after trying the permit; a permit that was already used does not stop it.
    function stakeWithPermit(uint256 providerId, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;

    /// @notice Asks `amount` wei of active stake back; it stays slashable until withdrawn. Only the owner.
    function requestUnbond(uint256 providerId, uint256 amount) external returns (uint256 requestId);

    /// @notice Returns a live request to active stake. Only the owner.
    function cancelUnbond(uint256 providerId, uint256 requestId) external;

    /// @notice Pays a matured request to the owner once no case is open and the latest activated root is settled. Anyone may call.
    function withdraw(uint256 providerId, uint256 requestId) external returns (uint256 amount);

    /// @notice Takes at most `amount` wei, pro rata from active and thawing, and notes the settlement. Only RewardSettlement.
    /// @return taken Wei sent to the sink.
    function takePenalty(uint256 providerId, uint256 amount, uint32 settledRoots) external returns (uint256 taken);

    /// @notice Takes min(amount, what is still here of the stake at the offence, buckets), whole wei. Only courts.
    /// @dev Subjective cases are bound by the provider and global buckets; a severe security case passes the provider bucket
    ///      (`providerCapped` false); an objective proof passes both.
    /// @return taken Wei sent to the sink.
    function slash(Slash calldata order) external returns (uint256 taken);

    /// @notice What a court orders.
    struct Slash {
        uint256 providerId;
        bytes32 caseId;
        uint256 amount;
        uint64 offenceAt;
        bool providerCapped;
        bool globalCapped;
        address reporter;
        uint256 bountyBps;
    }

    /// @notice Counts a case against the provider; blocks withdrawals. Only courts.
    function openCase(uint256 providerId) external;

    /// @notice Ends one case. Only courts.
    function closeCase(uint256 providerId) external;

    /// @notice Replaces the exit gate. Only the timelock.
    function setExitGate(address gate) external;

    /// @notice Changes the maturity of later requests, inside [MIN_UNBONDING, MAX_UNBONDING]. Only the timelock.
    function setUnbonding(uint64 unbondingFor) external;

    /// @notice Changes the daily capacities of the buckets. Only the timelock.
    function setBuckets(uint256 providerBps, uint256 globalBps) external;

    function pool(uint256 providerId) external view returns (Pool memory);
    function unbondRequest(uint256 providerId, uint256 requestId) external view returns (UnbondRequest memory);
    /// @notice Wei a request would pay now; zero for unknown and stale requests.
    function unbondValue(uint256 providerId, uint256 requestId) external view returns (uint256);
    function openRequests(uint256 providerId) external view returns (uint256);
    function totalStaked() external view returns (uint256);
    /// @notice Active stake, wei.
    function activeStake(uint256 providerId) external view returns (uint256);
    /// @notice What an offence at second `at` can reach: stake (active and thawing) that was there at the end of that second and
    ///         has neither left nor been taken since, wei. Nothing when that is longer ago than MAX_UNBONDING.
    function stakeAt(uint256 providerId, uint64 at) external view returns (uint256);
    /// @notice What the buckets let subjective cases take from the provider now, wei.
    function bucketAvailable(uint256 providerId) external view returns (uint256 providerWei, uint256 globalWei);
    /// @notice Maturity of new requests, seconds.
    function unbondingFor() external view returns (uint64);
    /// @notice Shortest maturity the timelock may set, seconds: every court must be done by then (invariant 33).
    function minUnbondingFor() external view returns (uint64);
}
