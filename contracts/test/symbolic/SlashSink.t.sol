// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title Where a slash goes, for every amount: nothing is made, nothing is lost
contract SlashSinkSymbolic is SymbolicNetwork {
    address private constant REPORTER = address(0xBEEF);

    function setUp() public override {
        super.setUp();
        vm.prank(treasury);
        assertTrue(token.transfer(address(sink), INITIAL_SUPPLY / 2));
    }

    /// @dev Without a reporter half is burned, rounded up, and the rest insures.
    function check_deposit_whenNobodyReported_thenBurnAndInsuranceAreTheWhole(uint128 amount) public {
        vm.assume(amount <= INITIAL_SUPPLY / 2);
        uint256 supply = token.totalSupply();
        vm.prank(address(vault));
        sink.deposit(bytes32("case"), amount, address(0), 3000);

        uint256 burned = supply - token.totalSupply();
        assert(burned + sink.insurance() == amount);
        assert(burned == sink.insurance() || burned == sink.insurance() + 1);
        assert(sink.totalBounties() == 0);
    }

    /// @dev No deposit books more than the sink holds, so what it owes is always there.
    function check_deposit_whenTheTokensDidNotArrive_thenItReverts(uint128 amount) public {
        vm.assume(amount > INITIAL_SUPPLY / 2);
        vm.prank(address(vault));
        try sink.deposit(bytes32("case"), amount, address(0), 0) {
            assert(false);
        } catch {}
    }

    /// @dev The timelock never pays out more than the insurance holds.
    function check_distribute_whenAnyAmount_thenTheInsurancePaysIt(uint128 amount, uint128 paid) public {
        vm.assume(amount <= INITIAL_SUPPLY / 2);
        vm.prank(address(vault));
        sink.deposit(bytes32("case"), amount, address(0), 0);
        uint256 insured = sink.insurance();
        vm.prank(address(timelock));
        try sink.distribute(REPORTER, paid) {
            assert(paid <= insured);
            assert(sink.insurance() == insured - paid);
            assert(token.balanceOf(REPORTER) == paid);
        } catch {
            assert(paid > insured);
        }
    }
}
