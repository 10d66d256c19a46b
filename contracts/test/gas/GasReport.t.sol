// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Vm} from "forge-std/Vm.sol";

import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";
import {Trees} from "../utils/Trees.sol";

/// @title Gas of whole transactions in the steady state, against the goals of design/contracts.md
/// @dev Isolated: every call is a transaction of its own, with its intrinsic gas and cold storage.
/// forge-config: default.isolate = true
contract GasReportTest is Reports {
    uint256 private constant DEPTH = 20; // a million leaves
    uint256 private constant NEAR_DEPTH = 7; // of which 128 are hashed for real
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

    /// @dev The owner approves exactly what it stakes, as the CLI does. Deposits further apart than the longest unbonding share one floor of
    ///      the past; those that are not write one more, over an old one if there is any.
    function test_stake_whenSteady_thenItStaysBelowTheGoal() public {
        _fund(alice, 1000e18);
        _gasOfDeposit("stake, a second after the first deposit");
        _gasOfDeposit("stake, a second after the second deposit");
        vm.warp(block.timestamp + vault.MAX_UNBONDING());
        assertLe(_gasOfDeposit("stake, the last deposit 90 d ago"), 55_000);
        assertLe(_gasOfDeposit("stake, the last deposit a second ago, an older one 90 d ago"), 62_000);
    }

    function test_settle_whenSteady_thenItStaysBelowTheGoal() public {
        _settleDeep(10e18, 1e18, "settle, first, 1M leaves");
        assertLe(_settleDeep(30e18, 2e18, "settle, reward and penalty, 1M leaves"), 80_000);
        assertLe(_settleDeep(40e18, 2e18, "settle, reward, 1M leaves"), 80_000);
        _settleDeep(40e18, 3e18, "settle, first penalty from stake, 1M leaves");
        _settleDeep(40e18, 4e18, "settle, penalty from stake, 1M leaves");
    }

    function test_settleMany_whenFifty_thenItStaysBelowTheGoal() public {
        for (uint256 i = 1; i < BATCH; ++i) {
            _join(string.concat("provider ", vm.toString(i)));
        }
        _settleBatch(1);
        uint256 perId = _settleBatch(2) / BATCH;
        vm.snapshotValue(GROUP, "settleMany, per id of 50, 1M leaves", perId);
        assertLe(perId, 32_000);
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

    /// @dev A deposit of one token, a second later; the gas that its receipt would say, less the refund for the allowance that it uses up.
    function _gasOfDeposit(string memory name) private returns (uint256 used) {
        vm.warp(block.timestamp + 1);
        vm.startPrank(alice);
        token.approve(address(vault), 1e18);
        vault.stake(aliceId, 1e18);
        vm.stopPrank();
        Vm.Gas memory gas = vm.lastCallGas();
        used = gas.gasTotalUsed - Math.min(SafeCast.toUint256(gas.gasRefunded), gas.gasTotalUsed / 5);
        vm.snapshotValue(GROUP, name, used);
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

    /// @dev Settles fifty neighbours in the middle of 128 leaves, where their paths share least; what is above the 128 is made up.
    function _settleBatch(uint256 times) private returns (uint256) {
        bytes32[] memory leaves = new bytes32[](1 << NEAR_DEPTH);
        for (uint256 i = 0; i < leaves.length; ++i) {
            leaves[i] = keccak256(abi.encode("neighbour", i));
        }
        SettlementLeaf[] memory lines = new SettlementLeaf[](BATCH);
        uint256 first = (leaves.length - BATCH) / 2;
        for (uint256 i = 0; i < BATCH; ++i) {
            lines[i] = _line(i + 1, times * 10e18, times * 1e18);
            leaves[first + i] = _leaf(lines[i]);
        }
        bytes32[] memory nodes = Trees.build(leaves);
        (bytes32[] memory proof, bool[] memory flags) = Trees.multiPathIn(nodes, first, BATCH);
        bytes32 root;
        (proof, flags, root) = _deepen(proof, flags, nodes[0]);
        uint256 rootIndex = _accept(root, BATCH * times * 10e18, BATCH * times * 1e18);
        settlement.settleMany(rootIndex, lines, proof, flags);
        return vm.lastCallGas().gasTotalUsed;
    }

    /// @dev Lengthens a proof up to a root over a million leaves with made-up siblings.
    function _deepen(bytes32[] memory proof, bool[] memory flags, bytes32 root)
        private
        pure
        returns (bytes32[] memory longer, bool[] memory longerFlags, bytes32)
    {
        uint256 added = DEPTH - NEAR_DEPTH;
        (longer, longerFlags) = (new bytes32[](proof.length + added), new bool[](flags.length + added));
        for (uint256 i = 0; i < proof.length; ++i) {
            longer[i] = proof[i];
        }
        for (uint256 i = 0; i < flags.length; ++i) {
            longerFlags[i] = flags[i];
        }
        for (uint256 i = 0; i < added; ++i) {
            longer[proof.length + i] = keccak256(abi.encode("sibling", i));
            root = Hashes.commutativeKeccak256(root, longer[proof.length + i]);
        }
        return (longer, longerFlags, root);
    }
}
