// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ExpiringPause} from "./ExpiringPause.sol";
import {IJobEscrow} from "./interfaces/IJobEscrow.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IRewardSettlement} from "./interfaces/IRewardSettlement.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";
import {Leaves} from "./libraries/Leaves.sol";
import {JobOutcome} from "./types/Outcomes.sol";

/// @title Payment of jobs: posted, accepted, completed, judged, paid or refunded
/// @dev      Posted -accept-> Accepted -complete-> Completed -settleJob-> Paid | Refunded
///             |cancel            |refund              |refund
///          Cancelled          Refunded             Refunded
///
///      A budget leaves exactly once: the balance is the sum of the budgets of Posted, Accepted and Completed jobs (+ donations).
contract JobEscrow is IJobEscrow, ExpiringPause, ReentrancyGuardTransient {
    using SafeERC20 for ISwarmToken;

    uint256 private constant BPS = 10_000;

    /// @dev Kinds are 1 train, 2 finetune, 3 tune, 4 batch, 5 serve, 6 optimise.
    uint8 private constant LAST_KIND = 6;

    /// @dev Seconds; a job may not run, wait or be judged for longer.
    uint256 private constant MAX_WAIT_FOR = 365 days;

    ISwarmToken private immutable TOKEN;
    IProviderRegistry private immutable REGISTRY;
    IRewardSettlement private immutable SETTLEMENT;

    /// @dev Seconds after completion in which the oracle's outcome must be brought.
    uint64 private immutable JUDGE_FOR;

    /// @dev Wei of the smallest budget.
    uint128 private immutable MIN_BUDGET;

    /// @dev Bps of the pay that go to the reward pool and that are burned; the provider gets the rest.
    uint16 private immutable ORACLE_BPS;
    uint16 private immutable BURN_BPS;

    /// @inheritdoc IJobEscrow
    /// @dev slot 2 (behind the pause); ids start at 1.
    uint256 public jobCount;

    /// @dev slot 3.
    mapping(uint256 jobId => Job) private _jobs;

    constructor(
        address authority,
        ISwarmToken token,
        IProviderRegistry registry,
        IRewardSettlement settlement,
        EscrowParams memory params
    ) AccessManaged(authority) {
        require(address(token) != address(0) && address(registry) != address(0), ZeroAddress());
        require(address(settlement) != address(0), ZeroAddress());
        require(uint256(params.oracleBps) + params.burnBps <= BPS, InvalidShares(params.oracleBps, params.burnBps, BPS));
        require(params.judgeFor != 0 && params.judgeFor <= MAX_WAIT_FOR, InvalidJudgeWindow(params.judgeFor));

        TOKEN = token;
        REGISTRY = registry;
        SETTLEMENT = settlement;
        JUDGE_FOR = params.judgeFor;
        MIN_BUDGET = params.minBudget;
        ORACLE_BPS = params.oracleBps;
        BURN_BPS = params.burnBps;
    }

    /// @inheritdoc IJobEscrow
    function post(uint8 kind, bytes32 specHash, uint128 budget, uint32 acceptFor, uint32 maxRunFor)
        external
        nonReentrant
        whenNotPaused
        returns (uint256 jobId)
    {
        require(kind != 0 && kind <= LAST_KIND, InvalidKind(kind));
        require(specHash != bytes32(0), ZeroSpecHash());
        require(budget >= MIN_BUDGET, BudgetTooSmall(budget, MIN_BUDGET));
        require(_isWait(acceptFor) && _isWait(maxRunFor), InvalidTimes(acceptFor, maxRunFor));

        jobId = ++jobCount;
        Job storage record = _jobs[jobId];
        record.state = JobState.Posted;
        record.kind = kind;
        record.postedAt = uint64(block.timestamp);
        record.acceptBy = uint64(block.timestamp) + acceptFor;
        record.maxRunFor = maxRunFor;
        record.customer = msg.sender;
        record.budget = budget;
        record.specHash = specHash;

        emit JobPosted(jobId, msg.sender, kind, specHash, budget, record.acceptBy, maxRunFor);

        TOKEN.safeTransferFrom(msg.sender, address(this), budget);
    }

    /// @inheritdoc IJobEscrow
    function accept(uint256 jobId, uint256 providerId, address node) external whenNotPaused {
        Job storage record = _jobIn(jobId, JobState.Posted);
        require(block.timestamp < record.acceptBy, DeadlinePassed(jobId, record.acceptBy));
        require(providerId != 0, NotProviderNode(providerId, node));
        require(REGISTRY.providerIdOfNode(node) == providerId, NotProviderNode(providerId, node));
        IProviderRegistry.Provider memory provider = REGISTRY.provider(providerId);
        require(msg.sender == node || msg.sender == provider.operator, NotJobNode(jobId, msg.sender));
        require(!provider.retired && provider.suspendedUntil <= block.timestamp, ProviderNotEligible(providerId));

        record.state = JobState.Accepted;
        record.providerId = providerId;
        record.node = node;
        record.completeBy = uint64(block.timestamp) + record.maxRunFor;

        emit JobAccepted(jobId, providerId, node, record.completeBy);
    }

    /// @inheritdoc IJobEscrow
    function complete(uint256 jobId, bytes32 receiptDigest) external {
        Job storage record = _jobIn(jobId, JobState.Accepted);
        require(
            msg.sender == record.node || msg.sender == REGISTRY.provider(record.providerId).operator,
            NotJobNode(jobId, msg.sender)
        );
        require(receiptDigest != bytes32(0), ZeroReceipt());
        require(block.timestamp < record.completeBy, DeadlinePassed(jobId, record.completeBy));

        record.state = JobState.Completed;
        record.receiptDigest = receiptDigest;
        record.judgeBy = uint64(block.timestamp) + JUDGE_FOR;

        emit JobCompleted(jobId, receiptDigest, record.judgeBy);
    }

    /// @inheritdoc IJobEscrow
    function settleJob(JobOutcome calldata outcome, uint256 rootIndex, bytes32[] calldata proof) external nonReentrant {
        Job storage record = _jobIn(outcome.jobId, JobState.Completed);
        require(
            outcome.receiptDigest == record.receiptDigest, ReceiptMismatch(outcome.receiptDigest, record.receiptDigest)
        );
        require(outcome.payWei <= record.budget, PayAboveBudget(outcome.payWei, record.budget));
        require(SETTLEMENT.outcomeProven(rootIndex, jobLeaf(outcome), proof), OutcomeNotProven(rootIndex));

        if (outcome.payWei == 0) {
            _refund(outcome.jobId, record);
        } else {
            _pay(outcome.jobId, record, outcome.payWei);
        }
    }

    /// @inheritdoc IJobEscrow
    function cancel(uint256 jobId) external nonReentrant {
        Job storage record = _jobIn(jobId, JobState.Posted);
        require(msg.sender == record.customer, NotCustomer(jobId, msg.sender));

        record.state = JobState.Cancelled;

        emit JobCancelled(jobId, msg.sender, record.budget);

        TOKEN.safeTransfer(msg.sender, record.budget);
    }

    /// @inheritdoc IJobEscrow
    function refund(uint256 jobId) external nonReentrant {
        Job storage record = _jobs[jobId];
        require(record.state != JobState.None, UnknownJob(jobId));
        bool accepted = record.state == JobState.Accepted;
        require(accepted || record.state == JobState.Completed, WrongJobState(jobId, record.state, JobState.Accepted));
        uint64 deadline = accepted ? record.completeBy : record.judgeBy;
        require(block.timestamp >= deadline, DeadlineNotPassed(jobId, deadline));

        _refund(jobId, record);
    }

    /// @inheritdoc IJobEscrow
    function job(uint256 jobId) external view returns (Job memory) {
        return _jobs[jobId];
    }

    /// @inheritdoc IJobEscrow
    function jobLeaf(JobOutcome calldata outcome) public view returns (bytes32) {
        return Leaves.ofJob(Leaves.domain("Swarm/Job/v1"), outcome);
    }

    function _refund(uint256 jobId, Job storage record) private {
        record.state = JobState.Refunded;

        emit JobRefunded(jobId, record.customer, record.budget, 0);

        TOKEN.safeTransfer(record.customer, record.budget);
    }

    /// @dev Both deductions round down, so the provider, not the protocol, gets the odd wei.
    function _pay(uint256 jobId, Job storage record, uint256 payWei) private {
        record.state = JobState.Paid;
        uint256 toOracle = Math.mulDiv(payWei, ORACLE_BPS, BPS);
        uint256 burned = Math.mulDiv(payWei, BURN_BPS, BPS);
        uint256 toProvider = payWei - toOracle - burned;
        uint256 refunded = record.budget - payWei;

        emit JobPaid(jobId, record.providerId, toProvider, toOracle, burned, refunded);

        TOKEN.safeTransfer(REGISTRY.payoutOf(record.providerId), toProvider);
        if (refunded != 0) TOKEN.safeTransfer(record.customer, refunded);
        if (burned != 0) TOKEN.burn(burned);
        if (toOracle != 0) {
            TOKEN.forceApprove(address(SETTLEMENT), toOracle);
            SETTLEMENT.fund(toOracle);
        }
    }

    function _jobIn(uint256 jobId, JobState want) private view returns (Job storage record) {
        record = _jobs[jobId];
        require(record.state != JobState.None, UnknownJob(jobId));
        require(record.state == want, WrongJobState(jobId, record.state, want));
    }

    function _isWait(uint256 duration) private pure returns (bool) {
        return duration != 0 && duration <= MAX_WAIT_FOR;
    }
}
