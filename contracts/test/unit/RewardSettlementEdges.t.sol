// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Vm} from "forge-std/Vm.sol";

import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {CallbackToken} from "../utils/CallbackToken.sol";
import {Reports} from "../utils/Reports.sol";

/// @dev What only a changed operator, constant or guard would show: found by mutation testing.
contract RewardSettlementEdgesTest is Reports {
    address private alice;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
    }

    function test_constructor_whenAnyPartIsZero_thenItReverts() public {
        _expectRefused(ISwarmToken(address(0)), registry, vault, sink);
        _expectRefused(token, IProviderRegistry(address(0)), vault, sink);
        _expectRefused(token, registry, IStakeVault(address(0)), sink);
        _expectRefused(token, registry, vault, ISlashSink(address(0)));
    }

    function test_constructor_whenTheActivationIsAsLongAsItMayBe_thenItHolds() public {
        IRewardSettlement.SettlementParams memory params = settlementParams();
        params.activationFor = 7 days;
        RewardSettlement other = new RewardSettlement(address(manager), token, registry, vault, sink, params);
        (, uint64 lastReportAt) = other.exitStatus();
        assertEq(lastReportAt, block.timestamp, "deployed now");
    }

    function test_acceptReport_whenOneWeiIsOwed_thenItMintsOneWei() public {
        _setLine(aliceId, 1, 0);
        _publish(0);
        assertEq(settlement.totalMinted(), 1);
        assertEq(token.balanceOf(address(settlement)), 1);
    }

    function test_acceptReport_whenNothingIsOwed_thenNothingIsSaidOfMinting() public {
        vm.recordLogs();
        _publish(0);
        assertEq(_logged(IRewardSettlement.Minted.selector), 0);
    }

    function test_acceptReport_whenAccepted_thenTheEventTellsAll() public {
        outcomes.push(keccak256("outcome"));
        _setLine(aliceId, 7, 3);
        _endEpoch(0);
        Report memory report = _draft(0);
        _agree(report);
        vm.expectEmit(address(settlement));
        emit IRewardSettlement.ReportAccepted(
            0, 0, report.root, report.outcomesRoot, report.manifestHash, 1, 7, 3, uint64(block.timestamp + 1 days)
        );
        oracle.submitReport(report);
    }

    /// @dev Invariant 21, for what courts and escrow ask.
    function test_outcomeProven_whenTheRootWasDisabled_thenItIsFalse() public {
        bytes32 outcome = keccak256("outcome");
        outcomes.push(outcome);
        uint256 rootIndex = _publish(0);
        vm.prank(guardian);
        settlement.disableRoot(rootIndex);
        vm.warp(block.timestamp + 1 days);
        assertFalse(settlement.outcomeProven(rootIndex, outcome, _outcomePath(0)));
    }

    function test_settle_whenRewardIsOneWei_thenThePayoutHasIt() public {
        _setLine(aliceId, 1, 0);
        assertEq(_settle(_publishActive(0), aliceId), 1);
        assertEq(token.balanceOf(alice), 1);
    }

    function test_settle_whenPenaltyEqualsReward_thenNobodyIsPaidAndTheVaultIsNotCalled() public {
        _setLine(aliceId, 5, 5);
        uint256 rootIndex = _publishActive(0);
        vm.expectEmit(address(settlement));
        emit IRewardSettlement.Settled(aliceId, rootIndex, address(0), 5, 5, 0);
        vm.recordLogs();
        _settle(rootIndex, aliceId);
        assertEq(vm.getRecordedLogs().length, 1);
    }

    function test_settle_whenStakeCoversThePenalty_thenNoShortfallIsSaid() public {
        _stake(alice, aliceId, 100);
        _setLine(aliceId, 0, 100);
        uint256 rootIndex = _publishActive(0);
        vm.recordLogs();
        _settle(rootIndex, aliceId);
        assertEq(_logged(IRewardSettlement.PenaltyShortfall.selector), 0);
        assertEq(vault.pool(aliceId).tokens, 0);
    }

    function test_settleAndWithdraw_whenTheLineIsForged_thenItReverts() public {
        _stake(alice, aliceId, 100);
        vm.prank(alice);
        uint256 requestId = vault.requestUnbond(aliceId, 100);
        _setLine(aliceId, 5, 0);
        uint256 rootIndex = _publishActive(13);
        vm.warp(block.timestamp + 1 days);
        bytes32[] memory path = _path(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, aliceId));
        settlement.settleAndWithdraw(rootIndex, SettlementLeaf(aliceId, 6, 0), path, requestId);
    }

    function test_fund_whenFundedTwice_thenBothCount() public {
        _fund(alice, 12);
        vm.startPrank(alice);
        token.approve(address(settlement), 12);
        settlement.fund(5);
        settlement.fund(7);
        assertEq(settlement.totalFunded(), 12);
        assertEq(token.balanceOf(address(settlement)), 12);
    }

    function test_flushPenalties_whenNothingIsNetted_thenNothingIsSaid() public {
        vm.recordLogs();
        assertEq(settlement.flushPenalties(), 0);
        assertEq(vm.getRecordedLogs().length, 0);
    }

    function test_flushPenalties_whenOneWeiIsNetted_thenTheSinkHasItAndNobodyIsTheReporter() public {
        _setLine(aliceId, 5, 1);
        _settle(_publishActive(0), aliceId);
        assertEq(token.balanceOf(alice), 4);

        vm.expectEmit(address(sink));
        emit ISlashSink.Deposited(bytes32(0), 1, 1, 0, 0, address(0));
        assertEq(settlement.flushPenalties(), 1);
        assertEq(settlement.nettedPenalties(), 0);
    }

    function test_everyGuardedFunction_whenATransferCallsIt_thenItReverts() public {
        CallbackToken hook = new CallbackToken();
        RewardSettlement other = new RewardSettlement(address(manager), hook, registry, vault, sink, settlementParams());
        hook.mint(address(this), 10);
        assertTrue(hook.approve(address(other), 10));
        SettlementLeaf[] memory lines = new SettlementLeaf[](1);
        bytes32[] memory path = new bytes32[](1);
        bytes[5] memory calls = [
            abi.encodeCall(other.settle, (0, lines[0], path)),
            abi.encodeCall(other.settleMany, (0, lines, path, new bool[](1))),
            abi.encodeCall(other.settleAndWithdraw, (0, lines[0], path, 0)),
            abi.encodeCall(other.fund, (1)),
            abi.encodeCall(other.flushPenalties, ())
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            hook.callBack(address(other), calls[i]);
            vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
            other.fund(1);
        }
    }

    /// @dev How many of the recorded logs are of this event; there are some.
    function _logged(bytes32 signature) private returns (uint256 count) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertGt(logs.length, 0);
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] == signature) ++count;
        }
    }

    function _expectRefused(ISwarmToken coin, IProviderRegistry providers, IStakeVault custody, ISlashSink drain)
        private
    {
        IRewardSettlement.SettlementParams memory params = settlementParams();
        vm.expectRevert(IRewardSettlement.ZeroAddress.selector);
        new RewardSettlement(address(manager), coin, providers, custody, drain, params);
    }
}
