// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {RewardSettlement} from "../../../src/RewardSettlement.sol";
import {IReportLimits} from "../../../src/interfaces/IReportLimits.sol";
import {IRewardSettlement} from "../../../src/interfaces/IRewardSettlement.sol";
import {Mirror} from "./Mirror.sol";

/// @title Roots, lines and emission rebuilt from the settlement's events
/// @dev `refBlock` of a root is in no event (the report's hash binds it), so it is taken over and not compared.
contract SettlementMirror is Mirror {
    struct Line {
        uint256 claimed;
        uint256 penalised;
        uint256 settledRoots;
    }

    uint256 public minted;
    uint256 public funded;
    uint256 public netted;

    /// @notice Wei paid to providers, Σ over all.
    uint256 public paid;
    uint256 public flushed;

    IRewardSettlement.Root[] private _roots;
    IReportLimits.Totals[] private _totals;
    uint256 private _lastReportAt = block.timestamp;
    uint256 private _lastProvider;
    mapping(uint256 providerId => Line) private _lines;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == IRewardSettlement.ReportAccepted.selector) _accepted(log);
        else if (kind == IRewardSettlement.RootDisabled.selector) _roots[_id(log)].disabled = true;
        else if (kind == IRewardSettlement.Settled.selector) _settled(log);
        else if (kind == IRewardSettlement.Funded.selector) funded += abi.decode(log.data, (uint256));
        else if (kind == IRewardSettlement.Minted.selector) _minted(log.data);
        else if (kind == IRewardSettlement.PenaltiesFlushed.selector) _flushed(abi.decode(log.data, (uint256)));
    }

    function compare() external view override {
        RewardSettlement settlement = RewardSettlement(SOURCE);
        assertEq(settlement.totalMinted(), minted, "totalMinted");
        assertEq(settlement.totalFunded(), funded, "totalFunded");
        assertEq(settlement.nettedPenalties(), netted, "nettedPenalties");
        assertEq(settlement.rootCount(), _roots.length, "rootCount");
        for (uint256 i = _roots.length; i > 0 && i + 4 > _roots.length; --i) {
            assertEq(_withoutBlock(settlement.rootAt(i - 1)), _withoutBlock(_roots[i - 1]), "rootAt");
        }
        for (uint256 id = 1; id <= _lastProvider; ++id) {
            assertEq(settlement.account(id).claimed, _lines[id].claimed, "claimed");
            assertEq(settlement.account(id).penalised, _lines[id].penalised, "penalised");
            assertEq(settlement.settledRootsOf(id), _lines[id].settledRoots, "settledRootsOf");
        }
        _compareProgress(settlement);
    }

    /// @notice Number of the last root that is not disabled and activates by `time`; 0 if there is none.
    function latest(uint256 time) public view returns (uint256 roots) {
        for (roots = _roots.length; roots > 0; --roots) {
            if (!_roots[roots - 1].disabled && _roots[roots - 1].activatesAt <= time) return roots;
        }
    }

    function _compareProgress(RewardSettlement settlement) private view {
        (uint32 activatedRoots, uint64 lastReportAt) = settlement.exitStatus();
        assertEq(activatedRoots, latest(block.timestamp), "activatedRoots");
        assertEq(lastReportAt, _lastReportAt, "lastReportAt");
        uint256 last = latest(type(uint256).max);
        IReportLimits.Totals memory want;
        if (last != 0) want = _totals[last - 1];
        IReportLimits.Totals memory have = settlement.totals();
        have.refBlock = 0;
        assertEq(keccak256(abi.encode(have)), keccak256(abi.encode(want)), "totals");
    }

    /// @dev Invariant 23 beside the rebuilding: the totals of roots that count never fall.
    function _accepted(Vm.Log calldata log) private {
        require(_id(log) == _roots.length, "roots are dense");
        IRewardSettlement.Root memory root;
        IReportLimits.Totals memory sums;
        root.epoch = uint32(uint256(log.topics[2]));
        (root.root, root.outcomesRoot,, root.leafCount, sums.reward, sums.penalty, root.activatesAt) =
            abi.decode(log.data, (bytes32, bytes32, bytes32, uint32, uint128, uint128, uint64));
        (sums.epochs, sums.leafCount) = (root.epoch + 1, root.leafCount);
        uint256 last = latest(type(uint256).max);
        if (last != 0) {
            assertGe(sums.reward, _totals[last - 1].reward, "23: rewards grow");
            assertGe(sums.penalty, _totals[last - 1].penalty, "23: penalties grow");
            assertGe(sums.epochs, _totals[last - 1].epochs + 1, "27: epochs grow");
        }
        _lastReportAt = block.timestamp;
        _roots.push(root);
        _totals.push(sums);
    }

    function _settled(Vm.Log calldata log) private {
        (uint256 reward, uint256 penalty, uint256 amount) = abi.decode(log.data, (uint256, uint256, uint256));
        Line storage line = _lines[_id(log)];
        line.claimed += reward;
        line.penalised += penalty;
        line.settledRoots = uint256(log.topics[2]) + 1;
        netted += reward - amount;
        paid += amount;
        if (_id(log) > _lastProvider) _lastProvider = _id(log);
    }

    function _minted(bytes calldata data) private {
        (uint256 amount, uint256 total) = abi.decode(data, (uint256, uint256));
        minted += amount;
        require(total == minted, "the event tells the sum");
    }

    function _flushed(uint256 amount) private {
        require(amount == netted, "all of it");
        flushed += amount;
        netted = 0;
    }

    function _withoutBlock(IRewardSettlement.Root memory root) private pure returns (bytes32) {
        root.refBlock = SafeCast.toUint64(0);
        return keccak256(abi.encode(root));
    }
}
