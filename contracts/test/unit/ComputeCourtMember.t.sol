// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {ComputeMessages} from "../../src/libraries/ComputeMessages.sol";
import {ComputeCommitment, PassedVerdicts} from "../../src/types/Compute.sol";
import {Disputes} from "../utils/Disputes.sol";
import {Trees} from "../utils/Trees.sol";

/// @dev An oracle member that signed "passed" is judged by the same game, over a row it had to look at.
contract ComputeCourtMemberTest is Disputes {
    uint32 private constant DRAWS = 1024;

    uint256 private memberId;

    /// @dev The member's stake is there when the window closes.
    function _beforeTheWindow() internal override {
        memberId = _register(member);
        _stake(member, memberId, STAKE);
    }

    function test_accuseMember_whenTheVerdictIsNotTheMembers_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        passed.signature = _signedBy(NODE_KEY, _verdictsHash(passed.verdicts));
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.WrongSigner.selector, node, member));
        (game, passed) = _passed(_false());
        passed.verdicts.draws += 1;
        _seal(accuser, _memberAccusationId(game));
        bytes memory signature = _signed(game.commitment);
        vm.prank(accuser);
        vm.expectPartialRevert(IComputeCourt.WrongSigner.selector);
        computeCourt.accuseMember(game.commitment, signature, game.row, passed, SALT);
    }

    /// @dev The node's own signature is asked for too: nobody is accused over a commitment that was never made.
    function test_accuseMember_whenTheNodeDidNotSign_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        bytes memory forged = _signedBy(MEMBER_KEY, computeCourt.commitmentHashOf(game.commitment));
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongSigner.selector, member, node));
        computeCourt.accuseMember(game.commitment, forged, game.row, passed, SALT);
    }

    /// @dev What a removed key signed is void for everybody: it earns nothing, and nobody is judged for passing it.
    function test_accuseMember_whenTheNodesKeyWasRemoved_thenOnlyEarlierWindowsBind() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        uint256 openedAt = beacon.window(game.commitment.windowId).openedAt;
        uint256 start = vm.snapshotState();
        bytes memory refusal = _removeKey(openedAt - 1);
        _expectRefused(game, passed, refusal);
        assertTrue(vm.revertToState(start));
        _removeKey(openedAt);
        _openMember(game, passed);
        _assertState(game.id, IComputeCourt.AccusationState.Accused);
    }

    function test_accuseMember_whenShapeOrRowIsImpossible_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        game.row = 64;
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.RowOutOfRange.selector, 64, 64));
        game = _false();
        game.commitment.steps = 1025;
        (game, passed) = _passed(game);
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.InvalidShape.selector, 64, 64, 1025));
    }

    function test_accuseMember_whenTheEpochIsAnother_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        passed.verdicts.epoch = 2;
        passed.signature = _signedBy(MEMBER_KEY, _verdictsHash(passed.verdicts));
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.WrongEpoch.selector, 2, 3));
    }

    function test_accuseMember_whenItPassedSomethingElse_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        bytes32 commitmentHash = computeCourt.commitmentHashOf(game.commitment);
        bytes memory notProven = abi.encodeWithSelector(IComputeCourt.VerdictNotProven.selector, commitmentHash);
        passed.path[0] = SALT;
        _expectRefused(game, passed, notProven);
        // The root itself, with no path, is no leaf; a member that passed nothing signs the zero root.
        passed.path = new bytes32[](0);
        passed.verdicts.passedRoot = ComputeMessages.leafOf(commitmentHash);
        passed.signature = _signedBy(MEMBER_KEY, _verdictsHash(passed.verdicts));
        _expectRefused(game, passed, notProven);
        passed.verdicts.passedRoot = bytes32(0);
        passed.signature = _signedBy(MEMBER_KEY, _verdictsHash(passed.verdicts));
        _expectRefused(game, passed, notProven);
    }

    function test_accuseMember_whenItDidNotDrawTheRow_thenItReverts() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        uint32 counter = passed.counter;
        passed.counter += 1;
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.RowNotDrawn.selector, LIE_ROW, counter + 1));
        passed.counter = counter;
        passed.verdicts.draws = counter;
        passed.signature = _signedBy(MEMBER_KEY, _verdictsHash(passed.verdicts));
        _expectRefused(game, passed, abi.encodeWithSelector(IComputeCourt.RowNotDrawn.selector, LIE_ROW, counter));
    }

    function test_accuseMember_whenTheMemberHasNoProvider_thenItReverts() public {
        Game memory game = _false();
        uint256 key = uint256(keccak256("unstaked member"));
        IComputeCourt.PassedProof memory passed;
        (game, passed) = _passedBy(game, key);
        bytes memory signature = _signed(game.commitment);
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.MemberHasNoStake.selector, vm.addr(key)));
        computeCourt.accuseMember(game.commitment, signature, game.row, passed, SALT);
    }

    /// @dev Python's signature, root and path, and the rows it drew.
    function test_accuseMember_whenPythonSignedTheVerdicts_thenTheyAreTaken() public {
        string memory json = _golden();
        uint256[] memory drawn = vm.parseJsonUintArray(json, ".drawnRows");
        IComputeCourt.PassedProof memory passed;
        passed.verdicts = PassedVerdicts(3, member, 8, vm.parseJsonBytes32(json, ".dispute.passedRoot"));
        passed.signature = vm.parseJsonBytes(json, ".dispute.passedSignature");
        passed.path = vm.parseJsonBytes32Array(json, ".dispute.passedPath");
        for (uint32 i = 0; i < 3; ++i) {
            passed.counter = i;
            Game memory game = _honest(uint32(drawn[i]));
            _openMember(game, passed);
            assertEq(computeCourt.accusation(game.id).providerId, memberId);
        }
        assertEq(drawn.length, 8);
    }

    function test_accuseMember_whenItPassedAFalseRow_thenTheMembersStakeIsTaken() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        _openMember(game, passed);
        vm.warp(block.timestamp + 24 hours + 1);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Convicted(_offenceId(member), memberId, accuser, STAKE / 2);
        computeCourt.timeout(game.id);
        assertEq(vault.pool(memberId).tokens, STAKE / 2);
        assertEq(vault.pool(aliceId).tokens, STAKE);
        assertFalse(computeCourt.isConvicted(_offenceId(address(0))));
    }

    /// @dev Who passed a false row cannot talk itself out of it: the false byte is shown as against a node.
    function test_accuseMember_whenItDefendsAFalseRow_thenTheByteConvictsIt() public {
        (Game memory game, IComputeCourt.PassedProof memory passed) = _passed(_false());
        _openMember(game, passed);
        _answerCall(game, member);
        _pick(game, LIE_STEP);
        vm.prank(member);
        computeCourt.reveal(game.id, game.states[LIE_STEP]);
        _prove(game, LIE_STEP, LIE_COLUMN);
        assertTrue(computeCourt.isConvicted(_offenceId(member)));
        assertEq(registry.provider(memberId).suspendedUntil, type(uint64).max);
    }

    /// @dev Invariant 36 for members: the node and its provider collude with the accuser, confess, lose on purpose, hide a second
    ///      leaf of the row; the member's answer needs the published head and path only.
    function test_accuseMember_whenTheProviderColludes_thenTheHonestMemberNeverLoses() public {
        (Game memory game, bytes32 other, bytes32[] memory otherPath) = _treacherous();
        IComputeCourt.PassedProof memory passed;
        (game, passed) = _passed(game);
        Game memory confession = game;
        _open(confession);
        vm.warp(block.timestamp + 24 hours + 1);
        computeCourt.timeout(confession.id);
        assertEq(vault.pool(aliceId).tokens, STAKE / 2);

        (Game memory accused,,) = _treacherous();
        _openMember(accused, passed);
        vm.prank(defender);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.MayNotDefend.selector, memberId, defender));
        computeCourt.answer(accused.id, accused.commitment, new bytes32[](5), accused.states[4], accused.path);
        _answerCall(accused, member);
        vm.expectRevert(IComputeCourt.NotContradiction.selector);
        computeCourt.contradict(accused.id, accused.commitment, other, otherPath);
        _pick(accused, 4);
        vm.prank(member);
        computeCourt.reveal(accused.id, accused.states[4]);
        vm.expectPartialRevert(IComputeCourt.ByteIsTrue.selector);
        _prove(accused, 4, 17);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(accused.id);
        _assertState(accused.id, IComputeCourt.AccusationState.Acquitted);
        assertEq(token.balanceOf(member), BOND);
        assertEq(registry.provider(memberId).suspendedUntil, 0);
        assertEq(vault.pool(memberId).openCases, 0);
    }

    /// @dev The row the member drew, true at its place and false at another's.
    function _treacherous() private view returns (Game memory game, bytes32 other, bytes32[] memory path) {
        game = _honest(LIE_ROW);
        other = keccak256("false head");
        bytes32[] memory leaves = _leaves();
        leaves[6] = IndexedTree.leaf(LIE_ROW, other);
        game.commitment.root = Trees.root(leaves);
        game.path = Trees.path(leaves, LIE_ROW);
        path = Trees.path(leaves, 6);
    }

    function _passed(Game memory game) private view returns (Game memory, IComputeCourt.PassedProof memory passed) {
        return _passedBy(game, MEMBER_KEY);
    }

    /// @dev Passed alone, so padded by the leaf of zero, and drawn by the first counter that gives the row.
    function _passedBy(Game memory game, uint256 key)
        private
        view
        returns (Game memory, IComputeCourt.PassedProof memory passed)
    {
        bytes32[] memory leaves = new bytes32[](2);
        leaves[0] = ComputeMessages.leafOf(computeCourt.commitmentHashOf(game.commitment));
        leaves[1] = ComputeMessages.leafOf(bytes32(0));
        passed.verdicts = PassedVerdicts(3, vm.addr(key), DRAWS, Trees.root(leaves));
        passed.signature = _signedBy(key, _verdictsHash(passed.verdicts));
        passed.path = Trees.path(leaves, 0);
        passed.counter = _counterOf(game);
        return (game, passed);
    }

    /// @dev The formula of compute-proof.md, written out.
    function _counterOf(Game memory game) private view returns (uint32 counter) {
        ComputeCommitment memory c = game.commitment;
        bytes32 drawSeed = beacon.window(c.windowId).drawSeed;
        while (uint256(keccak256(abi.encode(drawSeed, c.node, c.device, c.root, uint256(counter)))) % c.m != game.row) {
            ++counter;
        }
        assertLt(counter, DRAWS);
    }

    function _openMember(Game memory game, IComputeCourt.PassedProof memory passed) private {
        _seal(accuser, _memberAccusationId(game));
        bytes memory signature = _signed(game.commitment);
        vm.prank(accuser);
        game.id = computeCourt.accuseMember(game.commitment, signature, game.row, passed, SALT);
    }

    function _expectRefused(Game memory game, IComputeCourt.PassedProof memory passed, bytes memory reason) private {
        bytes memory signature = _signed(game.commitment);
        vm.prank(accuser);
        vm.expectRevert(reason);
        computeCourt.accuseMember(game.commitment, signature, game.row, passed, SALT);
    }

    function _memberAccusationId(Game memory game) private view returns (bytes32) {
        bytes32 commitmentHash = computeCourt.commitmentHashOf(game.commitment);
        return computeCourt.accusationIdOf(_offenceId(member), commitmentHash, game.row, game.accuser);
    }

    function _verdictsHash(PassedVerdicts memory verdicts) private pure returns (bytes32) {
        bytes32 typeHash = keccak256("PassedVerdicts(uint32 epoch,address member,uint32 draws,bytes32 passedRoot)");
        return keccak256(abi.encode(typeHash, verdicts));
    }
}
