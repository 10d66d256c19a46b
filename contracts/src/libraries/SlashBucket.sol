// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title How much subjective cases may take from a stake in a time
/// @dev OpenZeppelin's RateLimiter.RefillingBucket with a capacity that follows the stake. The capacity is a share of what the stake
///      was before the bucket's own use (stake + used): a share of what is left would make the total depend on the order of
///      cases (invariant 10). A bucket starts full and refills linearly, so a window of any place sees at most twice the capacity.
library SlashBucket {
    using SafeCast for uint256;

    /// @notice One slot: wei used and when that was noted.
    struct Bucket {
        uint208 used;
        uint48 usedAt;
    }

    uint256 private constant BPS = 10_000;

    /// @notice What is used and what is left now, wei.
    /// @param stake The stake that the bucket bounds, wei.
    /// @param bps Capacity as a share of stake and use.
    /// @param window Seconds in which an empty bucket refills.
    function state(Bucket storage self, uint256 stake, uint256 bps, uint256 window)
        internal
        view
        returns (uint256 used, uint256 available)
    {
        used = self.used;
        // Refill and capacity round down: both in favour of the accused.
        uint256 refilled = Math.mulDiv((stake + used) * bps, block.timestamp - self.usedAt, BPS * window);
        used = Math.saturatingSub(used, refilled);
        available = Math.saturatingSub(Math.mulDiv(stake + used, bps, BPS), used);
    }

    /// @notice Notes the use of `amount` wei on top of what `state` returned.
    function consume(Bucket storage self, uint256 used, uint256 amount) internal {
        self.used = (used + amount).toUint208();
        self.usedAt = uint48(block.timestamp);
    }
}
