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
        uint256 count = values.length;
        bytes32[] memory leaves = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            leaves[i] = leaf(i, values[i]);
        }
        return _root(leaves);
    }

    /// @notice Root over the 32-byte words of a row, at least two of them; a length that is no multiple of 32 is the caller's care.
    function rootOfWords(bytes calldata row) internal pure returns (bytes32) {
        uint256 count = row.length / 32;
        bytes32[] memory leaves = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            // forge-lint: disable-next-line(unsafe-typecast) the first 32 bytes are the word
            leaves[i] = leaf(i, bytes32(row));
            // Past the last word this leaves what is shorter than a word, and nothing of a whole number of them.
            row = row[32:];
        }
        return _root(leaves);
    }

    /// @notice True when `value` lies at `index` of the tree.
    function proven(bytes32[] calldata path, bytes32 root, uint256 index, bytes32 value) internal pure returns (bool) {
        return MerkleProof.verifyCalldata(path, root, leaf(index, value));
    }

    /// @dev The heap of the layout, read from its last leaf to its root, is a queue: the first two of it make the next one at its
    ///      end. Node `made` is put into slot `made`, which was read before it: the queue is at slots 2 * made and later.
    function _root(bytes32[] memory queue) private pure returns (bytes32) {
        // No sum below exceeds twice a length in memory.
        unchecked {
            uint256 count = queue.length;
            for (uint256 made = 0; made < count - 1; ++made) {
                uint256 left = 2 * made;
                uint256 right = left + 1;
                if (left >= count) left -= count;
                if (right >= count) right -= count;
                queue[made] = Hashes.commutativeKeccak256(queue[left], queue[right]);
            }
            return queue[count - 2];
        }
    }
}
