// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title A pause that ends by itself
interface IExpiringPause {
    event Paused(address indexed by, uint64 pausedUntil);
    event Resumed(address indexed by);

    error EnforcedPause(uint64 pausedUntil);
    error PauseTooLong(uint256 have, uint256 max);
    error PauseTooSoon(uint256 nextAllowedAt);
    error NotPaused();

    /// @notice Pauses for at most 7 days, not again within 14 days of the last pause. Only the guardian.
    function pauseFor(uint64 duration) external;

    /// @notice Ends a pause early. Only the guardian.
    function resume() external;

    function pausedUntil() external view returns (uint64);
}
