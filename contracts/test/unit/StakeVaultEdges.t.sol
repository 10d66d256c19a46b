// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {StakeVault} from "../../src/StakeVault.sol";
import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {ReentrantToken} from "../utils/HostileTokens.sol";
import {Reports} from "../utils/Reports.sol";

/// @dev What only a changed operator, constant or guard would show: found by mutation testing.
contract StakeVaultEdgesTest is Reports {
    address private immutable settler = makeAddr("settler");

    address private alice;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        _grant(SETTLEMENT, settler);
        (alice, aliceId) = _join("alice");
    }

    /// @dev The token holds every role, so that nothing but the guard stands in its way.
    function test_everyGuardedFunction_whenATransferCallsIt_thenItReverts() public {
        ReentrantToken hook = new ReentrantToken();
        StakeVault other = new StakeVault(address(manager), hook, registry, sink, vaultParams());
        _allow(hook, other, other.takePenalty.selector, SETTLEMENT);
        _allow(hook, other, other.slash.selector, COURT);
        assertTrue(hook.transfer(alice, 1e24));
        vm.startPrank(alice);
        hook.approve(address(other), type(uint256).max);
        other.stake(aliceId, 100);
        uint256 id = other.requestUnbond(aliceId, 40);
        vm.stopPrank();

        _expectRefused(hook, other, abi.encodeCall(other.stake, (aliceId, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.stakeWithPermit, (aliceId, 1, 0, 0, 0, 0)));
        _expectRefused(hook, other, abi.encodeCall(other.requestUnbond, (aliceId, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.cancelUnbond, (aliceId, id)));
        _expectRefused(hook, other, abi.encodeCall(other.withdraw, (aliceId, id)));
        _expectRefused(hook, other, abi.encodeCall(other.takePenalty, (aliceId, 1, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.slash, (_order())));
    }

    function test_resume_whenThePauseEndsNow_thenItReverts() public {
        vm.startPrank(guardian);
        vault.pauseFor(1 days);
        vm.warp(block.timestamp + 1 days);
        vm.expectRevert(IExpiringPause.NotPaused.selector);
        vault.resume();
    }

    function test_takePenalty_whenTheRootIsNotedAlready_thenNothingIsSaid() public {
        vm.startPrank(settler);
        vault.takePenalty(aliceId, 0, 7);
        vm.recordLogs();
        assertEq(vault.takePenalty(aliceId, 0, 7), 0);
        assertEq(vm.getRecordedLogs().length, 0);
    }

    function test_takePenalty_whenNothingIsTaken_thenTheSinkHearsNothing() public {
        vm.prank(settler);
        vm.recordLogs();
        vault.takePenalty(aliceId, 5, 1);
        assertEq(vm.getRecordedLogs().length, 1, "PenaltyTaken alone");
    }

    function test_takePenalty_whenItTakes_thenNobodyIsTheReporter() public {
        _stake(alice, aliceId, 100);
        vm.expectEmit(address(sink));
        emit ISlashSink.Deposited(bytes32(0), 99, 50, 0, 49, address(0));
        vm.prank(settler);
        vault.takePenalty(aliceId, 99, 1);
    }

    function _allow(ReentrantToken hook, StakeVault other, bytes4 selector, uint64 role) private {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = selector;
        _byTimelock(address(manager), abi.encodeCall(manager.setTargetFunctionRole, (address(other), selectors, role)));
        _grant(role, address(hook));
    }

    function _expectRefused(ReentrantToken hook, StakeVault other, bytes memory inside) private {
        hook.arm(address(other), inside);
        vm.prank(alice);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        other.stake(aliceId, 1);
    }

    function _order() private view returns (IStakeVault.Slash memory) {
        return IStakeVault.Slash({
            providerId: aliceId,
            caseId: bytes32("case"),
            amount: 1,
            offenceAt: uint64(block.timestamp),
            providerCapped: false,
            globalCapped: false,
            reporter: address(0),
            bountyBps: 0
        });
    }
}
