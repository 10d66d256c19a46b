// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";

import {IExpiringPause} from "./interfaces/IExpiringPause.sol";

/// @title A pause that ends by itself
/// @dev The guardian can stop new business for half of the time at most, and never the way out: contracts put `whenNotPaused`
///      on entrances only. Invariant 32.
abstract contract ExpiringPause is IExpiringPause, AccessManaged {
    /// @notice Longest pause, seconds.
    uint64 public constant MAX_PAUSE = 7 days;

    /// @notice Shortest time from the start of one pause to the start of the next, seconds.
    uint64 public constant PAUSE_INTERVAL = 14 days;

    /// @inheritdoc IExpiringPause
    /// @dev slot 0 (behind the authority), unix seconds, exclusive.
    uint64 public pausedUntil;

    /// @notice Earliest start of the next pause.
    /// @dev slot 1, unix seconds.
    uint64 public nextPauseAt;

    modifier whenNotPaused() {
        _requireNotPaused();
        _;
    }

    /// @inheritdoc IExpiringPause
    function pauseFor(uint64 duration) external restricted {
        require(duration <= MAX_PAUSE, PauseTooLong(duration, MAX_PAUSE));
        require(block.timestamp >= nextPauseAt, PauseTooSoon(nextPauseAt));

        pausedUntil = uint64(block.timestamp) + duration;
        nextPauseAt = uint64(block.timestamp) + PAUSE_INTERVAL;

        emit Paused(msg.sender, pausedUntil);
    }

    /// @inheritdoc IExpiringPause
    function resume() external restricted {
        require(block.timestamp < pausedUntil, NotPaused());

        pausedUntil = uint64(block.timestamp);

        emit Resumed(msg.sender);
    }

    function _requireNotPaused() private view {
        require(block.timestamp >= pausedUntil, EnforcedPause(pausedUntil));
    }
}
