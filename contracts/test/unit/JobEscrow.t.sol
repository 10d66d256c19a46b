// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {JobEscrow} from "../../src/JobEscrow.sol";
import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {IJobEscrow} from "../../src/interfaces/IJobEscrow.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {JobOutcome} from "../../src/types/Outcomes.sol";
import {Admissions} from "../utils/Admissions.sol";
import {CallbackToken} from "../utils/CallbackToken.sol";
import {Reports} from "../utils/Reports.sol";

contract JobEscrowTest is Reports {
    uint128 private constant BUDGET = 100e18;
    uint8 private constant TRAIN = 1;
    bytes32 private constant SPEC = keccak256("spec");
    bytes32 private constant RECEIPT = keccak256("receipt");

    address private immutable customer = makeAddr("customer");
    address private immutable stranger = makeAddr("stranger");

    address private alice;
    address private node;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        node = _addNode(alice, aliceId, "node");
        _fund(customer, 10 * BUDGET);
        vm.prank(customer);
        token.approve(address(escrow), type(uint256).max);
    }

    function test_constructor_whenParamsAreOutOfRange_thenItReverts() public {
        IJobEscrow.EscrowParams memory params = escrowParams();
        vm.expectRevert(IJobEscrow.ZeroAddress.selector);
        new JobEscrow(address(manager), token, registry, IRewardSettlement(address(0)), params);
        vm.expectRevert(IJobEscrow.ZeroAddress.selector);
        new JobEscrow(address(manager), ISwarmToken(address(0)), registry, settlement, params);
        vm.expectRevert(IJobEscrow.ZeroAddress.selector);
        new JobEscrow(address(manager), token, IProviderRegistry(address(0)), settlement, params);

        (params.oracleBps, params.burnBps) = (9000, 1001);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidShares.selector, 9000, 1001, 10_000));
        new JobEscrow(address(manager), token, registry, settlement, params);

        params = escrowParams();
        params.judgeFor = 0;
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidJudgeWindow.selector, 0));
        new JobEscrow(address(manager), token, registry, settlement, params);
    }

    function test_post_whenPaused_thenItReverts() public {
        vm.prank(guardian);
        escrow.pauseFor(1 days);
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.EnforcedPause.selector, block.timestamp + 1 days));
        _post();
    }

    function test_post_whenItDoesNotFit_thenItReverts() public {
        vm.startPrank(customer);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidKind.selector, 0));
        escrow.post(0, SPEC, BUDGET, 1 hours, 1 days);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidKind.selector, 7));
        escrow.post(7, SPEC, BUDGET, 1 hours, 1 days);
        vm.expectRevert(IJobEscrow.ZeroSpecHash.selector);
        escrow.post(TRAIN, bytes32(0), BUDGET, 1 hours, 1 days);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.BudgetTooSmall.selector, 1e18 - 1, 1e18));
        escrow.post(TRAIN, SPEC, 1e18 - 1, 1 hours, 1 days);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidTimes.selector, 0, 1 days));
        escrow.post(TRAIN, SPEC, BUDGET, 0, 1 days);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.InvalidTimes.selector, 1 hours, 366 days));
        escrow.post(TRAIN, SPEC, BUDGET, 1 hours, 366 days);
    }

    function test_post_whenAllFits_thenItHoldsTheBudget() public {
        vm.expectEmit(address(escrow));
        emit IJobEscrow.JobPosted(1, customer, TRAIN, SPEC, BUDGET, uint64(block.timestamp + 1 hours), 1 days);
        uint256 jobId = _post();

        assertEq(jobId, 1);
        assertEq(escrow.jobCount(), 1);
        assertEq(token.balanceOf(address(escrow)), BUDGET);
        assertEq(escrow.job(jobId).customer, customer);
    }

    function test_accept_whenPausedOrLate_thenItReverts() public {
        uint256 jobId = _post();
        vm.prank(guardian);
        escrow.pauseFor(10 minutes);
        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.EnforcedPause.selector, block.timestamp + 10 minutes));
        _accept(jobId);

        vm.warp(block.timestamp + 1 hours);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.DeadlinePassed.selector, jobId, block.timestamp));
        _accept(jobId);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.UnknownJob.selector, 9));
        _accept(9);
    }

    function test_accept_whenTheNodeIsNotTheProviders_thenItReverts() public {
        uint256 jobId = _post();
        (address bob, uint256 bobId) = _join("bob");
        vm.prank(bob);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotProviderNode.selector, bobId, node));
        escrow.accept(jobId, bobId, node);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotProviderNode.selector, 0, stranger));
        escrow.accept(jobId, 0, stranger);

        vm.startPrank(alice);
        registry.removeNode(aliceId, node);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotProviderNode.selector, aliceId, node));
        escrow.accept(jobId, aliceId, node);
    }

    function test_accept_whenTheCallerIsAnother_thenItReverts() public {
        uint256 jobId = _post();
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotJobNode.selector, jobId, stranger));
        vm.prank(stranger);
        escrow.accept(jobId, aliceId, node);
    }

    function test_accept_whenTheProviderIsSuspended_thenItReverts() public {
        uint256 jobId = _post();
        vm.prank(address(court));
        registry.suspend(aliceId, uint64(block.timestamp + 10 minutes));
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.ProviderNotEligible.selector, aliceId));
        _accept(jobId);
        vm.warp(block.timestamp + 10 minutes);
        _accept(jobId);
    }

    function test_accept_whenTheProviderIsRetired_thenItReverts() public {
        uint256 jobId = _post();
        vm.prank(alice);
        registry.retire(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotProviderNode.selector, aliceId, node));
        _accept(jobId);
    }

    function test_accept_whenTheOperatorTakesIt_thenTheRunStarts() public {
        uint256 jobId = _post();
        vm.expectEmit(address(escrow));
        emit IJobEscrow.JobAccepted(jobId, aliceId, node, uint64(block.timestamp + 1 days));
        vm.prank(alice);
        escrow.accept(jobId, aliceId, node);
        _expectWrongState(jobId, IJobEscrow.JobState.Accepted, IJobEscrow.JobState.Posted);
        _accept(jobId);
    }

    function test_complete_whenItMayNot_thenItReverts() public {
        uint256 jobId = _post();
        _accept(jobId);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotJobNode.selector, jobId, stranger));
        vm.prank(stranger);
        escrow.complete(jobId, RECEIPT);

        vm.startPrank(node);
        vm.expectRevert(IJobEscrow.ZeroReceipt.selector);
        escrow.complete(jobId, bytes32(0));
        vm.warp(block.timestamp + 1 days);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.DeadlinePassed.selector, jobId, block.timestamp));
        escrow.complete(jobId, RECEIPT);
    }

    function test_complete_whenInTime_thenTheReceiptIsFixed() public {
        uint256 jobId = _run();
        assertEq(escrow.job(jobId).judgeBy, block.timestamp + 5 days);
        _expectWrongState(jobId, IJobEscrow.JobState.Completed, IJobEscrow.JobState.Accepted);
        vm.prank(node);
        escrow.complete(jobId, keccak256("another"));
        assertEq(escrow.job(jobId).receiptDigest, RECEIPT);
    }

    function test_settleJob_whenNotProven_thenItReverts() public {
        uint256 jobId = _run();
        JobOutcome memory outcome = JobOutcome(jobId, RECEIPT, BUDGET);
        outcomes.push(escrow.jobLeaf(outcome));
        uint256 rootIndex = _publish(0);
        bytes32[] memory path = _outcomePath(0);

        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.OutcomeNotProven.selector, rootIndex));
        escrow.settleJob(outcome, rootIndex, path);
        vm.warp(block.timestamp + 1 days);
        outcome.payWei -= 1;
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.OutcomeNotProven.selector, rootIndex));
        escrow.settleJob(outcome, rootIndex, path);
    }

    function test_settleJob_whenReceiptOrPayDiffers_thenItReverts() public {
        uint256 jobId = _run();
        bytes32 other = keccak256("other receipt");
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.ReceiptMismatch.selector, other, RECEIPT));
        escrow.settleJob(JobOutcome(jobId, other, BUDGET), 0, new bytes32[](0));
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.PayAboveBudget.selector, BUDGET + 1, BUDGET));
        escrow.settleJob(JobOutcome(jobId, RECEIPT, BUDGET + 1), 0, new bytes32[](0));
    }

    function test_settleJob_whenPayIsZero_thenTheCustomerIsRefunded() public {
        uint256 jobId = _run();
        uint256 before = token.balanceOf(customer);
        _judge(jobId, 0);
        assertEq(token.balanceOf(customer), before + BUDGET);
        assertEq(uint256(escrow.job(jobId).state), uint256(IJobEscrow.JobState.Refunded));
    }

    /// @dev Every wei of the budget goes somewhere named, for every pay.
    function testFuzz_settleJob_whenThereIsPay_thenItIsSplitExactly(uint256 payWei) public {
        payWei = bound(payWei, 1, BUDGET);
        uint256 jobId = _run();
        uint256 supply = token.totalSupply();
        uint256 before = token.balanceOf(customer);
        uint256 share = payWei * 500 / 10_000;

        _judge(jobId, payWei);

        assertEq(token.balanceOf(alice), payWei - 2 * share);
        assertEq(settlement.totalFunded(), share);
        assertEq(token.balanceOf(address(settlement)), share);
        assertEq(token.totalSupply(), supply - share);
        assertEq(token.balanceOf(customer), before + BUDGET - payWei);
        assertEq(token.balanceOf(address(escrow)), 0);
        _expectWrongState(jobId, IJobEscrow.JobState.Paid, IJobEscrow.JobState.Completed);
        escrow.settleJob(JobOutcome(jobId, RECEIPT, SafeCast.toUint128(payWei)), 0, new bytes32[](0));
    }

    /// @dev Invariant 22: an outcome of another escrow, chain or kind of leaf is another leaf.
    function test_jobLeaf_whenEscrowOrChainIsAnother_thenItIsAnother() public {
        JobOutcome memory outcome = JobOutcome(1, RECEIPT, BUDGET);
        bytes32 leaf = escrow.jobLeaf(outcome);
        bytes32 domain = keccak256(abi.encode("Swarm/Job/v1", block.chainid, address(escrow)));
        assertEq(leaf, keccak256(bytes.concat(keccak256(abi.encode(domain, 1, RECEIPT, BUDGET)))));
        JobEscrow other = new JobEscrow(address(manager), token, registry, settlement, escrowParams());
        assertNotEq(other.jobLeaf(outcome), leaf);
        vm.chainId(block.chainid + 1);
        assertNotEq(escrow.jobLeaf(outcome), leaf);
    }

    function test_cancel_whenItMayNot_thenItReverts() public {
        uint256 jobId = _post();
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.NotCustomer.selector, jobId, stranger));
        vm.prank(stranger);
        escrow.cancel(jobId);
        _accept(jobId);
        _expectWrongState(jobId, IJobEscrow.JobState.Accepted, IJobEscrow.JobState.Posted);
        vm.prank(customer);
        escrow.cancel(jobId);
    }

    function test_cancel_whenNobodyTookIt_thenTheBudgetReturns() public {
        uint256 jobId = _post();
        vm.prank(customer);
        escrow.cancel(jobId);
        assertEq(token.balanceOf(customer), 10 * BUDGET);
        _expectWrongState(jobId, IJobEscrow.JobState.Cancelled, IJobEscrow.JobState.Posted);
        _accept(jobId);
    }

    function test_refund_whenItMayNot_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.UnknownJob.selector, 1));
        escrow.refund(1);
        uint256 jobId = _post();
        _expectWrongState(jobId, IJobEscrow.JobState.Posted, IJobEscrow.JobState.Accepted);
        escrow.refund(jobId);
        _accept(jobId);
        uint256 completeBy = block.timestamp + 1 days;
        vm.warp(completeBy - 1);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.DeadlineNotPassed.selector, jobId, completeBy));
        escrow.refund(jobId);
    }

    function test_refund_whenTheRunIsOver_thenTheBudgetReturnsOnce() public {
        uint256 jobId = _post();
        _accept(jobId);
        vm.warp(block.timestamp + 1 days);
        vm.prank(stranger);
        escrow.refund(jobId);
        assertEq(token.balanceOf(customer), 10 * BUDGET);
        _expectWrongState(jobId, IJobEscrow.JobState.Refunded, IJobEscrow.JobState.Accepted);
        escrow.refund(jobId);
    }

    function test_refund_whenNobodyJudged_thenTheBudgetReturns() public {
        uint256 jobId = _run();
        uint256 judgeBy = block.timestamp + 5 days;
        vm.warp(judgeBy - 1);
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.DeadlineNotPassed.selector, jobId, judgeBy));
        escrow.refund(jobId);
        vm.warp(judgeBy);
        escrow.refund(jobId);
        assertEq(token.balanceOf(customer), 10 * BUDGET);
    }

    function test_cancel_whenTheTokenCallsBack_thenItReverts() public {
        CallbackToken hostile = new CallbackToken();
        JobEscrow exposed = new JobEscrow(address(manager), hostile, registry, settlement, escrowParams());
        hostile.mint(customer, BUDGET);
        vm.startPrank(customer);
        hostile.approve(address(exposed), BUDGET);
        uint256 jobId = exposed.post(TRAIN, SPEC, BUDGET, 1 hours, 1 days);
        hostile.callBack(address(exposed), abi.encodeCall(exposed.cancel, (jobId)));
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        exposed.cancel(jobId);
    }

    function _addNode(address owner, uint256 providerId, string memory name) private returns (address key) {
        uint256 secret;
        (key, secret) = makeAddrAndKey(name);
        bytes32 digest = Admissions.digest(block.chainid, address(registry), providerId, key, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(secret, digest);
        vm.prank(owner);
        registry.addNode(providerId, key, block.timestamp, abi.encodePacked(r, s, v));
    }

    function _post() private returns (uint256 jobId) {
        vm.prank(customer);
        return escrow.post(TRAIN, SPEC, BUDGET, 1 hours, 1 days);
    }

    function _accept(uint256 jobId) private {
        vm.prank(node);
        escrow.accept(jobId, aliceId, node);
    }

    function _run() private returns (uint256 jobId) {
        jobId = _post();
        _accept(jobId);
        vm.prank(node);
        escrow.complete(jobId, RECEIPT);
    }

    function _judge(uint256 jobId, uint256 payWei) private {
        JobOutcome memory outcome = JobOutcome(jobId, RECEIPT, SafeCast.toUint128(payWei));
        outcomes.push(escrow.jobLeaf(outcome));
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory path = _outcomePath(0);
        vm.prank(stranger);
        escrow.settleJob(outcome, rootIndex, path);
    }

    function _expectWrongState(uint256 jobId, IJobEscrow.JobState have, IJobEscrow.JobState want) private {
        vm.expectRevert(abi.encodeWithSelector(IJobEscrow.WrongJobState.selector, jobId, have, want));
    }
}
