// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IExitGate} from "./interfaces/IExitGate.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";

/// @title What the timelock may change in the vault, and how far
/// @dev Changes reach later requests and later cases only: a request keeps the maturity it was made with. Invariants 16, 33, 34.
abstract contract VaultSettings is IStakeVault, AccessManaged {
    using SafeCast for uint256;

    /// @notice No deployment may hold stake longer than this, seconds.
    uint64 public constant LONGEST_UNBONDING = 366 days;

    uint256 private constant BPS = 10_000;

    /// @dev Sum of the windows in which a judgement may still arrive, seconds (invariant 33).
    uint64 private immutable MIN_UNBONDING;

    /// @notice Longest maturity the timelock may set, seconds.
    uint64 public immutable MAX_UNBONDING;

    /// @notice Silence of the oracle after which exits no longer wait for a settlement, seconds.
    uint64 public immutable STALE_AFTER;

    /// @notice Time in which an empty bucket refills, seconds.
    uint64 public immutable BUCKET_FOR;

    /// @notice Says what is settled before stake leaves.
    /// @dev slot 1.
    IExitGate public exitGate;

    /// @inheritdoc IStakeVault
    /// @dev slot 1, seconds.
    uint64 public unbondingFor;

    /// @notice What subjective cases may take of one provider's stake in BUCKET_FOR.
    /// @dev slot 1, bps.
    uint16 public providerBucketBps;

    /// @notice What subjective cases may take of all stake in BUCKET_FOR.
    /// @dev slot 1, bps.
    uint16 public globalBucketBps;

    constructor(VaultParams memory params) {
        require(params.minUnbondingFor != 0, InvalidWindow(params.minUnbondingFor));
        require(params.staleAfterFor != 0, InvalidWindow(params.staleAfterFor));
        require(params.bucketFor != 0, InvalidWindow(params.bucketFor));
        require(
            params.maxUnbondingFor <= LONGEST_UNBONDING, UnbondingTooLong(params.maxUnbondingFor, LONGEST_UNBONDING)
        );
        (MIN_UNBONDING, MAX_UNBONDING) = (params.minUnbondingFor, params.maxUnbondingFor);
        (STALE_AFTER, BUCKET_FOR) = (params.staleAfterFor, params.bucketFor);
        _setUnbonding(params.unbondingFor);
        _setBuckets(params.providerBucketBps, params.globalBucketBps);
    }

    /// @inheritdoc IStakeVault
    function setExitGate(address gate) external restricted {
        // An address that is no gate would close every exit; it shows here, before anyone depends on it.
        IExitGate(gate).exitStatus();
        IExitGate(gate).settledRootsOf(0);

        exitGate = IExitGate(gate);

        emit ExitGateChanged(gate);
    }

    /// @inheritdoc IStakeVault
    function setUnbonding(uint64 newUnbondingFor) external restricted {
        _setUnbonding(newUnbondingFor);
    }

    /// @inheritdoc IStakeVault
    function setBuckets(uint256 providerBps, uint256 globalBps) external restricted {
        _setBuckets(providerBps, globalBps);
    }

    /// @inheritdoc IStakeVault
    function minUnbondingFor() external view returns (uint64) {
        return MIN_UNBONDING;
    }

    function _setUnbonding(uint64 newUnbondingFor) private {
        require(newUnbondingFor >= MIN_UNBONDING, UnbondingTooShort(newUnbondingFor, MIN_UNBONDING));
        require(newUnbondingFor <= MAX_UNBONDING, UnbondingTooLong(newUnbondingFor, MAX_UNBONDING));

        unbondingFor = newUnbondingFor;

        emit UnbondingChanged(newUnbondingFor);
    }

    function _setBuckets(uint256 providerBps, uint256 globalBps) private {
        require(providerBps != 0 && providerBps <= BPS, InvalidBps(providerBps));
        require(globalBps != 0 && globalBps <= BPS, InvalidBps(globalBps));

        providerBucketBps = providerBps.toUint16();
        globalBucketBps = globalBps.toUint16();

        emit BucketsChanged(providerBps, globalBps);
    }

    /// @dev A settlement that takes nothing never calls the vault, which saves every claim a third of its gas: the gate knows of it.
    function _settledRoots(uint256 providerId, uint32 noted) internal view returns (uint32) {
        if (address(exitGate) == address(0)) return noted;
        uint32 known = exitGate.settledRootsOf(providerId);
        return known > noted ? known : noted;
    }

    function _requireSettled(uint256 settledRoots) internal view {
        require(address(exitGate) != address(0), ExitGateNotSet());
        (uint256 activatedRoots, uint256 lastReportAt) = exitGate.exitStatus();
        // An oracle that fell silent must not keep anyone's stake (invariant 34); open cases still do, and each of them ends.
        bool stale = block.timestamp > lastReportAt + STALE_AFTER;
        require(stale || settledRoots >= activatedRoots, NotSettled(settledRoots, activatedRoots));
    }
}
