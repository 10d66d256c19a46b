// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {ComputeCases} from "./ComputeCases.sol";
import {IChallengeBeacon} from "./interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "./interfaces/IComputeCourt.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";
import {IndexedTree} from "./libraries/IndexedTree.sol";
import {RowChain} from "./libraries/RowChain.sol";
import {ComputeCommitment} from "./types/Compute.sol";

/// @title Objective cases: a false commitment loses by arithmetic, without a vote
/// @dev      accuse          answer            pick             reveal           prove
///              |-- answerFor --|--- moveFor ---|--- moveFor ---|--- moveFor ---|
///      overdue:  the accused      the accuser     the accused     the accuser      loses (`timeout`)
///
///      A proof convicts and excludes; `execute` then takes the stake.
///
///      True hashes of true rows leave nothing to prove, so an honest commitment that is answered in time is never slashed
///      (invariant 36). Before the first false hash lies a true row, which everyone knows: either what is revealed does not follow
///      from it, which one dot product shows, or nothing can be revealed (invariant 37).
contract ComputeCourt is ComputeCases {
    /// @dev Bytes of a row that are committed.
    uint256 private constant HEAD = 64;

    constructor(
        ISwarmToken token,
        IProviderRegistry registry,
        IStakeVault vault,
        IChallengeBeacon beacon,
        ComputeCourtParams memory numbers
    ) ComputeCases(token, registry, vault, beacon, numbers) {}

    /// @inheritdoc IComputeCourt
    function accuse(ComputeCommitment calldata commitment, bytes calldata signature, uint32 row, bytes32 salt)
        external
        returns (bytes32 accusationId)
    {
        IChallengeBeacon.Window memory window = _requireWindow(commitment);
        _requireRow(commitment, row);
        uint256 providerId = _requireSigned(commitment, signature, window.openedAt);

        return _accuse(commitment, row, salt, address(0), providerId, window.closedAt);
    }

    /// @inheritdoc IComputeCourt
    function accuseMember(
        ComputeCommitment calldata commitment,
        bytes calldata signature,
        uint32 row,
        PassedProof calldata passed,
        bytes32 salt
    ) external returns (bytes32 accusationId) {
        IChallengeBeacon.Window memory window = _requireWindow(commitment);
        _requireRow(commitment, row);
        _requireSigned(commitment, signature, window.openedAt);
        uint256 providerId = _requirePassed(commitment, row, passed, window.drawSeed);

        return _accuse(commitment, row, salt, passed.verdicts.member, providerId, window.closedAt);
    }

    /// @inheritdoc IComputeCourt
    function answer(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        bytes32[] calldata hashes,
        bytes calldata head,
        bytes32[] calldata path
    ) external {
        Accusation storage record = _requireMove(accusationId, AccusationState.Accused);
        _requireDefender(record.providerId);
        _requireCommitment(record, commitment);
        require(hashes.length == uint256(record.steps) + 1, WrongLength(hashes.length, uint256(record.steps) + 1));
        require(head.length == HEAD, WrongLength(head.length, HEAD));
        bytes32 headHash = keccak256(head);
        _requireCommitted(record, commitment, headHash, path);

        record.hashesRoot = IndexedTree.rootOf(hashes);
        record.headHash = headHash;
        uint48 deadline = _advance(record, AccusationState.Answered);

        emit AccusationAnswered(accusationId, msg.sender, hashes, head, deadline);
    }

    /// @inheritdoc IComputeCourt
    function contradict(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        bytes32 headHash,
        bytes32[] calldata path
    ) external {
        Accusation storage record = _requireMove(accusationId, AccusationState.Answered);
        _requireCommitment(record, commitment);
        bytes32 own = offenceIdOf(commitment.windowId, commitment.node, commitment.device, address(0));
        bytes32 answered = record.headHash;
        require(record.offenceId == own && headHash != answered, NotContradiction());
        _requireCommitted(record, commitment, headHash, path);

        emit ContradictionProven(accusationId, answered, headHash);

        _proven(record);
    }

    /// @inheritdoc IComputeCourt
    function pick(bytes32 accusationId, uint16 step, StepHash calldata before, StepHash calldata at) external {
        Accusation storage record = _requireMove(accusationId, AccusationState.Answered);
        require(msg.sender == record.accuser, NotAccuser(msg.sender, record.accuser));
        require(step <= record.steps, StepOutOfRange(step, record.steps));
        bytes32 root = record.hashesRoot;
        require(IndexedTree.proven(at.path, root, step, at.hash), HashNotProven(step));
        bytes32 hashBefore = step == 0 ? bytes32(0) : before.hash;
        // Not `require(step == 0 || …)`: the arguments of its error are evaluated first, and step - 1 of step 0 underflows.
        if (step != 0) {
            require(IndexedTree.proven(before.path, root, step - 1, hashBefore), HashNotProven(step - 1));
        }

        (record.step, record.hashBefore, record.hashAt) = (step, hashBefore, at.hash);
        uint48 deadline = _advance(record, AccusationState.Picked);

        emit StepPicked(accusationId, step, hashBefore, at.hash, deadline);
    }

    /// @inheritdoc IComputeCourt
    function reveal(bytes32 accusationId, bytes calldata row) external {
        Accusation storage record = _requireMove(accusationId, AccusationState.Picked);
        _requireDefender(record.providerId);
        _requireRowOf(record.hashAt, row, uint256(1) << record.log2n);
        if (record.step == record.steps) {
            bytes32 headHash = keccak256(row[:HEAD]);
            require(headHash == record.headHash, WrongHead(headHash, record.headHash));
        }

        record.wordsRoot = IndexedTree.rootOfWords(row);
        uint48 deadline = _advance(record, AccusationState.Revealed);

        emit RowRevealed(accusationId, msg.sender, row, deadline);
    }

    /// @inheritdoc IComputeCourt
    function prove(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        uint32 column,
        bytes calldata rowBefore,
        bytes32 word,
        bytes32[] calldata path
    ) external {
        Accusation storage record = _requireMove(accusationId, AccusationState.Revealed);
        _requireCommitment(record, commitment);
        require(column < commitment.n, ColumnOutOfRange(column, commitment.n));
        require(IndexedTree.proven(path, record.wordsRoot, column / 32, word), WordNotProven(column / 32));
        int8 claimed = int8(uint8(word[column % 32]));
        int8 computed = _entry(record, commitment, column, rowBefore);
        require(claimed != computed, ByteIsTrue(column, claimed));

        emit FalseByteProven(accusationId, record.step, column, claimed, computed);

        _proven(record);
    }

    function _advance(Accusation storage record, AccusationState state) private returns (uint48 deadline) {
        deadline = _after(MOVE_FOR);
        (record.state, record.deadline) = (state, deadline);
    }

    /// @dev The byte that the chain of the commitment gives at the picked step.
    function _entry(
        Accusation storage record,
        ComputeCommitment calldata commitment,
        uint256 column,
        bytes calldata rowBefore
    ) private view returns (int8) {
        (uint256 windowId, bytes32 windowSeed, uint256 n) = (commitment.windowId, commitment.windowSeed, commitment.n);
        if (record.step == 0) {
            require(rowBefore.length == 0, WrongLength(rowBefore.length, 0));
            uint64 seedX = RowChain.seedX(address(BEACON), windowId, windowSeed, commitment.node, commitment.device);
            return RowChain.inputEntry(seedX, record.row, column, n);
        }
        _requireRowOf(record.hashBefore, rowBefore, n);
        return RowChain.stepEntry(RowChain.seedW(address(BEACON), windowId, windowSeed, n), rowBefore, column);
    }

    function _requireMove(bytes32 accusationId, AccusationState want) private view returns (Accusation storage record) {
        record = _accusations[accusationId];
        require(record.state == want, WrongState(accusationId, record.state, want));
        require(block.timestamp <= record.deadline, DeadlinePassed(accusationId, record.deadline));
        require(!isConvicted[record.offenceId], AlreadyConvicted(record.offenceId));
    }

    function _requireCommitment(Accusation storage record, ComputeCommitment calldata commitment) private view {
        bytes32 have = commitmentHashOf(commitment);
        require(have == record.commitmentHash, WrongCommitment(have, record.commitmentHash));
    }

    /// @dev All leaves of the tree lie at depth log2(m): a path of another length starts at no leaf.
    function _requireCommitted(
        Accusation storage record,
        ComputeCommitment calldata commitment,
        bytes32 headHash,
        bytes32[] calldata path
    ) private view {
        uint256 depth = Math.log2(commitment.m);
        require(path.length == depth, WrongLength(path.length, depth));
        uint256 row = record.row;
        require(IndexedTree.proven(path, commitment.root, row, headHash), RowNotCommitted(row));
    }

    function _requireDefender(uint256 providerId) private view {
        require(REGISTRY.mayDefend(providerId, msg.sender), MayNotDefend(providerId, msg.sender));
    }

    function _requireRowOf(bytes32 want, bytes calldata row, uint256 n) private pure {
        require(row.length == n, WrongLength(row.length, n));
        bytes32 have = keccak256(row);
        require(have == want, WrongRow(have, want));
    }
}
