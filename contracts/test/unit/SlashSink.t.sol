// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";

import {SlashSink} from "../../src/SlashSink.sol";
import {ISlashSink} from "../../src/interfaces/ISlashSink.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {Deployment} from "../utils/Deployment.sol";

contract SlashSinkTest is Deployment {
    bytes32 private constant CASE_ID = keccak256("case");

    address private immutable payer = makeAddr("payer");
    address private immutable reporter = makeAddr("reporter");

    function setUp() public override {
        super.setUp();
        _grant(VAULT, payer);
    }

    function test_constructor_whenTokenIsZero_thenItReverts() public {
        vm.expectRevert(ISlashSink.ZeroAddress.selector);
        new SlashSink(address(manager), ISwarmToken(address(0)));
    }

    function test_deposit_whenCallerIsNotTheVault_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, reporter));
        vm.prank(reporter);
        sink.deposit(CASE_ID, 1, reporter, 0);
    }

    function test_deposit_whenBountyIsTooHigh_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(ISlashSink.BountyTooHigh.selector, 3001, 3000));
        vm.prank(payer);
        sink.deposit(CASE_ID, 1, reporter, 3001);
    }

    function test_deposit_whenTokensWereNotSent_thenItReverts() public {
        _deposit(100, reporter, 3000);

        vm.expectRevert(abi.encodeWithSelector(ISlashSink.NotReceived.selector, 50, 51));
        vm.prank(payer);
        sink.deposit(CASE_ID, 1, reporter, 0);
    }

    function test_deposit_whenThereIsNoReporter_thenTheRestIsInsured() public {
        uint256 supply = token.totalSupply();
        _deposit(101, address(0), 3000);

        assertEq(token.totalSupply(), supply - 51);
        assertEq(sink.insurance(), 50);
        assertEq(sink.bountyOf(address(0)), 0);
    }

    function testFuzz_deposit_whenThereIsAReporter_thenEveryWeiIsAccountedFor(uint256 amount, uint256 bountyBps)
        public
    {
        amount = bound(amount, 0, INITIAL_SUPPLY);
        bountyBps = bound(bountyBps, 0, 3000);
        uint256 burned = (amount + 1) / 2;
        uint256 bounty = amount * bountyBps / 10_000;
        _fund(address(sink), amount);

        vm.expectEmit(address(sink));
        emit ISlashSink.Deposited(CASE_ID, amount, burned, bounty, amount - burned - bounty, reporter);
        vm.prank(payer);
        sink.deposit(CASE_ID, amount, reporter, bountyBps);

        assertEq(token.totalSupply(), INITIAL_SUPPLY - burned);
        assertEq(sink.bountyOf(reporter), bounty);
        assertEq(token.balanceOf(address(sink)), sink.insurance() + sink.totalBounties());
    }

    /// @dev Invariant 15: no split of one slash into two pays a bigger bounty.
    function testFuzz_deposit_whenSplit_thenBountyDoesNotGrow(uint256 amount, uint256 part) public {
        amount = bound(amount, 0, INITIAL_SUPPLY / 2);
        part = bound(part, 0, amount);
        _deposit(amount, reporter, 1000);
        uint256 whole = sink.bountyOf(reporter);

        _deposit(part, payer, 1000);
        _deposit(amount - part, payer, 1000);

        assertLe(sink.bountyOf(payer), whole);
    }

    function test_claimBounty_whenNothingIsDue_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(ISlashSink.NothingToClaim.selector, reporter));
        sink.claimBounty(reporter);
    }

    function test_claimBounty_whenDue_thenItPaysTheReporterOnce() public {
        _deposit(1000, reporter, 1000);

        vm.expectEmit(address(sink));
        emit ISlashSink.BountyClaimed(reporter, 100);
        vm.prank(payer);
        assertEq(sink.claimBounty(reporter), 100);

        assertEq(token.balanceOf(reporter), 100);
        assertEq(token.balanceOf(payer), 0);
        assertEq(sink.totalBounties(), 0);
        vm.expectRevert(abi.encodeWithSelector(ISlashSink.NothingToClaim.selector, reporter));
        sink.claimBounty(reporter);
    }

    function test_distribute_whenCallerIsNotTheTimelock_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, guardian));
        vm.prank(guardian);
        sink.distribute(guardian, 1);
    }

    function test_distribute_whenInsuranceHoldsLess_thenItReverts() public {
        _deposit(1000, reporter, 3000);
        assertEq(token.balanceOf(address(sink)), 500);

        vm.expectRevert(abi.encodeWithSelector(ISlashSink.InsufficientInsurance.selector, 200, 201));
        vm.prank(address(timelock));
        sink.distribute(payer, 201);
    }

    function test_distribute_whenInsuranceHoldsEnough_thenItPays() public {
        _deposit(1000, reporter, 1000);

        vm.expectEmit(address(sink));
        emit ISlashSink.InsurancePaid(payer, 300);
        vm.prank(address(timelock));
        sink.distribute(payer, 300);

        assertEq(token.balanceOf(payer), 300);
        assertEq(sink.insurance(), 100);
    }

    function _deposit(uint256 amount, address to, uint256 bountyBps) private {
        _fund(address(sink), amount);
        vm.prank(payer);
        sink.deposit(CASE_ID, amount, to, bountyBps);
    }
}
