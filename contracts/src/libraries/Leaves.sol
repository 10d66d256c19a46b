// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

import {SettlementLeaf} from "../types/Settlement.sol";
import {JobOutcome, Violation} from "../types/Outcomes.sol";

/// @title Leaves of the settlement and outcomes trees
/// @dev A leaf is hashed twice, so a 64-byte inner node never passes for one; the domain names kind, chain and contract (invariant 22).
library Leaves {
    /// @notice Domain of one kind of leaf for the calling contract on this chain; computed anew so that a fork does not share it.
    function domain(string memory kind) internal view returns (bytes32) {
        return keccak256(abi.encode(kind, block.chainid, address(this)));
    }

    function ofProvider(bytes32 leafDomain, SettlementLeaf calldata line) internal pure returns (bytes32) {
        return _leaf(abi.encode(leafDomain, line.providerId, line.cumReward, line.cumPenalty));
    }

    function ofViolation(bytes32 leafDomain, Violation calldata violation) internal pure returns (bytes32) {
        return _leaf(abi.encode(leafDomain, violation));
    }

    function ofJob(bytes32 leafDomain, JobOutcome calldata outcome) internal pure returns (bytes32) {
        return _leaf(abi.encode(leafDomain, outcome));
    }

    /// @notice True when `leaf` is in the tree. Every tree has at least two leaves, so an empty path proves nothing.
    function proven(bytes32[] calldata path, bytes32 root, bytes32 leaf) internal pure returns (bool) {
        return path.length != 0 && root != bytes32(0) && MerkleProof.processProofCalldata(path, leaf) == root;
    }

    /// @notice True when all `leaves`, in their order, are in the tree.
    /// @dev OpenZeppelin's multiproof proves nothing without leaves, and can be led to leave one out where a node of the tree is zero; here
    ///      every node is a hash.
    function allProven(bytes32[] calldata path, bool[] calldata flags, bytes32 root, bytes32[] memory leaves)
        internal
        pure
        returns (bool)
    {
        return flags.length != 0 && root != bytes32(0)
            && MerkleProof.multiProofVerifyCalldata(path, flags, root, leaves);
    }

    function _leaf(bytes memory line) private pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(line)));
    }
}
