// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {ComputeCourt} from "../../src/ComputeCourt.sol";
import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {RowChain} from "../../src/libraries/RowChain.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Disputes} from "../utils/Disputes.sol";
import {PlainRowChain} from "../utils/PlainRowChain.sol";

/// @dev Numbers at their limits, rows longer than the golden ones, and a stake that is no multiple of what is taken.
contract ComputeCourtEdgesTest is Disputes {
    /// @dev One wei more than an even stake.
    function _beforeTheWindow() internal override {
        _stake(alice, aliceId, 1);
    }

    function test_constructor_whenNumbersLieAtTheirLimits_thenItDeploysAndNotBeyond() public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        (numbers.slashBps, numbers.bountyBps, numbers.bondWei) = (10_000, 3000, 1);
        (numbers.accuseFor, numbers.answerFor, numbers.moveFor) = (3 days, 1 days, 3 days);
        assertEq(abi.encode(_deploy(numbers).params()), abi.encode(numbers));
        numbers.accuseFor = 3 days + 1;
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, 13 days + 1, 13 days));
        _deploy(numbers);
        (numbers.accuseFor, numbers.answerFor) = (1, 1 days + 1);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, 10 days + 1, 10 days));
        _deploy(numbers);
        (numbers.slashBps, numbers.bountyBps, numbers.answerFor, numbers.moveFor) = (1, 0, 1, 1);
        assertEq(abi.encode(_deploy(numbers).params()), abi.encode(numbers));
    }

    function test_accuse_whenTheShapeIsTheLeastOrTheMost_thenItIsTaken() public {
        _accuseShape(64, 64, 1);
        _accuseShape(1 << 31, 32_768, 1024);
    }

    /// @dev Each accusation that ends makes the next one cheaper again.
    function test_bondOf_whenAccusationsEnd_thenItFallsBack() public {
        Game memory first = _honest(1);
        Game memory second = _honest(2);
        _open(first);
        _answer(first);
        _open(second);
        assertEq(computeCourt.accusation(second.id).bond, 2 * BOND);
        assertEq(computeCourt.bondOf(aliceId), 4 * BOND);
        vm.warp(computeCourt.accusation(first.id).deadline + 1);
        computeCourt.timeout(first.id);
        assertEq(computeCourt.bondOf(aliceId), 2 * BOND);
        assertEq(token.balanceOf(address(computeCourt)), 2 * BOND);
        assertEq(vault.pool(aliceId).openCases, 1);
    }

    /// @dev Invariant 14: a bond leaves once. What has ended is dismissed no more, although its offence is convicted.
    function test_dismiss_whenTheAccusationHasEnded_thenItReverts() public {
        Game memory game = _false();
        Game memory other = _false();
        other.accuser = stranger;
        _fund(stranger, 2 * BOND);
        vm.prank(stranger);
        token.approve(address(computeCourt), 2 * BOND);
        _open(game);
        _open(other);
        vm.warp(block.timestamp + 24 hours + 1);
        computeCourt.timeout(game.id);
        _expectEnded(game.id, IComputeCourt.AccusationState.Convicted);
        assertEq(token.balanceOf(address(computeCourt)), 2 * BOND);
        computeCourt.dismiss(other.id);
        _expectEnded(other.id, IComputeCourt.AccusationState.Dismissed);
        _assertConvicted(game);
        assertEq(token.balanceOf(stranger), 2 * BOND);
    }

    /// @dev No stake is too small for a slash: half of an odd one is rounded up.
    function test_timeout_whenTheStakeIsOdd_thenTheSlashIsRoundedUp() public {
        Game memory game = _honest(1);
        _open(game);
        vm.warp(block.timestamp + 24 hours + 1);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Convicted(_offenceId(address(0)), aliceId, accuser, STAKE / 2 + 1);
        computeCourt.timeout(game.id);
        _assertConvicted(game);
    }

    /// @dev Rows of several words of the generator and of the tree: what is false is proven, what is true is not.
    function testFuzz_prove_whenRowsAreLong_thenOnlyTheFalseByteIsProven(uint256 size, uint32 column, uint8 change)
        public
    {
        vm.assume(change != 0);
        uint32 n = uint32(64 << bound(size, 1, 2));
        column = uint32(bound(column, 0, n - 1));
        uint32 honest = (column + n / 2 + 1) % n;
        Game memory game = _longGame(n);
        uint64 seedW = RowChain.seedW(address(beacon), game.commitment.windowId, game.commitment.windowSeed, n);
        int8 entry = PlainRowChain.stepEntry(seedW, game.states[0], honest);
        game.states[1][honest] = bytes1(uint8(entry));
        int8 due = PlainRowChain.stepEntry(seedW, game.states[0], column);
        game.states[1][column] = bytes1(uint8(due) ^ change);
        game = _recommitted(game);
        _playTo(game, 1);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, honest, entry));
        _prove(game, 1, honest);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.FalseByteProven(game.id, 1, column, int8(uint8(due) ^ change), due);
        _prove(game, 1, column);
        _assertConvicted(game);
    }

    function testFuzz_prove_whenALongInputIsFalse_thenOnlyTheFalseByteIsProven(
        uint256 size,
        uint32 row,
        uint32 column,
        uint8 change
    ) public {
        vm.assume(change != 0);
        uint32 n = uint32(64 << bound(size, 1, 2));
        column = uint32(bound(column, 0, n - 1));
        uint32 honest = (column + n / 2 + 1) % n;
        Game memory game = _longGame(n);
        game.row = uint32(bound(row, 0, 63));
        game.states[0] = PlainRowChain.inputRow(_seedX(), game.row, n);
        int8 entry = int8(uint8(game.states[0][honest]));
        game.states[0][column] ^= bytes1(change);
        game = _recommitted(game);
        _playTo(game, 0);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, honest, entry));
        _prove(game, 0, honest);
        _prove(game, 0, column);
        _assertConvicted(game);
    }

    function _expectEnded(bytes32 id, IComputeCourt.AccusationState have) private {
        bytes memory ended =
            abi.encodeWithSelector(IComputeCourt.WrongState.selector, id, have, IComputeCourt.AccusationState.Accused);
        vm.expectRevert(ended);
        computeCourt.dismiss(id);
        vm.expectRevert(ended);
        computeCourt.timeout(id);
    }

    function _accuseShape(uint32 m, uint32 n, uint32 steps) private {
        Game memory game = _honest(0);
        (game.commitment.m, game.commitment.n, game.commitment.steps, game.row) = (m, n, steps, m - 1);
        _open(game);
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        assertEq(record.log2n, Math.log2(n));
        assertEq(record.steps, steps);
        assertEq(record.row, m - 1);
    }

    /// @dev One step over rows of n bytes; the second is made up.
    function _longGame(uint32 n) private view returns (Game memory game) {
        game = _honest(3);
        game.states = new bytes[](2);
        game.states[0] = PlainRowChain.inputRow(_seedX(), 3, n);
        game.states[1] = PlainRowChain.inputRow(_seedX(), 4, n);
        (game.commitment.n, game.commitment.steps) = (n, 1);
    }

    /// @dev The game over a commitment to the states as they are now.
    function _recommitted(Game memory game) private view returns (Game memory again) {
        again = _committedTo(game.row, game.states);
        (again.commitment.n, again.commitment.steps) = (game.commitment.n, game.commitment.steps);
    }

    function _seedX() private view returns (uint64) {
        ComputeCommitment memory c = trueCommitment;
        return RowChain.seedX(address(beacon), c.windowId, c.windowSeed, node, c.device);
    }

    function _deploy(IComputeCourt.ComputeCourtParams memory numbers) private returns (ComputeCourt) {
        return new ComputeCourt(token, registry, vault, beacon, numbers);
    }
}
