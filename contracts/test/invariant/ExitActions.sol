// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {CourtActions} from "./CourtActions.sol";

/// @title The way out when the oracle never reports again
abstract contract ExitActions is CourtActions {
    /// @dev A provider that would have to wait longer comes another time.
    uint256 private constant PATIENCE = 20 days;

    /// @notice Invariants 5, 6 and 13 in the middle of a walk: whoever waits for its request and for its cases leaves with its own.
    function leave(uint256 who, uint256 which) external observed {
        uint256 id = _anyProvider(who);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found) return;
        uint256 maturesAt = vault.unbondRequest(id, requestId).maturesAt;
        if (maturesAt > block.timestamp + PATIENCE) return;
        if (maturesAt > block.timestamp) _pass(maturesAt - block.timestamp);
        _endCasesOf(id);
        _settleLatest(id);
        // A penalty may have emptied the pool, and the settlement may be paused.
        if (_isLive(id, requestId) && _mayLeave(id, requestId)) _withdraw(id, requestId);
    }

    /// @notice Invariant 34: everyone is out within max(own maturity, 10 d) + 10 d, with real cases open at the worst moment. An adversary
    ///         opens a case against everybody in the last second before they could leave; nobody executes or vetoes.
    function leaveWithoutOracle() external observed {
        uint256 count = registry.providerCount();
        for (uint256 id = 1; id <= count; ++id) {
            _askBack(id);
        }
        // The oracle has been silent for ten days then: unbonding takes longer than that.
        uint256 gatesAt = _lastMaturity(count);
        _pass(gatesAt - 1 - block.timestamp);
        for (uint256 id = 1; id <= count; ++id) {
            accuse(id - 1, 1, 1e18, 0);
            _openLast();
        }
        _pass(1);
        _requireAllHeld(count);

        _pass(10 days);
        _expireAll();
        for (uint256 id = 1; id <= count; ++id) {
            _leave(id);
            assertEq(vault.pool(id).tokens, 0, "5, 34: nobody is left behind");
            assertEq(withdrawn[id] + taken[id], deposited[id], "6: with all that was not taken");
        }
        assertEq(vault.totalStaked(), 0);
        assertEq(token.balanceOf(address(vault)), donated[address(vault)], "1, 7: and nothing else");
        assertEq(token.balanceOf(address(court)), donated[address(court)], "14: no bond is left behind");
    }

    function _askBack(uint256 id) private {
        uint256 active = vault.activeStake(id);
        if (active == 0) return;
        vm.prank(_owner(id));
        vault.requestUnbond(id, active);
        ++requests[id];
    }

    function _lastMaturity(uint256 count) private view returns (uint256 last) {
        last = block.timestamp + vault.unbondingFor();
        for (uint256 id = 1; id <= count; ++id) {
            for (uint256 requestId = 0; requestId < requests[id]; ++requestId) {
                uint256 maturesAt = vault.unbondRequest(id, requestId).maturesAt;
                if (_isLive(id, requestId) && maturesAt > last) last = maturesAt;
            }
        }
    }

    function _openLast() private {
        _fund(reporter, BOND);
        vm.startPrank(reporter);
        token.approve(address(court), BOND);
        court.openWithBond(violations[violations.length - 1]);
        vm.stopPrank();
    }

    function _requireAllHeld(uint256 count) private {
        for (uint256 id = 1; id <= count; ++id) {
            (bool found, uint256 requestId) = _liveRequest(id, 0);
            if (!found) continue;
            bytes memory call = abi.encodeCall(vault.withdraw, (id, requestId));
            _mustFail(_owner(id), address(vault), call, "13: a live case holds the stake");
        }
    }

    /// @dev By the ids of everything that was ever stated: the mirror's list is what is being tested.
    function _expireAll() private {
        for (uint256 i = 0; i < violations.length; ++i) {
            bytes32 caseId = court.caseIdOf(violations[i]);
            ISlashingCourt.Case memory record = court.caseAt(caseId);
            if (_isLiveCase(record.state)) _expire(caseId, record);
        }
    }

    /// @dev Waits until every case against the provider is over.
    function _endCasesOf(uint256 id) private {
        for (uint256 i = 0; i < courtMirror.caseCount(); ++i) {
            bytes32 caseId = courtMirror.caseIds(i);
            ISlashingCourt.Case memory record = court.caseAt(caseId);
            if (record.providerId != id || !_isLiveCase(record.state)) continue;
            if (record.expiresAt > block.timestamp) _pass(record.expiresAt - block.timestamp);
            _expire(caseId, record);
        }
        _foldNow();
    }

    function _leave(uint256 id) private {
        for (uint256 requestId = requests[id]; requestId > 0; --requestId) {
            if (_isLive(id, requestId - 1)) _withdraw(id, requestId - 1);
        }
    }
}
