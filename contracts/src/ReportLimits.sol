// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IReportLimits} from "./interfaces/IReportLimits.sol";
import {Report} from "./types/Settlement.sol";

/// @title Sanity limits every report must pass
/// @dev Holds no state, so it is replaced as a whole through `EpochOracle.setLimits`.
contract ReportLimits is IReportLimits {
    IProviderRegistry private immutable REGISTRY;

    /// @dev Wei one epoch may add to the cumulative rewards.
    uint128 private immutable MAX_REWARD_PER_EPOCH;

    /// @dev Wei one epoch may add to the cumulative penalties.
    uint128 private immutable MAX_PENALTY_PER_EPOCH;

    constructor(IProviderRegistry registry, LimitParams memory params) {
        require(address(registry) != address(0), ZeroAddress());

        REGISTRY = registry;
        MAX_REWARD_PER_EPOCH = params.maxRewardPerEpoch;
        MAX_PENALTY_PER_EPOCH = params.maxPenaltyPerEpoch;
    }

    /// @inheritdoc IReportLimits
    function check(Totals calldata previous, Report calldata next) external view {
        require(next.root != bytes32(0), ZeroRoot());
        require(next.manifestHash != bytes32(0), ZeroManifest());
        require(next.epoch >= previous.epochs, EpochNotLater(next.epoch, previous.epochs));
        require(next.totalReward >= previous.reward, TotalsDecreased(next.totalReward, previous.reward));
        require(next.totalPenalty >= previous.penalty, TotalsDecreased(next.totalPenalty, previous.penalty));

        // A report after missed epochs covers them all, so it may owe as much as they could have.
        uint256 covered = uint256(next.epoch) + 1 - previous.epochs;
        uint256 reward = next.totalReward - previous.reward;
        uint256 penalty = next.totalPenalty - previous.penalty;
        require(reward <= covered * MAX_REWARD_PER_EPOCH, RewardAboveCap(reward, covered * MAX_REWARD_PER_EPOCH));
        require(penalty <= covered * MAX_PENALTY_PER_EPOCH, PenaltyAboveCap(penalty, covered * MAX_PENALTY_PER_EPOCH));

        uint256 providers = REGISTRY.providerCountAt(next.refBlock);
        require(next.leafCount == providers, LeafCountMismatch(next.leafCount, providers));
    }
}
