// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {StakeVault} from "../../src/StakeVault.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {FalseToken, FeeToken, ReentrantToken} from "../utils/HostileTokens.sol";
import {Permits} from "../utils/Permits.sol";
import {Reports} from "../utils/Reports.sol";

contract StakeVaultTest is Reports {
    address private immutable judge = makeAddr("judge");
    address private immutable stranger = makeAddr("stranger");

    address private alice;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        _grant(COURT, judge);
        (alice, aliceId) = _join("alice");
    }

    // ---- constructor ----

    function test_constructor_whenAnAddressIsZero_thenItReverts() public {
        vm.expectRevert(IStakeVault.ZeroAddress.selector);
        new StakeVault(address(manager), IERC20(address(0)), registry, sink, vaultParams());
        vm.expectRevert(IStakeVault.ZeroAddress.selector);
        new StakeVault(address(manager), token, IProviderRegistry(address(0)), sink, vaultParams());
        vm.expectRevert(IStakeVault.ZeroAddress.selector);
        new StakeVault(address(manager), token, registry, ISlashSink(address(0)), vaultParams());
    }

    function test_constructor_whenAWindowIsZero_thenItReverts() public {
        bytes memory refused = abi.encodeWithSelector(IStakeVault.InvalidWindow.selector, 0);
        IStakeVault.VaultParams memory params = vaultParams();
        params.minUnbondingFor = 0;
        _expectRefused(params, refused);
        params = vaultParams();
        params.staleAfterFor = 0;
        _expectRefused(params, refused);
        params = vaultParams();
        params.bucketFor = 0;
        _expectRefused(params, refused);
    }

    /// @dev Invariant 33, at birth.
    function test_constructor_whenUnbondingIsOutOfBounds_thenItReverts() public {
        IStakeVault.VaultParams memory params = vaultParams();
        params.maxUnbondingFor = 366 days + 1;
        _expectRefused(params, abi.encodeWithSelector(IStakeVault.UnbondingTooLong.selector, 366 days + 1, 366 days));
        params = vaultParams();
        params.unbondingFor = params.minUnbondingFor - 1;
        _expectRefused(params, abi.encodeWithSelector(IStakeVault.UnbondingTooShort.selector, 13 days - 1, 13 days));
        params = vaultParams();
        params.unbondingFor = params.maxUnbondingFor + 1;
        _expectRefused(params, abi.encodeWithSelector(IStakeVault.UnbondingTooLong.selector, 90 days + 1, 90 days));
    }

    function test_constructor_whenABucketIsOutOfBounds_thenItReverts() public {
        IStakeVault.VaultParams memory params = vaultParams();
        params.providerBucketBps = 0;
        _expectRefused(params, abi.encodeWithSelector(IStakeVault.InvalidBps.selector, 0));
        params = vaultParams();
        params.globalBucketBps = 10_001;
        _expectRefused(params, abi.encodeWithSelector(IStakeVault.InvalidBps.selector, 10_001));
    }

    // ---- stake ----

    function test_stake_whenCallerIsNotTheOwner_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotStaker.selector, aliceId, stranger));
        vm.prank(stranger);
        vault.stake(aliceId, 1);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotStaker.selector, 99, alice));
        vm.prank(alice);
        vault.stake(99, 1);
    }

    function test_stake_whenProviderRetired_thenItReverts() public {
        vm.startPrank(alice);
        registry.retire(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.ProviderCannotStake.selector, aliceId));
        vault.stake(aliceId, 1);
    }

    function test_stake_whenAmountIsZero_thenItReverts() public {
        vm.expectRevert(IStakeVault.ZeroAmount.selector);
        vm.prank(alice);
        vault.stake(aliceId, 0);
    }

    function test_stake_whenTokenTakesAFee_thenItReverts() public {
        StakeVault other = _vaultOf(new FeeToken());
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.WrongAmountReceived.selector, 99, 100));
        vm.prank(alice);
        other.stake(aliceId, 100);
    }

    function test_stake_whenTokenReturnsFalse_thenItReverts() public {
        FalseToken liar = new FalseToken();
        StakeVault other = _vaultOf(liar);
        vm.expectRevert(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, liar));
        vm.prank(alice);
        other.stake(aliceId, 100);
        assertEq(other.totalStaked(), 0);
    }

    function test_stakeAndWithdraw_whenTokenCallsBack_thenTheyRevert() public {
        ReentrantToken hook = new ReentrantToken();
        StakeVault other = _vaultOf(hook);
        vm.startPrank(alice);
        other.stake(aliceId, 100);
        uint256 first = other.requestUnbond(aliceId, 40);
        uint256 second = other.requestUnbond(aliceId, 40);
        vm.warp(block.timestamp + 14 days);
        hook.arm(address(other), abi.encodeCall(other.withdraw, (aliceId, second)));

        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        other.withdraw(aliceId, first);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        other.stake(aliceId, 1);
    }

    function test_stake_whenProviderMadeTooManyDeposits_thenItReverts() public {
        uint256 start = block.timestamp;
        for (uint256 i = 0; i < 64; ++i) {
            vm.warp(start + i);
            _stake(alice, aliceId, 10);
        }
        _fund(alice, 10);
        vm.startPrank(alice);
        token.approve(address(vault), 10);
        vm.warp(start + 64);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.TooManyDeposits.selector, 64));
        vault.stake(aliceId, 10);
        vm.warp(start + 90 days - 1);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.TooManyDeposits.selector, 64));
        vault.stake(aliceId, 10);

        vm.warp(start + 90 days);
        vault.stake(aliceId, 10);
        assertEq(vault.activeStake(aliceId), 650);
        assertEq(vault.stakeAt(aliceId, SafeCast.toUint64(start - 1)), 0, "too long ago");
        assertEq(vault.stakeAt(aliceId, SafeCast.toUint64(start)), 10, "the oldest that is judged");
        assertEq(vault.stakeAt(aliceId, SafeCast.toUint64(start + 2)), 30);
        assertEq(vault.stakeAt(aliceId, SafeCast.toUint64(start + 63)), 640);
        assertEq(vault.stakeAt(aliceId, uint64(block.timestamp)), 650);
    }

    /// @dev Deposits go on for ever as long as 64 are younger than the longest unbonding, however the places of the old ones were used.
    function testFuzz_stake_whenItGoesOn_thenEverySecondInTimeIsExact(uint256 seed, uint256 back) public {
        uint256 count = 90;
        uint256[] memory moments = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            moments[i] = block.timestamp;
            _stake(alice, aliceId, 1 + i);
            uint256 gap = uint256(keccak256(abi.encode(seed, i))) % 5 days;
            vm.warp(block.timestamp + (gap % 4 == 0 ? 0 : 1.5 days + gap));
        }
        uint256 at = block.timestamp - bound(back, 0, 90 days);
        uint256 want;
        for (uint256 i = 0; i < count; ++i) {
            if (moments[i] <= at) want += 1 + i;
        }
        assertEq(vault.stakeAt(aliceId, SafeCast.toUint64(at)), want);
    }

    function testFuzz_stake_whenOwnerStakes_thenItIsActive(uint256 first, uint256 second, uint256 gap) public {
        first = bound(first, 1, INITIAL_SUPPLY / 2);
        second = bound(second, 1, INITIAL_SUPPLY / 2);
        gap = bound(gap, 0, 400 days);
        uint64 firstAt = uint64(block.timestamp);
        _stake(alice, aliceId, first);
        vm.warp(block.timestamp + gap);
        _fund(alice, second);
        vm.startPrank(alice);
        token.approve(address(vault), second);
        vm.expectEmit(address(vault));
        emit IStakeVault.Staked(aliceId, alice, second);
        vault.stake(aliceId, second);

        assertEq(vault.activeStake(aliceId), first + second);
        assertEq(vault.totalStaked(), first + second);
        assertEq(token.balanceOf(address(vault)), first + second);
        assertEq(vault.stakeAt(aliceId, firstAt), gap == 0 ? first + second : gap > 90 days ? 0 : first);
        assertEq(vault.stakeAt(aliceId, firstAt - 1), 0);
    }

    // ---- stakeWithPermit ----

    function test_stakeWithPermit_whenPermitIsFresh_thenNoApprovalIsNeeded() public {
        (uint8 v, bytes32 r, bytes32 s) = _permit("alice", 100);
        vm.prank(alice);
        vault.stakeWithPermit(aliceId, 100, block.timestamp, v, r, s);
        assertEq(vault.activeStake(aliceId), 100);
    }

    function test_stakeWithPermit_whenPermitWasUsedFirst_thenItStakesAllTheSame() public {
        (uint8 v, bytes32 r, bytes32 s) = _permit("alice", 100);
        vm.prank(stranger);
        token.permit(alice, address(vault), 100, block.timestamp, v, r, s);

        vm.prank(alice);
        vault.stakeWithPermit(aliceId, 100, block.timestamp, v, r, s);
        assertEq(vault.activeStake(aliceId), 100);
    }

    function test_stakeWithPermit_whenPermitIsForged_thenItReverts() public {
        (uint8 v, bytes32 r, bytes32 s) = _permit("mallory", 100);
        vm.expectRevert();
        vm.prank(alice);
        vault.stakeWithPermit(aliceId, 100, block.timestamp, v, r, s);
        assertEq(vault.totalStaked(), 0);
    }

    function test_stakeWithPermit_whenPermitIsExpired_thenItReverts() public {
        (uint8 v, bytes32 r, bytes32 s) = _permit("alice", 100);
        uint256 deadline = block.timestamp;
        vm.warp(deadline + 1);
        vm.expectRevert(
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientAllowance.selector, address(vault), 0, 100)
        );
        vm.prank(alice);
        vault.stakeWithPermit(aliceId, 100, deadline, v, r, s);
    }

    // ---- requestUnbond, cancelUnbond ----

    function test_unbonding_whenCallerIsNotTheOwner_thenItReverts() public {
        _stake(alice, aliceId, 100);
        vm.prank(alice);
        uint256 id = vault.requestUnbond(aliceId, 100);

        bytes memory refused = abi.encodeWithSelector(IStakeVault.NotStaker.selector, aliceId, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(refused);
        vault.requestUnbond(aliceId, 1);
        vm.expectRevert(refused);
        vault.cancelUnbond(aliceId, id);
    }

    function test_requestUnbond_whenAmountIsInvalid_thenItReverts() public {
        _stake(alice, aliceId, 100);
        vm.startPrank(alice);
        vault.requestUnbond(aliceId, 60);
        vm.expectRevert(IStakeVault.ZeroAmount.selector);
        vault.requestUnbond(aliceId, 0);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.InsufficientActiveStake.selector, 40, 41));
        vault.requestUnbond(aliceId, 41);
    }

    function test_requestUnbond_whenTooManyAreOpen_thenItRevertsUntilOneEnds() public {
        _stake(alice, aliceId, 100);
        vm.startPrank(alice);
        for (uint256 i = 0; i < 64; ++i) {
            assertEq(vault.requestUnbond(aliceId, 1), i);
        }
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.TooManyRequests.selector, 64));
        vault.requestUnbond(aliceId, 1);

        vault.cancelUnbond(aliceId, 17);
        assertEq(vault.requestUnbond(aliceId, 1), 64, "ids are never reused");
        vm.warp(block.timestamp + 14 days);
        vault.withdraw(aliceId, 63);
        vault.requestUnbond(aliceId, 1);
        assertEq(vault.openRequests(aliceId), 64);
    }

    /// @dev The guard ZeroShares is never reached: no rounding makes a share worth more than a wei.
    function testFuzz_requestUnbond_whenSharesWereRounded_thenOneWeiStillMintsAShare(
        uint256[4] memory asked,
        uint256 slashed
    ) public {
        _stake(alice, aliceId, 1000);
        vm.startPrank(alice);
        for (uint256 i = 0; i < asked.length; ++i) {
            vault.requestUnbond(aliceId, bound(asked[i], 1, 200));
        }
        vm.stopPrank();
        _slash(bound(slashed, 0, 990), uint64(block.timestamp));
        vm.startPrank(alice);
        for (uint256 i = 0; i < asked.length; ++i) {
            if (vault.unbondRequest(aliceId, i).nonce == vault.pool(aliceId).nonce) vault.cancelUnbond(aliceId, i);
            assertGe(vault.pool(aliceId).thawShares, vault.pool(aliceId).thawTokens);
            vault.requestUnbond(aliceId, 1);
        }
    }

    /// @dev Shares round down: whoever asks, cancels or leaves never lowers what the others get.
    function testFuzz_requestUnbond_whenOthersAct_thenAnOlderRequestIsWorthNoLess(uint256 slashed, uint256 asked)
        public
    {
        _stake(alice, aliceId, 1000);
        vm.startPrank(alice);
        uint256 older = vault.requestUnbond(aliceId, 100);
        vault.requestUnbond(aliceId, 100);
        vm.stopPrank();
        _slash(bound(slashed, 0, 900), uint64(block.timestamp));
        uint256 worth = vault.unbondValue(aliceId, older);

        vm.startPrank(alice);
        uint256 newer = vault.requestUnbond(aliceId, bound(asked, 1, vault.activeStake(aliceId)));
        assertGe(vault.unbondValue(aliceId, older), worth);
        vault.cancelUnbond(aliceId, newer);
        assertGe(vault.unbondValue(aliceId, older), worth);
        vm.warp(block.timestamp + 14 days);
        vault.withdraw(aliceId, 1);
        assertGe(vault.unbondValue(aliceId, older), worth);
    }

    function testFuzz_requestUnbond_whenValid_thenItThaws(uint256 amount, uint64 unbondingFor) public {
        amount = bound(amount, 1, 1e24);
        unbondingFor = uint64(bound(unbondingFor, 13 days, 90 days));
        vm.prank(address(timelock));
        vault.setUnbonding(unbondingFor);
        _stake(alice, aliceId, 1e24);
        uint64 maturesAt = uint64(block.timestamp) + unbondingFor;

        vm.expectEmit(address(vault));
        emit IStakeVault.UnbondRequested(aliceId, 0, amount, amount, 0, maturesAt);
        vm.prank(alice);
        uint256 id = vault.requestUnbond(aliceId, amount);

        assertEq(vault.activeStake(aliceId), 1e24 - amount, "thawing stake covers nothing");
        assertEq(vault.pool(aliceId).tokens, 1e24, "and stays slashable");
        assertEq(vault.unbondValue(aliceId, id), amount);
        assertEq(vault.unbondRequest(aliceId, id).maturesAt, maturesAt);
    }

    function test_requestUnbond_whenProviderRetired_thenItsStakeCanLeave() public {
        _stake(alice, aliceId, 100);
        vm.startPrank(alice);
        registry.retire(aliceId);
        uint256 id = vault.requestUnbond(aliceId, 100);
        vm.warp(block.timestamp + 14 days);
        assertEq(vault.withdraw(aliceId, id), 100);
    }

    function test_cancelUnbond_whenRequestIsUnknownOrEnded_thenItReverts() public {
        _stake(alice, aliceId, 100);
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnknownRequest.selector, aliceId, 0));
        vault.cancelUnbond(aliceId, 0);
        uint256 id = vault.requestUnbond(aliceId, 100);
        vault.cancelUnbond(aliceId, id);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnknownRequest.selector, aliceId, id));
        vault.cancelUnbond(aliceId, id);
    }

    function test_cancelUnbond_whenLive_thenStakeIsActiveAgain() public {
        _stake(alice, aliceId, 100);
        vm.startPrank(alice);
        uint256 id = vault.requestUnbond(aliceId, 70);
        vm.expectEmit(address(vault));
        emit IStakeVault.UnbondCancelled(aliceId, id, 70, 70);
        vault.cancelUnbond(aliceId, id);

        assertEq(vault.activeStake(aliceId), 100);
        assertEq(vault.openRequests(aliceId), 0);
        assertEq(vault.unbondValue(aliceId, id), 0);
    }

    // ---- withdraw ----

    function test_withdraw_whenRequestIsUnknownOrEnded_thenItReverts() public {
        uint256 id = _matured(100, 100);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnknownRequest.selector, aliceId, id + 1));
        vault.withdraw(aliceId, id + 1);
        vault.withdraw(aliceId, id);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.UnknownRequest.selector, aliceId, id));
        vault.withdraw(aliceId, id);
    }

    /// @dev Bug classes 5 and 6: no change of the unbonding reaches a request that is open.
    function test_withdraw_whenNotMatured_thenItRevertsWhateverTheTimelockSets() public {
        _stake(alice, aliceId, 100);
        uint64 maturesAt = uint64(block.timestamp) + 14 days;
        vm.prank(alice);
        uint256 id = vault.requestUnbond(aliceId, 50);
        vm.prank(address(timelock));
        vault.setUnbonding(13 days);
        vm.prank(alice);
        uint256 shorter = vault.requestUnbond(aliceId, 50);

        vm.warp(maturesAt - 1);
        assertEq(vault.withdraw(aliceId, shorter), 50, "a later request may leave first");
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotMatured.selector, maturesAt, maturesAt - 1));
        vault.withdraw(aliceId, id);
        vm.warp(maturesAt);
        assertEq(vault.withdraw(aliceId, id), 50);
    }

    function test_withdraw_whenACaseIsOpen_thenItRevertsEvenIfTheOracleIsSilent() public {
        uint256 id = _matured(100, 100);
        vm.startPrank(judge);
        vault.openCase(aliceId);
        vault.openCase(aliceId);
        vault.closeCase(aliceId);
        vm.warp(block.timestamp + 30 days);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.CaseOpen.selector, aliceId, 1));
        vault.withdraw(aliceId, id);

        vault.closeCase(aliceId);
        assertEq(vault.withdraw(aliceId, id), 100);
    }

    function test_withdraw_whenLatestRootIsNotSettled_thenItRevertsUntilItIs() public {
        uint256 id = _matured(100, 100);
        _setLine(aliceId, 0, 30);
        uint256 root = _publishActive(14);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotSettled.selector, 0, 1));
        vault.withdraw(aliceId, id);

        vm.prank(stranger);
        _settle(root, aliceId);
        assertEq(vault.pool(aliceId).settledRoots, 1);
        assertEq(vault.withdraw(aliceId, id), 70, "the penalty of the last epoch did not escape");
    }

    function test_settleAndWithdraw_whenLatestRootIsNotSettled_thenOneCallDoesBoth() public {
        uint256 id = _matured(100, 100);
        _setLine(aliceId, 0, 30);
        uint256 root = _publishActive(14);

        bytes32[] memory path = _path(aliceId);
        vm.prank(stranger);
        (, uint256 withdrawn) = settlement.settleAndWithdraw(root, book[aliceId - 1], path, id);
        assertEq(withdrawn, 70);
        assertEq(token.balanceOf(alice), 70);
    }

    /// @dev Invariant 34, the vault's half: the hatch opens a second after STALE_AFTER.
    function test_withdraw_whenOracleIsSilent_thenTheSettlementIsSkipped() public {
        uint256 id = _matured(100, 100);
        _setLine(aliceId, 0, 30);
        uint256 root = _publish(14);
        uint256 reportedAt = block.timestamp;

        vm.warp(reportedAt + 10 days);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NotSettled.selector, 0, root + 1));
        vault.withdraw(aliceId, id);
        vm.warp(reportedAt + 10 days + 1);
        assertEq(vault.withdraw(aliceId, id), 100);
    }

    function test_withdraw_whenRootIsPendingOrDisabled_thenItDoesNotWait() public {
        uint256 id = _matured(100, 50);
        uint256 root = _publish(14);
        assertEq(vault.withdraw(aliceId, id), 50, "pending");

        id = _matured(1, 50);
        root = _publish(29);
        vm.prank(guardian);
        settlement.disableRoot(root);
        _settle(root - 1, aliceId);
        vm.warp(block.timestamp + 2 days);
        assertEq(vault.withdraw(aliceId, id), 50, "disabled");
    }

    function test_withdraw_whenNoExitGateIsSet_thenItReverts() public {
        StakeVault other = new StakeVault(address(manager), token, registry, sink, vaultParams());
        _fund(alice, 100);
        vm.startPrank(alice);
        token.approve(address(other), 100);
        other.stake(aliceId, 100);
        uint256 id = other.requestUnbond(aliceId, 100);
        vm.warp(block.timestamp + 14 days);
        vm.expectRevert(IStakeVault.ExitGateNotSet.selector);
        other.withdraw(aliceId, id);
    }

    function test_withdraw_whenEveryGateIsOpen_thenItPaysTheOwnerWhoeverCalls() public {
        uint256 id = _matured(100, 60);
        vm.expectEmit(address(vault));
        emit IStakeVault.Withdrawn(aliceId, id, alice, 60, 60);
        vm.prank(stranger);
        assertEq(vault.withdraw(aliceId, id), 60);

        assertEq(token.balanceOf(alice), 60);
        assertEq(vault.totalStaked(), 40);
        assertEq(vault.openRequests(aliceId), 0);
    }

    /// @dev Invariants 4, 5, 6: any mix of requests and cancellations, ended in any order, returns exactly what went in.
    function testFuzz_withdraw_whenRequestsEndInAnyOrder_thenEveryWeiReturns(uint256[8] memory seeds) public {
        _stake(alice, aliceId, 1e24);
        vm.startPrank(alice);
        uint256[] memory ids = new uint256[](seeds.length);
        for (uint256 i = 0; i < seeds.length; ++i) {
            ids[i] = vault.requestUnbond(aliceId, bound(seeds[i], 1, vault.activeStake(aliceId) / 2));
            if (seeds[i] % 3 == 0) {
                vault.cancelUnbond(aliceId, ids[i]);
                ids[i] = vault.requestUnbond(aliceId, vault.activeStake(aliceId) / 2);
            }
        }
        uint256 rest = vault.requestUnbond(aliceId, vault.activeStake(aliceId));
        vm.warp(block.timestamp + 14 days);

        vault.withdraw(aliceId, rest);
        for (uint256 left = ids.length; left > 0; --left) {
            uint256 pick = seeds[left - 1] % left;
            vault.withdraw(aliceId, ids[pick]);
            ids[pick] = ids[left - 1];
        }
        assertEq(token.balanceOf(alice), 1e24);
        assertEq(vault.totalStaked(), 0);
        assertEq(vault.stakeAt(aliceId, type(uint64).max), 0);
    }

    /// @dev Invariant 7.
    function testFuzz_withdraw_whenTokensAreDonated_thenNobodyGetsMoreOrLess(uint256 donation) public {
        donation = bound(donation, 0, INITIAL_SUPPLY / 2);
        _fund(address(vault), donation);
        uint256 id = _matured(100, 60);
        _fund(address(vault), donation / 3);

        assertEq(vault.withdraw(aliceId, id), 60);
        assertEq(vault.activeStake(aliceId), 40);
        assertEq(token.balanceOf(address(vault)), 40 + donation + donation / 3);
    }

    // ---- cases, getters ----

    function test_cases_whenCallerIsNoCourt_thenTheyRevert() public {
        bytes memory refused = abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(refused);
        vault.openCase(aliceId);
        vm.expectRevert(refused);
        vault.closeCase(aliceId);
    }

    function test_closeCase_whenNoneIsOpen_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.NoOpenCase.selector, aliceId));
        vm.prank(judge);
        vault.closeCase(aliceId);
    }

    /// @dev Invariant 31: a revert fails the test.
    function testFuzz_getters_whenAskedAnything_thenTheyNeverRevert(uint256 id, uint256 requestId, uint64 at) public {
        _stake(alice, aliceId, 100);
        vm.assume(id != aliceId);
        assertEq(vault.pool(id).tokens, 0);
        assertEq(vault.unbondRequest(id, requestId).shares, 0);
        assertEq(vault.unbondValue(id, requestId), 0);
        assertEq(vault.unbondValue(aliceId, requestId), 0);
        assertEq(vault.openRequests(id), 0);
        assertEq(vault.activeStake(id), 0);
        assertEq(vault.stakeAt(id, at), 0);
        assertLe(vault.stakeAt(aliceId, at), 100);
        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(id);
        assertEq(providerWei, 0);
        assertEq(globalWei, 1);
    }

    /// @dev Stakes `amount`, asks for `asked` and waits until it is mature.
    function _matured(uint256 amount, uint256 asked) private returns (uint256 requestId) {
        _stake(alice, aliceId, amount);
        vm.prank(alice);
        requestId = vault.requestUnbond(aliceId, asked);
        vm.warp(block.timestamp + 14 days);
    }

    function _slash(uint256 amount, uint64 offenceAt) private {
        vm.prank(judge);
        vault.slash(IStakeVault.Slash(aliceId, "case", amount, offenceAt, false, false, address(0), 0));
    }

    function _permit(string memory signer, uint256 amount) private returns (uint8 v, bytes32 r, bytes32 s) {
        _fund(alice, amount);
        (, uint256 key) = makeAddrAndKey(signer);
        return vm.sign(key, Permits.digest(token, alice, address(vault), amount, block.timestamp));
    }

    function _vaultOf(IERC20 hostile) private returns (StakeVault other) {
        other = new StakeVault(address(manager), hostile, registry, sink, vaultParams());
        _byTimelock(address(other), abi.encodeCall(other.setExitGate, (address(settlement))));
        assertTrue(hostile.transfer(alice, 1e24));
        vm.prank(alice);
        hostile.approve(address(other), type(uint256).max);
    }

    function _expectRefused(IStakeVault.VaultParams memory params, bytes memory reason) private {
        vm.expectRevert(reason);
        new StakeVault(address(manager), token, registry, sink, params);
    }
}
