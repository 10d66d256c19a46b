// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {INodeMaintenance} from "./interfaces/INodeMaintenance.sol";

/// @title Announced absence of nodes
/// @dev Settlement folds the events. Storage holds one announcement a node, for two reasons only: the next one must wait until it is
///      over, so that a node says no more than its days have seconds; and nothing that has begun is withdrawn.
abstract contract NodeMaintenance is INodeMaintenance {
    /// @dev One slot; unix seconds, the end exclusive.
    struct Maintenance {
        uint64 startsAt;
        uint64 endsAt;
    }

    /// @notice Longest time from an announcement to its start, seconds.
    uint64 public constant MAX_AHEAD = 30 days;

    /// @notice Longest announced absence, seconds. What the oracle excuses of it is less.
    uint64 public constant MAX_MAINTENANCE = 7 days;

    /// @dev slot 3 (behind name, version and authority), by node key.
    mapping(address node => Maintenance) private _maintenance;

    /// @inheritdoc INodeMaintenance
    function announceMaintenance(uint256 providerId, address node, uint64 startsAt, uint64 endsAt) external {
        _requireMayAnnounce(providerId, node);
        Maintenance memory last = _maintenance[node];
        require(block.timestamp >= last.endsAt, MaintenanceStands(node, last.startsAt, last.endsAt));
        require(startsAt > block.timestamp, MaintenanceNotAhead(startsAt, block.timestamp));
        uint256 latestAt = block.timestamp + MAX_AHEAD;
        require(startsAt <= latestAt, MaintenanceTooFarAhead(startsAt, latestAt));
        bool fits = endsAt > startsAt && endsAt - startsAt <= MAX_MAINTENANCE;
        require(fits, InvalidMaintenanceLength(startsAt, endsAt, MAX_MAINTENANCE));

        _maintenance[node] = Maintenance(startsAt, endsAt);

        emit MaintenanceAnnounced(providerId, node, startsAt, endsAt);
    }

    /// @inheritdoc INodeMaintenance
    function withdrawMaintenance(uint256 providerId, address node) external {
        _requireMayAnnounce(providerId, node);
        require(_maintenance[node].startsAt > block.timestamp, NoMaintenanceAhead(node));

        delete _maintenance[node];

        emit MaintenanceWithdrawn(providerId, node);
    }

    /// @inheritdoc INodeMaintenance
    function maintenanceOf(address node) external view returns (uint64 startsAt, uint64 endsAt) {
        Maintenance memory last = _maintenance[node];
        return (last.startsAt, last.endsAt);
    }

    /// @dev Reverts unless the caller may speak for the node, and the node is a live one of the provider.
    function _requireMayAnnounce(uint256 providerId, address node) internal view virtual;
}
