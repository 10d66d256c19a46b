// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IReportLimits} from "../../src/interfaces/IReportLimits.sol";
import {Report} from "../../src/types/Settlement.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title What a report may add, for all totals and epochs (invariant 23)
contract ReportLimitsSymbolic is SymbolicNetwork {
    uint256 private constant CAP = 100_000e18;

    /// @dev z3 takes minutes over the product with the cap, yices a second; no array is asked about here.
    /// @custom:halmos --solver yices
    function check_report_whenAnyTotals_thenItPassesExactlyInsideTheCaps(
        IReportLimits.Totals memory previous,
        Report memory next
    ) public view {
        bool passes;
        try limits.check(previous, next) {
            passes = true;
        } catch {}
        assert(passes == (_isComplete(next) && _isWithin(previous, next)));
    }

    function _isComplete(Report memory next) private pure returns (bool) {
        return next.root != bytes32(0) && next.manifestHash != bytes32(0) && next.leafCount == 0;
    }

    function _isWithin(IReportLimits.Totals memory previous, Report memory next) private pure returns (bool) {
        if (next.epoch < previous.epochs) return false;
        uint256 cap = (uint256(next.epoch) - previous.epochs + 1) * CAP;
        bool reward = next.totalReward >= previous.reward && next.totalReward - previous.reward <= cap;
        bool penalty = next.totalPenalty >= previous.penalty && next.totalPenalty - previous.penalty <= cap;
        return reward && penalty;
    }
}
