// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Announced absence of nodes
/// @notice Says when a node will be away. What that excuses, and how much of it a node may have, is the oracle's rule
///         (economics.md, Slashing); the chain only fixes what was said, and when.
interface INodeMaintenance {
    /// @notice The node will be away from `startsAt` until `endsAt` (unix s, exclusive), as said at this block's time.
    event MaintenanceAnnounced(uint256 indexed providerId, address indexed node, uint64 startsAt, uint64 endsAt);
    /// @notice What was announced last for the node, and had not begun, is void.
    event MaintenanceWithdrawn(uint256 indexed providerId, address indexed node);

    error MayNotAnnounce(address node, address caller);
    error MaintenanceNotAhead(uint64 startsAt, uint256 nowAt);
    error MaintenanceTooFarAhead(uint64 startsAt, uint256 latestAt);
    error InvalidMaintenanceLength(uint64 startsAt, uint64 endsAt, uint64 max);
    error MaintenanceStands(address node, uint64 startsAt, uint64 endsAt);
    error NoMaintenanceAhead(address node);

    /// @notice Announces that a node will be away. One at a time: the last one must be over or withdrawn. Owner, operator or the node.
    /// @param providerId Provider that added the node.
    /// @param node A live node key.
    /// @param startsAt Unix s, later than now and at most MAX_AHEAD from now.
    /// @param endsAt Unix s, exclusive; at most MAX_MAINTENANCE after `startsAt`.
    function announceMaintenance(uint256 providerId, address node, uint64 startsAt, uint64 endsAt) external;

    /// @notice Withdraws what was announced, as long as it has not begun. Owner, operator or the node.
    function withdrawMaintenance(uint256 providerId, address node) external;

    /// @notice What was announced last for a node and not withdrawn, over or not; zeros if nothing was.
    function maintenanceOf(address node) external view returns (uint64 startsAt, uint64 endsAt);
}
