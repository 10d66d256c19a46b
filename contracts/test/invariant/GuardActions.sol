// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ExpiringPause} from "../../src/ExpiringPause.sol";
import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {Network} from "./Network.sol";

/// @title What guardian and timelock may do, where slashes go, and the windows of the beacon
abstract contract GuardActions is Network {
    function pause(uint256 which, uint256 duration) external observed {
        ExpiringPause target = _pausable(which);
        bytes memory call = abi.encodeCall(target.pauseFor, (uint64(duration % 7 days)));
        if (block.timestamp < target.nextPauseAt()) {
            _mustFail(guardian, address(target), call, "32: paused again too soon");
            return;
        }
        vm.prank(guardian);
        (bool done,) = address(target).call(call);
        assertTrue(done, "the guardian pauses");
    }

    function resume(uint256 which) external observed {
        ExpiringPause target = _pausable(which);
        if (block.timestamp >= target.pausedUntil()) return;
        vm.prank(guardian);
        target.resume();
    }

    /// @notice Later requests and later cases only: what runs keeps its terms (33).
    function changeSettings(uint256 unbonding, uint256 buckets) external observed {
        if (unbonding % 2 == 0) {
            uint64 unbondingFor = uint64(13 days + unbonding % 77 days);
            _byTimelock(address(vault), abi.encodeCall(vault.setUnbonding, (unbondingFor)));
        } else {
            uint256 providerBps = 1 + buckets % 10_000;
            uint256 globalBps = 1 + (buckets >> 16) % 10_000;
            _byTimelock(address(vault), abi.encodeCall(vault.setBuckets, (providerBps, globalBps)));
        }
    }

    function claimBounty(uint256 anyone) external observed {
        address reporter = makeAddr("reporter");
        uint256 due = sink.bountyOf(reporter);
        if (due == 0) return;
        uint256 before = token.balanceOf(reporter);
        vm.prank(address(uint160(anyone)));
        sink.claimBounty(reporter);
        assertEq(token.balanceOf(reporter), before + due, "15: its bounty and no more");
    }

    function distribute(uint256 amount) external observed {
        uint256 insurance = sink.insurance();
        bytes memory call = abi.encodeCall(sink.distribute, (treasury, amount));
        if (amount > insurance) _mustFail(address(timelock), address(sink), call, "paid more than was insured");
        amount = _least(amount, insurance);
        _byTimelock(address(sink), abi.encodeCall(sink.distribute, (treasury, amount)));
    }

    /// @notice Some steps of one of the epoch's windows; one that is over has no next step.
    function stepWindow(uint256 which, uint256 who, uint256 steps) external {
        for (uint256 i = 0; i <= steps % 6; ++i) {
            _stepWindow(which, who);
        }
    }

    function _stepWindow(uint256 which, uint256 who) private observed {
        uint256 windowId = uint256(oracle.currentEpoch()) << 16 | which % 3;
        vm.roll(block.number + 3);
        address[] memory members = oracle.members();
        address member = members[who % members.length];
        bytes32 secret = keccak256(abi.encode(windowId));
        IChallengeBeacon.WindowState state = beacon.stateOf(windowId);
        if (state == IChallengeBeacon.WindowState.Closed) {
            beacon.draw(windowId);
            hits["window drawn"] += 1;
            return;
        }
        vm.startPrank(member);
        if (state == IChallengeBeacon.WindowState.None) beacon.commitSecret(windowId, keccak256(abi.encode(secret)));
        else if (state == IChallengeBeacon.WindowState.Committed) beacon.open(windowId, secret);
        else if (state == IChallengeBeacon.WindowState.Open) beacon.close(windowId, secret, uint32(1 + which % 9));
        vm.stopPrank();
        if (state <= IChallengeBeacon.WindowState.Open) return;
        _mustFail(member, address(beacon), abi.encodeCall(beacon.draw, (windowId)), "a window drawn twice or late");
        _mustFail(member, address(beacon), abi.encodeCall(beacon.close, (windowId, secret, 1)), "closed twice");
    }

    function _pausable(uint256 which) private view returns (ExpiringPause) {
        if (which % 3 == 0) return ExpiringPause(vault);
        return which % 3 == 1 ? ExpiringPause(settlement) : ExpiringPause(escrow);
    }
}
