// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {Deployment} from "./Deployment.sol";
import {Trees} from "./Trees.sol";

/// @title A network whose members settle epochs: a book of lines, drafted to reports, voted on and submitted
abstract contract Reports is Deployment {
    uint256 internal constant BLOCKS_PER_EPOCH = 7200;
    bytes32 internal constant MANIFEST = keccak256("manifest");

    /// @dev Line of provider `id` at `id - 1`.
    SettlementLeaf[] internal book;

    /// @dev Outcomes of the epoch being drafted.
    bytes32[] internal outcomes;

    /// @dev Registers a provider with an empty line.
    function _join(string memory name) internal returns (address owner, uint256 providerId) {
        owner = makeAddr(name);
        providerId = _register(owner);
        book.push(SettlementLeaf(providerId, 0, 0));
    }

    function _setLine(uint256 providerId, uint256 cumReward, uint256 cumPenalty) internal {
        book[providerId - 1] = _line(providerId, cumReward, cumPenalty);
    }

    function _line(uint256 providerId, uint256 cumReward, uint256 cumPenalty)
        internal
        pure
        returns (SettlementLeaf memory)
    {
        return SettlementLeaf(providerId, SafeCast.toUint128(cumReward), SafeCast.toUint128(cumPenalty));
    }

    /// @dev The first moment in which members can vote on `epoch`.
    function _endEpoch(uint32 epoch) internal {
        vm.roll(block.number + BLOCKS_PER_EPOCH);
        vm.warp(oracle.epochEnd(epoch));
    }

    /// @dev The book as a report of `epoch`, built on the last block.
    function _draft(uint32 epoch) internal view returns (Report memory report) {
        report.epoch = epoch;
        report.refBlock = SafeCast.toUint64(block.number - 1);
        report.refBlockHash = blockhash(block.number - 1);
        report.paramsVersion = 1;
        report.root = Trees.root(_leaves());
        report.leafCount = SafeCast.toUint32(book.length);
        for (uint256 i = 0; i < book.length; ++i) {
            report.totalReward += book[i].cumReward;
            report.totalPenalty += book[i].cumPenalty;
        }
        if (outcomes.length != 0) report.outcomesRoot = Trees.root(_paddedOutcomes());
        report.manifestHash = MANIFEST;
    }

    /// @dev Votes of a bare quorum.
    function _agree(Report memory report) internal {
        for (uint256 i = 0; i < QUORUM; ++i) {
            _vote(i, report);
        }
    }

    function _vote(uint256 member, Report memory report) internal {
        vm.prank(oracleMember(member));
        oracle.vote(report.epoch, keccak256(abi.encode(report)));
    }

    /// @dev Ends `epoch` and settles it with the book as it is.
    function _publish(uint32 epoch) internal returns (uint256 rootIndex) {
        _endEpoch(epoch);
        Report memory report = _draft(epoch);
        _agree(report);
        return oracle.submitReport(report);
    }

    /// @dev `_publish`, then waits for the activation.
    function _publishActive(uint32 epoch) internal returns (uint256 rootIndex) {
        rootIndex = _publish(epoch);
        vm.warp(settlement.rootAt(rootIndex).activatesAt);
    }

    /// @dev Lets `role` call one function of a contract that is not part of the deployment.
    function _assignByTimelock(address target, bytes4 selector, uint64 role) internal {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = selector;
        _byTimelock(address(manager), abi.encodeCall(manager.setTargetFunctionRole, (target, selectors, role)));
    }

    function _settle(uint256 rootIndex, uint256 providerId) internal returns (uint256 paid) {
        return settlement.settle(rootIndex, book[providerId - 1], _path(providerId));
    }

    function _path(uint256 providerId) internal view returns (bytes32[] memory) {
        return Trees.path(_leaves(), providerId - 1);
    }

    function _outcomePath(uint256 index) internal view returns (bytes32[] memory) {
        return Trees.path(_paddedOutcomes(), index);
    }

    function _leaf(SettlementLeaf memory line) internal view returns (bytes32) {
        return keccak256(
            bytes.concat(
                keccak256(abi.encode(settlement.leafDomain(), line.providerId, line.cumReward, line.cumPenalty))
            )
        );
    }

    /// @dev Leaves in the order of ids; the stone pads a tree of one.
    function _leaves() internal view returns (bytes32[] memory leaves) {
        uint256 count = book.length;
        leaves = new bytes32[](count < 2 ? 2 : count);
        for (uint256 i = 0; i < count; ++i) {
            leaves[i] = _leaf(book[i]);
        }
        for (uint256 i = count; i < leaves.length; ++i) {
            leaves[i] = _leaf(SettlementLeaf(0, 0, 0));
        }
    }

    function _paddedOutcomes() private view returns (bytes32[] memory leaves) {
        uint256 count = outcomes.length;
        leaves = new bytes32[](count < 2 ? 2 : count);
        for (uint256 i = 0; i < count; ++i) {
            leaves[i] = outcomes[i];
        }
        for (uint256 i = count; i < leaves.length; ++i) {
            leaves[i] = _leaf(SettlementLeaf(0, 0, 0));
        }
    }
}
