// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Network} from "./Network.sol";

/// @title What providers do with their stake
abstract contract ProviderActions is Network {
    uint256 internal constant MOST_PROVIDERS = 5;
    uint256 private constant MOST_REQUESTS = 12;

    /// @notice Wei by fate and provider. Every wei that left by a court or a penalty is in `taken`.
    mapping(uint256 providerId => uint256) public deposited;
    mapping(uint256 providerId => uint256) public withdrawn;
    mapping(uint256 providerId => uint256) public taken;

    /// @dev Request ids ever made.
    mapping(uint256 providerId => uint256) internal requests;

    /// @dev Second of the last deposit of a provider.
    mapping(uint256 providerId => uint256) private _lastDepositAt;

    function join() public observed {
        uint256 count = registry.providerCount();
        if (count >= MOST_PROVIDERS) return;

        (address owner,) = _join(string.concat("owner", vm.toString(count + 1)));

        vm.prank(owner);
        token.approve(address(vault), type(uint256).max);
    }

    function stake(uint256 who, uint256 amount) public observed {
        uint256 id = _anyProvider(who);
        if (id == 0 || registry.isRetired(id) || _isPaused(address(vault))) return;
        amount = _spread(amount, 1e24);
        // A sixty-fifth deposit is refused until old ones can be told apart no more.
        if (block.timestamp < _lastDepositAt[id] + 1 days) return;
        _lastDepositAt[id] = block.timestamp;
        _fund(_owner(id), amount);

        vm.prank(_owner(id));
        vault.stake(id, amount);

        deposited[id] += amount;
    }

    function requestUnbond(uint256 who, uint256 amount) external observed {
        uint256 id = _anyProvider(who);
        if (id == 0) return;
        uint256 active = vault.activeStake(id);
        if (active == 0 || vault.openRequests(id) >= MOST_REQUESTS) return;

        vm.prank(_owner(id));
        uint256 requestId = vault.requestUnbond(id, _spread(amount, active));

        assertEq(requestId, requests[id]++, "ids are dense");
    }

    function cancelUnbond(uint256 who, uint256 which) external observed {
        uint256 id = _anyProvider(who);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found) return;

        vm.prank(_owner(id));
        vault.cancelUnbond(id, requestId);
    }

    function _withdraw(uint256 id, uint256 requestId) internal {
        uint256 worth = vault.unbondValue(id, requestId);
        uint256 before = token.balanceOf(_owner(id));

        uint256 amount = vault.withdraw(id, requestId);

        assertEq(amount, worth, "unbondValue is what withdraw pays");
        assertEq(token.balanceOf(_owner(id)), before + amount, "to the owner");
        withdrawn[id] += amount;
        hits["withdrawn"] += 1;
    }

    function _liveRequest(uint256 id, uint256 which) internal view returns (bool found, uint256 requestId) {
        uint256 count = requests[id];
        for (uint256 i = 0; i < count; ++i) {
            requestId = (which % count + i) % count;
            if (_isLive(id, requestId)) return (true, requestId);
        }
    }

    function _isLive(uint256 id, uint256 requestId) internal view returns (bool) {
        IStakeVault.UnbondRequest memory request = vault.unbondRequest(id, requestId);
        return request.shares != 0 && request.nonce == vault.pool(id).nonce;
    }

    /// @dev What the page says, from the mirrors' point of view: the gate is asked for nothing.
    function _mayLeave(uint256 id, uint256 requestId) internal view returns (bool) {
        if (block.timestamp < vault.unbondRequest(id, requestId).maturesAt) return false;
        if (courtMirror.liveCases(id) != 0) return false;
        uint256 activated = settlementMirror.latest(block.timestamp);
        (, uint64 lastReportAt) = settlement.exitStatus();
        return settlement.settledRootsOf(id) >= activated || block.timestamp > lastReportAt + 10 days;
    }

    function _isPaused(address where) internal view returns (bool) {
        (, bytes memory until) = where.staticcall(abi.encodeWithSignature("pausedUntil()"));
        return block.timestamp < abi.decode(until, (uint64));
    }
}
