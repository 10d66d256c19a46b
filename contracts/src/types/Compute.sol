// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice What a node signs (EIP-712, domain: ChallengeBeacon) before it knows which rows will be drawn.
/// @dev `windowSeed` binds the signature to one opening of the window: were it left out, a reorganisation that opens the window anew
///      would turn an honest commitment into a false one. m and n are powers of two; `root` is over m leaves (row, digest).
struct ComputeCommitment {
    uint256 windowId;
    bytes32 windowSeed;
    address node;
    uint256 device;
    uint32 m;
    uint32 n;
    uint32 steps;
    bytes32 root;
}

/// @notice What an oracle member signs (EIP-712, domain: ChallengeBeacon) about an epoch: every commitment its judge passed.
/// @dev `passedRoot` is over double-hashed commitment hashes; `draws` is how many rows the member drew from each of them.
struct PassedVerdicts {
    uint32 epoch;
    address member;
    uint32 draws;
    bytes32 passedRoot;
}
