// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {RowChain} from "../../src/libraries/RowChain.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Disputes} from "../utils/Disputes.sol";
import {PlainRowChain} from "../utils/PlainRowChain.sol";

/// @title Gas of a dispute, whole transactions: intrinsic gas, calldata and its floor included
/// @dev Isolated: every call is a transaction of its own. The rows are as long as those of real commitments; a tree of 64 of them
///      makes the path of an answer shorter than that of a million by 14 siblings, some 18,000 gas.
/// forge-config: default.isolate = true
contract CourtGasTest is Disputes {
    string private constant GROUP = "court";

    /// @dev What the proof costs; a conviction moves tokens and excludes, whatever the size.
    function test_prove_whenRowsAreLong_thenTheStepStaysBelowItsBudget() public {
        _gasOfStep(1024);
        assertLe(_gasOfStep(4096), 260_000);
        _gasOfStep(8192);
    }

    function test_prove_whenItConvicts_thenItsGasIsKnown() public {
        uint256 start = vm.snapshotState();
        _gasOfGame(1024);
        assertTrue(vm.revertToState(start));
        assertLe(_gasOfGame(4096), 450_000);
        assertTrue(vm.revertToState(start));
        _gasOfGame(8192);
    }

    function test_answer_whenStepsAreMany_thenItsGasIsKnown() public {
        _gasOfAnswer(64);
        _gasOfAnswer(1024);
    }

    function test_conviction_whenTheAccusedIsSilent_thenItsGasIsKnown() public {
        Game memory game = _honest(3);
        _open(game);
        vm.warp(block.timestamp + 24 hours + 1);
        computeCourt.timeout(game.id);
        vm.snapshotGasLastCall(GROUP, "timeout, accused convicted");
    }

    /// @dev A false row after the first step; the row before is true, so every part of the proof is as long as it can be.
    function _gasOfGame(uint32 n) private returns (uint256 used) {
        Game memory game = _longGame(n);
        string memory size = string.concat(", n = ", vm.toString(n));
        _open(game);
        if (n == 1024) vm.snapshotGasLastCall(GROUP, "accuse");
        _answer(game);
        _pick(game, 1);
        if (n == 1024) vm.snapshotGasLastCall(GROUP, "pick");
        _reveal(game, 1);
        vm.snapshotGasLastCall(GROUP, string.concat("reveal", size));
        _prove(game, 1, n - 1);
        used = vm.snapshotGasLastCall(GROUP, string.concat("prove and convict", size));
        _assertConvicted(game);
    }

    /// @dev A true byte is refused at the very end of the proof, before anything is written.
    function _gasOfStep(uint32 n) private returns (uint256 used) {
        Game memory game = _longGame(n);
        ComputeCommitment memory c = game.commitment;
        uint32 column = n - 1;
        uint64 seedW = RowChain.seedW(address(beacon), c.windowId, c.windowSeed, n);
        int8 entry = PlainRowChain.stepEntry(seedW, game.states[0], column);
        game.states[1][column] = bytes1(uint8(entry));
        _playTo(game, 1);
        (bytes32 word, bytes32[] memory path) = _word(game.states[1], column);
        try computeCourt.prove(game.id, c, column, game.states[0], word, path) {
            fail();
        } catch (bytes memory reason) {
            assertEq(reason, abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, column, entry));
        }
        used = vm.lastCallGas().gasTotalUsed;
        vm.snapshotValue(GROUP, string.concat("prove, the step alone, n = ", vm.toString(n)), used);
    }

    function _gasOfAnswer(uint32 steps) private {
        bytes[] memory states = new bytes[](uint256(steps) + 1);
        for (uint256 t = 0; t <= steps; ++t) {
            states[t] = abi.encode(t, keccak256(abi.encode(t)));
        }
        Game memory game = _committedTo(3, states);
        game.commitment.steps = steps;
        _open(game);
        _answer(game);
        vm.snapshotGasLastCall(GROUP, string.concat("answer, T = ", vm.toString(steps)));
    }

    function _longGame(uint32 n) private view returns (Game memory) {
        ComputeCommitment memory shape = trueCommitment;
        uint64 seedX = RowChain.seedX(address(beacon), shape.windowId, shape.windowSeed, node, shape.device);
        bytes[] memory states = new bytes[](2);
        states[0] = PlainRowChain.inputRow(seedX, 3, n);
        states[1] = PlainRowChain.inputRow(seedX, 4, n);
        Game memory game = _committedTo(3, states);
        (game.commitment.n, game.commitment.steps) = (n, 1);
        return game;
    }
}
