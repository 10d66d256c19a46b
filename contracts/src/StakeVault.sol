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
import {StakeHistory} from "./libraries/StakeHistory.sol";
import {ThawPool} from "./libraries/ThawPool.sol";
import {VaultBooks} from "./VaultBooks.sol";
import {VaultSettings} from "./VaultSettings.sol";

/// @title Custody of stake: thaw pool, exit gates, penalties and slashes
/// @dev What happens to a provider's wei:
///
///        owner --stake--> active --requestUnbond--> thawing --time--> matured --withdraw--> owner
///                            ^------cancelUnbond------'------------------'
///                         active, thawing and matured --takePenalty, slash--> sink
///
///      Invariants 1 to 8, 10 to 12, 16, 33 and 34.
contract StakeVault is VaultBooks, ReentrancyGuardTransient {
    using SafeCast for uint256;
    using SafeERC20 for IERC20;
    using SlashBucket for SlashBucket.Bucket;
    using StakeHistory for StakeHistory.Balance;
    using ThawPool for ThawPool.Pool;

    /// @notice Most open unbond requests of one provider.
    uint256 public constant MAX_REQUESTS = 64;

    /// @notice The staking token.
    IERC20 public immutable TOKEN;
    /// @notice Who owns which provider.
    IProviderRegistry public immutable REGISTRY;
    /// @notice Where penalties and slashes go.
    ISlashSink public immutable SINK;

    modifier onlyStaker(uint256 providerId) {
        require(REGISTRY.ownerOf(providerId) == msg.sender, NotStaker(providerId, msg.sender));
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
    function stake(uint256 providerId, uint256 amount) external nonReentrant whenNotPaused {
        _stake(providerId, amount);
    }

    /// @inheritdoc IStakeVault
    function stakeWithPermit(uint256 providerId, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        nonReentrant
        whenNotPaused
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
        ThawPool.Pool storage thawing = _thawing[providerId];
        Exits storage exits = _exits[providerId];
        require(amount != 0, ZeroAmount());
        uint256 active = activeStake(providerId);
        require(amount <= active, InsufficientActiveStake(active, amount));
        require(exits.openRequests < MAX_REQUESTS, TooManyRequests(MAX_REQUESTS));

        uint256 shares = thawing.thaw(amount);
        require(shares != 0, ZeroShares(amount));
        uint64 maturesAt = uint64(block.timestamp) + unbondingFor;
        requestId = exits.nextRequestId++;
        exits.openRequests += 1;
        _unbonds[providerId][requestId] = UnbondRequest(shares.toUint128(), maturesAt, thawing.nonce);

        emit UnbondRequested(providerId, requestId, amount, shares, thawing.nonce, maturesAt);
    }

    /// @inheritdoc IStakeVault
    function cancelUnbond(uint256 providerId, uint256 requestId) external nonReentrant onlyStaker(providerId) {
        uint256 shares = _liveRequest(providerId, requestId).shares;

        _endRequest(providerId, requestId);
        uint256 amount = _thawing[providerId].unthaw(shares);

        emit UnbondCancelled(providerId, requestId, amount, shares);
    }

    /// @inheritdoc IStakeVault
    function withdraw(uint256 providerId, uint256 requestId) external nonReentrant returns (uint256 amount) {
        UnbondRequest memory request = _liveRequest(providerId, requestId);
        Exits memory exits = _exits[providerId];
        require(block.timestamp >= request.maturesAt, NotMatured(request.maturesAt, block.timestamp));
        require(exits.openCases == 0, CaseOpen(providerId, exits.openCases));
        _requireSettled(_settledRoots(providerId, exits.settledRoots));

        _endRequest(providerId, requestId);
        amount = _thawing[providerId].unthaw(request.shares);
        _remove(providerId, amount, block.timestamp);
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
        Exits storage exits = _exits[providerId];
        if (amount == 0 && settledRoots <= exits.settledRoots) return 0;
        taken = Math.min(amount, _tokens(providerId));

        if (settledRoots > exits.settledRoots) exits.settledRoots = settledRoots;
        uint256 fromThawing = _reduce(providerId, taken, block.timestamp);

        emit PenaltyTaken(providerId, taken, amount - taken, fromThawing, exits.settledRoots);
        _resetWorthless(providerId);

        _send(bytes32(0), taken, address(0), 0);
    }

    /// @inheritdoc IStakeVault
    function slash(Slash calldata order) external restricted nonReentrant returns (uint256 taken) {
        uint256 providerId = order.providerId;
        taken = Math.min(order.amount, stakeAt(providerId, order.offenceAt));
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
        _exits[providerId].openCases += 1;

        emit CaseOpened(providerId, _exits[providerId].openCases);
    }

    /// @inheritdoc IStakeVault
    function closeCase(uint256 providerId) external restricted {
        require(_exits[providerId].openCases != 0, NoOpenCase(providerId));

        _exits[providerId].openCases -= 1;

        emit CaseClosed(providerId, _exits[providerId].openCases);
    }

    function _stake(uint256 providerId, uint256 amount) private {
        (address owner, bool retired) = REGISTRY.ownership(providerId);
        require(owner == msg.sender, NotStaker(providerId, msg.sender));
        require(!retired, ProviderCannotStake(providerId));
        require(amount != 0, ZeroAmount());

        bool added = _stakes[providerId].deposit(amount, _horizon());
        require(added, TooManyDeposits(StakeHistory.MAX_FLOORS));
        _totalStaked += amount.toUint96();

        emit Staked(providerId, msg.sender, amount);

        uint256 before = TOKEN.balanceOf(address(this));
        TOKEN.safeTransferFrom(msg.sender, address(this), amount);
        uint256 received = TOKEN.balanceOf(address(this)) - before;
        require(received == amount, WrongAmountReceived(received, amount));
    }

    function _send(bytes32 caseId, uint256 amount, address reporter, uint256 bountyBps) private {
        if (amount == 0) return;
        TOKEN.safeTransfer(address(SINK), amount);
        SINK.deposit(caseId, amount, reporter, bountyBps);
    }
}
