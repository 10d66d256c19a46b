// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title A pause ends by itself, whatever the guardian does and when (invariant 32)
contract ExpiringPauseSymbolic is SymbolicNetwork {
    function check_pause_whenAnyLengthIsAsked_thenItEndsWithinAWeek(uint64 duration) public {
        vm.prank(guardian);
        try vault.pauseFor(duration) {
            assert(duration <= 7 days);
            assert(vault.pausedUntil() == GENESIS + duration);
        } catch {
            assert(duration > 7 days);
            assert(vault.pausedUntil() == 0);
        }
    }

    function check_pause_whenAskedAgain_thenTwoWeeksLieBetweenStarts(uint64 first, uint64 second, uint32 wait) public {
        vm.assume(first <= 7 days && second <= 7 days);
        vm.prank(guardian);
        vault.pauseFor(first);
        vm.warp(GENESIS + wait);
        vm.prank(guardian);
        try vault.pauseFor(second) {
            assert(wait >= 14 days);
        } catch {
            assert(wait < 14 days);
            assert(vault.pausedUntil() == GENESIS + first);
        }
    }

    function check_resume_whenCalled_thenItOnlyShortens(uint64 duration, uint32 wait) public {
        vm.assume(duration <= 7 days);
        vm.prank(guardian);
        vault.pauseFor(duration);
        uint64 nextAt = vault.nextPauseAt();
        vm.warp(GENESIS + wait);
        vm.prank(guardian);
        try vault.resume() {
            assert(wait < duration);
            assert(vault.pausedUntil() == GENESIS + wait);
        } catch {
            assert(wait >= duration);
            assert(vault.pausedUntil() == GENESIS + duration);
        }
        assert(vault.nextPauseAt() == nextAt);
    }
}
