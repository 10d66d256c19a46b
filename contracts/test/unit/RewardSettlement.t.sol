// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {IReportLimits} from "../../src/interfaces/IReportLimits.sol";
import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {CallbackToken} from "../utils/CallbackToken.sol";
import {Reports} from "../utils/Reports.sol";
import {Trees} from "../utils/Trees.sol";

contract RewardSettlementTest is Reports {
    uint256 private constant STAKE = 10_000e18;
    uint256 private constant EMISSION = 100_000e18;

    address private immutable stranger = makeAddr("stranger");

    address private alice;
    address private bob;
    uint256 private aliceId;
    uint256 private bobId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        (bob, bobId) = _join("bob");
        _stake(alice, aliceId, STAKE);
    }

    function test_constructor_whenAPartIsZero_thenItReverts() public {
        vm.expectRevert(IRewardSettlement.ZeroAddress.selector);
        new RewardSettlement(address(manager), token, registry, vault, ISlashSink(address(0)), settlementParams());
        vm.expectRevert(IRewardSettlement.ZeroAddress.selector);
        new RewardSettlement(address(manager), ISwarmToken(address(0)), registry, vault, sink, settlementParams());
    }

    function test_constructor_whenDecayIsAboveOne_thenItReverts() public {
        IRewardSettlement.SettlementParams memory params = settlementParams();
        params.emissionDecayRay = 1e27 + 1;
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidEmission.selector, 1e27 + 1, 1e27));
        new RewardSettlement(address(manager), token, registry, vault, sink, params);
    }

    function test_constructor_whenActivationIsOutOfRange_thenItReverts() public {
        IRewardSettlement.SettlementParams memory params = settlementParams();
        params.activationFor = 7 days + 1;
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidActivation.selector, 7 days + 1));
        new RewardSettlement(address(manager), token, registry, vault, sink, params);
        params.activationFor = 0;
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidActivation.selector, 0));
        new RewardSettlement(address(manager), token, registry, vault, sink, params);
    }

    function test_acceptReport_whenCallerIsNotTheOracle_thenItReverts() public {
        Report memory report;
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger));
        vm.prank(stranger);
        settlement.acceptReport(report);
    }

    function test_acceptReport_whenAboveFeesAndSchedule_thenItReverts() public {
        _grant(ORACLE, stranger);
        _endEpoch(0);
        _setLine(aliceId, EMISSION + 1, 0);
        Report memory report = _draft(0);

        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.NotFunded.selector, EMISSION, EMISSION + 1));
        vm.prank(stranger);
        settlement.acceptReport(report);

        _payFees(1);
        vm.prank(stranger);
        assertEq(settlement.acceptReport(report), 0);
        assertEq(settlement.totalMinted(), EMISSION);
        assertEq(token.balanceOf(address(settlement)), EMISSION + 1);
    }

    function test_acceptReport_whenFeesCoverTheReward_thenItMintsNothing() public {
        _payFees(500e18);
        _setLine(aliceId, 500e18, 0);
        uint256 supply = token.totalSupply();
        _publish(0);

        assertEq(settlement.totalMinted(), 0);
        assertEq(token.totalSupply(), supply);
    }

    function test_acceptReport_whenFeesFallShort_thenItMintsTheDifferenceAndRecords() public {
        _payFees(200e18);
        _setLine(aliceId, 300e18, 7e18);
        _setLine(bobId, 250e18, 0);
        uint256 rootIndex = _publish(0);

        assertEq(settlement.totalMinted(), 350e18);
        assertEq(settlement.totalFunded(), 200e18);
        assertEq(token.balanceOf(address(settlement)), 550e18);
        IRewardSettlement.Root memory root = settlement.rootAt(rootIndex);
        assertEq(root.root, Trees.root(_leaves()));
        assertEq(root.activatesAt, block.timestamp + 1 days);
        assertEq(root.refBlock, block.number - 1);
        assertEq(root.leafCount, 2);
        assertEq(settlement.rootCount(), 1);
        _assertTotals(1, 550e18, 7e18);
    }

    function test_disableRoot_whenCallerIsNotTheGuardian_thenItReverts() public {
        uint256 rootIndex = _publish(0);
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger));
        vm.prank(stranger);
        settlement.disableRoot(rootIndex);
    }

    function test_disableRoot_whenUnknownActiveOrDisabled_thenItReverts() public {
        vm.startPrank(guardian);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.UnknownRoot.selector, 0));
        settlement.disableRoot(0);
        vm.stopPrank();

        uint256 first = _publishActive(0);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.RootAlreadyActive.selector, first));
        vm.prank(guardian);
        settlement.disableRoot(first);

        uint256 second = _publish(1);
        vm.prank(guardian);
        settlement.disableRoot(second);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.RootIsDisabled.selector, second));
        vm.prank(guardian);
        settlement.disableRoot(second);
    }

    /// @dev Invariant 21, and the way back: a false report must not freeze the totals of every later one.
    function test_disableRoot_whenPending_thenItNeverPaysAndTotalsReturn() public {
        _setLine(aliceId, 100e18, 1e18);
        _publish(0);
        _setLine(aliceId, 90_000e18, 50e18);
        uint256 falseRoot = _publish(1);
        vm.prank(guardian);
        settlement.disableRoot(falseRoot);

        _assertTotals(1, 100e18, 1e18);
        vm.warp(block.timestamp + 30 days);
        SettlementLeaf memory line = book[aliceId - 1];
        bytes32[] memory path = _path(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.RootIsDisabled.selector, falseRoot));
        settlement.settle(falseRoot, line, path);

        _setLine(aliceId, 150e18, 2e18);
        uint256 honest = _publishActive(40);
        assertEq(_settle(honest, aliceId), 148e18);
    }

    function test_disableRoot_whenOverlappingRootsAreDisabledInAnyOrder_thenTotalsReturnToTheLastGoodOne() public {
        _grant(ORACLE, address(this));
        uint256[4] memory rewards = [uint256(10), 20, 30, 40];
        for (uint32 epoch = 0; epoch < 4; ++epoch) {
            _setLine(aliceId, rewards[epoch], 0);
            settlement.acceptReport(_draft(epoch));
        }
        vm.startPrank(guardian);
        settlement.disableRoot(1);
        _assertTotals(4, 40, 0);
        settlement.disableRoot(3);
        _assertTotals(3, 30, 0);
        settlement.disableRoot(2);
        _assertTotals(1, 10, 0);
        settlement.disableRoot(0);
        _assertTotals(0, 0, 0);
    }

    function test_settle_whenRootIsUnknownOrPending_thenItReverts() public {
        _setLine(aliceId, 5e18, 0);
        uint256 rootIndex = _publish(0);
        SettlementLeaf memory line = book[aliceId - 1];
        bytes32[] memory path = _path(aliceId);

        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.UnknownRoot.selector, rootIndex + 1));
        settlement.settle(rootIndex + 1, line, path);
        uint64 activatesAt = settlement.rootAt(rootIndex).activatesAt;
        vm.warp(activatesAt - 1);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.RootNotActive.selector, rootIndex, activatesAt));
        settlement.settle(rootIndex, line, path);

        vm.warp(activatesAt);
        assertEq(settlement.settle(rootIndex, line, path), 5e18);
    }

    function test_settle_whenPathIsEmptyOrForeign_thenItReverts() public {
        _setLine(aliceId, 5e18, 0);
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory path = _path(aliceId);

        vm.expectRevert(IRewardSettlement.EmptyProof.selector);
        settlement.settle(rootIndex, _line(aliceId, 5e18, 0), new bytes32[](0));
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, bobId));
        settlement.settle(rootIndex, _line(bobId, 5e18, 0), path);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, aliceId));
        settlement.settle(rootIndex, _line(aliceId, 5e18 + 1, 0), path);
    }

    /// @dev Bug classes 27 and 29: alice's path has two nodes in a tree of three; neither a part of it nor more than it verifies.
    function test_settle_whenPathIsShortenedOrLengthened_thenItReverts() public {
        _join("carol");
        _setLine(aliceId, 9e18, 0);
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory path = _path(aliceId);
        bytes32[] memory longer = new bytes32[](3);
        bytes32[] memory shorter = new bytes32[](1);
        (longer[0], longer[1], shorter[0]) = (path[0], path[1], path[0]);

        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, aliceId));
        settlement.settle(rootIndex, _line(aliceId, 9e18, 0), longer);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, aliceId));
        settlement.settle(rootIndex, _line(aliceId, 9e18, 0), shorter);
    }

    /// @dev Invariant 22.
    function test_settle_whenLeafIsOfAnotherChainOrContract_thenItReverts() public {
        _setLine(aliceId, 5e18, 0);
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory path = _path(aliceId);
        bytes32 domain = settlement.leafDomain();
        assertEq(domain, keccak256(abi.encode("Swarm/Settlement/v1", block.chainid, address(settlement))));

        vm.chainId(block.chainid + 1);
        assertNotEq(settlement.leafDomain(), domain);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, aliceId));
        settlement.settle(rootIndex, _line(aliceId, 5e18, 0), path);

        RewardSettlement other =
            new RewardSettlement(address(manager), token, registry, vault, sink, settlementParams());
        assertNotEq(other.leafDomain(), domain);
    }

    function test_settle_whenLeafIsTheStone_thenItReverts() public {
        delete book;
        book.push(_line(aliceId, 5e18, 0));
        _grant(ORACLE, address(this));
        uint256 rootIndex = settlement.acceptReport(_draft(0));
        vm.warp(block.timestamp + 1 days);
        bytes32[] memory path = Trees.path(_leaves(), 1);

        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, 0));
        settlement.settle(rootIndex, _line(0, 0, 0), path);
        assertEq(_settle(rootIndex, aliceId), 5e18);
    }

    function test_settle_whenRewardsExceedPenalties_thenItPaysTheRecordedPayout() public {
        address vaultKey = makeAddr("payout");
        vm.prank(alice);
        registry.setPayout(aliceId, vaultKey);
        vm.warp(block.timestamp + PAYOUT_DELAY);
        _setLine(aliceId, 100e18, 30e18);
        uint256 rootIndex = _publishActive(3);

        vm.expectEmit(address(settlement));
        emit IRewardSettlement.Settled(aliceId, rootIndex, vaultKey, 100e18, 30e18, 70e18);
        vm.prank(stranger);
        assertEq(_settle(rootIndex, aliceId), 70e18);

        assertEq(token.balanceOf(vaultKey), 70e18);
        assertEq(token.balanceOf(stranger), 0);
        assertEq(settlement.nettedPenalties(), 30e18);
        assertEq(vault.pool(aliceId).tokens, STAKE);
        assertEq(vault.pool(aliceId).settledRoots, rootIndex + 1);
    }

    function test_settle_whenPenaltiesExceedRewards_thenItTakesTheDifferenceFromStake() public {
        _setLine(aliceId, 10e18, 25e18);
        uint256 rootIndex = _publishActive(0);

        assertEq(_settle(rootIndex, aliceId), 0);

        assertEq(vault.pool(aliceId).tokens, STAKE - 15e18);
        assertEq(settlement.nettedPenalties(), 10e18);
        assertEq(settlement.account(aliceId).claimed, 10e18);
        assertEq(settlement.account(aliceId).penalised, 25e18);
        assertEq(token.balanceOf(alice), 0);
    }

    function test_settle_whenStakeCannotCover_thenTheShortfallIsWrittenOff() public {
        _setLine(bobId, 0, 25e18);
        uint256 rootIndex = _publishActive(0);

        vm.expectEmit(address(settlement));
        emit IRewardSettlement.PenaltyShortfall(bobId, 25e18);
        _settle(rootIndex, bobId);

        _setLine(bobId, 40e18, 25e18);
        assertEq(_settle(_publishActive(2), bobId), 40e18);
    }

    function test_settle_whenNothingChanged_thenItNotesTheSettlement() public {
        uint256 rootIndex = _publishActive(0);
        assertEq(_settle(rootIndex, aliceId), 0);
        assertEq(vault.pool(aliceId).settledRoots, rootIndex + 1);
    }

    /// @dev The vault hears nothing of such a settlement and lets the stake go all the same.
    function test_settle_whenNothingIsTaken_thenStakeCanLeave() public {
        vm.prank(alice);
        uint256 requestId = vault.requestUnbond(aliceId, 1000e18);
        _setLine(aliceId, 10e18, 1e18);
        uint256 rootIndex = _publishActive(14);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotSettled.selector, 0, 1));
        vault.withdraw(aliceId, requestId);

        vm.expectCall(address(vault), abi.encodeWithSelector(IStakeVault.takePenalty.selector), 0);
        _settle(rootIndex, aliceId);
        assertEq(settlement.settledRootsOf(aliceId), 1);
        assertEq(vault.withdraw(aliceId, requestId), 1000e18);
    }

    function test_settle_whenSettledTwice_thenTheSecondChangesNothing() public {
        _setLine(aliceId, 10e18, 1e18);
        uint256 rootIndex = _publishActive(0);
        assertEq(_settle(rootIndex, aliceId), 9e18);
        assertEq(_settle(rootIndex, aliceId), 0);
        assertEq(token.balanceOf(alice), 9e18);
    }

    /// @dev Invariants 17, 19, 20: whatever subset and order of roots is settled, the latest one decides.
    function testFuzz_settle_whenRootsAreSettledInAnyOrder_thenTheLatestDecides(
        uint128[3] memory rewards,
        uint128[3] memory penalties,
        uint256 order
    ) public {
        SettlementLeaf[3] memory lines;
        bytes32[][3] memory paths;
        (uint256 reward, uint256 penalty) = (0, 0);
        for (uint32 i = 0; i < 3; ++i) {
            reward += bound(rewards[i], 0, EMISSION / 2);
            penalty += bound(penalties[i], 0, EMISSION / 2);
            _setLine(aliceId, reward, penalty);
            _publishActive(2 * i);
            (lines[i], paths[i]) = (book[aliceId - 1], _path(aliceId));
        }
        uint256 settled;
        for (uint256 k = 0; k < 3; ++k) {
            uint256 rootIndex = (order >> (2 * k)) % 3;
            settlement.settle(rootIndex, lines[rootIndex], paths[rootIndex]);
            settled = rootIndex + 1 > settled ? rootIndex + 1 : settled;
        }
        SettlementLeaf memory last = lines[settled - 1];
        assertEq(settlement.account(aliceId).claimed, last.cumReward);
        assertEq(settlement.account(aliceId).penalised, last.cumPenalty);
        assertEq(vault.pool(aliceId).settledRoots, settled);
        _assertConserved(last.cumReward);
    }

    /// @dev Invariant 19: exactly ΔR - ΔP is paid, or exactly min(ΔP - ΔR, stake) is taken.
    function testFuzz_settle_whenAnyLine_thenItPaysOrTakesExactly(uint256 reward, uint256 penalty) public {
        reward = bound(reward, 0, EMISSION);
        penalty = bound(penalty, 0, EMISSION);
        _setLine(aliceId, reward, penalty);
        uint256 rootIndex = _publishActive(0);
        uint256 owed = penalty > reward ? penalty - reward : 0;

        uint256 paid = _settle(rootIndex, aliceId);

        assertEq(paid, reward > penalty ? reward - penalty : 0);
        assertEq(token.balanceOf(alice), paid);
        assertEq(vault.pool(aliceId).tokens, STAKE - (owed > STAKE ? STAKE : owed));
        _assertConserved(reward);
    }

    function test_settle_whenPausedAndItWouldPay_thenItReverts() public {
        _setLine(aliceId, 10e18, 0);
        _setLine(bobId, 0, 0);
        uint256 rootIndex = _publishActive(0);
        vm.prank(guardian);
        settlement.pauseFor(1 days);
        SettlementLeaf memory line = book[aliceId - 1];
        bytes32[] memory path = _path(aliceId);

        vm.expectRevert(abi.encodeWithSelector(IExpiringPause.EnforcedPause.selector, block.timestamp + 1 days));
        settlement.settle(rootIndex, line, path);
        assertEq(_settle(rootIndex, bobId), 0);
        assertEq(vault.pool(bobId).settledRoots, rootIndex + 1);

        vm.warp(block.timestamp + 1 days);
        assertEq(settlement.settle(rootIndex, line, path), 10e18);
    }

    function test_settle_whenTheTokenCallsBack_thenItReverts() public {
        CallbackToken hostile = new CallbackToken();
        RewardSettlement exposed =
            new RewardSettlement(address(manager), hostile, registry, vault, sink, settlementParams());
        _assignByTimelock(address(exposed), exposed.acceptReport.selector, ORACLE);
        _grant(ORACLE, address(this));
        _grant(SETTLEMENT, address(exposed));
        delete book;
        book.push(_line(aliceId, 5e18, 0));
        bytes32[] memory pair = new bytes32[](2);
        pair[0] = keccak256(bytes.concat(keccak256(abi.encode(exposed.leafDomain(), aliceId, 5e18, 0))));
        Report memory report = _draft(0);
        report.root = Trees.root(pair);
        exposed.acceptReport(report);
        vm.warp(block.timestamp + 1 days);
        bytes32[] memory path = Trees.path(pair, 0);
        hostile.callBack(address(exposed), abi.encodeCall(exposed.settle, (0, book[0], path)));

        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        exposed.settle(0, book[0], path);
        hostile.callBack(address(exposed), abi.encodeCall(exposed.flushPenalties, ()));
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        exposed.settle(0, book[0], path);
    }

    function test_settleAndWithdraw_whenMatured_thenItPaysRewardAndStake() public {
        vm.prank(alice);
        uint256 requestId = vault.requestUnbond(aliceId, 1000e18);
        _setLine(aliceId, 10e18, 0);
        uint256 rootIndex = _publishActive(13);
        vm.warp(block.timestamp + 1 days);

        vm.prank(stranger);
        (uint256 paid, uint256 withdrawn) =
            settlement.settleAndWithdraw(rootIndex, book[aliceId - 1], _path(aliceId), requestId);

        assertEq(paid, 10e18);
        assertEq(withdrawn, 1000e18);
        assertEq(token.balanceOf(alice), 1010e18);
    }

    function test_fund_whenAmountIsZero_thenItReverts() public {
        vm.expectRevert(IRewardSettlement.ZeroAmount.selector);
        settlement.fund(0);
    }

    function test_flushPenalties_whenNetted_thenTheSinkSplitsThemOnce() public {
        _setLine(aliceId, 100e18, 31e18);
        _settle(_publishActive(0), aliceId);
        uint256 supply = token.totalSupply();

        vm.expectEmit(address(settlement));
        emit IRewardSettlement.PenaltiesFlushed(31e18);
        assertEq(settlement.flushPenalties(), 31e18);
        assertEq(settlement.flushPenalties(), 0);

        assertEq(token.totalSupply(), supply - 15.5e18);
        assertEq(sink.insurance(), 15.5e18);
        assertEq(token.balanceOf(address(settlement)), 0);
    }

    function test_exitStatus_whenThereIsNoRoot_thenItTellsTheDeploymentTime() public {
        vm.warp(block.timestamp + 5 days);
        (uint32 activated, uint64 lastReportAt) = settlement.exitStatus();
        assertEq(activated, 0);
        assertEq(lastReportAt, GENESIS);
    }

    function test_exitStatus_whenRootsOverlap_thenItTellsTheLatestActivated() public {
        _grant(ORACLE, address(this));
        for (uint32 epoch = 0; epoch < 4; ++epoch) {
            settlement.acceptReport(_draft(epoch));
            vm.warp(block.timestamp + 8 hours);
        }
        // accepted 32, 24, 16 and 8 hours ago, activated after 24
        (uint32 activated, uint64 lastReportAt) = settlement.exitStatus();
        assertEq(activated, 2);
        assertEq(lastReportAt, block.timestamp - 8 hours);
        vm.warp(block.timestamp + 8 hours);
        (activated,) = settlement.exitStatus();
        assertEq(activated, 3);
    }

    function test_exitStatus_whenDisabledRootsFollow_thenItTellsTheActivatedOne() public {
        uint256 good = _publishActive(0);
        for (uint32 epoch = 2; epoch < 30; epoch += 2) {
            uint256 bad = _publish(epoch);
            vm.prank(guardian);
            settlement.disableRoot(bad);
        }
        vm.warp(block.timestamp + 2 days);
        (uint32 activated,) = settlement.exitStatus();
        assertEq(activated, good + 1);
    }

    /// @dev Reading the gate stays cheap after a long history of disabled roots: no walk grows with it.
    function test_exitStatus_whenHistoryIsLong_thenItsCostDoesNotGrow() public {
        _publish(0);
        uint256 early = _gasOfExitStatus();
        for (uint32 epoch = 2; epoch < 60; epoch += 2) {
            uint256 bad = _publish(epoch);
            vm.prank(guardian);
            settlement.disableRoot(bad);
        }
        assertLe(_gasOfExitStatus(), early + 10_000);
    }

    function test_outcomeProven_whenItIsNot_thenItIsFalseAndNeverReverts() public {
        bytes32 outcome = keccak256("outcome");
        outcomes.push(outcome);
        outcomes.push(keccak256("other"));
        uint256 rootIndex = _publish(0);
        bytes32[] memory path = _outcomePath(0);
        assertFalse(settlement.outcomeProven(rootIndex, outcome, path));
        vm.warp(block.timestamp + 1 days);
        assertTrue(settlement.outcomeProven(rootIndex, outcome, path));
        assertFalse(settlement.outcomeProven(rootIndex, outcome, new bytes32[](0)));
        assertFalse(settlement.outcomeProven(rootIndex, keccak256("none"), path));
        assertFalse(settlement.outcomeProven(type(uint256).max, outcome, path));

        delete outcomes;
        uint256 empty = _publishActive(2);
        assertFalse(settlement.outcomeProven(empty, bytes32(0), path));
        assertFalse(settlement.outcomeProven(empty, bytes32(0), new bytes32[](0)));
    }

    function test_cumulativeEmission_whenDecayIsOne_thenItIsLinear() public {
        IRewardSettlement.SettlementParams memory params = settlementParams();
        params.emissionDecayRay = 1e27;
        RewardSettlement linear = new RewardSettlement(address(manager), token, registry, vault, sink, params);
        assertEq(linear.cumulativeEmission(0), 0);
        assertEq(linear.cumulativeEmission(365), 365 * EMISSION);
        assertEq(linear.cumulativeEmission(type(uint256).max), type(uint256).max);
    }

    /// @dev Against the plain loop of the definition; both round once an epoch at most.
    function testFuzz_cumulativeEmission_whenDecaying_thenItFollowsTheSeries(uint256 epochs) public view {
        epochs = bound(epochs, 0, 400);
        uint256 sum;
        uint256 term = EMISSION * 1e27;
        for (uint256 e = 0; e < epochs; ++e) {
            sum += term;
            term = term * 9995 / 10_000;
        }
        uint256 have = settlement.cumulativeEmission(epochs);
        assertApproxEqAbs(have, sum / 1e27, epochs);
        assertGe(settlement.cumulativeEmission(epochs + 1), have);
    }

    function test_cumulativeEmission_whenForEver_thenItIsBounded() public view {
        assertEq(settlement.cumulativeEmission(0), 0);
        assertEq(settlement.cumulativeEmission(1), EMISSION);
        assertEq(settlement.cumulativeEmission(type(uint256).max), 200_000_000e18);
    }

    function _payFees(uint256 amount) private {
        _fund(stranger, amount);
        vm.startPrank(stranger);
        token.approve(address(settlement), amount);
        vm.expectEmit(address(settlement));
        emit IRewardSettlement.Funded(stranger, amount);
        settlement.fund(amount);
        vm.stopPrank();
    }

    function _gasOfExitStatus() private view returns (uint256) {
        uint256 before = gasleft();
        settlement.exitStatus();
        return before - gasleft();
    }

    function _assertTotals(uint32 epochs, uint128 reward, uint128 penalty) private view {
        IReportLimits.Totals memory have = settlement.totals();
        assertEq(have.epochs, epochs);
        assertEq(have.reward, reward);
        assertEq(have.penalty, penalty);
    }

    /// @dev Invariant 18 as an equation of one contract's balance.
    function _assertConserved(uint256 claimed) private view {
        uint256 received = settlement.totalMinted() + settlement.totalFunded();
        assertEq(token.balanceOf(address(settlement)), received - claimed + settlement.nettedPenalties());
    }
}
