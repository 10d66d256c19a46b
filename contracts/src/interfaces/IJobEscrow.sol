// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {JobOutcome} from "../types/Outcomes.sol";

/// @title Payment of jobs: posted, accepted, completed, judged, paid or refunded
interface IJobEscrow {
    enum JobState {
        None,
        Posted,
        Accepted,
        Completed,
        Paid,
        Refunded,
        Cancelled
    }

    struct Job {
        JobState state;
        uint8 kind;
        uint64 postedAt;
        uint64 acceptBy;
        uint64 completeBy;
        uint64 judgeBy;
        uint32 maxRunFor;
        address customer;
        address node;
        uint256 providerId;
        uint128 budget;
        bytes32 specHash;
        bytes32 receiptDigest;
    }

    /// @notice `judgeFor` in seconds, `minBudget` in wei, shares in bps of the pay (the provider gets the rest).
    struct EscrowParams {
        uint64 judgeFor;
        uint128 minBudget;
        uint16 oracleBps;
        uint16 burnBps;
    }

    event JobPosted(
        uint256 indexed jobId,
        address indexed customer,
        uint8 kind,
        bytes32 specHash,
        uint128 budget,
        uint64 acceptBy,
        uint32 maxRunFor
    );
    event JobAccepted(uint256 indexed jobId, uint256 indexed providerId, address indexed node, uint64 completeBy);
    event JobCompleted(uint256 indexed jobId, bytes32 receiptDigest, uint64 judgeBy);
    event JobPaid(
        uint256 indexed jobId,
        uint256 indexed providerId,
        uint256 toProvider,
        uint256 toOracle,
        uint256 burned,
        uint256 refunded
    );
    event JobRefunded(uint256 indexed jobId, address indexed customer, uint256 amount, uint256 toProvider);
    event JobCancelled(uint256 indexed jobId, address indexed customer, uint256 amount);

    error UnknownJob(uint256 jobId);
    error WrongJobState(uint256 jobId, JobState have, JobState want);
    error BudgetTooSmall(uint256 have, uint256 min);
    error InvalidKind(uint8 kind);
    error ZeroSpecHash();
    error ZeroReceipt();
    error InvalidTimes(uint256 acceptFor, uint256 runFor);
    error NotCustomer(uint256 jobId, address caller);
    error NotProviderNode(uint256 providerId, address node);
    error NotJobNode(uint256 jobId, address caller);
    error ProviderNotEligible(uint256 providerId);
    error DeadlinePassed(uint256 jobId, uint64 deadline);
    error DeadlineNotPassed(uint256 jobId, uint64 deadline);
    error ReceiptMismatch(bytes32 have, bytes32 want);
    error OutcomeNotProven(uint256 rootIndex);
    error ZeroAddress();
    error InvalidShares(uint256 oracleBps, uint256 burnBps, uint256 maxSum);
    error InvalidJudgeWindow(uint64 judgeFor);
    error PayAboveBudget(uint256 have, uint256 budget);

    /// @notice Locks `budget` wei of the caller for a job of `kind` (1 train, 2 finetune, 3 tune, 4 batch, 5 serve, 6 optimise).
    /// @param specHash keccak256 of the canonical JSON spec.
    /// @param acceptFor Seconds until an unaccepted job can be cancelled without anyone's word.
    /// @param maxRunFor Seconds a node has from acceptance to completion.
    function post(uint8 kind, bytes32 specHash, uint128 budget, uint32 acceptFor, uint32 maxRunFor)
        external
        returns (uint256 jobId);

    /// @notice Takes a posted job for one of the provider's live nodes. The provider's operator or the node itself.
    function accept(uint256 jobId, uint256 providerId, address node) external;

    /// @notice Records the digest of the node's signed receipt. The job's node or its provider's operator.
    function complete(uint256 jobId, bytes32 receiptDigest) external;

    /// @notice Pays by the outcome of an activated report: 90 % provider, 5 % oracle, 5 % burned; the rest of the budget returns. Anyone.
    function settleJob(JobOutcome calldata outcome, uint256 rootIndex, bytes32[] calldata proof) external;

    /// @notice Takes an unaccepted job back. Only the customer.
    function cancel(uint256 jobId) external;

    /// @notice Returns the budget of a job that was accepted and not completed in time, or not judged in time. Anyone.
    function refund(uint256 jobId) external;

    function job(uint256 jobId) external view returns (Job memory);
    function jobCount() external view returns (uint256);
    /// @notice Leaf of a job outcome in the outcomes tree.
    function jobLeaf(JobOutcome calldata outcome) external view returns (bytes32);
}
