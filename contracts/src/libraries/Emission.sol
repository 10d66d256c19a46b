// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title The emission schedule: a geometric series in ray (27 decimals) arithmetic
/// @dev Every division rounds down. A power that is n ulp low lets the sum run n * first / (RAY - decay) wei early, less than one wei an
///      epoch with our numbers; in all it never passes first / (1 - decay) (invariant 23).
library Emission {
    uint256 internal constant RAY = 1e27;

    /// @notice Wei the schedule allows in all for the first `epochs` epochs: first * (1 + d + d^2 + ...).
    /// @param first Wei of epoch 0, below 2^128.
    /// @param decayRay Factor from one epoch to the next, at most RAY (RAY is no decay).
    function cumulative(uint256 first, uint256 decayRay, uint256 epochs) internal pure returns (uint256) {
        if (decayRay == RAY) return Math.saturatingMul(first, epochs);
        return first * (RAY - rpow(decayRay, epochs)) / (RAY - decayRay);
    }

    /// @notice base^exponent by squaring from the lowest bit; each step rounds down.
    /// @param base Ray, at most RAY, so no square overflows.
    function rpow(uint256 base, uint256 exponent) internal pure returns (uint256 power) {
        power = RAY;
        for (; exponent != 0; exponent >>= 1) {
            if (exponent & 1 == 1) power = power * base / RAY;
            base = base * base / RAY;
        }
    }
}
