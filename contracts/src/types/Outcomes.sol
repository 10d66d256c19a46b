// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice What kind of rule was broken (economics: slashing table, rows).
enum ViolationClass {
    None,
    Performance,
    Security,
    Protocol
}

/// @notice How hard the rule was broken (economics: slashing table, columns).
enum Severity {
    None,
    Warning,
    Penalty,
    Severe
}

/// @notice A broken rule as the oracle's report or a bonded reporter states it.
/// @dev Outcome leaf = keccak256(bytes.concat(keccak256(abi.encode(VIOLATION_DOMAIN, providerId, class, severity, epoch, offenceAt,
///      amount, suspendedFor, evidenceHash)))), VIOLATION_DOMAIN = keccak256(abi.encode("Swarm/Violation/v1", chainId, SlashingCourt)).
///      `amount` is wei of stake; `offenceAt` is unix seconds; `suspendedFor` is seconds, type(uint64).max means exclusion.
struct Violation {
    uint256 providerId;
    ViolationClass class;
    Severity severity;
    uint32 epoch;
    uint64 offenceAt;
    uint128 amount;
    uint64 suspendedFor;
    bytes32 evidenceHash;
}

/// @notice The oracle's judgement of one completed job.
/// @dev Outcome leaf = keccak256(bytes.concat(keccak256(abi.encode(JOB_DOMAIN, jobId, receiptDigest, payWei)))),
///      JOB_DOMAIN = keccak256(abi.encode("Swarm/Job/v1", chainId, JobEscrow)). `payWei` zero means rejected: the customer is refunded.
struct JobOutcome {
    uint256 jobId;
    bytes32 receiptDigest;
    uint128 payWei;
}
