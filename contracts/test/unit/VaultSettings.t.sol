// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Reports} from "../utils/Reports.sol";

contract VaultSettingsTest is Reports {
    function test_settings_whenCallerIsNotTheTimelock_thenTheyRevert() public {
        bytes memory refused = abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, guardian);
        vm.startPrank(guardian);
        vm.expectRevert(refused);
        vault.setExitGate(address(settlement));
        vm.expectRevert(refused);
        vault.setUnbonding(14 days);
        vm.expectRevert(refused);
        vault.setBuckets(1, 1);
    }

    /// @dev Invariant 33, afterwards.
    function test_settings_whenOutOfBounds_thenTheyRevert() public {
        vm.startPrank(address(timelock));
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnbondingTooShort.selector, 13 days - 1, 13 days));
        vault.setUnbonding(13 days - 1);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnbondingTooLong.selector, 90 days + 1, 90 days));
        vault.setUnbonding(90 days + 1);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnbondingTooLong.selector, type(uint64).max, 90 days));
        vault.setUnbonding(type(uint64).max);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.InvalidBps.selector, 0));
        vault.setBuckets(0, 1);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.InvalidBps.selector, 10_001));
        vault.setBuckets(1, 10_001);
        vm.expectRevert();
        vault.setExitGate(address(registry));
    }

    /// @dev Invariant 35, the way a change really takes.
    function test_setUnbonding_whenScheduled_thenItNeedsTheDelay() public {
        bytes memory data = abi.encodeCall(vault.setUnbonding, (20 days));
        vm.prank(proposer);
        timelock.schedule(address(vault), 0, data, 0, 0, TIMELOCK_FOR);
        vm.warp(block.timestamp + TIMELOCK_FOR - 1);
        vm.expectPartialRevert(TimelockController.TimelockUnexpectedOperationState.selector);
        vm.prank(executor);
        timelock.execute(address(vault), 0, data, 0, 0);

        vm.warp(block.timestamp + 1);
        vm.expectEmit(address(vault));
        emit IStakeVault.UnbondingChanged(20 days);
        vm.prank(executor);
        timelock.execute(address(vault), 0, data, 0, 0);
        assertEq(vault.unbondingFor(), 20 days);
    }
}
