// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ComputeCommitment, PassedVerdicts} from "../types/Compute.sol";

/// @title What nodes and oracle members sign about the row chain, and what follows from it
library ComputeMessages {
    bytes32 internal constant COMMITMENT_TYPEHASH = keccak256(
        "ComputeCommitment(uint256 windowId,bytes32 windowSeed,address node,uint256 device,uint32 m,uint32 n,uint32 steps,bytes32 root)"
    );
    bytes32 internal constant VERDICTS_TYPEHASH =
        keccak256("PassedVerdicts(uint32 epoch,address member,uint32 draws,bytes32 passedRoot)");

    /// @dev m and n are powers of two from here to MAX_M and MAX_N; the steps are bounded so that an answer fits a transaction.
    uint256 private constant MIN_SIZE = 64;
    uint256 private constant MAX_M = 2 ** 31;
    uint256 private constant MAX_N = 2 ** 15;
    uint256 private constant MAX_STEPS = 1024;

    /// @notice EIP-712 struct hash of a commitment.
    function hashOf(ComputeCommitment calldata commitment) internal pure returns (bytes32) {
        return keccak256(abi.encode(COMMITMENT_TYPEHASH, commitment));
    }

    /// @notice EIP-712 struct hash of a member's verdicts.
    function hashOf(PassedVerdicts calldata verdicts) internal pure returns (bytes32) {
        return keccak256(abi.encode(VERDICTS_TYPEHASH, verdicts));
    }

    /// @notice Leaf of a commitment in the tree of what a member passed.
    function leafOf(bytes32 commitmentHash) internal pure returns (bytes32) {
        return keccak256(abi.encode(keccak256(abi.encode(commitmentHash))));
    }

    /// @notice Whether a run of this shape exists.
    function hasShape(ComputeCommitment calldata commitment) internal pure returns (bool) {
        bool sized = _isSize(commitment.m, MAX_M) && _isSize(commitment.n, MAX_N);
        return sized && commitment.steps != 0 && commitment.steps <= MAX_STEPS;
    }

    /// @notice The row that randomness of after the commitment draws for `counter`.
    function drawnRow(ComputeCommitment calldata commitment, bytes32 drawSeed, uint256 counter)
        internal
        pure
        returns (uint256)
    {
        bytes32 drawn = keccak256(abi.encode(drawSeed, commitment.node, commitment.device, commitment.root, counter));
        return uint256(drawn) % commitment.m;
    }

    function _isSize(uint256 size, uint256 max) private pure returns (bool) {
        return size >= MIN_SIZE && size <= max && size & (size - 1) == 0;
    }
}
