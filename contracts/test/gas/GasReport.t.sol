// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";
import {Trees} from "../utils/Trees.sol";

/// @title Gas of whole transactions in the steady state, against the goals of design/contracts.md
/// @dev Isolated: every call is a transaction of its own, with its intrinsic gas and cold storage.
/// forge-config: default.isolate = true
contract GasReportTest is Reports {
    uint256 private constant DEPTH = 20; // a million leaves
    uint256 private constant BATCH = 50;
    string private constant GROUP = "network";

    address private alice;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        _stake(alice, aliceId, 10_000e18);
    }

    function test_vote_whenSteady_thenItStaysBelowTheGoal() public {
        _setLine(aliceId, 10e18, 1e18);
        _publish(0);
        _setLine(aliceId, 20e18, 2e18);
        _endEpoch(1);
        Report memory report = _draft(1);
        for (uint256 i = 0; i < QUORUM; ++i) {
            _vote(i, report);
            uint256 used = vm.snapshotGasLastCall(GROUP, string.concat("vote ", vm.toString(i + 1)));
            assertLe(used, 75_000);
        }
    }

    function test_epoch_whenSteady_thenItStaysBelowTheGoal() public {
        _setLine(aliceId, 10e18, 1e18);
        _publish(0);
        _setLine(aliceId, 20e18, 2e18);
        _gasOfEpoch(1);
        uint256 used = _gasOfEpoch(2);
        vm.snapshotValue(GROUP, "epoch, 5 votes and a report", used);
        assertLe(used, 420_000);

        outcomes.push(keccak256("outcome"));
        vm.snapshotValue(GROUP, "epoch, 5 votes and a report with outcomes", _gasOfEpoch(3));
    }

    /// @dev The goal of 80k holds for rewards; netting a penalty writes one slot more.
    function test_settle_whenSteady_thenItStaysBelowItsBudget() public {
        _settleDeep(10e18, 1e18, "settle, first, 1M leaves");
        assertLe(_settleDeep(30e18, 2e18, "settle, reward and penalty, 1M leaves"), 84_000);
        assertLe(_settleDeep(40e18, 2e18, "settle, reward, 1M leaves"), 80_000);
        _settleDeep(40e18, 3e18, "settle, first penalty from stake, 1M leaves");
        _settleDeep(40e18, 4e18, "settle, penalty from stake, 1M leaves");
    }

    function test_settleMany_whenFifty_thenItStaysBelowItsBudget() public {
        for (uint256 i = 1; i < BATCH; ++i) {
            _join(string.concat("provider ", vm.toString(i)));
        }
        _settleBatch(1);
        uint256 perId = _settleBatch(2) / BATCH;
        vm.snapshotValue(GROUP, "settleMany, per id of 50, 1M leaves", perId);
        assertLe(perId, 41_000);
    }

    function test_court_whenACaseRuns_thenItsGasIsKnown() public {
        Violation memory violation = Violation({
            providerId: aliceId,
            class: ViolationClass.Protocol,
            severity: Severity.Penalty,
            epoch: 0,
            offenceAt: uint64(block.timestamp),
            amount: 10e18,
            suspendedFor: 1 days,
            evidenceHash: keccak256("evidence")
        });
        outcomes.push(court.violationLeaf(violation));
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory path = _outcomePath(0);
        bytes32 caseId = court.open(violation, rootIndex, path);
        vm.snapshotGasLastCall(GROUP, "court open");
        vm.warp(block.timestamp + 3 days);
        court.execute(caseId);
        vm.snapshotGasLastCall(GROUP, "court execute");
    }

    function _gasOfEpoch(uint32 epoch) private returns (uint256 used) {
        _endEpoch(epoch);
        Report memory report = _draft(epoch);
        for (uint256 i = 0; i < QUORUM; ++i) {
            _vote(i, report);
            used += vm.lastCallGas().gasTotalUsed;
        }
        oracle.submitReport(report);
        used += vm.lastCallGas().gasTotalUsed;
    }

    function _settleDeep(uint256 cumReward, uint256 cumPenalty, string memory name) private returns (uint256) {
        (uint256 rootIndex, SettlementLeaf memory line, bytes32[] memory path) = _publishDeep(cumReward, cumPenalty);
        settlement.settle(rootIndex, line, path);
        return vm.snapshotGasLastCall(GROUP, name);
    }

    /// @dev A root over a million leaves of which only alice's line and path are known.
    function _publishDeep(uint256 cumReward, uint256 cumPenalty)
        private
        returns (uint256 rootIndex, SettlementLeaf memory line, bytes32[] memory path)
    {
        line = _line(aliceId, cumReward, cumPenalty);
        path = new bytes32[](DEPTH);
        bytes32 node = _leaf(line);
        for (uint256 i = 0; i < DEPTH; ++i) {
            path[i] = keccak256(abi.encode("sibling", i));
            node = Hashes.commutativeKeccak256(node, path[i]);
        }
        rootIndex = _accept(node, cumReward, cumPenalty);
    }

    function _accept(bytes32 root, uint256 totalReward, uint256 totalPenalty) private returns (uint256 rootIndex) {
        Report memory report;
        report.epoch = uint32(settlement.rootCount());
        report.root = root;
        report.totalReward = SafeCast.toUint128(totalReward);
        report.totalPenalty = SafeCast.toUint128(totalPenalty);
        vm.prank(address(oracle));
        rootIndex = settlement.acceptReport(report);
        vm.warp(block.timestamp + 1 days);
    }

    /// @dev Settles fifty neighbours; above their own subtree the path to a root over a million leaves is made up.
    function _settleBatch(uint256 times) private returns (uint256) {
        for (uint256 id = 1; id <= BATCH; ++id) {
            _setLine(id, times * 10e18, times * 1e18);
        }
        bytes32[] memory nodes = Trees.build(_leaves());
        SettlementLeaf[] memory lines = new SettlementLeaf[](BATCH);
        bytes32[][] memory paths = new bytes32[][](BATCH);
        bytes32 root = nodes[0];
        for (uint256 i = 0; i < BATCH; ++i) {
            lines[i] = book[i];
            (paths[i], root) = _deepen(Trees.pathIn(nodes, i), nodes[0]);
        }
        uint256 rootIndex = _accept(root, BATCH * times * 10e18, BATCH * times * 1e18);
        settlement.settleMany(rootIndex, lines, paths);
        return vm.lastCallGas().gasTotalUsed;
    }

    /// @dev Paths of a tree whose depths differ by one are lengthened by the same made-up siblings, 14 of them: 19 or 20 in all.
    function _deepen(bytes32[] memory path, bytes32 root) private pure returns (bytes32[] memory longer, bytes32) {
        uint256 added = DEPTH - 6;
        longer = new bytes32[](path.length + added);
        for (uint256 i = 0; i < path.length; ++i) {
            longer[i] = path[i];
        }
        for (uint256 i = 0; i < added; ++i) {
            longer[path.length + i] = keccak256(abi.encode("sibling", i));
            root = Hashes.commutativeKeccak256(root, longer[path.length + i]);
        }
        return (longer, root);
    }
}
