// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";

import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {Deployment} from "../utils/Deployment.sol";

contract ExpiringPauseTest is Deployment {
    address private immutable alice = makeAddr("alice");
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        aliceId = _register(alice);
        _stake(alice, aliceId, 100);
        _fund(alice, 100);
        vm.prank(alice);
        token.approve(address(vault), type(uint256).max);
    }

    function test_pauseFor_whenCallerIsNotGuardian_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, alice));
        vm.prank(alice);
        vault.pauseFor(1);
    }

    function test_pauseFor_whenDurationIsTooLong_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.PauseTooLong.selector, 7 days + 1, 7 days));
        vm.prank(guardian);
        vault.pauseFor(7 days + 1);
    }

    function test_pauseFor_whenLastPauseIsRecent_thenItReverts() public {
        uint256 start = block.timestamp;
        vm.startPrank(guardian);
        vault.pauseFor(7 days);
        vm.warp(start + 1 days);
        vault.resume();

        vm.warp(start + 14 days - 1);
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.PauseTooSoon.selector, start + 14 days));
        vault.pauseFor(1);

        vm.warp(start + 14 days);
        vault.pauseFor(1);
        assertEq(vault.pausedUntil(), start + 14 days + 1);
    }

    /// @dev Invariant 32: the pause ends by itself.
    function testFuzz_pauseFor_whenAllowed_thenStakingStopsUntilTheEnd(uint64 duration) public {
        duration = uint64(bound(duration, 1, 7 days));
        uint64 until = uint64(block.timestamp) + duration;
        vm.expectEmit(address(vault));
        emit IExpiringPause.Paused(guardian, until);
        vm.prank(guardian);
        vault.pauseFor(duration);

        vm.warp(until - 1);
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.EnforcedPause.selector, until));
        vault.stake(aliceId, 1);
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.EnforcedPause.selector, until));
        vault.stakeWithPermit(aliceId, 1, 0, 0, 0, 0);

        vm.warp(until);
        vault.stake(aliceId, 1);
        assertEq(vault.activeStake(aliceId), 101);
    }

    /// @dev Invariant 32: a pause never holds stake that may leave.
    function test_pauseFor_whenPaused_thenTheWayOutStaysOpen() public {
        vm.startPrank(alice);
        uint256 matured = vault.requestUnbond(aliceId, 60);
        vm.warp(block.timestamp + 14 days);
        vm.stopPrank();
        vm.prank(guardian);
        vault.pauseFor(7 days);

        vm.startPrank(alice);
        uint256 cancelled = vault.requestUnbond(aliceId, 40);
        vault.cancelUnbond(aliceId, cancelled);
        assertEq(vault.withdraw(aliceId, matured), 60);
        assertEq(token.balanceOf(alice), 160);
    }

    function test_resume_whenCallerIsNotGuardian_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, alice));
        vm.prank(alice);
        vault.resume();
    }

    function test_resume_whenNothingIsPaused_thenItReverts() public {
        vm.expectRevert(IExpiringPause.NotPaused.selector);
        vm.prank(guardian);
        vault.resume();
    }

    function test_resume_whenPaused_thenStakingGoesOn() public {
        vm.startPrank(guardian);
        vault.pauseFor(7 days);
        vm.expectEmit(address(vault));
        emit IExpiringPause.Resumed(guardian);
        vault.resume();
        vm.stopPrank();

        vm.prank(alice);
        vault.stake(aliceId, 1);
        assertEq(vault.activeStake(aliceId), 101);
    }
}
