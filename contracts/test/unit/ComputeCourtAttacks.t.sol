// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {RowChain} from "../../src/libraries/RowChain.sol";
import {Disputes} from "../utils/Disputes.sol";
import {PlainRowChain} from "../utils/PlainRowChain.sol";

/// @dev Attacks of compute-proof.md by number, and whole games against anything the fuzzer thinks of (invariants 36 and 37).
contract ComputeCourtAttacksTest is Disputes {
    /// @dev What an accuser chooses at random, and how far it plays.
    struct Dice {
        uint8 row;
        uint8 step;
        uint8 column;
        uint8 moves;
        uint32 delay;
        bytes32 noise;
    }

    /// @dev The hashes of the last answer.
    bytes32[] private _said;

    /// @dev Attack 5: a random root cannot be opened, so its node has no answer.
    function testFuzz_attack5_whenTheRootIsRandom_thenTheNodeLoses(bytes32 root, uint32 row) public {
        Game memory game = _honest(uint32(bound(row, 0, 63)));
        game.commitment.root = root;
        _open(game);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowNotCommitted.selector, game.row));
        _answerCall(game, defender);
        vm.warp(block.timestamp + 24 hours + 1);
        computeCourt.timeout(game.id);
        _assertConvicted(game);
    }

    /// @dev Attack 8: rows below m, columns below n; none beyond stands for one inside by wrapping around.
    function testFuzz_attack8_whenARowOrColumnLiesOutside_thenNothingIsAccusedOrProven(uint32 row, uint32 column)
        public
    {
        Game memory game = _false();
        _playTo(game, LIE_STEP);
        _expectOutside(game, uint32(bound(column, 64, type(uint32).max)));
        _expectOutside(game, LIE_COLUMN + 64);
        _expectOutside(game, LIE_COLUMN + (1 << 31));

        game.row = uint32(bound(row, 64, type(uint32).max));
        _seal(accuser, _accusationId(game));
        bytes memory signature = _signed(game.commitment);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.RowOutOfRange.selector, game.row, 64));
        vm.prank(accuser);
        computeCourt.accuse(game.commitment, signature, game.row, SALT);

        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    /// @dev Attack 9, invariant 37: one byte changed anywhere, continued from or not, always loses to a correct accuser.
    function testFuzz_attack9_whenOneByteIsChangedAnywhere_thenItAlwaysLoses(
        uint256 row,
        uint256 step,
        uint256 column,
        uint8 change,
        bool continued
    ) public {
        vm.assume(change != 0);
        row = bound(row, 0, 63);
        step = bound(step, 0, STEPS);
        bytes[] memory states = _statesOf(uint32(row));
        column = bound(column, 0, 63);
        states[step][column] ^= bytes1(change);
        if (continued) {
            for (uint256 t = step + 1; t <= STEPS; ++t) {
                states[t] = PlainRowChain.step(_seedW(), states[t - 1]);
            }
        }
        Game memory game = _committedTo(uint32(row), states);
        _playToVerdict(game);
        _assertConvicted(game);
    }

    /// @dev Invariant 37: lies of every kind, and silence at any moment, against an accuser that only knows the true row.
    function testFuzz_invariant37_whenTheAccusedLiesAnyHow_thenACorrectAccuserAlwaysWins(
        uint256 row,
        uint256 step,
        bytes32 lie,
        uint256 kind,
        uint256 silentAt
    ) public {
        Game memory game = _lying(uint32(bound(row, 0, 63)), bound(step, 0, STEPS), lie, bound(kind, 0, 3));
        _open(game);
        if (silentAt % 4 != 0) _answerAnyHow(game, kind, lie, bound(step, 0, STEPS));
        if (computeCourt.accusation(game.id).state == IComputeCourt.AccusationState.Answered) {
            (uint16 picked, bytes[] memory truth) = _pickFirstFalse(game);
            if (silentAt % 4 != 1) _tryReveal(game, picked);
            if (computeCourt.accusation(game.id).state == IComputeCourt.AccusationState.Revealed) {
                _proveAgainst(game, truth, picked);
            }
        }
        if (computeCourt.accusation(game.id).state != IComputeCourt.AccusationState.Proven) {
            vm.warp(computeCourt.accusation(game.id).deadline + 1);
            computeCourt.timeout(game.id);
        }
        _assertConvicted(game);
    }

    /// @dev Invariant 36: an honest node that answers in time, under four random accusations a run and so a thousand in all, with
    ///      strangers meddling.
    function testFuzz_invariant36_whenAnHonestNodeIsAccusedAtRandom_thenTheAccuserLosesItsBond(Dice[4] memory dice)
        public
    {
        uint256 start = vm.snapshotState();
        for (uint256 i = 0; i < dice.length; ++i) {
            _accuseTheHonest(dice[i]);
            assertTrue(vm.revertToState(start));
        }
    }

    /// @dev Attack 17: who accuses a correct row pays its bond to the accused's payout address.
    function test_attack17_whenTheRowIsCorrect_thenTheBondGoesToThePayoutOfTheAccused() public {
        address payout = makeAddr("payout");
        vm.prank(alice);
        registry.setPayout(aliceId, payout);
        vm.warp(block.timestamp + 2 days);
        Game memory game = _honest(12);
        _playTo(game, 4);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(game.id);
        assertEq(token.balanceOf(payout), BOND);
        assertEq(token.balanceOf(accuser), 9 * BOND);
        assertEq(vault.pool(aliceId).tokens, STAKE);
    }

    /// @dev Attack 18: a cheater accuses its own false row first and lets its accuser fall silent; that shields nothing.
    function test_attack18_whenTheCheaterShieldsItsRowByAShamAccusation_thenOthersStillConvictIt() public {
        Game memory sham = _false();
        sham.accuser = stranger;
        _fund(stranger, BOND);
        vm.prank(stranger);
        token.approve(address(computeCourt), BOND);
        _open(sham);
        _answer(sham);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(sham.id);
        _assertState(sham.id, IComputeCourt.AccusationState.Acquitted);

        Game memory game = _false();
        _playTo(game, LIE_STEP);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    /// @dev Attack 19: copies of an accusation, of a pick and of a proof from the mempool earn their sender nothing.
    function test_attack19_whenEveryMoveIsCopiedFromTheMempool_thenTheBountyStaysTheAccusers() public {
        Game memory game = _false();
        Game memory copied = _false();
        copied.accuser = stranger;
        _fund(stranger, 2 * BOND);
        vm.prank(stranger);
        token.approve(address(computeCourt), 2 * BOND);
        bytes memory signature = _signed(game.commitment);
        bytes32 sealHash = computeCourt.sealOf(stranger, _accusationId(copied), SALT);
        _seal(accuser, _accusationId(game));
        vm.startPrank(stranger);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.NotSealed.selector, sealHash));
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
        computeCourt.seal(sealHash);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.SealTooFresh.selector, sealHash, block.number));
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
        vm.stopPrank();
        vm.prank(accuser);
        game.id = computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
        vm.roll(block.number + 1);
        vm.prank(stranger);
        copied.id = computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);

        _answer(game);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.NotAccuser.selector, stranger, accuser));
        _pickCall(game, LIE_STEP, stranger);
        _pick(game, LIE_STEP);
        _reveal(game, LIE_STEP);
        (bytes32 word, bytes32[] memory path) = _word(game.states[LIE_STEP], LIE_COLUMN);
        vm.prank(stranger);
        computeCourt.prove(game.id, game.commitment, LIE_COLUMN, game.states[LIE_STEP - 1], word, path);
        computeCourt.dismiss(copied.id);

        _assertConvicted(game);
        assertEq(sink.bountyOf(stranger), 0);
        assertEq(token.balanceOf(stranger), 2 * BOND);
    }

    /// @dev Attack 20: of half the stake, half is burned and a fifth insured; the accuser's part never makes up for it.
    function test_attack20_whenACheaterAccusesItself_thenItLosesMoney() public {
        Game memory game = _false();
        game.accuser = alice;
        _fund(alice, BOND);
        vm.prank(alice);
        token.approve(address(computeCourt), BOND);
        uint256 supply = token.totalSupply();
        _playTo(game, LIE_STEP);
        _prove(game, LIE_STEP, LIE_COLUMN);
        computeCourt.execute(game.id);
        sink.claimBounty(alice);

        assertEq(token.balanceOf(alice), BOND + 15_000e18);
        assertEq(vault.pool(aliceId).tokens, 50_000e18);
        assertEq(supply - token.totalSupply(), 25_000e18);
        assertEq(sink.insurance(), 10_000e18);
        // 100,000 of stake have become 50,000 of stake and 15,000 of bounty.
        assertEq(BOND + STAKE - token.balanceOf(alice) - vault.pool(aliceId).tokens + BOND, BOND + 35_000e18);
    }

    /// @dev Attack 22: a signature holds in one form, on one chain and for one week; nobody is accused by any other.
    function testFuzz_attack22_whenTheSignatureIsChangedForeignOrExpired_thenNobodyIsAccused(uint256 bit, uint64 chain)
        public
    {
        Game memory game = _false();
        _seal(accuser, _accusationId(game));
        bytes memory signature = _signed(game.commitment);
        bytes memory changed = _signed(game.commitment);
        bit = bound(bit, 0, 8 * 65 - 1);
        changed[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
        _expectNotAccused(game, changed);
        _expectNotAccused(game, _malleated(signature));

        uint256 here = block.chainid;
        vm.assume(chain != 0 && chain != here);
        vm.chainId(chain);
        _expectNotAccused(game, signature);
        vm.chainId(here);

        uint256 start = vm.snapshotState();
        vm.warp(closedAt + 7 days + 1);
        _expectNotAccused(game, signature);
        assertTrue(vm.revertToState(start));

        vm.prank(accuser);
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
    }

    /// @dev Hashes whose preimages have another length than a row are false hashes like any other: nothing can be revealed.
    function test_answer_whenAHashIsOfAnotherLength_thenItIsLost() public {
        Game memory game = _honest(5);
        _open(game);
        game.states[2] = bytes.concat(game.states[2], game.states[2]);
        _answer(game);
        _pick(game, 2);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongLength.selector, 128, 64));
        vm.prank(defender);
        computeCourt.reveal(game.id, game.states[2]);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(game.id);
        _assertConvicted(game);
    }

    function _expectOutside(Game memory game, uint32 column) private {
        (bytes32 word, bytes32[] memory path) = _word(game.states[LIE_STEP], LIE_COLUMN);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.ColumnOutOfRange.selector, column, 64));
        computeCourt.prove(game.id, game.commitment, column, game.states[LIE_STEP - 1], word, path);
    }

    function _expectNotAccused(Game memory game, bytes memory signature) private {
        uint256 before = token.balanceOf(accuser);
        vm.prank(accuser);
        try computeCourt.accuse(game.commitment, signature, game.row, SALT) {
            fail();
        } catch {}
        assertEq(token.balanceOf(accuser), before);
        _assertState(_accusationId(game), IComputeCourt.AccusationState.None);
    }

    function _accuseTheHonest(Dice memory dice) private {
        Game memory game = _honest(dice.row % 64);
        uint16 picked = uint16(dice.step % (STEPS + 1));
        _open(game);
        _meddle(game, dice.noise);
        vm.warp(block.timestamp + bound(dice.delay, 0, 24 hours));
        _answer(game);
        _meddle(game, dice.noise);
        if (dice.moves % 3 != 0) {
            _pick(game, picked);
            _meddle(game, dice.noise);
            _reveal(game, picked);
            _meddle(game, dice.noise);
            if (dice.moves % 3 == 2) _proveAnything(game, picked, dice.column % 64, dice.noise);
        }
        vm.warp(computeCourt.accusation(game.id).deadline + 1);
        computeCourt.timeout(game.id);
        _assertAcquitted(game, 0);
        assertEq(token.balanceOf(accuser), 9 * BOND);
    }

    /// @dev What a liar commits to: 0 a changed byte, 1 all states from `step` on made up, 2 only the head made up, 3 true states.
    function _lying(uint32 row, uint256 step, bytes32 lie, uint256 kind) private view returns (Game memory) {
        bytes[] memory states = _statesOf(row);
        if (kind == 0) states[step][uint8(lie[0]) % 64] ^= bytes1(uint8(lie[1]) | 1);
        if (kind == 1) {
            for (uint256 t = step; t <= STEPS; ++t) {
                states[t] = abi.encode(keccak256(abi.encode(lie, t)), lie);
            }
        }
        if (kind == 2) states[STEPS] = abi.encode(lie, lie);
        return _committedTo(row, states);
    }

    /// @dev Kind 3 commits to the truth and then answers a hash that belongs to nothing.
    function _answerAnyHow(Game memory game, uint256 kind, bytes32 lie, uint256 step) private {
        bytes memory head = _head(game);
        _said = _hashes(game.states);
        if (bound(kind, 0, 3) == 3) {
            _said[step] = lie;
            game.states[step] = "";
        }
        vm.prank(defender);
        computeCourt.answer(game.id, game.commitment, _said, head, game.path);
    }

    /// @dev As `first_false_step` of Python: the first hash that is not that of the true state; the last if only the head is false.
    function _pickFirstFalse(Game memory game) private returns (uint16 step, bytes[] memory truth) {
        truth = _statesOf(game.row);
        while (step < STEPS && _said[step] == keccak256(truth[step])) {
            ++step;
        }
        IComputeCourt.StepHash memory before = _stepHash(_said, step == 0 ? 0 : step - 1);
        IComputeCourt.StepHash memory at = _stepHash(_said, step);
        vm.prank(game.accuser);
        computeCourt.pick(game.id, step, before, at);
    }

    function _tryReveal(Game memory game, uint16 step) private {
        vm.prank(defender);
        try computeCourt.reveal(game.id, game.states[step]) {} catch {}
    }

    /// @dev The accuser's own knowledge: the true states, and the row that was revealed.
    function _proveAgainst(Game memory game, bytes[] memory truth, uint16 step) private {
        uint32 column = _firstDifference(truth[step], game.states[step]);
        (bytes32 word, bytes32[] memory path) = _word(game.states[step], column);
        bytes memory before = step == 0 ? bytes("") : truth[step - 1];
        computeCourt.prove(game.id, game.commitment, column, before, word, path);
    }

    function _playToVerdict(Game memory game) private {
        _open(game);
        _answer(game);
        _said = _hashes(game.states);
        (uint16 step, bytes[] memory truth) = _pickFirstFalse(game);
        _reveal(game, step);
        _proveAgainst(game, truth, step);
    }

    /// @dev Every move by somebody who may not make it, with noise: none may change anything.
    function _meddle(Game memory game, bytes32 noise) private {
        bytes32 before = keccak256(abi.encode(computeCourt.accusation(game.id)));
        bytes32[] memory hashes = new bytes32[](STEPS + 1);
        bytes memory row = abi.encode(noise, noise);
        IComputeCourt.StepHash memory stepHash = _stepHash(_hashes(game.states), uint256(noise) % STEPS);
        vm.startPrank(uint256(noise) % 2 == 0 ? stranger : accuser);
        try computeCourt.answer(game.id, game.commitment, hashes, row, game.path) {
            fail();
        } catch {}
        try computeCourt.reveal(game.id, row) {
            fail();
        } catch {}
        try computeCourt.contradict(game.id, game.commitment, noise, game.path) {
            fail();
        } catch {}
        try computeCourt.timeout(game.id) {
            fail();
        } catch {}
        try computeCourt.dismiss(game.id) {
            fail();
        } catch {}
        vm.stopPrank();
        vm.prank(stranger);
        try computeCourt.pick(game.id, 1, stepHash, stepHash) {
            fail();
        } catch {}
        assertEq(keccak256(abi.encode(computeCourt.accusation(game.id))), before);
    }

    /// @dev At nine columns: the true byte, another byte in its place, another row before; nothing proves anything.
    function _proveAnything(Game memory game, uint16 step, uint32 column, bytes32 noise) private {
        bytes memory before = step == 0 ? bytes("") : game.states[step - 1];
        _proveColumn(game, step, column, before, noise);
        for (uint256 i = 0; i < 8; ++i) {
            _proveColumn(game, step, uint8(noise[i]) % 64, before, noise);
        }
    }

    function _proveColumn(Game memory game, uint16 step, uint32 column, bytes memory before, bytes32 noise) private {
        (bytes32 word, bytes32[] memory path) = _word(game.states[step], column);
        vm.startPrank(accuser);
        vm.expectRevert(
            abi.encodeWithSelector(IComputeCourt.ByteIsTrue.selector, column, int8(uint8(word[column % 32])))
        );
        computeCourt.prove(game.id, game.commitment, column, before, word, path);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WordNotProven.selector, column / 32));
        computeCourt.prove(game.id, game.commitment, column, before, word ^ (noise | bytes32(uint256(1))), path);
        bytes memory other = abi.encode(noise, word);
        vm.expectPartialRevert(step == 0 ? IComputeCourt.WrongLength.selector : IComputeCourt.WrongRow.selector);
        computeCourt.prove(game.id, game.commitment, column, other, word, path);
        vm.stopPrank();
    }

    /// @dev The other signature that the curve allows for the same message and key.
    function _malleated(bytes memory signature) private pure returns (bytes memory) {
        uint256 order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
        bytes32 r = bytes32(_slice(signature, 0, 32));
        uint256 s = order - uint256(bytes32(_slice(signature, 32, 32)));
        return abi.encodePacked(r, s, uint8(signature[64]) == 27 ? uint8(28) : uint8(27));
    }

    function _seedW() private view returns (uint64) {
        return RowChain.seedW(address(beacon), trueCommitment.windowId, trueCommitment.windowSeed, 64);
    }
}
