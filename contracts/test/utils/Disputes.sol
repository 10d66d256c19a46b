// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {ChallengeBeacon} from "../../src/ChallengeBeacon.sol";
import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {Admissions} from "./Admissions.sol";
import {Deployment} from "./Deployment.sol";
import {Trees} from "./Trees.sol";

/// @title A drawn window with a commitment of 64 rows that Python made (tests/golden/court.json), and players for the dispute
/// @dev The beacon lies at the address that the file names, since every seed and signature names it.
abstract contract Disputes is Deployment {
    uint256 internal constant STAKE = 100_000e18;
    uint256 internal constant BOND = 1000e18;
    uint256 internal constant NODE_KEY = uint256(keccak256("golden node"));
    uint256 internal constant MEMBER_KEY = uint256(keccak256("golden member"));
    uint16 internal constant STEPS = 4;
    uint32 internal constant LIE_ROW = 9;
    uint16 internal constant LIE_STEP = 2;
    uint32 internal constant LIE_COLUMN = 33;
    bytes32 internal constant SALT = keccak256("salt");

    address internal immutable node = vm.addr(NODE_KEY);
    address internal immutable member = vm.addr(MEMBER_KEY);
    address internal immutable accuser = vm.addr(uint256(keccak256("golden accuser")));
    address internal immutable defender = makeAddr("defender");
    address internal immutable stranger = makeAddr("stranger");

    address internal alice;
    uint256 internal aliceId;
    uint64 internal closedAt;
    ComputeCommitment internal trueCommitment;
    ComputeCommitment internal falseCommitment;

    /// @dev States of row i after 0 to 4 steps, 64 bytes each, one after the other; those of the false row; its path.
    bytes[] private _rows;
    bytes private _lie;
    bytes32[] private _liePath;

    bytes32[] private _trueLeaves;

    /// @dev One game as both sides know it: what is accused, and the states the accused stands for.
    struct Game {
        bytes32 id;
        address accuser;
        ComputeCommitment commitment;
        uint32 row;
        bytes[] states;
        bytes32[] path;
    }

    function setUp() public virtual override {
        super.setUp();
        string memory json = _golden();
        trueCommitment = _commitment(json, "true");
        falseCommitment = _commitment(json, "false");
        _rows = vm.parseJsonBytesArray(json, ".states");
        _lie = vm.parseJsonBytes(json, ".lie.states");
        _liePath = vm.parseJsonBytes32Array(json, ".lie.path");
        for (uint256 i = 0; i < 64; ++i) {
            _trueLeaves.push(IndexedTree.leaf(i, keccak256(_slice(_rows[i], 64 * STEPS, 64))));
        }
        alice = makeAddr("alice");
        aliceId = _register(alice);
        vm.prank(alice);
        registry.setDefender(aliceId, defender);
        _addNode(alice, aliceId, NODE_KEY);
        _stake(alice, aliceId, STAKE);
        _beforeTheWindow();
        _drawWindow(json);
        _fund(accuser, 10 * BOND);
        vm.prank(accuser);
        token.approve(address(computeCourt), type(uint256).max);
    }

    function _newBeacon() internal override returns (ChallengeBeacon) {
        address wanted = vm.parseJsonAddress(_golden(), ".beacon");
        vm.cloneAccount(address(super._newBeacon()), wanted);
        return ChallengeBeacon(wanted);
    }

    function _addNode(address owner, uint256 providerId, uint256 key) internal {
        address added = vm.addr(key);
        bytes32 digest = Admissions.digest(block.chainid, address(registry), providerId, added, 0, block.timestamp);
        bytes memory signature = _signature(key, digest);
        vm.prank(owner);
        registry.addNode(providerId, added, block.timestamp, signature);
    }

    /// @dev Who else has stake when the window closes.
    function _beforeTheWindow() internal virtual {}

    /// @dev Secret, opening, end and draw of the golden window, with the golden randomness.
    function _drawWindow(string memory json) private {
        uint256 windowId = trueCommitment.windowId;
        vm.warp(oracle.epochEnd(2));
        vm.roll(1000);
        bytes32 secret = vm.parseJsonBytes32(json, ".secret");
        vm.startPrank(oracleMember(0));
        beacon.commitSecret(windowId, keccak256(abi.encode(secret)));
        vm.roll(1001);
        vm.setBlockhash(1000, vm.parseJsonBytes32(json, ".previousBlockHash"));
        vm.prevrandao(vm.parseJsonBytes32(json, ".prevrandao"));
        beacon.open(windowId, secret);
        beacon.close(windowId, vm.parseJsonBytes32(json, ".commitmentsRoot"), 1);
        vm.stopPrank();
        closedAt = uint64(block.timestamp);
        vm.warp(closedAt + 36);
        vm.roll(1004);
        vm.setBlockhash(1003, vm.parseJsonBytes32(json, ".drawBlockHash"));
        beacon.draw(windowId);
    }

    function _golden() internal view returns (string memory) {
        return vm.readFile("tests/golden/court.json");
    }

    function _commitment(string memory json, string memory which) private view returns (ComputeCommitment memory) {
        return ComputeCommitment({
            windowId: vm.parseJsonUint(json, ".windowId"),
            windowSeed: vm.parseJsonBytes32(json, ".windowSeed"),
            node: node,
            device: 2,
            m: 64,
            n: 64,
            steps: STEPS,
            root: vm.parseJsonBytes32(json, string.concat(".", which, ".root"))
        });
    }

    /// @dev The game over one row of the honest commitment.
    function _honest(uint32 row) internal view returns (Game memory game) {
        game.commitment = trueCommitment;
        (game.accuser, game.row, game.states) = (accuser, row, _statesOf(row));
        game.path = Trees.path(_trueLeaves, row);
    }

    /// @dev The game over the false row, the accused standing for what it committed to.
    function _false() internal view returns (Game memory game) {
        game.commitment = falseCommitment;
        (game.accuser, game.row) = (accuser, LIE_ROW);
        game.states = _split(_lie);
        game.path = _liePath;
    }

    /// @dev A commitment whose tree has these states in place of the row's own.
    function _committedTo(uint32 row, bytes[] memory states) internal view returns (Game memory game) {
        game = _honest(row);
        game.states = states;
        bytes32[] memory leaves = _trueLeaves;
        leaves[row] = IndexedTree.leaf(row, keccak256(_head(game)));
        game.commitment.root = Trees.root(leaves);
        game.path = Trees.path(leaves, row);
    }

    function _statesOf(uint32 row) internal view returns (bytes[] memory) {
        return _split(_rows[row]);
    }

    /// @dev Of the true commitment.
    function _leaves() internal view returns (bytes32[] memory) {
        return _trueLeaves;
    }

    function _open(Game memory game) internal {
        _seal(game.accuser, _accusationId(game));
        bytes memory signature = _signed(game.commitment);
        vm.prank(game.accuser);
        game.id = computeCourt.accuse(game.commitment, signature, game.row, SALT);
    }

    function _answer(Game memory game) internal {
        _answerCall(game, defender);
    }

    /// @dev The court is called once, and last: an expected revert is that one.
    function _answerCall(Game memory game, address who) internal {
        bytes32[] memory hashes = _hashes(game.states);
        vm.prank(who);
        computeCourt.answer(game.id, game.commitment, hashes, _head(game), game.path);
    }

    function _pick(Game memory game, uint16 step) internal {
        _pickCall(game, step, game.accuser);
    }

    function _pickCall(Game memory game, uint16 step, address who) internal {
        bytes32[] memory hashes = _hashes(game.states);
        IComputeCourt.StepHash memory before = _stepHash(hashes, step == 0 ? 0 : step - 1);
        IComputeCourt.StepHash memory at = _stepHash(hashes, step);
        vm.prank(who);
        computeCourt.pick(game.id, step, before, at);
    }

    function _reveal(Game memory game, uint16 step) internal {
        vm.prank(defender);
        computeCourt.reveal(game.id, game.states[step]);
    }

    /// @dev Anyone proves; the row before is the one the answer stands for.
    function _prove(Game memory game, uint16 step, uint32 column) internal {
        (bytes32 word, bytes32[] memory path) = _word(game.states[step], column);
        bytes memory before = step == 0 ? bytes("") : game.states[step - 1];
        computeCourt.prove(game.id, game.commitment, column, before, word, path);
    }

    /// @dev Up to the reveal of `step`.
    function _playTo(Game memory game, uint16 step) internal {
        _open(game);
        _answer(game);
        _pick(game, step);
        _reveal(game, step);
    }

    function _seal(address who, bytes32 subject) internal {
        bytes32 sealHash = computeCourt.sealOf(who, subject, SALT);
        vm.prank(who);
        computeCourt.seal(sealHash);
        vm.roll(block.number + 1);
    }

    function _accusationId(Game memory game) internal view returns (bytes32) {
        bytes32 offenceId = _offenceId(address(0));
        bytes32 commitmentHash = computeCourt.commitmentHashOf(game.commitment);
        return computeCourt.accusationIdOf(offenceId, commitmentHash, game.row, game.accuser);
    }

    function _offenceId(address accusedMember) internal view returns (bytes32) {
        return computeCourt.offenceIdOf(trueCommitment.windowId, node, 2, accusedMember);
    }

    function _signed(ComputeCommitment memory commitment) internal view returns (bytes memory) {
        return _signedBy(NODE_KEY, computeCourt.commitmentHashOf(commitment));
    }

    function _signedBy(uint256 key, bytes32 structHash) internal view returns (bytes memory) {
        return _signature(key, MessageHashUtils.toTypedDataHash(beacon.domainSeparator(), structHash));
    }

    /// @dev Removes the node's key as if at `at`; time goes on where it was. Returns what refuses a commitment of the window.
    function _removeKey(uint256 at) internal returns (bytes memory refusal) {
        uint256 present = block.timestamp;
        vm.warp(at);
        vm.prank(alice);
        registry.removeNode(aliceId, node);
        vm.warp(present);
        uint256 openedAt = beacon.window(trueCommitment.windowId).openedAt;
        return abi.encodeWithSelector(IComputeCourt.KeyRemoved.selector, node, at, openedAt);
    }

    function _assertState(bytes32 id, IComputeCourt.AccusationState want) internal view {
        assertEq(uint256(computeCourt.accusation(id).state), uint256(want));
    }

    /// @dev Acquitted: no stake lost, no exclusion, nothing held back, the bond is the provider's.
    function _assertAcquitted(Game memory game, uint256 payoutBefore) internal view {
        _assertState(game.id, IComputeCourt.AccusationState.Acquitted);
        assertEq(vault.pool(aliceId).tokens, STAKE);
        assertEq(registry.provider(aliceId).suspendedUntil, 0);
        assertEq(vault.pool(aliceId).openCases, 0);
        assertEq(token.balanceOf(alice) - payoutBefore, BOND);
        assertEq(token.balanceOf(address(computeCourt)), 0);
    }

    /// @dev Convicted: half the stake taken, 30 % of it the accuser's, who has its bond back; excluded until reinstated.
    /// @dev After a proof anyone takes the stake; after a timeout it is taken.
    function _assertConvicted(Game memory game) internal {
        if (computeCourt.accusation(game.id).state == IComputeCourt.AccusationState.Proven) {
            computeCourt.execute(game.id);
        }
        _assertState(game.id, IComputeCourt.AccusationState.Convicted);
        assertTrue(computeCourt.isConvicted(_offenceId(address(0))));
        assertEq(vault.pool(aliceId).tokens, STAKE / 2);
        assertEq(registry.provider(aliceId).suspendedUntil, type(uint64).max);
        assertEq(vault.pool(aliceId).openCases, 0);
        assertEq(token.balanceOf(game.accuser), 10 * BOND);
        assertEq(sink.bountyOf(game.accuser), STAKE / 2 * 3 / 10);
        assertEq(token.balanceOf(address(computeCourt)), 0);
    }

    /// @dev First column in which two rows differ.
    function _firstDifference(bytes memory one, bytes memory other) internal pure returns (uint32 column) {
        while (one[column] == other[column]) {
            ++column;
        }
    }

    function _head(Game memory game) internal pure returns (bytes memory) {
        return _slice(game.states[game.states.length - 1], 0, 64);
    }

    function _hashes(bytes[] memory states) internal pure returns (bytes32[] memory hashes) {
        hashes = new bytes32[](states.length);
        for (uint256 t = 0; t < states.length; ++t) {
            hashes[t] = keccak256(states[t]);
        }
    }

    function _stepHash(bytes32[] memory hashes, uint256 step) internal pure returns (IComputeCourt.StepHash memory) {
        return IComputeCourt.StepHash({hash: hashes[step], path: Trees.path(_indexed(hashes), step)});
    }

    function _word(bytes memory row, uint256 column) internal pure returns (bytes32, bytes32[] memory) {
        bytes32[] memory words = _words(row);
        return (words[column / 32], Trees.path(_indexed(words), column / 32));
    }

    function _words(bytes memory row) internal pure returns (bytes32[] memory words) {
        words = new bytes32[](row.length / 32);
        for (uint256 i = 0; i < words.length; ++i) {
            words[i] = bytes32(_slice(row, 32 * i, 32));
        }
    }

    function _indexed(bytes32[] memory values) internal pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](values.length);
        for (uint256 i = 0; i < values.length; ++i) {
            leaves[i] = IndexedTree.leaf(i, values[i]);
        }
    }

    function _signature(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _slice(bytes memory from, uint256 start, uint256 length) internal pure returns (bytes memory part) {
        part = new bytes(length);
        for (uint256 k = 0; k < length; ++k) {
            part[k] = from[start + k];
        }
    }

    function _split(bytes memory states) private pure returns (bytes[] memory each) {
        each = new bytes[](STEPS + 1);
        for (uint256 t = 0; t <= STEPS; ++t) {
            each[t] = _slice(states, 64 * t, 64);
        }
    }
}
