// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ExpiringPause} from "./ExpiringPause.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {SlashBucket} from "./libraries/SlashBucket.sol";
import {StakeHistory} from "./libraries/StakeHistory.sol";
import {ThawPool} from "./libraries/ThawPool.sol";
import {VaultSettings} from "./VaultSettings.sol";

/// @title What the vault knows: stake, thawing stake, requests and buckets
/// @dev Packed for deposits, the commonest of all calls: it writes the slot of the pause and the total and the slot of the provider's
///      stake, and no other of the vault's own unless the history grows.
abstract contract VaultBooks is VaultSettings, ExpiringPause {
    using SafeCast for uint256;
    using SlashBucket for SlashBucket.Bucket;
    using StakeHistory for StakeHistory.Balance;
    using ThawPool for ThawPool.Pool;

    /// @dev One slot: the next request id, how many requests of the live nonce and how many cases are open, and what was settled.
    struct Exits {
        uint96 nextRequestId;
        uint32 openRequests;
        uint32 openCases;
        uint32 settledRoots;
    }

    /// @dev slot 2 (behind the pause, which every deposit reads), wei; the token's cap is below 2^90.
    uint96 internal _totalStaked;
    /// @dev slot 3, wei.
    mapping(uint256 providerId => StakeHistory.Balance) internal _stakes;
    /// @dev slot 4, wei and shares.
    mapping(uint256 providerId => ThawPool.Pool) internal _thawing;
    /// @dev slot 5.
    mapping(uint256 providerId => Exits) internal _exits;
    /// @dev slot 6, shares.
    mapping(uint256 providerId => mapping(uint256 requestId => UnbondRequest)) internal _unbonds;
    /// @dev slot 7, wei.
    mapping(uint256 providerId => SlashBucket.Bucket) internal _providerBuckets;
    /// @dev slot 8, wei.
    SlashBucket.Bucket internal _globalBucket;

    /// @inheritdoc IStakeVault
    function pool(uint256 providerId) external view returns (Pool memory) {
        ThawPool.Pool memory thawing = _thawing[providerId];
        Exits memory exits = _exits[providerId];
        return Pool({
            tokens: _stakes[providerId].head.tokens,
            thawTokens: thawing.tokens,
            thawShares: thawing.shares,
            nonce: thawing.nonce,
            openCases: exits.openCases,
            settledRoots: _settledRoots(providerId, exits.settledRoots)
        });
    }

    /// @inheritdoc IStakeVault
    function unbondRequest(uint256 providerId, uint256 requestId) external view returns (UnbondRequest memory) {
        return _unbonds[providerId][requestId];
    }

    /// @inheritdoc IStakeVault
    function unbondValue(uint256 providerId, uint256 requestId) external view returns (uint256) {
        UnbondRequest memory request = _unbonds[providerId][requestId];
        return request.nonce == _thawing[providerId].nonce ? _thawing[providerId].toTokens(request.shares) : 0;
    }

    /// @inheritdoc IStakeVault
    function openRequests(uint256 providerId) external view returns (uint256) {
        return _exits[providerId].openRequests;
    }

    /// @inheritdoc IStakeVault
    function totalStaked() external view returns (uint256) {
        return _totalStaked;
    }

    /// @inheritdoc IStakeVault
    function bucketAvailable(uint256 providerId) external view returns (uint256 providerWei, uint256 globalWei) {
        (, providerWei) = _providerBucket(providerId);
        (, globalWei) = _bucketOfAll();
    }

    /// @inheritdoc IStakeVault
    function activeStake(uint256 providerId) public view returns (uint256) {
        return _tokens(providerId) - _thawing[providerId].tokens;
    }

    /// @inheritdoc IStakeVault
    function stakeAt(uint256 providerId, uint64 at) public view returns (uint256) {
        return at < _horizon() ? 0 : _stakes[providerId].reach(at);
    }

    /// @dev Takes `amount` wei of the stake that was there at second `at`, pro rata from active and thawing.
    function _reduce(uint256 providerId, uint256 amount, uint256 at) internal returns (uint256 fromThawing) {
        fromThawing = _thawing[providerId].reduce(amount, _tokens(providerId));
        _remove(providerId, amount, at);
    }

    function _remove(uint256 providerId, uint256 amount, uint256 at) internal {
        _stakes[providerId].remove(at, amount);
        _totalStaked -= amount.toUint96();
    }

    function _resetWorthless(uint256 providerId) internal {
        (bool done, uint256 dust) = _thawing[providerId].resetWorthless();
        if (!done) return;

        _exits[providerId].openRequests = 0;

        emit ThawPoolReset(providerId, _thawing[providerId].nonce, dust);
    }

    function _endRequest(uint256 providerId, uint256 requestId) internal {
        delete _unbonds[providerId][requestId];
        _exits[providerId].openRequests -= 1;
    }

    function _providerBucket(uint256 providerId) internal view returns (uint256 used, uint256 available) {
        return _providerBuckets[providerId].state(_tokens(providerId), providerBucketBps, BUCKET_FOR);
    }

    function _bucketOfAll() internal view returns (uint256 used, uint256 available) {
        return _globalBucket.state(_totalStaked, globalBucketBps, BUCKET_FOR);
    }

    function _liveRequest(uint256 providerId, uint256 requestId) internal view returns (UnbondRequest memory request) {
        request = _unbonds[providerId][requestId];
        require(request.shares != 0, UnknownRequest(providerId, requestId));
        require(request.nonce == _thawing[providerId].nonce, StaleRequest(providerId, requestId));
    }

    /// @dev Wei, active and thawing.
    function _tokens(uint256 providerId) internal view returns (uint256) {
        return _stakes[providerId].head.tokens;
    }

    /// @dev No older offence is judged: the stake behind it could have left long ago.
    function _horizon() internal view returns (uint256) {
        return Math.saturatingSub(block.timestamp, MAX_UNBONDING);
    }
}
