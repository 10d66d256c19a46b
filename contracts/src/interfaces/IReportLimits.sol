// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Report} from "../types/Settlement.sol";

/// @title Sanity limits every report must pass
interface IReportLimits {
    /// @notice What the previous accepted report left.
    struct Totals {
        uint32 epochs;
        uint32 leafCount;
        uint64 refBlock;
        uint128 reward;
        uint128 penalty;
    }

    /// @notice What one epoch may add to the cumulative totals, wei.
    struct LimitParams {
        uint128 maxRewardPerEpoch;
        uint128 maxPenaltyPerEpoch;
    }

    error EpochNotLater(uint256 epoch, uint256 minEpoch);
    error TotalsDecreased(uint256 have, uint256 want);
    error RewardAboveCap(uint256 have, uint256 cap);
    error PenaltyAboveCap(uint256 have, uint256 cap);
    error LeafCountMismatch(uint256 have, uint256 want);
    error ZeroRoot();
    error ZeroManifest();
    error ZeroAddress();

    /// @notice Reverts unless `next` may follow `previous`.
    function check(Totals calldata previous, Report calldata next) external view;
}
