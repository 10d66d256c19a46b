// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {ProviderRegistry} from "../../../src/ProviderRegistry.sol";
import {INodeMaintenance} from "../../../src/interfaces/INodeMaintenance.sol";
import {IProviderRegistry} from "../../../src/interfaces/IProviderRegistry.sol";
import {Mirror} from "./Mirror.sol";

/// @title The registry rebuilt from its events
contract RegistryMirror is Mirror {
    struct Node {
        uint256 providerId;
        uint64 removedAt;
        uint64 startsAt;
        uint64 endsAt;
    }

    IProviderRegistry.Provider[] private _providers;
    uint256[] private _registeredIn;
    address[] private _keys;
    mapping(address node => Node) private _nodes;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == IProviderRegistry.ProviderRegistered.selector) {
            _registered(log);
        } else if (kind == IProviderRegistry.NodeAdded.selector) {
            _added(_id(log), _address(log.topics[2]));
        } else if (kind == IProviderRegistry.NodeRemoved.selector) {
            _nodes[_address(log.topics[2])].removedAt = SafeCast.toUint64(block.timestamp);
        } else if (kind == IProviderRegistry.OperatorChanged.selector) {
            _of(log).operator = _address(log.topics[2]);
        } else if (kind == IProviderRegistry.DefenderChanged.selector) {
            _of(log).defender = _address(log.topics[2]);
        } else if (kind == IProviderRegistry.PayoutChangeQueued.selector) {
            _queued(log);
        } else if (kind == IProviderRegistry.ProviderRetired.selector) {
            _of(log).retired = true;
        } else if (kind == IProviderRegistry.ProviderSuspended.selector) {
            _of(log).suspendedUntil = abi.decode(log.data, (uint64));
        } else if (kind == INodeMaintenance.MaintenanceAnnounced.selector) {
            Node storage node = _nodes[_address(log.topics[2])];
            (node.startsAt, node.endsAt) = abi.decode(log.data, (uint64, uint64));
        } else if (kind == INodeMaintenance.MaintenanceWithdrawn.selector) {
            Node storage node = _nodes[_address(log.topics[2])];
            (node.startsAt, node.endsAt) = (0, 0);
        }
    }

    function compare() external view override {
        ProviderRegistry registry = ProviderRegistry(SOURCE);
        assertEq(registry.providerCount(), _providers.length, "providerCount");
        for (uint256 id = 1; id <= _providers.length; ++id) {
            IProviderRegistry.Provider memory rebuilt = _inForce(_providers[id - 1]);
            assertEq(keccak256(abi.encode(registry.provider(id))), keccak256(abi.encode(rebuilt)), "provider");
            assertEq(registry.payoutOf(id), rebuilt.payout, "payoutOf");
            assertEq(registry.ownerOf(id), rebuilt.owner, "ownerOf");
            assertEq(registry.isRetired(id), rebuilt.retired, "isRetired");
            assertEq(registry.providerIdOf(rebuilt.owner), id, "providerIdOf");
            assertEq(registry.providerCountAt(_registeredIn[id - 1]), _countAt(_registeredIn[id - 1]), "countAt");
            assertEq(registry.nodeCount(id), rebuilt.retired ? 0 : _liveNodes(id), "nodeCount");
            assertTrue(registry.mayDefend(id, rebuilt.owner), "owner defends");
            assertTrue(registry.mayDefend(id, rebuilt.operator), "operator defends");
            assertEq(registry.mayDefend(id, rebuilt.defender), rebuilt.defender != address(0), "defender");
        }
        _compareNodes(registry);
    }

    function _compareNodes(ProviderRegistry registry) private view {
        for (uint256 i = 0; i < _keys.length; ++i) {
            Node memory node = _nodes[_keys[i]];
            bool live = node.removedAt == 0;
            bool works = live && !_providers[node.providerId - 1].retired;
            (uint256 providerId, uint64 removedAt) = registry.nodeRecord(_keys[i]);
            assertEq(providerId, node.providerId, "nodeRecord: provider");
            assertEq(removedAt, node.removedAt, "nodeRecord: removedAt");
            (uint64 startsAt, uint64 endsAt) = registry.maintenanceOf(_keys[i]);
            assertEq(startsAt, node.startsAt, "maintenanceOf: start");
            assertEq(endsAt, node.endsAt, "maintenanceOf: end");
            assertEq(registry.providerIdOfNode(_keys[i]), works ? node.providerId : 0, "providerIdOfNode");
            assertEq(registry.nodeNonce(_keys[i]), 1, "a key joins once");
            assertEq(registry.mayDefend(node.providerId, _keys[i]), live, "live nodes defend");
        }
    }

    function _registered(Vm.Log calldata log) private {
        require(_id(log) == _providers.length + 1, "ids are dense");
        IProviderRegistry.Provider storage added = _providers.push();
        added.owner = _address(log.topics[2]);
        (added.operator, added.payout, added.hardwareClass, added.region) =
            abi.decode(log.data, (address, address, uint8, bytes8));
        added.registeredAt = SafeCast.toUint64(block.timestamp);
        _registeredIn.push(block.number);
    }

    function _added(uint256 id, address node) private {
        _keys.push(node);
        _nodes[node] = Node(id, 0, 0, 0);
    }

    function _queued(Vm.Log calldata log) private {
        IProviderRegistry.Provider storage changed = _of(log);
        changed.payout = _inForce(changed).payout;
        changed.pendingPayout = _address(log.topics[2]);
        changed.pendingPayoutAt = abi.decode(log.data, (uint64));
    }

    function _of(Vm.Log calldata log) private view returns (IProviderRegistry.Provider storage) {
        return _providers[_id(log) - 1];
    }

    function _inForce(IProviderRegistry.Provider memory noted)
        private
        view
        returns (IProviderRegistry.Provider memory)
    {
        if (noted.pendingPayoutAt == 0 || block.timestamp < noted.pendingPayoutAt) return noted;
        (noted.payout, noted.pendingPayout, noted.pendingPayoutAt) = (noted.pendingPayout, address(0), 0);
        return noted;
    }

    function _countAt(uint256 blockNumber) private view returns (uint256 count) {
        while (count < _registeredIn.length && _registeredIn[count] <= blockNumber) {
            ++count;
        }
    }

    function _liveNodes(uint256 id) private view returns (uint256 count) {
        for (uint256 i = 0; i < _keys.length; ++i) {
            if (_nodes[_keys[i]].removedAt == 0 && _nodes[_keys[i]].providerId == id) ++count;
        }
    }
}
