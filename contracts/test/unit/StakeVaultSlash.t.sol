// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Deployment} from "../utils/Deployment.sol";

contract StakeVaultSlashTest is Deployment {
    bytes32 private constant CASE_ID = keccak256("case");

    address private immutable judge = makeAddr("judge");
    address private immutable settler = makeAddr("settler");
    address private immutable reporter = makeAddr("reporter");
    address private immutable alice = makeAddr("alice");
    address private immutable bob = makeAddr("bob");

    uint256 private aliceId;
    uint256 private bobId;

    function setUp() public override {
        super.setUp();
        _grant(COURT, judge);
        _grant(SETTLEMENT, settler);
        aliceId = _register(alice);
        bobId = _register(bob);
    }

    // ---- reach ----

    function test_slash_whenCallerIsNoCourt_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, alice));
        vm.prank(alice);
        vault.slash(_order(aliceId, 1, _now()));
    }

    function test_slash_whenAmountIsAboveTheStake_thenItTakesTheStake() public {
        _stake(alice, aliceId, 100);
        assertEq(_slash(aliceId, type(uint256).max, _now()), 100);
        assertEq(_slash(aliceId, 1, _now()), 0, "an empty pool yields nothing and reverts nothing");
        assertEq(_slash(99, 1, _now()), 0, "nor does an unknown one");
        assertEq(vault.totalStaked(), 0);
    }

    function test_slash_whenStakeIsActiveThawingAndMatured_thenItReachesAllProRata() public {
        _stake(alice, aliceId, 1000);
        uint256 matured = _unbond(alice, aliceId, 300);
        vm.warp(block.timestamp + 14 days);
        uint256 thawing = _unbond(alice, aliceId, 200);

        vm.expectEmit(address(vault));
        emit IStakeVault.SlashOrdered(aliceId, CASE_ID, 100, _now(), false, false);
        vm.expectEmit(address(vault));
        emit IStakeVault.Slashed(aliceId, CASE_ID, 100, 50, reporter, 1000);
        assertEq(_slash(aliceId, 100, _now()), 100);

        assertEq(vault.activeStake(aliceId), 450);
        assertEq(vault.unbondValue(aliceId, matured), 270);
        assertEq(vault.unbondValue(aliceId, thawing), 180);
    }

    /// @dev Live in the nearest peer: 0 of 100 matured tokens were slashed there. Bug class 1.
    function test_slash_whenUnbondIsMaturedButNotWithdrawn_thenItIsSlashed() public {
        _stake(alice, aliceId, 100e18);
        uint256 id = _unbond(alice, aliceId, 100e18);
        vm.warp(block.timestamp + 365 days);

        assertEq(_slash(aliceId, 60e18, _now()), 60e18);

        assertEq(vault.withdraw(aliceId, id), 40e18);
        assertEq(token.balanceOf(alice), 40e18);
    }

    /// @dev Live in the nearest peer: 40 of 100 matured tokens were stuck for ever. Bug class 2. However little a slash leaves, it leaves.
    function test_slash_whenItTakesNearlyEverything_thenMaturedUnbondIsNeverStranded() public {
        _stake(alice, aliceId, 100e18);
        uint256 first = _unbond(alice, aliceId, 60e18);
        uint256 second = _unbond(alice, aliceId, 40e18);
        vm.warp(block.timestamp + 14 days);

        assertEq(_slash(aliceId, 99e18, _now()), 99e18);
        assertEq(vault.withdraw(aliceId, second), 0.4e18, "one percent of each request is still there");

        assertEq(_slash(aliceId, 0.6e18 - 1, _now()), 0.6e18 - 1);
        assertEq(vault.pool(aliceId).nonce, 1, "all but worthless shares end");
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.StaleRequest.selector, aliceId, first));
        vault.withdraw(aliceId, first);

        assertEq(vault.activeStake(aliceId), 1, "and the dust is active again");
        uint256 last = _unbond(alice, aliceId, 1);
        vm.warp(block.timestamp + 14 days);
        assertEq(vault.withdraw(aliceId, last), 1);
        assertEq(token.balanceOf(address(vault)), 0);
    }

    function testFuzz_slash_whenItTakesAnyShare_thenEverythingLeftCanLeave(
        uint256 staked,
        uint256 asked,
        uint256 amount
    ) public {
        staked = bound(staked, 1, 1e25);
        asked = bound(asked, 1, staked);
        _stake(alice, aliceId, staked);
        uint256 id = _unbond(alice, aliceId, asked);
        vm.warp(block.timestamp + 14 days);
        amount = _slash(aliceId, bound(amount, 0, staked), _now());

        uint256 paid;
        if (vault.unbondRequest(aliceId, id).nonce == vault.pool(aliceId).nonce) paid = vault.withdraw(aliceId, id);
        if (vault.activeStake(aliceId) != 0) {
            id = _unbond(alice, aliceId, vault.activeStake(aliceId));
            vm.warp(block.timestamp + 14 days);
            paid += vault.withdraw(aliceId, id);
        }

        assertEq(paid, staked - amount);
        assertEq(token.balanceOf(address(vault)), 0);
    }

    function test_slash_whenItTakesEverything_thenTheProviderCanStartAgain() public {
        _stake(alice, aliceId, 100);
        uint256 id = _unbond(alice, aliceId, 30);
        vm.expectEmit(address(vault));
        emit IStakeVault.ThawPoolReset(aliceId, 1, 0);
        _slash(aliceId, 100, _now());

        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(IStakeVault.StaleRequest.selector, aliceId, id));
        vault.cancelUnbond(aliceId, id);
        vm.stopPrank();
        assertEq(vault.unbondValue(aliceId, id), 0);

        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, 50);
        uint256 next = _unbond(alice, aliceId, 50);
        vm.warp(block.timestamp + 14 days);
        assertEq(vault.withdraw(aliceId, next), 50);
    }

    /// @dev Bug class 11: the rule keeps shares below 2^32 * tokens, so 128 bits hold any supply.
    function testFuzz_slash_whenNearTotalSlashesRepeat_thenSharesNeverOverflow(uint256 seed) public {
        for (uint256 i = 0; i < 24; ++i) {
            vm.warp(block.timestamp + 1);
            _stake(alice, aliceId, 1e24);
            uint256 active = vault.activeStake(aliceId);
            _unbond(alice, aliceId, active - (seed >> i) % 2);
            uint256 tokens = vault.pool(aliceId).tokens;
            _slash(aliceId, tokens - bound(uint256(keccak256(abi.encode(seed, i))), 0, tokens / 1e6), _now());
            IStakeVault.Pool memory own = vault.pool(aliceId);
            assertLe(own.thawTokens, own.thawShares);
            assertLt(own.thawShares, 2 ** 32 * (uint256(own.thawTokens) + 1));
        }
    }

    function test_slash_whenItResetsThePool_thenThePlacesOfItsRequestsAreFree() public {
        _stake(alice, aliceId, 100);
        for (uint256 i = 0; i < 64; ++i) {
            _unbond(alice, aliceId, 1);
        }
        _slash(aliceId, 100, _now());
        assertEq(vault.openRequests(aliceId), 0);
        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, 100);
        assertEq(_unbond(alice, aliceId, 1), 64);
        assertEq(vault.openRequests(aliceId), 1);
    }

    // ---- time of the offence ----

    /// @dev Invariant 12, bug class 15.
    function test_slash_whenStakeArrivedAfterTheOffence_thenItIsNotTaken() public {
        _stake(alice, aliceId, 100);
        uint64 offenceAt = _now();
        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, 900);

        assertEq(_slash(aliceId, 1000, offenceAt - 1), 0);
        assertEq(_slash(aliceId, 1000, offenceAt), 100);
        assertEq(_slash(aliceId, 1000, offenceAt), 0, "nor by a second case of the same time");
        assertEq(vault.activeStake(aliceId), 900);
    }

    /// @dev Bug class 23: 100 then and 100 now, and still not the same 100.
    function test_slash_whenStakeLeftAndNewStakeCame_thenTheNewStakeIsNotTaken() public {
        _stake(alice, aliceId, 100);
        uint64 offenceAt = _now();
        uint256 id = _unbond(alice, aliceId, 100);
        vm.warp(block.timestamp + 14 days);
        vault.withdraw(aliceId, id);
        _stake(alice, aliceId, 100);

        assertEq(_slash(aliceId, 100, offenceAt), 0);
    }

    /// @dev Invariant 11: new stake comes, old stake is asked back; what leaves counts as the new.
    function test_slash_whenOldStakeWasSwappedForNew_thenTheOldIsStillThere() public {
        _stake(alice, aliceId, 100);
        uint64 offenceAt = _now();
        uint256 id = _unbond(alice, aliceId, 100);
        vm.warp(block.timestamp + 14 days);
        _stake(alice, aliceId, 100);
        vault.withdraw(aliceId, id);

        assertEq(_slash(aliceId, 100, offenceAt), 100);
    }

    /// @dev Bug class 14.
    function test_slash_whenAnEarlierCaseTookTheSameStake_thenTheSecondTakesWhatIsLeft() public {
        _stake(alice, aliceId, 100);
        uint64 first = _now();
        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, 100);
        uint64 second = _now();
        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, 100);

        assertEq(_slash(aliceId, 150, second), 150, "100 of the second deposit, 50 of the first");
        assertEq(_slash(aliceId, 100, first), 50);
        assertEq(vault.activeStake(aliceId), 100, "the third deposit is nobody's");
    }

    /// @dev Invariant 10: three deposits, two cases of any time and size, both orders.
    function testFuzz_slash_whenCasesRunInAnotherOrder_thenTheTotalIsTheSame(
        uint256[3] memory deposits,
        uint256[2] memory amounts,
        uint8[2] memory offences,
        uint256 asked,
        bool capped
    ) public {
        uint64 start = _now();
        for (uint256 i = 0; i < deposits.length; ++i) {
            vm.warp(start + i);
            _stake(alice, aliceId, bound(deposits[i], 1, 1e24));
        }
        _unbond(alice, aliceId, bound(asked, 1, vault.activeStake(aliceId)));
        IStakeVault.Slash[2] memory orders;
        for (uint256 i = 0; i < orders.length; ++i) {
            orders[i] = _order(aliceId, bound(amounts[i], 0, 4e24), start + offences[i] % 3);
            orders[i].providerCapped = capped;
        }

        uint256 clean = vm.snapshotState();
        uint256 forward = _execute(orders[0]) + _execute(orders[1]);
        assertTrue(vm.revertToState(clean));
        uint256 backward = _execute(orders[1]) + _execute(orders[0]);

        assertEq(forward, backward);
    }

    /// @dev Invariant 11: whatever the provider does between case and execution, the slash takes what it would have taken.
    function testFuzz_slash_whenProviderActsInBetween_thenItTakesTheSame(uint256 asked, uint256 more, uint8 acts)
        public
    {
        _stake(alice, aliceId, 1e24);
        uint64 offenceAt = _now();
        vm.prank(judge);
        vault.openCase(aliceId);
        vm.warp(block.timestamp + 1);

        if (acts & 1 != 0) _unbond(alice, aliceId, bound(asked, 1, 1e24));
        if (acts & 2 != 0) _stake(alice, aliceId, bound(more, 1, 1e24));
        if (acts & 4 != 0 && vault.activeStake(aliceId) != 0) _unbond(alice, aliceId, vault.activeStake(aliceId));
        vm.startPrank(alice);
        if (acts & 5 == 5) vault.cancelUnbond(aliceId, 0);
        if (acts & 8 != 0) registry.setPayout(aliceId, bob);
        if (acts & 16 != 0) registry.setOperator(aliceId, bob);
        if (acts & 32 != 0) registry.retire(aliceId);
        vm.stopPrank();
        vm.warp(block.timestamp + 10 days);

        assertEq(_slash(aliceId, 1e24, offenceAt), 1e24);
    }

    // ---- buckets ----

    function test_slash_whenProviderCapped_thenItTakesATenthADay() public {
        _stake(alice, aliceId, 1000);
        IStakeVault.Slash memory order = _order(aliceId, 70, _now());
        order.providerCapped = true;
        assertEq(_execute(order), 70);
        assertEq(_execute(order), 30, "a tenth of 1000, not of what is left");
        assertEq(_execute(order), 0);

        vm.warp(block.timestamp + 12 hours);
        assertEq(_execute(order), 45, "half of the capacity of 1000 came back; a tenth of 950, less 50 in use");
    }

    function test_slash_whenGlobalCapped_thenAllProvidersShareAHundredthADay() public {
        _stake(alice, aliceId, 6000);
        _stake(bob, bobId, 4000);
        IStakeVault.Slash memory order = _order(aliceId, 80, _now());
        order.globalCapped = true;
        assertEq(_execute(order), 80);
        order.providerId = bobId;
        assertEq(_execute(order), 20, "a hundredth of 10,000");
        assertEq(_execute(order), 0);
        (, uint256 left) = vault.bucketAvailable(bobId);
        assertEq(left, 0);
    }

    function test_slash_whenSevere_thenItPassesTheProvidersBucketOnly() public {
        _stake(alice, aliceId, 1000);
        _stake(bob, bobId, 99_000);
        IStakeVault.Slash memory order = _order(aliceId, 1000, _now());
        order.globalCapped = true;
        assertEq(_execute(order), 1000);

        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(bobId);
        assertEq(providerWei, 9900);
        assertEq(globalWei, 0);
    }

    function test_slash_whenNotCapped_thenTheBucketsStayFull() public {
        _stake(alice, aliceId, 1000);
        _slash(aliceId, 500, _now());
        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(aliceId);
        assertEq(providerWei, 50);
        assertEq(globalWei, 5);
    }

    /// @dev Invariant 16: refill is linear, monotone and ends at the capacity of the stake that is there.
    function testFuzz_slash_whenTimePasses_thenTheBucketRefillsToItsCapacity(uint256 amount, uint256 elapsed) public {
        _stake(alice, aliceId, 1e24);
        IStakeVault.Slash memory order = _order(aliceId, bound(amount, 1, 1e23), _now());
        order.providerCapped = true;
        uint256 taken = _execute(order);
        (uint256 before,) = vault.bucketAvailable(aliceId);
        elapsed = bound(elapsed, 0, 3 days);
        vm.warp(block.timestamp + elapsed);
        (uint256 afterwards,) = vault.bucketAvailable(aliceId);

        uint256 used = elapsed >= 1 days ? 0 : taken - _min(taken, 1e23 * elapsed / 1 days);
        assertEq(before, 1e23 - taken);
        assertEq(afterwards, (1e24 - taken + used) / 10 - used);
        assertLe(afterwards, (1e24 - taken + used) / 10);
    }

    function test_setBuckets_whenTimelockSets_thenLaterCasesObey() public {
        _stake(alice, aliceId, 1000);
        vm.expectEmit(address(vault));
        emit IStakeVault.BucketsChanged(2000, 10_000);
        vm.prank(address(timelock));
        vault.setBuckets(2000, 10_000);
        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(aliceId);
        assertEq(providerWei, 200);
        assertEq(globalWei, 1000);
    }

    // ---- what is taken, and where it goes ----

    /// @dev Invariant 8 and bug class 18.
    function testFuzz_slash_whenItTakes_thenNoMoreThanAllowedAndAllToTheSink(
        uint256 staked,
        uint256 later,
        uint256 amount,
        bool providerCapped,
        bool globalCapped
    ) public {
        staked = bound(staked, 1, 1e25);
        _stake(alice, aliceId, staked);
        _stake(bob, bobId, 1e25);
        uint64 offenceAt = _now();
        vm.warp(block.timestamp + 1);
        _stake(alice, aliceId, bound(later, 1, 1e25));
        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(aliceId);
        uint256 total = vault.totalStaked();
        uint256 supply = token.totalSupply();

        IStakeVault.Slash memory order = _order(aliceId, amount, offenceAt);
        (order.providerCapped, order.globalCapped) = (providerCapped, globalCapped);
        uint256 taken = _execute(order);

        uint256 most = _min(amount, staked);
        if (providerCapped) most = _min(most, providerWei);
        if (globalCapped) most = _min(most, globalWei);
        assertEq(taken, most);
        assertEq(vault.totalStaked(), total - taken);
        assertEq(token.balanceOf(address(vault)), total - taken);
        assertEq(supply - token.totalSupply() + sink.insurance() + sink.totalBounties(), taken);
        assertEq(sink.bountyOf(reporter), taken / 10);
        assertEq(token.balanceOf(judge), 0);
        assertEq(vault.activeStake(bobId), 1e25, "nobody else pays");
    }

    // ---- penalties ----

    function test_takePenalty_whenCallerIsNotTheSettlement_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, judge));
        vm.prank(judge);
        vault.takePenalty(aliceId, 1, 1);
    }

    function test_takePenalty_whenStakeIsActiveAndThawing_thenItTakesProRata() public {
        _stake(alice, aliceId, 1000);
        uint256 id = _unbond(alice, aliceId, 600);
        vm.expectEmit(address(vault));
        emit IStakeVault.PenaltyTaken(aliceId, 99, 0, 59, 3);
        assertEq(_penalise(99, 3), 99);

        assertEq(vault.unbondValue(aliceId, id), 541, "thawing rounds for the leaver");
        assertEq(vault.activeStake(aliceId), 360, "active pays the wei");
        assertEq(sink.insurance(), 49);
        assertEq(sink.totalBounties(), 0);
    }

    function testFuzz_takePenalty_whenAmountIsAboveTheStake_thenTheShortfallIsReported(uint256 staked, uint256 amount)
        public
    {
        staked = bound(staked, 1, 1e25);
        amount = bound(amount, staked, type(uint128).max);
        _stake(alice, aliceId, staked);
        uint256 id = _unbond(alice, aliceId, staked);

        vm.expectEmit(address(vault));
        emit IStakeVault.PenaltyTaken(aliceId, staked, amount - staked, staked, 1);
        assertEq(_penalise(amount, 1), staked);
        assertEq(vault.unbondValue(aliceId, id), 0);
        assertEq(vault.pool(aliceId).nonce, 1);
        assertEq(vault.totalStaked(), 0);
    }

    function test_takePenalty_whenANewerRootIsSettled_thenItIsNotedEvenForNothing() public {
        vm.expectEmit(address(vault));
        emit IStakeVault.PenaltyTaken(aliceId, 0, 0, 0, 7);
        assertEq(_penalise(0, 7), 0);
        assertEq(vault.pool(aliceId).settledRoots, 7);
    }

    function test_takePenalty_whenAnOlderRootIsSettled_thenNothingChanges() public {
        _stake(alice, aliceId, 100);
        _penalise(0, 7);
        vm.recordLogs();
        assertEq(_penalise(0, 6), 0);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(_penalise(10, 6), 10, "what it owes is taken all the same");
        assertEq(vault.pool(aliceId).settledRoots, 7);
    }

    function _order(uint256 providerId, uint256 amount, uint64 offenceAt)
        private
        view
        returns (IStakeVault.Slash memory)
    {
        return IStakeVault.Slash({
            providerId: providerId,
            caseId: CASE_ID,
            amount: amount,
            offenceAt: offenceAt,
            providerCapped: false,
            globalCapped: false,
            reporter: reporter,
            bountyBps: 1000
        });
    }

    function _slash(uint256 providerId, uint256 amount, uint64 offenceAt) private returns (uint256) {
        return _execute(_order(providerId, amount, offenceAt));
    }

    function _execute(IStakeVault.Slash memory order) private returns (uint256) {
        vm.prank(judge);
        return vault.slash(order);
    }

    function _penalise(uint256 amount, uint32 settledRoots) private returns (uint256) {
        vm.prank(settler);
        return vault.takePenalty(aliceId, amount, settledRoots);
    }

    function _unbond(address owner, uint256 providerId, uint256 amount) private returns (uint256) {
        vm.prank(owner);
        return vault.requestUnbond(providerId, amount);
    }

    function _now() private view returns (uint64) {
        return uint64(block.timestamp);
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
