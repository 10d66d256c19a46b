// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

import {ComputeCourt} from "../../src/ComputeCourt.sol";
import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Disputes} from "../utils/Disputes.sol";

/// @dev How an accusation begins; the moves are in ComputeCourtMoves.t.sol.
contract ComputeCourtTest is Disputes {
    function test_constructor_whenAPartIsMissing_thenItReverts() public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        vm.expectRevert(IComputeCourt.ZeroAddress.selector);
        new ComputeCourt(ISwarmToken(address(0)), registry, vault, beacon, numbers);
        vm.expectRevert(IComputeCourt.ZeroAddress.selector);
        new ComputeCourt(token, IProviderRegistry(address(0)), vault, beacon, numbers);
        vm.expectRevert(IComputeCourt.ZeroAddress.selector);
        new ComputeCourt(token, registry, IStakeVault(address(0)), beacon, numbers);
        vm.expectRevert(IComputeCourt.ZeroAddress.selector);
        new ComputeCourt(token, registry, vault, IChallengeBeacon(address(0)), numbers);
        numbers.bondWei = 0;
        vm.expectRevert(IComputeCourt.ZeroBond.selector);
        _deploy(numbers);
    }

    function test_constructor_whenASlashOrBountyIsOutOfBounds_thenItReverts() public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        numbers.slashBps = 0;
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidBps.selector, 0, 10_000));
        _deploy(numbers);
        numbers.slashBps = 10_001;
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidBps.selector, 10_001, 10_000));
        _deploy(numbers);
        (numbers.slashBps, numbers.bountyBps) = (10_000, 3001);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidBps.selector, 3001, 3000));
        _deploy(numbers);
    }

    /// @dev Invariants 13 and 33: no deployment exists in which a case outlives ten days, or stake leaves before its case ends.
    function testFuzz_constructor_whenWindowsAreAny_thenNoCaseOutlivesTenDaysOrUnbonding(
        uint64 accuseFor,
        uint64 answerFor,
        uint64 moveFor
    ) public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        numbers.accuseFor = uint64(bound(accuseFor, 0, 9 days));
        numbers.answerFor = uint64(bound(answerFor, 0, 6 days));
        numbers.moveFor = uint64(bound(moveFor, 0, 2 days));
        bool filled = numbers.accuseFor != 0 && numbers.answerFor != 0 && numbers.moveFor != 0;
        uint256 caseFor = numbers.answerFor + 3 * numbers.moveFor;
        uint256 reach = numbers.accuseFor + caseFor;
        if (!filled || caseFor > 10 days) {
            vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, caseFor, 10 days));
        } else if (reach > 13 days) {
            vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, reach, 13 days));
        }
        _deploy(numbers);
    }

    function test_constructor_whenAWindowIsZero_thenItReverts() public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        numbers.accuseFor = 0;
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, 60 hours, 10 days));
        _deploy(numbers);
        (numbers.accuseFor, numbers.moveFor) = (7 days, 0);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, 24 hours, 10 days));
        _deploy(numbers);
        (numbers.moveFor, numbers.answerFor) = (12 hours, 0);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.InvalidWindows.selector, 36 hours, 10 days));
        _deploy(numbers);
    }

    function test_params_whenDeployed_thenTheyAreWhatWasGiven() public view {
        assertEq(abi.encode(computeCourt.params()), abi.encode(computeCourtParams()));
    }

    /// @dev Invariant 38 for everything that is hashed: the ids, the signed digests, the seal.
    function test_ids_whenPythonMadeThem_thenTheyAreTheSame() public view {
        string memory json = _golden();
        bytes32 commitmentHash = computeCourt.commitmentHashOf(trueCommitment);
        bytes32 offenceId = _offenceId(address(0));
        bytes32 accusationId = computeCourt.accusationIdOf(offenceId, commitmentHash, LIE_ROW, accuser);
        assertEq(commitmentHash, vm.parseJsonBytes32(json, ".true.hash"));
        assertEq(_signed(trueCommitment), vm.parseJsonBytes(json, ".true.signature"));
        assertEq(offenceId, vm.parseJsonBytes32(json, ".dispute.offenceId"));
        assertEq(_offenceId(member), vm.parseJsonBytes32(json, ".dispute.memberOffenceId"));
        assertEq(accusationId, vm.parseJsonBytes32(json, ".dispute.accusationId"));
        bytes32 salt = vm.parseJsonBytes32(json, ".dispute.salt");
        assertEq(computeCourt.sealOf(accuser, accusationId, salt), vm.parseJsonBytes32(json, ".dispute.sealHash"));
        assertEq(accuser, vm.parseJsonAddress(json, ".dispute.accuser"));
    }

    /// @dev Sent again by anyone, a seal must not become fresh again.
    function test_seal_whenItIsSentAgain_thenItKeepsItsBlock() public {
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Sealed(SALT);
        computeCourt.seal(SALT);
        uint256 noted = block.number;
        vm.roll(noted + 5);
        vm.prank(stranger);
        computeCourt.seal(SALT);
        assertEq(computeCourt.sealedBlock(SALT), noted);
    }

    function test_accuse_whenTheWindowIsNotDrawn_thenItReverts() public {
        Game memory game = _honest(1);
        game.commitment.windowId += 1;
        _expectRefused(game, abi.encodeWithSelector(IComputeCourt.WindowNotDrawn.selector, game.commitment.windowId));
        vm.startPrank(oracleMember(0));
        beacon.commitSecret(game.commitment.windowId, keccak256(abi.encode(SALT)));
        vm.roll(block.number + 1);
        game.commitment.windowSeed = beacon.open(game.commitment.windowId, SALT);
        beacon.close(game.commitment.windowId, SALT, 1);
        vm.stopPrank();
        _expectRefused(game, abi.encodeWithSelector(IComputeCourt.WindowNotDrawn.selector, game.commitment.windowId));
    }

    function test_accuse_whenTheWindowClosedLongAgo_thenItReverts() public {
        Game memory game = _honest(1);
        vm.warp(closedAt + 7 days + 1);
        _expectRefused(
            game,
            abi.encodeWithSelector(
                IComputeCourt.AccusedTooLate.selector, game.commitment.windowId, closedAt, closedAt + 7 days
            )
        );
        vm.warp(closedAt + 7 days);
        _open(game);
        _assertState(game.id, IComputeCourt.AccusationState.Accused);
    }

    /// @dev A commitment of an abandoned branch of the chain is void, not false.
    function test_accuse_whenTheSeedIsOfAnotherBranch_thenItReverts() public {
        Game memory game = _false();
        bytes32 seed = game.commitment.windowSeed;
        game.commitment.windowSeed = keccak256("another branch");
        _expectRefused(
            game, abi.encodeWithSelector(IComputeCourt.WrongWindowSeed.selector, game.commitment.windowSeed, seed)
        );
    }

    function test_accuse_whenTheShapeIsImpossible_thenItReverts() public {
        _expectBadShape(32, 64, 4);
        _expectBadShape(96, 64, 4);
        _expectBadShape(type(uint32).max, 64, 4);
        _expectBadShape(0, 64, 4);
        _expectBadShape(64, 32, 4);
        _expectBadShape(64, 100, 4);
        _expectBadShape(64, 65_536, 4);
        _expectBadShape(64, 64, 0);
        _expectBadShape(64, 64, 1025);
    }

    /// @dev Attack 8, first half.
    function test_accuse_whenTheRowIsOutside_thenItReverts() public {
        Game memory game = _honest(1);
        game.row = 64;
        _expectRefused(game, abi.encodeWithSelector(IComputeCourt.RowOutOfRange.selector, 64, 64));
    }

    /// @dev Attack 22: nobody is accused of what its key did not sign, on this chain and for this beacon.
    function test_accuse_whenTheSignatureIsNotTheNodes_thenItReverts() public {
        Game memory game = _honest(1);
        _seal(accuser, _accusationId(game));
        bytes32 structHash = computeCourt.commitmentHashOf(game.commitment);
        bytes memory others = _signedBy(MEMBER_KEY, structHash);
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongSigner.selector, member, node));
        computeCourt.accuse(game.commitment, others, 1, SALT);
        bytes memory signature = _signed(game.commitment);
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureLength.selector, 64));
        computeCourt.accuse(game.commitment, _slice(signature, 0, 64), 1, SALT);

        vm.chainId(block.chainid + 1);
        vm.prank(accuser);
        vm.expectPartialRevert(IComputeCourt.WrongSigner.selector);
        computeCourt.accuse(game.commitment, signature, 1, SALT);
    }

    /// @dev Attack 22.
    function test_accuse_whenTheSignatureIsMalleated_thenItReverts() public {
        Game memory game = _honest(1);
        _seal(accuser, _accusationId(game));
        bytes32 digest = keccak256(
            abi.encodePacked(hex"1901", beacon.domainSeparator(), computeCourt.commitmentHashOf(game.commitment))
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NODE_KEY, digest);
        uint256 order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
        bytes32 high = bytes32(order - uint256(s));
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureS.selector, high));
        computeCourt.accuse(game.commitment, abi.encodePacked(r, high, v == 27 ? 28 : 27), 1, SALT);
    }

    function test_accuse_whenTheNodeIsNobodys_thenItReverts() public {
        Game memory game = _honest(1);
        game.commitment.node = member;
        bytes memory signature = _signedBy(MEMBER_KEY, computeCourt.commitmentHashOf(game.commitment));
        vm.prank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.UnknownNode.selector, member));
        computeCourt.accuse(game.commitment, signature, 1, SALT);
    }

    /// @dev Attack 19: what is copied from the mempool has no seal, or one that is too fresh.
    function test_accuse_whenItIsCopiedFromTheMempool_thenItReverts() public {
        Game memory game = _false();
        _seal(accuser, _accusationId(game));
        game.accuser = stranger;
        bytes memory signature = _signed(game.commitment);
        bytes32 sealHash = computeCourt.sealOf(stranger, _accusationId(game), SALT);
        vm.startPrank(stranger);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.NotSealed.selector, sealHash));
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
        computeCourt.seal(sealHash);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.SealTooFresh.selector, sealHash, block.number));
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
        vm.stopPrank();
        vm.prank(accuser);
        computeCourt.accuse(game.commitment, signature, LIE_ROW, SALT);
    }

    /// @dev Attack 18: the same accuser has one try a row, whatever its salt.
    function test_accuse_whenTheAccuserAccusedTheRowBefore_thenItReverts() public {
        Game memory game = _honest(1);
        _open(game);
        bytes memory used = abi.encodeWithSelector(IComputeCourt.AlreadyAccused.selector, game.id);
        _expectRefused(game, used);
        _answer(game);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(game.id);
        _expectRefused(game, used);
    }

    function test_accuse_whenTheOffenceIsConvicted_thenItReverts() public {
        Game memory game = _honest(1);
        _open(game);
        vm.warp(block.timestamp + 24 hours + 1);
        computeCourt.timeout(game.id);
        game.row = 2;
        _expectRefused(game, abi.encodeWithSelector(IComputeCourt.AlreadyConvicted.selector, _offenceId(address(0))));
    }

    function test_accuse_whenTheBondIsNotApproved_thenItReverts() public {
        Game memory game = _honest(1);
        vm.prank(accuser);
        token.approve(address(computeCourt), BOND - 1);
        _expectRefused(
            game,
            abi.encodeWithSelector(
                IERC20Errors.ERC20InsufficientAllowance.selector, address(computeCourt), BOND - 1, BOND
            )
        );
    }

    function test_accuse_whenValid_thenItHoldsBondAndStake() public {
        Game memory game = _honest(7);
        _seal(accuser, _accusationId(game));
        uint64 deadline = uint64(block.timestamp + 24 hours);
        bytes memory signature = _signed(game.commitment);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Accused(
            _accusationId(game), aliceId, accuser, game.commitment, 7, address(0), uint96(BOND), deadline
        );
        vm.prank(accuser);
        game.id = computeCourt.accuse(game.commitment, signature, 7, SALT);

        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        assertEq(uint256(record.state), uint256(IComputeCourt.AccusationState.Accused));
        assertEq(record.log2n, 6);
        assertEq(record.steps, STEPS);
        assertEq(record.deadline, deadline);
        assertEq(record.offenceAt, closedAt);
        assertEq(record.row, 7);
        assertEq(record.providerId, aliceId);
        assertEq(record.accuser, accuser);
        assertEq(record.bond, BOND);
        assertEq(record.offenceId, _offenceId(address(0)));
        assertEq(record.commitmentHash, computeCourt.commitmentHashOf(game.commitment));
        assertEq(token.balanceOf(address(computeCourt)), BOND);
        assertEq(vault.pool(aliceId).openCases, 1);
    }

    /// @dev A cheater cannot slip away by removing the node and retiring: its provider stays accused.
    function test_accuse_whenTheNodeLeftAndTheProviderRetired_thenTheProviderIsAccused() public {
        vm.startPrank(alice);
        registry.removeNode(aliceId, node);
        registry.retire(aliceId);
        vm.stopPrank();
        Game memory game = _false();
        _playTo(game, LIE_STEP);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    /// @dev A key that was thrown away because it leaked costs its provider nothing in windows that open later.
    function test_accuse_whenTheKeyWasRemovedBeforeTheWindowOpened_thenItReverts() public {
        Game memory game = _false();
        bytes memory refusal = _removeKey(beacon.window(game.commitment.windowId).openedAt - 1);
        _expectRefused(game, refusal);
    }

    /// @dev Nor does removal shield: in the second of the opening the order within a block is anyone's, so the key still counts.
    function test_accuse_whenTheKeyWasRemovedAsTheWindowOpened_thenTheProviderIsAccused() public {
        Game memory game = _false();
        _removeKey(beacon.window(game.commitment.windowId).openedAt);
        _playTo(game, LIE_STEP);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    function testFuzz_accuse_whenTheKeyWasRemovedAnyTime_thenOnlyEarlierWindowsBind(uint256 removedAt) public {
        Game memory game = _false();
        uint256 openedAt = beacon.window(game.commitment.windowId).openedAt;
        removedAt = bound(removedAt, 1, block.timestamp);
        bytes memory refusal = _removeKey(removedAt);
        if (removedAt < openedAt) return _expectRefused(game, refusal);
        _open(game);
        _assertState(game.id, IComputeCourt.AccusationState.Accused);
    }

    /// @dev A key is replaced by adding another one and removing it: the new one answers for what it signs, the old one no more.
    function test_accuse_whenTheKeyWasReplaced_thenOnlyTheNewOneBinds() public {
        uint256 newKey = uint256(keccak256("new key"));
        _addNode(alice, aliceId, newKey);
        Game memory game = _false();
        bytes memory refusal = _removeKey(beacon.window(game.commitment.windowId).openedAt - 1);
        _expectRefused(game, refusal);
        game.commitment.node = vm.addr(newKey);
        _seal(accuser, _accusationIdAt(game));
        bytes memory signature = _signedBy(newKey, computeCourt.commitmentHashOf(game.commitment));
        vm.prank(accuser);
        game.id = computeCourt.accuse(game.commitment, signature, game.row, SALT);
        assertEq(computeCourt.accusation(game.id).providerId, aliceId);
    }

    /// @dev Invariant 14, economics: a flood pays its victim, twice as much for each accusation that is open.
    function test_bondOf_whenAccusationsAreOpen_thenItDoublesUpToTenTimes() public {
        _fund(accuser, 10_000_000e18);
        for (uint32 row = 0; row < 12; ++row) {
            assertEq(computeCourt.bondOf(aliceId), BOND << (row < 10 ? row : 10));
            assertEq(computeCourt.openAccusations(aliceId), row);
            Game memory game = _honest(row);
            _open(game);
        }
        assertEq(token.balanceOf(address(computeCourt)), BOND * (1023 + 2 * 1024));
        assertEq(vault.pool(aliceId).openCases, 12);
    }

    function test_bondOf_whenTheBondIsHuge_thenItStaysWithinItsField() public {
        IComputeCourt.ComputeCourtParams memory numbers = computeCourtParams();
        numbers.bondWei = type(uint96).max;
        assertEq(_deploy(numbers).bondOf(aliceId), type(uint96).max);
    }

    function test_equivocate_whenTheTwoAreNotAtOdds_thenItReverts() public {
        ComputeCommitment memory second = trueCommitment;
        _expectNoEquivocation(second);
        second = falseCommitment;
        second.windowId += 1;
        _expectNoEquivocation(second);
        second = falseCommitment;
        second.windowSeed = keccak256("another branch");
        _expectNoEquivocation(second);
        second = falseCommitment;
        second.device += 1;
        _expectNoEquivocation(second);
        second = falseCommitment;
        second.node = member;
        _expectNoEquivocation(second);
    }

    function test_equivocate_whenItMayNot_thenItReverts() public {
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(falseCommitment);
        bytes memory forged = _signedBy(MEMBER_KEY, computeCourt.commitmentHashOf(falseCommitment));
        vm.startPrank(accuser);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongSigner.selector, member, node));
        computeCourt.equivocate(trueCommitment, one, falseCommitment, forged, SALT);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.WrongSigner.selector, member, node));
        computeCourt.equivocate(falseCommitment, forged, trueCommitment, one, SALT);
        vm.expectRevert(
            abi.encodeWithSelector(
                IComputeCourt.NotSealed.selector, computeCourt.sealOf(accuser, _offenceId(address(0)), SALT)
            )
        );
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
        vm.stopPrank();
        _seal(accuser, _offenceId(address(0)));
        vm.warp(closedAt + 7 days + 1);
        vm.prank(accuser);
        vm.expectPartialRevert(IComputeCourt.AccusedTooLate.selector);
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
    }

    function test_equivocate_whenTheKeyWasRemoved_thenOnlyEarlierWindowsBind() public {
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(falseCommitment);
        _seal(accuser, _offenceId(address(0)));
        uint256 openedAt = beacon.window(trueCommitment.windowId).openedAt;
        uint256 start = vm.snapshotState();
        bytes memory refusal = _removeKey(openedAt - 1);
        vm.prank(accuser);
        vm.expectRevert(refusal);
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
        assertTrue(vm.revertToState(start));
        _removeKey(openedAt);
        vm.prank(accuser);
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
        assertEq(vault.pool(aliceId).tokens, STAKE / 2);
    }

    /// @dev Two different commitments for one window and device are a proof by themselves, and once.
    function test_equivocate_whenTheNodeSignedTwo_thenItConvictsOnce() public {
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(falseCommitment);
        bytes32 offenceId = _offenceId(address(0));
        _seal(accuser, offenceId);
        vm.expectEmit(address(computeCourt));
        emit IComputeCourt.Convicted(offenceId, aliceId, accuser, STAKE / 2);
        vm.startPrank(accuser);
        assertEq(computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT), offenceId);
        assertEq(vault.pool(aliceId).tokens, STAKE / 2);
        assertEq(sink.bountyOf(accuser), STAKE / 2 * 3 / 10);
        assertEq(registry.provider(aliceId).suspendedUntil, type(uint64).max);
        vm.expectRevert(abi.encodeWithSelector(IComputeCourt.AlreadyConvicted.selector, offenceId));
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
    }

    function _expectRefused(Game memory game, bytes memory reason) private {
        _seal(game.accuser, _accusationIdAt(game));
        bytes memory signature = _signed(game.commitment);
        vm.prank(game.accuser);
        vm.expectRevert(reason);
        computeCourt.accuse(game.commitment, signature, game.row, SALT);
    }

    function _accusationIdAt(Game memory game) private view returns (bytes32) {
        ComputeCommitment memory c = game.commitment;
        bytes32 offenceId = computeCourt.offenceIdOf(c.windowId, c.node, c.device, address(0));
        return computeCourt.accusationIdOf(offenceId, computeCourt.commitmentHashOf(c), game.row, game.accuser);
    }

    function _expectBadShape(uint32 m, uint32 n, uint32 steps) private {
        Game memory game = _honest(1);
        (game.commitment.m, game.commitment.n, game.commitment.steps) = (m, n, steps);
        _expectRefused(game, abi.encodeWithSelector(IComputeCourt.InvalidShape.selector, m, n, steps));
    }

    function _expectNoEquivocation(ComputeCommitment memory second) private {
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(second);
        vm.prank(accuser);
        vm.expectRevert(IComputeCourt.NotEquivocation.selector);
        computeCourt.equivocate(trueCommitment, one, second, other, SALT);
    }

    function _deploy(IComputeCourt.ComputeCourtParams memory numbers) private returns (ComputeCourt) {
        return new ComputeCourt(token, registry, vault, beacon, numbers);
    }
}
