// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {StakeVault} from "../../src/StakeVault.sol";
import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {RootsGate, StatusGate} from "../utils/HalfGates.sol";
import {ReentrantToken} from "../utils/HostileTokens.sol";
import {Reports} from "../utils/Reports.sol";

/// @dev What only a changed operator, constant or guard would show: found by mutation testing.
contract StakeVaultEdgesTest is Reports {
    address private immutable settler = makeAddr("settler");
    address private immutable judge = makeAddr("judge");

    address private alice;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        _grant(SETTLEMENT, settler);
        _grant(COURT, judge);
        (alice, aliceId) = _join("alice");
    }

    function test_constructor_whenNumbersAreAtTheirBounds_thenTheyHold() public {
        IStakeVault.VaultParams memory params = vaultParams();
        params.maxUnbondingFor = 366 days;
        params.unbondingFor = 366 days;
        (params.providerBucketBps, params.globalBucketBps) = (10_000, 1);
        StakeVault other = new StakeVault(address(manager), token, registry, sink, params);

        assertEq(other.unbondingFor(), 366 days);
        assertEq(other.providerBucketBps(), 10_000);
        assertEq(other.globalBucketBps(), 1);
    }

    function test_setExitGate_whenOneOfTheTwoAnswersIsMissing_thenItReverts() public {
        address status = address(new StatusGate());
        address roots = address(new RootsGate());
        vm.startPrank(address(timelock));
        vm.expectRevert();
        vault.setExitGate(status);
        vm.expectRevert();
        vault.setExitGate(roots);
        assertEq(address(vault.exitGate()), address(settlement));
    }

    function test_stake_whenDepositsShareASecond_thenTheyTakeOnePlace() public {
        for (uint256 i = 0; i < 66; ++i) {
            _stake(alice, aliceId, 1);
        }
        assertEq(vault.stakeAt(aliceId, uint64(block.timestamp)), 66);
        assertEq(vault.stakeAt(aliceId, uint64(block.timestamp - 1)), 0, "none of it was there before");
    }

    /// @dev Invariant 12: what left between two deposits of one second is not made good by the second one.
    function test_stake_whenStakeLeftInTheSameSecond_thenAnOlderOffenceReachesWhatWasLeft() public {
        _stake(alice, aliceId, 100);
        vm.warp(block.timestamp + 1 hours);
        _stake(alice, aliceId, 10);
        vm.prank(settler);
        vault.takePenalty(aliceId, 50, 1);
        _stake(alice, aliceId, 5);

        assertEq(vault.stakeAt(aliceId, uint64(block.timestamp - 1)), 60);
        assertEq(vault.stakeAt(aliceId, uint64(block.timestamp)), 65);
    }

    /// @dev Invariants 10 and 12, with every place of the history in use: all that stood after the offence stands lower by what was taken.
    function test_slash_whenTheHistoryIsFull_thenEverySecondAfterTheOffenceIsLower() public {
        _stake(alice, aliceId, 100);
        vm.warp(block.timestamp + 91 days);
        uint256 first = block.timestamp;
        for (uint256 i = 0; i < 64; ++i) {
            vm.warp(first + i);
            _stake(alice, aliceId, 10);
        }
        assertEq(_slash(30, first - 1), 30);

        assertEq(vault.stakeAt(aliceId, uint64(first - 1)), 70);
        for (uint256 i = 0; i < 64; ++i) {
            assertEq(vault.stakeAt(aliceId, uint64(first + i)), 80 + 10 * i);
        }
    }

    /// @dev Places are used again in turn, and a place that grew old out of turn is found all the same.
    function test_stake_whenTheOldestPlaceIsNotNextInTurn_thenItIsFoundBeforeADepositIsRefused() public {
        uint256 start = block.timestamp;
        for (uint256 day = 0; day < 4; ++day) {
            _stakeAt(start + day * 1 days);
        }
        _stakeAt(start + 90 days);
        for (uint256 i = 1; i <= 60; ++i) {
            _stakeAt(start + 90 days + i);
        }
        for (uint256 day = 91; day < 94; ++day) {
            _stakeAt(start + day * 1 days);
        }
        assertEq(vault.stakeAt(aliceId, uint64(start + 90 days)), 50);
        assertEq(vault.stakeAt(aliceId, uint64(start + 93 days)), 680);

        _fund(alice, 10);
        vm.warp(block.timestamp + 1);
        vm.startPrank(alice);
        token.approve(address(vault), 10);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.TooManyDeposits.selector, 64));
        vault.stake(aliceId, 10);
    }

    function test_slash_whenATokenIsTwoToThe32Shares_thenThePoolStartsAnewAndNotBefore() public {
        uint256 amount = 3 << 32;
        _stake(alice, aliceId, amount);
        vm.prank(alice);
        vault.requestUnbond(aliceId, amount);
        _slash(amount - 4, block.timestamp);
        assertEq(vault.pool(aliceId).nonce, 0, "4 tokens of 3 * 2^32 shares");
        _slash(1, block.timestamp);

        assertEq(vault.pool(aliceId).nonce, 1, "3 tokens of 3 * 2^32 shares");
        assertEq(vault.activeStake(aliceId), 3);

        vm.prank(alice);
        vault.requestUnbond(aliceId, 3);
        _slash(3, block.timestamp);
        assertEq(vault.pool(aliceId).nonce, 2, "and again");
    }

    function test_slash_whenNothingThaws_thenThePoolDoesNotStartAnew() public {
        _stake(alice, aliceId, 100);
        _slash(10, block.timestamp);
        assertEq(vault.pool(aliceId).nonce, 0);
    }

    function test_requestUnbond_whenAShareIsWorthLessThanAWei_thenItMintsAsManyMore() public {
        _stake(alice, aliceId, 1000);
        vm.startPrank(alice);
        vault.requestUnbond(aliceId, 500);
        vm.stopPrank();
        _slash(500, block.timestamp);
        vm.prank(alice);
        uint256 second = vault.requestUnbond(aliceId, 100);

        assertEq(vault.unbondRequest(aliceId, second).shares, 200, "500 shares are worth 250");
        assertEq(vault.unbondValue(aliceId, second), 100);
    }

    /// @dev The token holds every role, so that nothing but the guard stands in its way.
    function test_everyGuardedFunction_whenATransferCallsIt_thenItReverts() public {
        ReentrantToken hook = new ReentrantToken();
        StakeVault other = new StakeVault(address(manager), hook, registry, sink, vaultParams());
        _allow(hook, other, other.takePenalty.selector, SETTLEMENT);
        _allow(hook, other, other.slash.selector, COURT);
        assertTrue(hook.transfer(alice, 1e24));
        vm.startPrank(alice);
        hook.approve(address(other), type(uint256).max);
        other.stake(aliceId, 100);
        uint256 id = other.requestUnbond(aliceId, 40);
        vm.stopPrank();

        _expectRefused(hook, other, abi.encodeCall(other.stake, (aliceId, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.stakeWithPermit, (aliceId, 1, 0, 0, 0, 0)));
        _expectRefused(hook, other, abi.encodeCall(other.requestUnbond, (aliceId, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.cancelUnbond, (aliceId, id)));
        _expectRefused(hook, other, abi.encodeCall(other.withdraw, (aliceId, id)));
        _expectRefused(hook, other, abi.encodeCall(other.takePenalty, (aliceId, 1, 1)));
        _expectRefused(hook, other, abi.encodeCall(other.slash, (_order(1, block.timestamp))));
    }

    function test_resume_whenThePauseEndsNow_thenItReverts() public {
        vm.startPrank(guardian);
        vault.pauseFor(1 days);
        vm.warp(block.timestamp + 1 days);
        vm.expectRevert(IExpiringPause.NotPaused.selector);
        vault.resume();
    }

    function test_takePenalty_whenTheRootIsNotedAlready_thenNothingIsSaid() public {
        vm.startPrank(settler);
        vault.takePenalty(aliceId, 0, 7);
        vm.recordLogs();
        assertEq(vault.takePenalty(aliceId, 0, 7), 0);
        assertEq(vm.getRecordedLogs().length, 0);
    }

    function test_takePenalty_whenNothingIsTaken_thenTheSinkHearsNothing() public {
        vm.prank(settler);
        vm.recordLogs();
        vault.takePenalty(aliceId, 5, 1);
        assertEq(vm.getRecordedLogs().length, 1, "PenaltyTaken alone");
    }

    function test_takePenalty_whenItTakes_thenNobodyIsTheReporter() public {
        _stake(alice, aliceId, 100);
        vm.expectEmit(address(sink));
        emit ISlashSink.Deposited(bytes32(0), 99, 50, 0, 49, address(0));
        vm.prank(settler);
        vault.takePenalty(aliceId, 99, 1);
    }

    function _allow(ReentrantToken hook, StakeVault other, bytes4 selector, uint64 role) private {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = selector;
        _byTimelock(address(manager), abi.encodeCall(manager.setTargetFunctionRole, (address(other), selectors, role)));
        _grant(role, address(hook));
    }

    function _expectRefused(ReentrantToken hook, StakeVault other, bytes memory inside) private {
        hook.arm(address(other), inside);
        vm.prank(alice);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        other.stake(aliceId, 1);
    }

    function _stakeAt(uint256 time) private {
        vm.warp(time);
        _stake(alice, aliceId, 10);
    }

    function _slash(uint256 amount, uint256 offenceAt) private returns (uint256) {
        vm.prank(judge);
        return vault.slash(_order(amount, offenceAt));
    }

    function _order(uint256 amount, uint256 offenceAt) private view returns (IStakeVault.Slash memory) {
        return IStakeVault.Slash({
            providerId: aliceId,
            caseId: bytes32("case"),
            amount: amount,
            offenceAt: uint64(offenceAt),
            providerCapped: false,
            globalCapped: false,
            reporter: address(0),
            bountyBps: 0
        });
    }
}
