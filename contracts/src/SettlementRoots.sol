// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IExitGate} from "./interfaces/IExitGate.sol";
import {IReportLimits} from "./interfaces/IReportLimits.sol";
import {IRewardSettlement} from "./interfaces/IRewardSettlement.sol";
import {Leaves} from "./libraries/Leaves.sol";
import {Report} from "./types/Settlement.sol";

/// @title The roots of the settlement: accepted, then activated or disabled
/// @dev      acceptReport        activatesAt
///              |-- pending ---------|-- activated for good, never disabled (invariant 21)
///              |-- disableRoot -> disabled for good
///
///      Roots are appended in the order of their activation. Totals are kept per root because disabling one returns to the one before.
abstract contract SettlementRoots is IRewardSettlement, AccessManaged {
    /// @dev Roots before `decided` are activated or disabled for good; `activated` is the number of the last activated one among them.
    struct Progress {
        uint32 roots;
        uint32 decided;
        uint32 activated;
        uint64 lastReportAt;
    }

    struct RootTotals {
        uint128 reward;
        uint128 penalty;
    }

    /// @dev A pause of activation longer than this would outlast every unbonding.
    uint64 private constant MAX_ACTIVATION_FOR = 7 days;

    /// @dev Seconds between a report and the first claim against it.
    uint64 private immutable ACTIVATION_FOR;

    /// @dev slot 1 (behind the authority), counters of roots and the unix second of the last report.
    Progress private _progress;

    /// @dev slot 2; `Progress.roots` of them.
    mapping(uint256 rootIndex => Root) private _roots;

    /// @dev slot 3, wei, cumulative since genesis, as of each root.
    mapping(uint256 rootIndex => RootTotals) private _totals;

    constructor(uint64 activationFor) {
        require(activationFor != 0 && activationFor <= MAX_ACTIVATION_FOR, InvalidActivation(activationFor));

        ACTIVATION_FOR = activationFor;
        _progress.lastReportAt = SafeCast.toUint64(block.timestamp);
    }

    /// @inheritdoc IRewardSettlement
    function disableRoot(uint256 rootIndex) external restricted {
        Root storage root = _roots[rootIndex];
        require(root.activatesAt != 0, UnknownRoot(rootIndex));
        require(!root.disabled, RootIsDisabled(rootIndex));
        require(block.timestamp < root.activatesAt, RootAlreadyActive(rootIndex));

        root.disabled = true;

        emit RootDisabled(rootIndex);
    }

    /// @inheritdoc IExitGate
    function exitStatus() external view returns (uint32 activatedRoots, uint64 lastReportAt) {
        return (_latest(block.timestamp), _progress.lastReportAt);
    }

    /// @inheritdoc IRewardSettlement
    function totals() external view returns (IReportLimits.Totals memory latest) {
        uint256 roots = _latest(type(uint64).max);
        if (roots == 0) return latest;
        Root storage root = _roots[roots - 1];
        RootTotals storage sums = _totals[roots - 1];
        return IReportLimits.Totals(root.epoch + 1, root.leafCount, root.refBlock, sums.reward, sums.penalty);
    }

    /// @inheritdoc IRewardSettlement
    function outcomeProven(uint256 rootIndex, bytes32 leafHash, bytes32[] calldata proof) external view returns (bool) {
        Root storage root = _roots[rootIndex];
        if (root.activatesAt == 0 || root.disabled || block.timestamp < root.activatesAt) return false;
        return Leaves.proven(proof, root.outcomesRoot, leafHash);
    }

    /// @inheritdoc IRewardSettlement
    function rootCount() external view returns (uint256) {
        return _progress.roots;
    }

    /// @inheritdoc IRewardSettlement
    function rootAt(uint256 rootIndex) external view returns (Root memory) {
        return _roots[rootIndex];
    }

    /// @dev Appends the root of `report`; the caller has checked that it is funded.
    function _append(Report calldata report) internal returns (uint256 rootIndex) {
        Progress memory progress = _decide(_progress);
        rootIndex = progress.roots++;
        progress.lastReportAt = SafeCast.toUint64(block.timestamp);
        _progress = progress;
        Root storage root = _roots[rootIndex];
        root.root = report.root;
        if (report.outcomesRoot != bytes32(0)) root.outcomesRoot = report.outcomesRoot;
        root.activatesAt = progress.lastReportAt + ACTIVATION_FOR;
        root.refBlock = report.refBlock;
        root.epoch = report.epoch;
        root.leafCount = report.leafCount;
        _totals[rootIndex] = RootTotals(report.totalReward, report.totalPenalty);

        _emitAccepted(rootIndex, report, root.activatesAt);
    }

    function _activeRoot(uint256 rootIndex) internal view returns (bytes32) {
        Root storage root = _roots[rootIndex];
        (uint64 activatesAt, bool disabled) = (root.activatesAt, root.disabled);
        require(activatesAt != 0, UnknownRoot(rootIndex));
        require(!disabled, RootIsDisabled(rootIndex));
        require(block.timestamp >= activatesAt, RootNotActive(rootIndex, activatesAt));
        return root.root;
    }

    function _emitAccepted(uint256 rootIndex, Report calldata report, uint64 activatesAt) private {
        emit ReportAccepted(
            rootIndex,
            report.epoch,
            report.root,
            report.outcomesRoot,
            report.manifestHash,
            report.leafCount,
            report.totalReward,
            report.totalPenalty,
            activatesAt
        );
    }

    /// @dev Moves roots whose activation passed behind `decided`. Walks over roots that were pending at the last report only,
    ///      so neither this nor `_latest` grows with history.
    function _decide(Progress memory progress) private view returns (Progress memory) {
        while (progress.decided < progress.roots && _roots[progress.decided].activatesAt <= block.timestamp) {
            ++progress.decided;
            if (!_roots[progress.decided - 1].disabled) progress.activated = progress.decided;
        }
        return progress;
    }

    /// @dev Number of the latest root that is not disabled and activates by `time`; 0 if none.
    function _latest(uint256 time) private view returns (uint32) {
        Progress memory progress = _progress;
        for (uint32 roots = progress.roots; roots > progress.decided; --roots) {
            Root storage root = _roots[roots - 1];
            if (!root.disabled && root.activatesAt <= time) return roots;
        }
        return progress.activated;
    }
}
