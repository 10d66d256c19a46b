// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ReportLimits} from "../../src/ReportLimits.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {IReportLimits} from "../../src/interfaces/IReportLimits.sol";
import {Report} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";

contract ReportLimitsTest is Reports {
    uint256 private constant CAP = 100_000e18;

    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        (, aliceId) = _join("alice");
        _join("bob");
        vm.roll(block.number + BLOCKS_PER_EPOCH);
    }

    function test_constructor_whenRegistryIsZero_thenItReverts() public {
        vm.expectRevert(IReportLimits.ZeroAddress.selector);
        new ReportLimits(IProviderRegistry(address(0)), limitParams());
    }

    function test_check_whenRootOrManifestIsZero_thenItReverts() public {
        Report memory report = _draft(4);
        report.root = bytes32(0);
        vm.expectRevert(IReportLimits.ZeroRoot.selector);
        limits.check(_previous(0, 0), report);

        report = _draft(4);
        report.manifestHash = bytes32(0);
        vm.expectRevert(IReportLimits.ZeroManifest.selector);
        limits.check(_previous(0, 0), report);
    }

    function test_check_whenEpochIsNotLater_thenItReverts() public {
        Report memory report = _draft(2);
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.EpochNotLater.selector, 2, 3));
        limits.check(_previous(0, 0), report);
    }

    /// @dev Bug class 33.
    function test_check_whenATotalDecreases_thenItReverts() public {
        _setLine(aliceId, 10, 5);
        Report memory report = _draft(3);
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.TotalsDecreased.selector, 10, 11));
        limits.check(_previous(11, 5), report);
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.TotalsDecreased.selector, 5, 6));
        limits.check(_previous(10, 6), report);
    }

    function test_check_whenLeafCountIsAnother_thenItReverts() public {
        Report memory report = _draft(3);
        vm.roll(block.number + 1);
        _join("carol");
        limits.check(_previous(0, 0), report);

        report.leafCount = 3;
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.LeafCountMismatch.selector, 3, 2));
        limits.check(_previous(0, 0), report);
    }

    function test_check_whenTotalsGrowByExactlyTheCap_thenItDoesNotRevert() public {
        _setLine(aliceId, 3 * CAP, 3 * CAP);
        limits.check(_previous(0, 0), _draft(5));
        _setLine(aliceId, 3 * CAP, 3 * CAP + 1);
        Report memory report = _draft(5);
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.PenaltyAboveCap.selector, 3 * CAP + 1, 3 * CAP));
        limits.check(_previous(0, 0), report);
    }

    /// @dev Invariant 23: accepted exactly when the growth fits the epochs covered.
    function testFuzz_check_whenTotalsGrow_thenTheCapDecides(uint256 reward, uint256 penalty, uint32 missed) public {
        missed = uint32(bound(missed, 0, 30));
        uint256 cap = (uint256(missed) + 1) * CAP;
        reward = bound(reward, 0, 2 * cap);
        penalty = bound(penalty, 0, 2 * cap);
        _setLine(aliceId, 7e18 + reward, 3e18 + penalty);
        Report memory report = _draft(3 + missed);

        if (reward > cap) {
            vm.expectRevert(abi.encodeWithSelector(IReportLimits.RewardAboveCap.selector, reward, cap));
        } else if (penalty > cap) {
            vm.expectRevert(abi.encodeWithSelector(IReportLimits.PenaltyAboveCap.selector, penalty, cap));
        }
        limits.check(_previous(7e18, 3e18), report);
    }

    /// @dev Three epochs are settled.
    function _previous(uint128 reward, uint128 penalty) private pure returns (IReportLimits.Totals memory) {
        return IReportLimits.Totals({epochs: 3, leafCount: 2, refBlock: 1, reward: reward, penalty: penalty});
    }
}
