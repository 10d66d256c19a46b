// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {ExpiringPause} from "../../../src/ExpiringPause.sol";
import {IExpiringPause} from "../../../src/interfaces/IExpiringPause.sol";
import {Mirror} from "./Mirror.sol";

/// @title A pause rebuilt from its events
contract PauseMirror is Mirror {
    uint64 private _pausedUntil;
    uint64 private _nextPauseAt;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        uint64 nowAt = SafeCast.toUint64(block.timestamp);
        if (log.topics[0] == IExpiringPause.Paused.selector) {
            _pausedUntil = abi.decode(log.data, (uint64));
            _nextPauseAt = nowAt + 14 days;
        } else if (log.topics[0] == IExpiringPause.Resumed.selector) {
            _pausedUntil = nowAt;
        }
    }

    /// @dev Invariant 32: no pause reaches further than seven days.
    function compare() external view override {
        assertEq(ExpiringPause(SOURCE).pausedUntil(), _pausedUntil, "pausedUntil");
        assertEq(ExpiringPause(SOURCE).nextPauseAt(), _nextPauseAt, "nextPauseAt");
        assertLe(_pausedUntil, block.timestamp + 7 days, "pauses expire");
    }
}
