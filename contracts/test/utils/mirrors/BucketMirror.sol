// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

import {StakeVault} from "../../../src/StakeVault.sol";
import {IStakeVault} from "../../../src/interfaces/IStakeVault.sol";
import {Mirror} from "./Mirror.sol";

/// @title The vault's settings and slash buckets rebuilt from its events (invariant 16)
/// @dev A bucket starts full, refills linearly in a day, and its capacity is a share of the stake before its own use.
contract BucketMirror is Mirror {
    struct Bucket {
        uint256 used;
        uint256 usedAt;
    }

    uint256 private constant BPS = 10_000;
    uint256 private constant BUCKET_FOR = 1 days;

    uint256 private _providerBps;
    uint256 private _globalBps;
    address private _exitGate;

    uint256 private _lastProvider;
    uint256 private _totalStake;
    mapping(uint256 providerId => uint256) private _stakes;
    mapping(uint256 providerId => Bucket) private _buckets;
    Bucket private _bucketOfAll;

    /// @dev Which buckets bound the next `Slashed`.
    bool private _providerCapped;
    bool private _globalCapped;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == IStakeVault.Staked.selector) {
            _staked(_id(log), abi.decode(log.data, (uint256)));
        } else if (kind == IStakeVault.Withdrawn.selector || kind == IStakeVault.PenaltyTaken.selector) {
            _left(_id(log), _amountOf(log));
        } else if (kind == IStakeVault.SlashOrdered.selector) {
            (,, _providerCapped, _globalCapped) = abi.decode(log.data, (uint256, uint64, bool, bool));
        } else if (kind == IStakeVault.Slashed.selector) {
            _slashed(_id(log), _amountOf(log));
        } else if (kind == IStakeVault.BucketsChanged.selector) {
            (_providerBps, _globalBps) = abi.decode(log.data, (uint256, uint256));
        } else if (kind == IStakeVault.ExitGateChanged.selector) {
            _exitGate = _address(log.topics[1]);
        }
    }

    function compare() external view override {
        StakeVault vault = StakeVault(SOURCE);
        assertEq(vault.providerBucketBps(), _providerBps, "providerBucketBps");
        assertEq(vault.globalBucketBps(), _globalBps, "globalBucketBps");
        assertEq(address(vault.exitGate()), _exitGate, "exitGate");
        for (uint256 id = 1; id <= _lastProvider; ++id) {
            (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(id);
            assertEq(providerWei, _available(_buckets[id], _stakes[id], _providerBps), "16: the provider's bucket");
            assertEq(globalWei, _available(_bucketOfAll, _totalStake, _globalBps), "16: the bucket of all");
        }
    }

    function _staked(uint256 id, uint256 amount) private {
        _stakes[id] += amount;
        _totalStake += amount;
        if (id > _lastProvider) _lastProvider = id;
    }

    function _left(uint256 id, uint256 amount) private {
        _stakes[id] -= amount;
        _totalStake -= amount;
    }

    function _slashed(uint256 id, uint256 amount) private {
        if (_providerCapped) _use(_buckets[id], _stakes[id], _providerBps, amount);
        if (_globalCapped) _use(_bucketOfAll, _totalStake, _globalBps, amount);
        _left(id, amount);
    }

    function _use(Bucket storage bucket, uint256 stake, uint256 bps, uint256 amount) private {
        bucket.used = _usedOf(bucket, stake, bps) + amount;
        bucket.usedAt = block.timestamp;
    }

    function _usedOf(Bucket storage bucket, uint256 stake, uint256 bps) private view returns (uint256) {
        uint256 refilled = (stake + bucket.used) * bps * (block.timestamp - bucket.usedAt) / (BPS * BUCKET_FOR);
        return bucket.used > refilled ? bucket.used - refilled : 0;
    }

    function _available(Bucket storage bucket, uint256 stake, uint256 bps) private view returns (uint256) {
        uint256 used = _usedOf(bucket, stake, bps);
        uint256 capacity = (stake + used) * bps / BPS;
        return capacity > used ? capacity - used : 0;
    }

    function _amountOf(Vm.Log calldata log) private pure returns (uint256) {
        return uint256(bytes32(log.data[:32]));
    }
}
