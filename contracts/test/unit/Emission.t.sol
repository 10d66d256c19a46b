// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {Emission} from "../../src/libraries/Emission.sol";

contract EmissionTest is Test {
    uint256 private constant RAY = 1e27;

    function testFuzz_rpow_whenExponentIsZero_thenItIsOne(uint256 base) public pure {
        assertEq(Emission.rpow(bound(base, 0, RAY), 0), RAY);
        assertEq(Emission.rpow(RAY, base), RAY);
    }

    function testFuzz_rpow_whenBaseIsBelowOne_thenItIsThePlainProduct(uint256 base, uint256 exponent) public pure {
        base = bound(base, 0, RAY);
        exponent = bound(exponent, 1, 64);
        uint256 product = RAY;
        for (uint256 i = 0; i < exponent; ++i) {
            product = product * base / RAY;
        }
        assertApproxEqAbs(Emission.rpow(base, exponent), product, exponent);
    }

    function testFuzz_rpow_whenExponentGrows_thenItDoesNot(uint256 base, uint256 exponent) public pure {
        base = bound(base, 0, RAY);
        exponent = bound(exponent, 0, 1e6);
        assertLe(Emission.rpow(base, exponent + 1), Emission.rpow(base, exponent));
    }

    function test_cumulative_whenDecayIsOne_thenItIsLinearAndSaturates() public pure {
        assertEq(Emission.cumulative(7, RAY, 6), 42);
        assertEq(Emission.cumulative(7, RAY, type(uint256).max), type(uint256).max);
    }

    /// @dev Invariant 23: the schedule is bounded for ever, and no epoch may mint more than the first, whatever the numbers; a power
    ///      that is an ulp low shows as first / (RAY - decay) wei.
    function testFuzz_cumulative_whenDecayIsBelowOne_thenItIsBounded(uint128 first, uint256 decay, uint256 epochs)
        public
        pure
    {
        decay = bound(decay, 0, RAY - 1);
        epochs = bound(epochs, 0, 1e5);
        uint256 sum = Emission.cumulative(first, decay, epochs);
        uint256 next = Emission.cumulative(first, decay, epochs + 1);
        uint256 ulp = uint256(first) / (RAY - decay) + 1;

        assertGe(next, sum);
        assertLe(next - sum, uint256(first) + (epochs + 2) * ulp);
        assertLe(next, uint256(first) * RAY / (RAY - decay));
    }

    function test_cumulative_whenEpochsAreFew_thenItIsTheSumOfTheTable() public pure {
        uint256 first = 100_000e18;
        uint256 decay = 0.9995e27;
        assertEq(Emission.cumulative(first, decay, 0), 0);
        assertEq(Emission.cumulative(first, decay, 1), first);
        assertEq(Emission.cumulative(first, decay, 2), first + 99_950e18);
        assertEq(Emission.cumulative(first, decay, 3), first + 99_950e18 + 99_900.025e18);
    }
}
