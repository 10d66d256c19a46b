// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Disputes} from "../utils/Disputes.sol";
import {Trees} from "../utils/Trees.sol";

/// @dev From the answer to the end; how an accusation begins is in ComputeCourt.t.sol.
contract ComputeCourtMovesTest is Disputes {
    function test_moves_whenTheStateIsAnother_thenTheyRevert() public {
        Game memory game = _honest(5);
        game.id = _accusationId(game);
        _expectWrongState(game, IComputeCourt.AccusationState.None);
        vm.expectRevert(_wrongState(game, IComputeCourt.AccusationState.None, IComputeCourt.AccusationState.Accused));
        computeCourt.timeout(game.id);
        vm.expectRevert(_wrongState(game, IComputeCourt.AccusationState.None, IComputeCourt.AccusationState.Accused));
        computeCourt.dismiss(game.id);

        _open(game);
        _expectWrongState(game, IComputeCourt.AccusationState.Accused);
        _answer(game);
        _expectWrongState(game, IComputeCourt.AccusationState.Answered);
        _pick(game, 3);
        _expectWrongState(game, IComputeCourt.AccusationState.Picked);
        _reveal(game, 3);
        _expectWrongState(game, IComputeCourt.AccusationState.Revealed);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(game.id);
        _expectWrongState(game, IComputeCourt.AccusationState.Acquitted);
        vm.expectRevert(
            _wrongState(game, IComputeCourt.AccusationState.Acquitted, IComputeCourt.AccusationState.Accused)
        );
        computeCourt.timeout(game.id);
        vm.expectRevert(
            _wrongState(game, IComputeCourt.AccusationState.Acquitted, IComputeCourt.AccusationState.Accused)
        );
        computeCourt.dismiss(game.id);
    }

    function test_moves_whenTheDeadlinePassed_thenTheyRevert() public {
        Game memory game = _honest(5);
        _open(game);
        uint256 start = vm.snapshotState();
        _warpPast(24 hours);
        vm.expectRevert(_deadlinePassed(game, 1));
        _answerCall(game, defender);
        assertTrue(vm.revertToState(start));
        _answer(game);
        start = vm.snapshotState();
        _warpPast(12 hours);
        vm.expectRevert(_deadlinePassed(game, 1));
        _pickCall(game, 3, accuser);
        vm.expectRevert(_deadlinePassed(game, 1));
        computeCourt.contradict(game.id, game.commitment, SALT, game.path);
        assertTrue(vm.revertToState(start));
        _pick(game, 3);
        start = vm.snapshotState();
        _warpPast(12 hours);
        vm.expectRevert(_deadlinePassed(game, 1));
        vm.prank(defender);
        computeCourt.reveal(game.id, game.states[3]);
        assertTrue(vm.revertToState(start));
        _reveal(game, 3);
        _warpPast(12 hours);
        vm.expectRevert(_deadlinePassed(game, 1));
        _prove(game, 3, 0);
    }

    /// @dev Whoever moves in the last second is in time.
    function test_moves_whenTheDeadlineIsNow_thenTheyCount() public {
        Game memory game = _false();
        _open(game);
        vm.warp(block.timestamp + 24 hours);
        _answer(game);
        vm.warp(block.timestamp + 12 hours);
        _pick(game, LIE_STEP);
        vm.warp(block.timestamp + 12 hours);
        _reveal(game, LIE_STEP);
        vm.warp(block.timestamp + 12 hours);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    /// @dev Never from just anyone: an accuser could answer in the node's name with a false hash and then refute it.
    function test_answer_whenTheCallerMayNotDefend_thenItReverts() public {
        Game memory game = _honest(5);
        _open(game);
        address[3] memory callers = [accuser, stranger, oracleMember(0)];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IComputeCourt.MayNotDefend.selector, aliceId, callers[i]));
            _answerCall(game, callers[i]);
        }
        uint256 start = vm.snapshotState();
        address[3] memory own = [alice, defender, node];
        for (uint256 i = 0; i < own.length; ++i) {
            _answerCall(game, own[i]);
            _assertState(game.id, IComputeCourt.AccusationState.Answered);
            assertTrue(vm.revertToState(start));
        }
    }

    function test_answer_whenTheCommitmentIsAnother_thenItReverts() public {
        Game memory game = _honest(5);
        _open(game);
        bytes32 want = computeCourt.commitmentHashOf(game.commitment);
        game.commitment.root = SALT;
        bytes32 have = computeCourt.commitmentHashOf(game.commitment);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongCommitment.selector, have, want));
        _answerCall(game, defender);
    }

    function test_answer_whenALengthIsWrong_thenItReverts() public {
        Game memory game = _honest(5);
        _open(game);
        bytes32[] memory hashes = _hashes(game.states);
        vm.startPrank(defender);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 4, 5));
        computeCourt.answer(game.id, game.commitment, new bytes32[](4), game.states[4], game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 6, 5));
        computeCourt.answer(game.id, game.commitment, new bytes32[](6), game.states[4], game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 63, 64));
        computeCourt.answer(game.id, game.commitment, hashes, new bytes(63), game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 96, 64));
        computeCourt.answer(game.id, game.commitment, hashes, new bytes(96), game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 5, 6));
        computeCourt.answer(game.id, game.commitment, hashes, game.states[4], new bytes32[](5));
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 7, 6));
        computeCourt.answer(game.id, game.commitment, hashes, game.states[4], new bytes32[](7));
    }

    /// @dev Also attack 7: a path that starts at an inner node, or at a leaf of another row, opens nothing.
    function test_answer_whenTheHeadIsNotCommitted_thenItReverts() public {
        Game memory game = _honest(5);
        _open(game);
        game.states[4][63] ^= 0x01;
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowNotCommitted.selector, 5));
        _answerCall(game, defender);
        Game memory other = _honest(6);
        (other.id, other.commitment) = (game.id, game.commitment);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowNotCommitted.selector, 5));
        _answerCall(other, defender);
        other = _honest(5);
        (other.id, other.path[0]) = (game.id, SALT);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowNotCommitted.selector, 5));
        _answerCall(other, defender);
    }

    function test_answer_whenValid_thenItIsOnRecord() public {
        Game memory game = _false();
        _open(game);
        bytes32[] memory hashes = _hashes(game.states);
        uint64 deadline = uint64(block.timestamp + 12 hours);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.AccusationAnswered(game.id, defender, hashes, game.states[4], deadline);
        _answer(game);

        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        assertEq(record.hashesRoot, vm.parseJsonBytes32(_golden(), ".dispute.stepsRoot"));
        assertEq(record.headHash, keccak256(game.states[4]));
        assertEq(record.deadline, deadline);
    }

    function test_contradict_whenNothingContradicts_thenItReverts() public {
        (Game memory game, bytes32 other, bytes32[] memory path) = _bait();
        _open(game);
        _answer(game);
        vm.expectRevert(IComputeCourt.NotContradiction.selector);
        computeCourt.contradict(game.id, game.commitment, keccak256(game.states[4]), game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowNotCommitted.selector, 5));
        computeCourt.contradict(game.id, game.commitment, other, game.path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 7, 6));
        computeCourt.contradict(game.id, game.commitment, other, new bytes32[](7));
        bytes32 want = computeCourt.commitmentHashOf(game.commitment);
        bytes32 have = computeCourt.commitmentHashOf(trueCommitment);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongCommitment.selector, have, want));
        computeCourt.contradict(game.id, trueCommitment, other, path);
    }

    /// @dev A tree with two leaves for one row, the false one for the judge and the true one for the court, earns no bond.
    function test_contradict_whenTheTreeHoldsTwoHeads_thenItConvicts() public {
        (Game memory game, bytes32 other, bytes32[] memory path) = _bait();
        _open(game);
        _answer(game);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.ContradictionProven(game.id, keccak256(game.states[4]), other);
        vm.prank(stranger);
        computeCourt.contradict(game.id, game.commitment, other, path);
        _assertConvicted(game);
    }

    function test_pick_whenTheCallerIsNotTheAccuser_thenItReverts() public {
        Game memory game = _false();
        _open(game);
        _answer(game);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.NotAccuser.selector, alice, accuser));
        _pickCall(game, 0, alice);
    }

    function test_pick_whenTheHashesAreNotTheAnswers_thenItReverts() public {
        Game memory game = _false();
        _open(game);
        _answer(game);
        bytes32[] memory hashes = _hashes(game.states);
        IComputeCourt.StepHash memory first = _stepHash(hashes, 1);
        IComputeCourt.StepHash memory second = _stepHash(hashes, 2);
        vm.startPrank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.StepOutOfRange.selector, 5, 4));
        computeCourt.pick(game.id, 5, first, second);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.HashNotProven.selector, 3));
        computeCourt.pick(game.id, 3, first, second);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.HashNotProven.selector, 1));
        computeCourt.pick(game.id, 2, second, second);
        second.hash = keccak256(abi.encode(second.hash));
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.HashNotProven.selector, 2));
        computeCourt.pick(game.id, 2, first, second);
    }

    /// @dev Equal states have equal hashes; the step is part of the leaf, so no step passes for another one.
    function test_pick_whenHashesRepeat_thenTheStepStillBinds() public {
        bytes[] memory states = _statesOf(5);
        states[3] = states[2];
        Game memory game = _committedTo(5, states);
        _open(game);
        _answer(game);
        bytes32[] memory hashes = _hashes(game.states);
        IComputeCourt.StepHash memory at = _stepHash(hashes, 2);
        IComputeCourt.StepHash memory before = _stepHash(hashes, 2);
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.HashNotProven.selector, 3));
        computeCourt.pick(game.id, 3, before, at);
        _pick(game, 3);
        _reveal(game, 3);
        _prove(game, 3, _firstDifference(_statesOf(5)[3], states[3]));
        _assertConvicted(game);
    }

    function test_pick_whenValid_thenItIsOnRecord() public {
        Game memory game = _false();
        _open(game);
        _answer(game);
        uint256 start = vm.snapshotState();
        uint64 deadline = uint64(block.timestamp + 12 hours);
        bytes32[] memory hashes = _hashes(game.states);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.StepPicked(game.id, 2, hashes[1], hashes[2], deadline);
        _pick(game, 2);
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        assertEq(record.step, 2);
        assertEq(record.hashBefore, hashes[1]);
        assertEq(record.hashAt, hashes[2]);
        assertTrue(vm.revertToState(start));
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.StepPicked(game.id, 0, bytes32(0), hashes[0], deadline);
        _pick(game, 0);
    }

    function test_reveal_whenItIsNotTheRow_thenItReverts() public {
        Game memory game = _false();
        _open(game);
        _answer(game);
        _pick(game, 2);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.MayNotDefend.selector, aliceId, accuser));
        vm.prank(accuser);
        computeCourt.reveal(game.id, game.states[2]);
        vm.startPrank(defender);
        bytes memory longer = bytes.concat(game.states[2], hex"00");
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 65, 64));
        computeCourt.reveal(game.id, longer);
        vm.expectRevert(
            abi.encodeWithSelector(
                IComputeCourt.WrongRow.selector, keccak256(game.states[1]), keccak256(game.states[2])
            )
        );
        computeCourt.reveal(game.id, game.states[1]);
    }

    /// @dev Hashes of true states beside a false head: the last row cannot be revealed.
    function test_reveal_whenTheLastRowHasAnotherHead_thenItReverts() public {
        bytes[] memory states = _statesOf(5);
        states[4][0] ^= 0x80;
        Game memory game = _committedTo(5, states);
        _open(game);
        bytes32[] memory hashes = _hashes(_statesOf(5));
        vm.prank(defender);
        computeCourt.answer(game.id, game.commitment, hashes, states[4], game.path);
        game.states = _statesOf(5);
        _pick(game, 4);
        vm.prank(defender);
        vm.expectRevert(
            abi.encodeWithSelector(IComputeCourt.WrongHead.selector, keccak256(game.states[4]), keccak256(states[4]))
        );
        computeCourt.reveal(game.id, game.states[4]);
        _warpPast(12 hours);
        computeCourt.timeout(game.id);
        _assertConvicted(game);
    }

    function test_reveal_whenValid_thenItIsOnRecord() public {
        Game memory game = _false();
        _open(game);
        _answer(game);
        _pick(game, LIE_STEP);
        uint64 deadline = uint64(block.timestamp + 12 hours);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.RowRevealed(game.id, defender, game.states[LIE_STEP], deadline);
        _reveal(game, LIE_STEP);
        bytes32 wordsRoot = vm.parseJsonBytes32(_golden(), ".dispute.wordsRoot");
        assertEq(computeCourt.accusation(game.id).wordsRoot, wordsRoot);
    }

    /// @dev Attack 8, second half, and every other malformed proof.
    function test_prove_whenItIsMalformed_thenItReverts() public {
        Game memory game = _false();
        _playTo(game, LIE_STEP);
        (bytes32 word, bytes32[] memory path) = _word(game.states[2], 33);
        ComputeCommitment memory c = game.commitment;
        bytes memory before = game.states[1];
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ColumnOutOfRange.selector, 64, 64));
        computeCourt.prove(game.id, c, 64, before, word, path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WordNotProven.selector, 0));
        computeCourt.prove(game.id, c, 31, before, word, path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WordNotProven.selector, 1));
        computeCourt.prove(game.id, c, 33, before, ~word, path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 0, 64));
        computeCourt.prove(game.id, c, 33, "", word, path);
        vm.expectRevert(
            abi.encodeWithSelector(
                IComputeCourt.WrongRow.selector, keccak256(game.states[0]), keccak256(game.states[1])
            )
        );
        computeCourt.prove(game.id, c, 33, game.states[0], word, path);
        bytes32 have = computeCourt.commitmentHashOf(trueCommitment);
        bytes32 want = computeCourt.commitmentHashOf(c);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongCommitment.selector, have, want));
        computeCourt.prove(game.id, trueCommitment, 33, before, word, path);
    }

    /// @dev A leaf of the tree of hashes, or of the commitment, is none of the tree of words.
    function test_prove_whenTheWordIsOfAnotherTree_thenItReverts() public {
        Game memory game = _honest(1);
        _playTo(game, 4);
        bytes32[] memory hashes = _hashes(game.states);
        bytes32[] memory steps = Trees.path(_indexed(hashes), 1);
        bytes memory before = game.states[3];
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WordNotProven.selector, 1));
        computeCourt.prove(game.id, game.commitment, 40, before, hashes[1], steps);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WordNotProven.selector, 1));
        computeCourt.prove(game.id, game.commitment, 40, before, keccak256(game.states[4]), game.path);
    }

    function test_prove_whenTheByteIsTrue_thenItReverts() public {
        Game memory game = _honest(5);
        _playTo(game, 3);
        int8 value = int8(uint8(game.states[3][20]));
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, 20, value));
        _prove(game, 3, 20);
    }

    function test_prove_whenTheInputIsPicked_thenNoRowBeforeIsTaken() public {
        bytes[] memory states = _statesOf(5);
        states[0][63] ^= 0x10;
        Game memory game = _committedTo(5, states);
        _playTo(game, 0);
        (bytes32 word, bytes32[] memory path) = _word(states[0], 63);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 64, 0));
        computeCourt.prove(game.id, game.commitment, 63, states[0], word, path);
        (bytes32 trueWord, bytes32[] memory truePath) = _word(states[0], 0);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, 0, int8(uint8(states[0][0]))));
        computeCourt.prove(game.id, game.commitment, 0, "", trueWord, truePath);
        _prove(game, 0, 63);
        _assertConvicted(game);
    }

    function test_prove_whenAByteIsFalse_thenItConvicts() public {
        Game memory game = _false();
        _playTo(game, LIE_STEP);
        int8 claimed = int8(uint8(game.states[LIE_STEP][LIE_COLUMN]));
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.FalseByteProven(
            game.id, LIE_STEP, LIE_COLUMN, claimed, int8(uint8(_statesOf(LIE_ROW)[LIE_STEP][LIE_COLUMN]))
        );
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.AccusationEnded(game.id, aliceId, IComputeCourt.AccusationState.Convicted);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.BondPaid(game.id, accuser, BOND);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Convicted(_offenceId(address(0)), aliceId, accuser, STAKE / 2);
        vm.prank(stranger);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    function test_timeout_whenTheDeadlineIsNotPassed_thenItReverts() public {
        Game memory game = _honest(5);
        _open(game);
        uint256 deadline = block.timestamp + 24 hours;
        vm.warp(deadline);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.DeadlineNotPassed.selector, game.id, deadline));
        computeCourt.timeout(game.id);
    }

    /// @dev Invariant 13: whatever stops moving ends; who owed the move loses.
    function test_timeout_whenOneFallsSilent_thenThatSideLoses() public {
        uint256 start = vm.snapshotState();
        for (uint256 moves = 0; moves < 4; ++moves) {
            Game memory game = _honest(5);
            _open(game);
            if (moves > 0) _answer(game);
            if (moves > 1) _pick(game, 4);
            if (moves > 2) _reveal(game, 4);
            _warpPast(moves == 0 ? 24 hours : 12 hours);
            vm.prank(stranger);
            computeCourt.timeout(game.id);
            if (moves % 2 == 0) _assertConvicted(game);
            else _assertAcquitted(game, 0);
            assertTrue(vm.revertToState(start));
        }
    }

    function test_timeout_whenThereIsNoStakeLeft_thenItConvictsAllTheSame() public {
        Game memory game = _honest(5);
        _open(game);
        _grant(SETTLEMENT, address(this));
        vault.takePenalty(aliceId, STAKE, 0);
        _warpPast(24 hours);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Convicted(_offenceId(address(0)), aliceId, accuser, 0);
        computeCourt.timeout(game.id);
        assertEq(registry.provider(aliceId).suspendedUntil, type(uint64).max);
        assertEq(token.balanceOf(accuser), 10 * BOND);
    }

    /// @dev Invariants 11 and 12: the stake of the second in which the window closed, rounded up, without buckets.
    function testFuzz_timeout_whenStakeMoved_thenItTakesHalfOfTheStakeOfTheOffence(uint256 unbonded, uint256 odd)
        public
    {
        odd = bound(odd, 1, 1e18);
        unbonded = bound(unbonded, 1, STAKE);
        vm.prank(alice);
        vault.requestUnbond(aliceId, unbonded);
        Game memory game = _honest(5);
        _open(game);
        _stake(alice, aliceId, odd);
        _warpPast(24 hours);
        computeCourt.timeout(game.id);
        assertEq(vault.pool(aliceId).tokens, STAKE / 2 + odd);
    }

    /// @dev Invariants 9 and 14: one conviction an offence; who accused it too has the bond back and nothing more.
    function test_dismiss_whenTheOffenceIsConvicted_thenTheBondReturns() public {
        Game memory first = _honest(5);
        _open(first);
        Game memory second = _honest(6);
        _open(second);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.NotConvicted.selector, _offenceId(address(0))));
        computeCourt.dismiss(second.id);
        _warpPast(24 hours);
        computeCourt.timeout(first.id);

        bytes memory convicted = abi.encodeWithSelector(IComputeCourt.AlreadyConvicted.selector, _offenceId(address(0)));
        vm.expectRevert(convicted);
        computeCourt.timeout(second.id);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.BondPaid(second.id, accuser, 2 * BOND);
        vm.prank(stranger);
        computeCourt.dismiss(second.id);
        _assertState(second.id, IComputeCourt.AccusationState.Dismissed);
        _assertConvicted(first);
        assertEq(computeCourt.openAccusations(aliceId), 0);
    }

    function test_moves_whenTheOffenceIsConvicted_thenTheyRevert() public {
        Game memory game = _honest(5);
        _open(game);
        _answer(game);
        _seal(accuser, _offenceId(address(0)));
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(falseCommitment);
        vm.prank(accuser);
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.AlreadyConvicted.selector, _offenceId(address(0))));
        _pickCall(game, 1, accuser);
    }

    /// @dev Row 5 twice in the tree: the true leaf at its own place, a false one where row 6 should be.
    function _bait() private view returns (Game memory game, bytes32 other, bytes32[] memory path) {
        game = _honest(5);
        other = keccak256("false head");
        bytes32[] memory leaves = _leaves();
        leaves[6] = IndexedTree.leaf(5, other);
        game.commitment.root = Trees.root(leaves);
        game.path = Trees.path(leaves, 5);
        path = Trees.path(leaves, 6);
    }

    /// @dev Every move that `have` does not allow, refused; the one it allows is left out.
    function _expectWrongState(Game memory game, IComputeCourt.AccusationState have) private {
        if (have != IComputeCourt.AccusationState.Accused) {
            vm.expectRevert(_wrongState(game, have, IComputeCourt.AccusationState.Accused));
            _answerCall(game, defender);
        }
        if (have != IComputeCourt.AccusationState.Answered) {
            vm.expectRevert(_wrongState(game, have, IComputeCourt.AccusationState.Answered));
            _pickCall(game, 3, accuser);
            vm.expectRevert(_wrongState(game, have, IComputeCourt.AccusationState.Answered));
            computeCourt.contradict(game.id, game.commitment, SALT, game.path);
        }
        if (have != IComputeCourt.AccusationState.Picked) {
            vm.expectRevert(_wrongState(game, have, IComputeCourt.AccusationState.Picked));
            vm.prank(defender);
            computeCourt.reveal(game.id, game.states[3]);
        }
        if (have != IComputeCourt.AccusationState.Revealed) {
            vm.expectRevert(_wrongState(game, have, IComputeCourt.AccusationState.Revealed));
            _prove(game, 3, 0);
        }
    }

    function _warpPast(uint256 span) private {
        vm.warp(block.timestamp + span + 1);
    }

    function _wrongState(Game memory game, IComputeCourt.AccusationState have, IComputeCourt.AccusationState want)
        private
        pure
        returns (bytes memory)
    {
        return abi.encodeWithSelector(IComputeCourt.WrongState.selector, game.id, have, want);
    }

    function _deadlinePassed(Game memory game, uint256 ago) private view returns (bytes memory) {
        return abi.encodeWithSelector(IComputeCourt.DeadlinePassed.selector, game.id, block.timestamp - ago);
    }
}
