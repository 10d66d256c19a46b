// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title What the vault asks before stake may leave
/// @notice Implemented by RewardSettlement; the vault only reads it.
interface IExitGate {
    /// @notice Number of the latest activated, not disabled root plus one (0 = none yet), and when the last report was accepted (unix s,
    ///         the deployment time before the first one).
    function exitStatus() external view returns (uint32 activatedRoots, uint64 lastReportAt);

    /// @notice Number of the latest root the provider was settled against plus one; 0 if none.
    function settledRootsOf(uint256 providerId) external view returns (uint32);
}
