// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Admissions} from "../utils/Admissions.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title States of an accusation, for every move at every second
/// @dev The accused has no stake left: what a slash takes is a quotient of times and stakes, which no solver settles; fuzz tests do.
contract ComputeCourtSymbolic is SymbolicNetwork {
    uint256 private constant NODE_KEY = 7;
    uint256 private constant BOND = 1000e18;
    address private constant ALICE = address(0xA11CE);
    address private constant ACCUSER = address(0xACC);
    bytes32 private constant SALT = keccak256("salt");

    uint256 private aliceId;
    bytes32 private accusationId;
    uint256 private accusedAt;
    ComputeCommitment private commitment;
    bytes32[] private path;
    bytes private head;

    function setUp() public override {
        super.setUp();
        aliceId = _register(ALICE);
        _addNode();
        _commit();
        _accuse();
    }

    /// @dev Invariant 13: an accusation moves as the diagram says, each move inside its own time; whoever is late loses, and only who is late.
    function check_accusation_whenMoved_thenOnlyTheLateLose(bool answered, uint8 move, uint32 wait) public {
        vm.assume(move < 4);
        if (answered) assert(_move(0));
        IComputeCourt.AccusationState before = _state();
        uint256 deadline = computeCourt.accusation(accusationId).deadline;
        vm.warp(accusedAt + wait);
        bool late = accusedAt + wait > deadline;
        bool done = _move(move);

        if (move == 0) assert(done == (!answered && !late));
        if (move == 1) assert(done == late);
        if (move > 1) assert(!done);
        assert(_state() == (done ? _next(answered, move) : before));
        _checkHeld(_state());
    }

    /// @dev 0 answer, 1 timeout, 2 dismiss, 3 execute, each by who may.
    function _move(uint8 kind) private returns (bool done) {
        if (kind == 0) {
            vm.prank(ALICE);
            try computeCourt.answer(accusationId, commitment, new bytes32[](2), head, path) {
                done = true;
            } catch {}
        } else if (kind == 1) {
            try computeCourt.timeout(accusationId) {
                done = true;
            } catch {}
        } else if (kind == 2) {
            try computeCourt.dismiss(accusationId) {
                done = true;
            } catch {}
        } else {
            try computeCourt.execute(accusationId) {
                done = true;
            } catch {}
        }
    }

    function _next(bool answered, uint8 move) private pure returns (IComputeCourt.AccusationState) {
        if (move == 0) return IComputeCourt.AccusationState.Answered;
        return answered ? IComputeCourt.AccusationState.Acquitted : IComputeCourt.AccusationState.Convicted;
    }

    function _checkHeld(IComputeCourt.AccusationState state) private view {
        bool live = state == IComputeCourt.AccusationState.Accused || state == IComputeCourt.AccusationState.Answered;
        assert(vault.pool(aliceId).openCases == (live ? 1 : 0));
        assert(computeCourt.openAccusations(aliceId) == (live ? 1 : 0));
        assert(token.balanceOf(address(computeCourt)) == (live ? BOND : 0));
        bool convicted = state == IComputeCourt.AccusationState.Convicted;
        bytes32 offenceId = computeCourt.offenceIdOf(1, commitment.node, 0, address(0));
        assert(computeCourt.isConvicted(offenceId) == convicted);
        assert(registry.provider(aliceId).suspendedUntil == (convicted ? type(uint64).max : 0));
    }

    function _state() private view returns (IComputeCourt.AccusationState) {
        return computeCourt.accusation(accusationId).state;
    }

    function _addNode() private {
        address node = vm.addr(NODE_KEY);
        bytes32 digest = Admissions.digest(block.chainid, address(registry), aliceId, node, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NODE_KEY, digest);
        vm.prank(ALICE);
        registry.addNode(aliceId, node, block.timestamp, abi.encodePacked(r, s, v));
    }

    /// @dev A drawn window of epoch 0 and a commitment to 64 rows of which row 0 lies beside any six siblings.
    function _commit() private {
        bytes32 seed = keccak256("seed");
        _putWindow(
            1,
            IChallengeBeacon.Window({
                secretHash: keccak256("secret"),
                windowSeed: seed,
                commitmentsRoot: keccak256("commitments"),
                drawSeed: keccak256("draw"),
                openedAt: uint64(GENESIS),
                openedBlock: 1001,
                closedAt: uint64(GENESIS),
                closedBlock: 1002,
                commitmentCount: 1,
                secretBlock: 1000
            })
        );
        vm.roll(1005);
        head = new bytes(64);
        bytes32 root = IndexedTree.leaf(0, keccak256(head));
        for (uint256 i = 0; i < 6; ++i) {
            path.push(bytes32(i + 1));
            root = Hashes.commutativeKeccak256(root, path[i]);
        }
        commitment = ComputeCommitment({
            windowId: 1, windowSeed: seed, node: vm.addr(NODE_KEY), device: 0, m: 64, n: 64, steps: 1, root: root
        });
    }

    function _accuse() private {
        accusedAt = block.timestamp;
        _fund(ACCUSER, BOND);
        bytes32 commitmentHash = computeCourt.commitmentHashOf(commitment);
        bytes32 offenceId = computeCourt.offenceIdOf(1, commitment.node, 0, address(0));
        accusationId = computeCourt.accusationIdOf(offenceId, commitmentHash, 0, ACCUSER);
        bytes32 digest = MessageHashUtils.toTypedDataHash(beacon.domainSeparator(), commitmentHash);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NODE_KEY, digest);
        bytes32 sealHash = computeCourt.sealOf(ACCUSER, accusationId, SALT);
        vm.startPrank(ACCUSER);
        token.approve(address(computeCourt), BOND);
        computeCourt.seal(sealHash);
        vm.roll(block.number + 1);
        computeCourt.accuse(commitment, abi.encodePacked(r, s, v), 0, SALT);
        vm.stopPrank();
    }
}
