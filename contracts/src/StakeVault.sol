// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {ISlashSink} from "./interfaces/ISlashSink.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {SlashBucket} from "./libraries/SlashBucket.sol";
import {StakeTranches} from "./libraries/StakeTranches.sol";
import {ThawPool} from "./libraries/ThawPool.sol";
import {VaultSettings} from "./VaultSettings.sol";

/// @title Custody of stake: thaw pool, exit gates, penalties and slashes
/// @dev What happens to a provider's wei:
///
///        owner --stake--> active --requestUnbond--> thawing --time--> matured --withdraw--> owner
///                            ^------cancelUnbond------'------------------'
///                         active, thawing and matured --takePenalty, slash--> sink
///
///      Invariants 1 to 8, 10 to 12, 16, 33 and 34.
contract StakeVault is VaultSettings, ReentrancyGuardTransient {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;
    using SlashBucket for SlashBucket.Bucket;
    using StakeTranches for StakeTranches.Tranche[];
    using ThawPool for Pool;

    /// @dev One slot: the next request id and how many requests of the live nonce are open.
    struct Requests {
        uint128 nextId;
        uint128 open;
    }

    /// @notice Most open unbond requests of one provider.
    uint256 public constant MAX_REQUESTS = 64;

    /// @notice The staking token.
    IERC20 public immutable TOKEN;
    /// @notice Who owns which provider.
    IProviderRegistry public immutable REGISTRY;
    /// @notice Where penalties and slashes go.
    ISlashSink public immutable SINK;
    /// @inheritdoc IStakeVault
    /// @dev slot 3, wei.
    uint256 public totalStaked;
    /// @dev slot 4, wei and shares.
    mapping(uint256 providerId => Pool) private _pools;
    /// @dev slot 5.
    mapping(uint256 providerId => Requests) private _requests;
    /// @dev slot 6, shares.
    mapping(uint256 providerId => mapping(uint256 requestId => UnbondRequest)) private _unbonds;
    /// @dev slot 7, wei.
    mapping(uint256 providerId => StakeTranches.Tranche[]) private _tranches;
    /// @dev slot 8, wei.
    mapping(uint256 providerId => SlashBucket.Bucket) private _providerBuckets;
    /// @dev slot 9, wei.
    SlashBucket.Bucket private _globalBucket;

    modifier onlyStaker(uint256 providerId) {
        _requireStaker(providerId);
        _;
    }

    /// @param authority AccessManager that names settlement, courts, guardian and timelock.
    constructor(address authority, IERC20 token, IProviderRegistry registry, ISlashSink sink, VaultParams memory params)
        AccessManaged(authority)
        VaultSettings(params)
    {
        require(
            address(token) != address(0) && address(registry) != address(0) && address(sink) != address(0),
            ZeroAddress()
        );
        (TOKEN, REGISTRY, SINK) = (token, registry, sink);
    }

    /// @inheritdoc IStakeVault
    function stake(uint256 providerId, uint256 amount) external nonReentrant whenNotPaused onlyStaker(providerId) {
        _stake(providerId, amount);
    }

    /// @inheritdoc IStakeVault
    function stakeWithPermit(uint256 providerId, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
        whenNotPaused
        onlyStaker(providerId)
    {
        // Anyone can use up a permit seen in the mempool; the allowance that it leaves is all that counts.
        try IERC20Permit(address(TOKEN)).permit(msg.sender, address(this), amount, deadline, v, r, s) {} catch {}
        _stake(providerId, amount);
    }

    /// @inheritdoc IStakeVault
    function requestUnbond(uint256 providerId, uint256 amount)
        external
        nonReentrant
        onlyStaker(providerId)
        returns (uint256 requestId)
    {
        Pool storage own = _pools[providerId];
        Requests storage requests = _requests[providerId];
        require(amount != 0, ZeroAmount());
        require(amount <= own.active(), InsufficientActiveStake(own.active(), amount));
        require(requests.open < MAX_REQUESTS, TooManyRequests(MAX_REQUESTS));

        uint256 shares = own.thaw(amount);
        require(shares != 0, ZeroShares(amount));
        uint64 maturesAt = uint64(block.timestamp) + unbondingFor;
        requestId = requests.nextId++;
        requests.open += 1;
        _unbonds[providerId][requestId] =
            UnbondRequest({shares: shares.toUint128(), maturesAt: maturesAt, nonce: own.nonce});

        emit UnbondRequested(providerId, requestId, amount, shares, own.nonce, maturesAt);
    }

    /// @inheritdoc IStakeVault
    function cancelUnbond(uint256 providerId, uint256 requestId) external nonReentrant onlyStaker(providerId) {
        uint256 shares = _liveRequest(providerId, requestId).shares;

        _endRequest(providerId, requestId);
        uint256 amount = _pools[providerId].unthaw(shares);

        emit UnbondCancelled(providerId, requestId, amount, shares);
    }

    /// @inheritdoc IStakeVault
    function withdraw(uint256 providerId, uint256 requestId) external nonReentrant returns (uint256 amount) {
        UnbondRequest memory request = _liveRequest(providerId, requestId);
        Pool storage own = _pools[providerId];
        require(block.timestamp >= request.maturesAt, NotMatured(request.maturesAt, block.timestamp));
        require(own.openCases == 0, CaseOpen(providerId, own.openCases));
        _requireSettled(_settledRoots(providerId, own.settledRoots));

        _endRequest(providerId, requestId);
        amount = own.unthaw(request.shares);
        own.tokens -= amount.toUint128();
        totalStaked -= amount;
        _tranches[providerId].remove(block.timestamp, amount);
        address owner = REGISTRY.ownerOf(providerId);

        emit Withdrawn(providerId, requestId, owner, amount, request.shares);

        TOKEN.safeTransfer(owner, amount);
    }

    /// @inheritdoc IStakeVault
    function takePenalty(uint256 providerId, uint256 amount, uint32 settledRoots)
        external
        restricted
        nonReentrant
        returns (uint256 taken)
    {
        Pool storage own = _pools[providerId];
        if (amount == 0 && settledRoots <= own.settledRoots) return 0;
        taken = Math.min(amount, own.tokens);

        if (settledRoots > own.settledRoots) own.settledRoots = settledRoots;
        uint256 fromThawing = _reduce(providerId, taken, block.timestamp);

        emit PenaltyTaken(providerId, taken, amount - taken, fromThawing, own.settledRoots);
        _resetWorthless(providerId);

        _send(bytes32(0), taken, address(0), 0);
    }

    /// @inheritdoc IStakeVault
    function slash(Slash calldata order) external restricted nonReentrant returns (uint256 taken) {
        uint256 providerId = order.providerId;
        // Σ tranches is the stake now, so this is min(amount, stake at the offence that is still here, stake now).
        taken = Math.min(order.amount, _tranches[providerId].reachable(order.offenceAt));
        (uint256 usedHere, uint256 leftHere) = _providerBucket(providerId);
        (uint256 usedInAll, uint256 leftInAll) = _bucketOfAll();
        if (order.providerCapped) taken = Math.min(taken, leftHere);
        if (order.globalCapped) taken = Math.min(taken, leftInAll);

        if (order.providerCapped) _providerBuckets[providerId].consume(usedHere, taken);
        if (order.globalCapped) _globalBucket.consume(usedInAll, taken);
        uint256 fromThawing = _reduce(providerId, taken, order.offenceAt);

        emit SlashOrdered(
            providerId, order.caseId, order.amount, order.offenceAt, order.providerCapped, order.globalCapped
        );
        emit Slashed(providerId, order.caseId, taken, fromThawing, order.reporter, order.bountyBps);
        _resetWorthless(providerId);

        _send(order.caseId, taken, order.reporter, order.bountyBps);
    }

    /// @inheritdoc IStakeVault
    function openCase(uint256 providerId) external restricted {
        _pools[providerId].openCases += 1;

        emit CaseOpened(providerId, _pools[providerId].openCases);
    }

    /// @inheritdoc IStakeVault
    function closeCase(uint256 providerId) external restricted {
        require(_pools[providerId].openCases != 0, NoOpenCase(providerId));

        _pools[providerId].openCases -= 1;

        emit CaseClosed(providerId, _pools[providerId].openCases);
    }

    /// @inheritdoc IStakeVault
    function pool(uint256 providerId) external view returns (Pool memory own) {
        own = _pools[providerId];
        own.settledRoots = _settledRoots(providerId, own.settledRoots);
    }

    /// @inheritdoc IStakeVault
    function unbondRequest(uint256 providerId, uint256 requestId) external view returns (UnbondRequest memory) {
        return _unbonds[providerId][requestId];
    }

    /// @inheritdoc IStakeVault
    function unbondValue(uint256 providerId, uint256 requestId) external view returns (uint256) {
        UnbondRequest memory request = _unbonds[providerId][requestId];
        return request.nonce == _pools[providerId].nonce ? _pools[providerId].toTokens(request.shares) : 0;
    }

    /// @inheritdoc IStakeVault
    function openRequests(uint256 providerId) external view returns (uint256) {
        return _requests[providerId].open;
    }

    /// @inheritdoc IStakeVault
    function activeStake(uint256 providerId) external view returns (uint256) {
        return _pools[providerId].active();
    }

    /// @inheritdoc IStakeVault
    function stakeAt(uint256 providerId, uint64 at) external view returns (uint256) {
        return _tranches[providerId].reachable(at);
    }

    /// @inheritdoc IStakeVault
    function bucketAvailable(uint256 providerId) external view returns (uint256 providerWei, uint256 globalWei) {
        (, providerWei) = _providerBucket(providerId);
        (, globalWei) = _bucketOfAll();
    }

    function _stake(uint256 providerId, uint256 amount) private {
        require(!REGISTRY.isRetired(providerId), ProviderCannotStake(providerId));
        require(amount != 0, ZeroAmount());

        _pools[providerId].tokens += amount.toUint128();
        totalStaked += amount;
        // No offence older than the longest unbonding is judged: the stake behind it could have left long ago.
        uint256 horizon = Math.saturatingSub(block.timestamp, MAX_UNBONDING);
        bool added = _tranches[providerId].add(block.timestamp, amount, horizon);
        require(added, TooManyDeposits(StakeTranches.MAX_TRANCHES));

        emit Staked(providerId, msg.sender, amount);

        uint256 before = TOKEN.balanceOf(address(this));
        TOKEN.safeTransferFrom(msg.sender, address(this), amount);
        uint256 received = TOKEN.balanceOf(address(this)) - before;
        require(received == amount, WrongAmountReceived(received, amount));
    }

    /// @dev Takes `amount` wei of the stake that was there at second `at` out of all books.
    function _reduce(uint256 providerId, uint256 amount, uint256 at) private returns (uint256 fromThawing) {
        fromThawing = _pools[providerId].reduce(amount);
        _tranches[providerId].remove(at, amount);
        totalStaked -= amount;
    }

    function _resetWorthless(uint256 providerId) private {
        (bool done, uint256 dust) = _pools[providerId].resetWorthless();
        if (!done) return;

        _requests[providerId].open = 0;

        emit ThawPoolReset(providerId, _pools[providerId].nonce, dust);
    }

    function _endRequest(uint256 providerId, uint256 requestId) private {
        delete _unbonds[providerId][requestId];
        _requests[providerId].open -= 1;
    }

    function _send(bytes32 caseId, uint256 amount, address reporter, uint256 bountyBps) private {
        if (amount == 0) return;
        TOKEN.safeTransfer(address(SINK), amount);
        SINK.deposit(caseId, amount, reporter, bountyBps);
    }

    function _providerBucket(uint256 providerId) private view returns (uint256 used, uint256 available) {
        return _providerBuckets[providerId].state(_pools[providerId].tokens, providerBucketBps, BUCKET_FOR);
    }

    function _bucketOfAll() private view returns (uint256 used, uint256 available) {
        return _globalBucket.state(totalStaked, globalBucketBps, BUCKET_FOR);
    }

    function _liveRequest(uint256 providerId, uint256 requestId) private view returns (UnbondRequest memory request) {
        request = _unbonds[providerId][requestId];
        require(request.shares != 0, UnknownRequest(providerId, requestId));
        require(request.nonce == _pools[providerId].nonce, StaleRequest(providerId, requestId));
    }

    function _requireStaker(uint256 providerId) private view {
        require(REGISTRY.ownerOf(providerId) == msg.sender, NotStaker(providerId, msg.sender));
    }
}
