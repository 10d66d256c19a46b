// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// @title Trees over values in order, each leaf bound to its index
/// @dev Layout of `@openzeppelin/merkle-tree` with unsorted leaves: leaf i is keccak256(keccak256(abi.encode(i, value_i))), a pair is
///      sorted before it is hashed. Leaves are hashed twice, so no inner node passes for one; the index is in the leaf, so no value
///      passes for another one, wherever it lies.
library IndexedTree {
    /// @notice Leaf of the value at `index`.
    function leaf(uint256 index, bytes32 value) internal pure returns (bytes32) {
        return keccak256(abi.encode(Hashes.efficientKeccak256(bytes32(index), value)));
    }

    /// @notice Root over at least two values.
    function rootOf(bytes32[] calldata values) internal pure returns (bytes32) {
        bytes32[] memory leaves = new bytes32[](values.length);
        for (uint256 i = 0; i < values.length; ++i) {
            leaves[i] = leaf(i, values[i]);
        }
        return _root(leaves);
    }

    /// @notice Root over the 32-byte words of a row, at least two of them; a length that is no multiple of 32 is the caller's care.
    function rootOfWords(bytes calldata row) internal pure returns (bytes32) {
        bytes32[] memory leaves = new bytes32[](row.length / 32);
        for (uint256 i = 0; i < leaves.length; ++i) {
            leaves[i] = leaf(i, bytes32(row[32 * i:32 * i + 32]));
        }
        return _root(leaves);
    }

    /// @notice True when `value` lies at `index` of the tree.
    function proven(bytes32[] calldata path, bytes32 root, uint256 index, bytes32 value) internal pure returns (bool) {
        return MerkleProof.verifyCalldata(path, root, leaf(index, value));
    }

    /// @dev The heap of the layout, read from its last leaf to its root, is a queue: the first two of it make the next one at its
    ///      end. Node `made` overwrites slot `made`, which the queue has left: it reads slots 2 * made and later.
    function _root(bytes32[] memory queue) private pure returns (bytes32) {
        uint256 count = queue.length;
        for (uint256 made = 0; made < count - 1; ++made) {
            queue[made] = Hashes.commutativeKeccak256(_slot(queue, 2 * made), _slot(queue, 2 * made + 1));
        }
        return queue[count - 2];
    }

    function _slot(bytes32[] memory queue, uint256 place) private pure returns (bytes32) {
        return queue[place < queue.length ? place : place - queue.length];
    }
}
