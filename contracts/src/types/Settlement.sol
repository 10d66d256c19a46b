// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Everything one epoch settled. Members vote on keccak256(abi.encode(report)).
/// @dev Totals are cumulative since genesis, in wei. `outcomesRoot` is zero when the epoch has neither violations nor judged jobs.
struct Report {
    uint32 epoch;
    uint64 refBlock;
    bytes32 refBlockHash;
    uint32 paramsVersion;
    bytes32 root;
    uint32 leafCount;
    uint128 totalReward;
    uint128 totalPenalty;
    bytes32 outcomesRoot;
    bytes32 manifestHash;
}

/// @notice One provider's line of the settlement tree; both amounts are cumulative, in wei.
/// @dev leaf = keccak256(bytes.concat(keccak256(abi.encode(DOMAIN, providerId, cumReward, cumPenalty)))).
struct SettlementLeaf {
    uint256 providerId;
    uint128 cumReward;
    uint128 cumPenalty;
}
