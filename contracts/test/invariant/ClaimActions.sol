// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {SettlementLeaf} from "../../src/types/Settlement.sol";
import {Trees} from "../utils/Trees.sol";
import {EpochActions} from "./EpochActions.sol";

/// @title Settling of anyone by anyone, in any order of roots, with true and with false leaves
abstract contract ClaimActions is EpochActions {
    /// @notice Invariants 19, 20 and 21: a root that counts nets exactly the growth; any other moves nothing.
    function settle(uint256 who, uint256 which) external observed {
        (bool found, uint256 rootIndex, uint256 id) = _anyLine(who, which);
        if (!found) return;
        SettlementLeaf memory line = linesOf[rootIndex][id - 1];
        bytes memory call = abi.encodeCall(settlement.settle, (rootIndex, line, _pathIn(rootIndex, id)));
        if (!_isActive(rootIndex)) {
            _mustFail(address(this), address(settlement), call, "21: paid by a root that does not count");
            hits["root refused"] += 1;
            return;
        }
        if (_isPaused(address(settlement)) && _payOf(rootIndex, line) != 0) {
            _mustFail(address(this), address(settlement), call, "32: paid while paused");
            return;
        }
        _settle(rootIndex, line);
    }

    /// @notice Invariant 20: a batch of neighbours is its lines one by one, whatever of it was settled before.
    function settleMany(uint256 which, uint256 first, uint256 count) external observed {
        (bool found, uint256 rootIndex,) = _anyLine(0, which);
        if (!found || !_isActive(rootIndex) || _isPaused(address(settlement))) return;
        first %= linesOf[rootIndex].length;
        count = 1 + count % (linesOf[rootIndex].length - first);
        SettlementLeaf[] memory lines = new SettlementLeaf[](count);
        for (uint256 i = 0; i < count; ++i) {
            lines[i] = linesOf[rootIndex][first + i];
        }
        (bytes32[] memory proof, bool[] memory flags) =
            Trees.multiPathIn(Trees.build(_leavesIn(rootIndex)), first, count);
        uint256[] memory losses = _lossesBy(rootIndex, lines);
        uint256[] memory stakes = _stakes();

        settlement.settleMany(rootIndex, lines, proof, flags);

        hits["paid by a batch"] += 1;
        for (uint256 i = 0; i < stakes.length; ++i) {
            uint256 lost = stakes[i] - vault.pool(i + 1).tokens;
            assertEq(lost, losses[i], "19, 20: exactly the shortfall, and nobody else's");
            taken[i + 1] += lost;
        }
    }

    /// @notice Succeeds exactly when the gates say so: matured, no open case, settled or the oracle silent. Every other time the provider
    ///         settles first and comes when its request is due.
    function withdraw(uint256 who, uint256 which) external observed {
        uint256 id = _anyProvider(who);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found) return;
        if (which % 2 == 0) _settleLatest(id);
        uint64 maturesAt = vault.unbondRequest(id, requestId).maturesAt;
        if (which % 4 == 0 && maturesAt > block.timestamp && maturesAt < block.timestamp + 3 days) {
            _pass(maturesAt - block.timestamp);
        }
        if (!_isLive(id, requestId)) return;
        if (!_mayLeave(id, requestId)) {
            bytes memory call = abi.encodeCall(vault.withdraw, (id, requestId));
            _mustFail(_owner(id), address(vault), call, "stake left through a closed gate");
            hits["gate closed"] += 1;
            return;
        }
        _withdraw(id, requestId);
    }

    function settleAndWithdraw(uint256 who, uint256 which) external observed {
        uint256 id = _anyProvider(who);
        uint256 activated = settlementMirror.latest(block.timestamp);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found || activated == 0 || id > linesOf[activated - 1].length) return;
        if (_isPaused(address(settlement)) || courtMirror.liveCases(id) != 0) return;
        if (block.timestamp < vault.unbondRequest(id, requestId).maturesAt) return;
        SettlementLeaf memory line = linesOf[activated - 1][id - 1];
        uint256 owed = Math.saturatingSub(_penaltyOf(line), _rewardOf(line));
        // A penalty that empties the pool ends the request: then both fail, and nothing is settled by half.
        if (owed >= vault.pool(id).tokens || (owed != 0 && vault.pool(id).thawShares > 1e30)) return;
        uint256 stakeBefore = vault.pool(id).tokens;

        (, uint256 amount) = settlement.settleAndWithdraw(activated - 1, line, _pathIn(activated - 1, id), requestId);

        withdrawn[id] += amount;
        taken[id] += owed;
        assertEq(vault.pool(id).tokens, stakeBefore - owed - amount, "19: exactly the shortfall");
    }

    /// @notice Invariant 22: no other line, id, path or root verifies.
    function settleFalsely(uint256 who, uint256 which, uint256 how) external observed {
        (bool found, uint256 rootIndex, uint256 id) = _anyLine(who, which);
        if (!found || !_isActive(rootIndex)) return;
        SettlementLeaf memory line = linesOf[rootIndex][id - 1];
        bytes32[] memory path = _pathIn(rootIndex, id);
        if (how % 5 == 0) line.cumReward += 1;
        else if (how % 5 == 1) line.cumPenalty += 1;
        else if (how % 5 == 2) line.providerId += 1;
        else if (how % 5 == 3) path[how % path.length] = keccak256(abi.encode(how));
        else path = new bytes32[](0);
        bytes memory call = abi.encodeCall(settlement.settle, (rootIndex, line, path));
        _mustFail(address(this), address(settlement), call, "22: a false line verified");
        hits["false line refused"] += 1;
    }

    /// @notice Invariant 17 and 18, over all providers. The latest root that was settled decides alone (20).
    function checkClaims() external view {
        uint256 claimed;
        for (uint256 id = 1; id <= registry.providerCount(); ++id) {
            IRewardSettlement.Account memory account = settlement.account(id);
            uint256 settled = settlement.settledRootsOf(id);
            SettlementLeaf memory line = settled == 0 ? SettlementLeaf(id, 0, 0) : linesOf[settled - 1][id - 1];
            assertEq(account.claimed, line.cumReward, "17, 20: the latest settled root decides");
            assertEq(account.penalised, line.cumPenalty, "17, 20: the latest settled root decides");
            assertTrue(settled == 0 || _isActive(settled - 1), "21: only roots that count");
            claimed += account.claimed;
        }
        uint256 backed = settlementMirror.minted() + settlementMirror.funded();
        assertLe(claimed, settlement.totals().reward, "18: claimed <= totals");
        assertLe(settlement.totals().reward, backed, "18: totals <= funded");
        assertLe(settlementMirror.minted(), settlement.cumulativeEmission(oracle.processedEpochs()), "23: the schedule");
        uint256 gone = settlementMirror.paid() + settlementMirror.flushed();
        uint256 held = backed + donated[address(settlement)] - gone;
        assertEq(token.balanceOf(address(settlement)), held, "18: what came less what went");
    }

    function _settle(uint256 rootIndex, SettlementLeaf memory line) internal {
        uint256 id = line.providerId;
        bool counts = settlement.settledRootsOf(id) <= rootIndex;
        uint256 pay = counts ? _payOf(rootIndex, line) : 0;
        uint256 owed = counts ? Math.saturatingSub(_penaltyOf(line), _rewardOf(line)) : 0;
        uint256 stakeBefore = vault.pool(id).tokens;
        address payout = registry.payoutOf(id);
        uint256 before = token.balanceOf(payout);
        bytes32[] memory path = _pathIn(rootIndex, id);

        uint256 paid = settlement.settle(rootIndex, line, path);

        assertEq(paid, pay, "19: exactly the growth");
        assertEq(token.balanceOf(payout), before + pay, "19: to the payout address");
        uint256 lost = stakeBefore - vault.pool(id).tokens;
        assertEq(lost, _least(owed, stakeBefore), "19: exactly the shortfall, or the stake");
        taken[id] += lost;
        if (paid != 0) hits["paid"] += 1;
        if (lost != 0) hits["penalty from stake"] += 1;
    }

    function _settleLatest(uint256 id) internal {
        uint256 activated = settlementMirror.latest(block.timestamp);
        if (activated == 0 || id > linesOf[activated - 1].length || _isPaused(address(settlement))) return;
        _settle(activated - 1, linesOf[activated - 1][id - 1]);
    }

    function _isActive(uint256 rootIndex) internal view returns (bool) {
        IRewardSettlement.Root memory root = settlement.rootAt(rootIndex);
        return !root.disabled && block.timestamp >= root.activatesAt;
    }

    function _anyLine(uint256 who, uint256 which) private view returns (bool found, uint256 rootIndex, uint256 id) {
        uint256 count = settlement.rootCount();
        if (count == 0) return (false, 0, 0);
        rootIndex = count - 1 - which % _least(count, 5);
        return (true, rootIndex, 1 + who % linesOf[rootIndex].length);
    }

    function _payOf(uint256 rootIndex, SettlementLeaf memory line) private view returns (uint256) {
        if (settlement.settledRootsOf(line.providerId) > rootIndex) return 0;
        return Math.saturatingSub(_rewardOf(line), _penaltyOf(line));
    }

    function _rewardOf(SettlementLeaf memory line) private view returns (uint256) {
        return Math.saturatingSub(line.cumReward, settlement.account(line.providerId).claimed);
    }

    function _penaltyOf(SettlementLeaf memory line) private view returns (uint256) {
        return Math.saturatingSub(line.cumPenalty, settlement.account(line.providerId).penalised);
    }

    /// @dev What each provider is to lose when `lines` are settled, wei.
    function _lossesBy(uint256 rootIndex, SettlementLeaf[] memory lines)
        private
        view
        returns (uint256[] memory losses)
    {
        losses = new uint256[](registry.providerCount());
        for (uint256 i = 0; i < lines.length; ++i) {
            uint256 id = lines[i].providerId;
            if (settlement.settledRootsOf(id) > rootIndex) continue;
            uint256 owed = Math.saturatingSub(_penaltyOf(lines[i]), _rewardOf(lines[i]));
            losses[id - 1] = _least(owed, vault.pool(id).tokens);
        }
    }

    function _stakes() private view returns (uint256[] memory stakes) {
        stakes = new uint256[](registry.providerCount());
        for (uint256 i = 0; i < stakes.length; ++i) {
            stakes[i] = vault.pool(i + 1).tokens;
        }
    }
}
