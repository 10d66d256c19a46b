// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";

/// @title Trees in the layout of `@openzeppelin/merkle-tree`, unsorted leaves, for tests
/// @dev A heap of 2n - 1 nodes: the root is node 0, the children of node i are 2i + 1 and 2i + 2, leaf j is node 2n - 2 - j.
library Trees {
    function build(bytes32[] memory leaves) internal pure returns (bytes32[] memory nodes) {
        uint256 last = 2 * leaves.length - 2;
        nodes = new bytes32[](last + 1);
        for (uint256 i = 0; i < leaves.length; ++i) {
            nodes[last - i] = leaves[i];
        }
        for (uint256 i = leaves.length - 1; i != 0; --i) {
            nodes[i - 1] = Hashes.commutativeKeccak256(nodes[2 * i - 1], nodes[2 * i]);
        }
    }

    function root(bytes32[] memory leaves) internal pure returns (bytes32) {
        return build(leaves)[0];
    }

    function path(bytes32[] memory leaves, uint256 leafIndex) internal pure returns (bytes32[] memory siblings) {
        return pathIn(build(leaves), leafIndex);
    }

    /// @dev One proof of the `count` leaves from `first` on, by the algorithm of `getMultiProof`: the nodes to prove wait in a queue, last
    ///      node of the heap first; two siblings in it are hashed with each other, any other node with its sibling from the tree.
    function multiPathIn(bytes32[] memory nodes, uint256 first, uint256 count)
        internal
        pure
        returns (bytes32[] memory siblings, bool[] memory flags)
    {
        uint256[] memory queue = new uint256[](nodes.length + count);
        for (uint256 i = 0; i < count; ++i) {
            queue[i] = nodes.length - 1 - first - i;
        }
        siblings = new bytes32[](nodes.length);
        flags = new bool[](nodes.length);
        (uint256 head, uint256 tail, uint256 asked) = (0, count, 0);
        while (queue[head] != 0) {
            uint256 node = queue[head++];
            uint256 sibling = node % 2 == 1 ? node + 1 : node - 1;
            bool paired = head < tail && queue[head] == sibling;
            if (paired) ++head;
            else siblings[asked++] = nodes[sibling];
            flags[tail - count] = paired;
            queue[tail++] = (node - 1) / 2;
        }
        _shorten(siblings, flags, asked, tail - count);
    }

    function _shorten(bytes32[] memory siblings, bool[] memory flags, uint256 asked, uint256 hashed) private pure {
        assembly ("memory-safe") {
            mstore(siblings, asked)
            mstore(flags, hashed)
        }
    }

    /// @dev `path` of a tree that is already built.
    function pathIn(bytes32[] memory nodes, uint256 leafIndex) internal pure returns (bytes32[] memory siblings) {
        uint256 node = nodes.length - 1 - leafIndex;
        uint256 depth;
        for (uint256 n = node; n != 0; n = (n - 1) / 2) {
            ++depth;
        }
        siblings = new bytes32[](depth);
        for (uint256 i = 0; i < depth; ++i) {
            siblings[i] = nodes[node % 2 == 1 ? node + 1 : node - 1];
            node = (node - 1) / 2;
        }
    }
}
