// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title One provider's stake, and how much of it an offence of the past may reach
/// @dev An offence reaches the least that the stake has been since. What stood there and what stands there now are not enough: after
///      "stake 100, offence, withdraw 100, stake 100" both are 100, yet nothing of it is liable. So each deposit leaves a floor behind,
///      the stake before it, and what came later stays above:
///
///        tokens        ____        150      floor (before 50: 100)
///          150        |    |___    130      floor (before 90: 130)
///          130    ____|        |__ ...
///          100   |                          an offence at 20 reaches 100, at 60 it reaches 130, at 90 all
///               10   50  70   90
///
///        reach(t) = min(tokens, every floor with before > t)
///
///      What leaves lowers `tokens` and nothing else: newest stake first, and the floor of the next deposit keeps how low it went. So a
///      withdrawal never shields an older offence (invariant 11). A slash also lowers the floors after its offence, by as much: no
///      offence touches later stake (invariant 12), and the total is the same in every order of cases (invariant 10).
///
///      Deposits pay for this, so the last floor shares a slot with the stake, and a floor that no offence can ask for is overwritten.
library StakeHistory {
    using SafeCast for uint256;

    /// @notice An offence before second `before` reaches at most `tokens` wei.
    struct Floor {
        uint96 tokens;
        uint48 before;
    }

    /// @notice One slot: the stake, the floor of the last deposit, how many older floors there are and which of them to look at first
    ///         when a place is needed.
    struct Head {
        uint96 tokens;
        uint96 floor;
        uint48 before;
        uint8 count;
        uint8 next;
    }

    /// @notice `older` is in no order once a place was used again; none of its floors is later than the head's.
    struct Balance {
        Head head;
        Floor[63] older;
    }

    /// @dev Deposits that can be told apart, the last one included. Bounds every loop below.
    uint256 internal constant MAX_FLOORS = 64;

    /// @notice Adds a deposit of this second.
    /// @param horizon No offence before this second is judged: floors up to it bind nobody.
    /// @return added False when 64 deposits are younger than the horizon.
    function deposit(Balance storage self, uint256 amount, uint256 horizon) internal returns (bool added) {
        Head storage head = self.head;
        (uint96 tokens, uint96 floor, uint48 before) = (head.tokens, head.floor, head.before);
        uint96 sum = tokens + amount.toUint96();
        if (before == block.timestamp) {
            // What left in this very second left before this deposit came.
            (head.tokens, head.floor) = (sum, tokens < floor ? tokens : floor);
            return true;
        }
        if (before > horizon && !_keep(self, Floor(floor, before), horizon)) return false;

        (head.tokens, head.floor, head.before) = (sum, tokens, uint48(block.timestamp));
        return true;
    }

    /// @notice What an offence at second `at` reaches, wei.
    function reach(Balance storage self, uint256 at) internal view returns (uint256 tokens) {
        Head memory head = self.head;
        if (head.before <= at) return head.tokens;
        tokens = Math.min(head.tokens, head.floor);
        for (uint256 i = 0; i < head.count; ++i) {
            Floor memory floor = self.older[i];
            if (floor.before > at) tokens = Math.min(tokens, floor.tokens);
        }
    }

    /// @notice Takes `amount` wei, newest first, of the stake that was there at second `at`.
    /// @dev The caller checks `amount <= reach(at)`, which no floor lowered here is below.
    function remove(Balance storage self, uint256 at, uint256 amount) internal {
        if (amount == 0) return;
        uint96 part = amount.toUint96();
        Head storage head = self.head;
        head.tokens -= part;
        if (head.before <= at) return;

        head.floor -= part;
        uint256 count = head.count;
        for (uint256 i = 0; i < count; ++i) {
            if (self.older[i].before > at) self.older[i].tokens -= part;
        }
    }

    /// @dev Puts `floor` with the older ones: over one that binds nobody any more, else in a new place.
    function _keep(Balance storage self, Floor memory floor, uint256 horizon) private returns (bool kept) {
        (uint256 count, uint256 next) = (self.head.count, self.head.next);
        uint256 place = _place(self, count, next, horizon);
        if (place == MAX_FLOORS - 1) return false;

        // Both stay below MAX_FLOORS.
        // forge-lint: disable-next-line(unsafe-typecast)
        if (place == count) self.head.count = uint8(count + 1);
        // forge-lint: disable-next-line(unsafe-typecast)
        else self.head.next = uint8((place + 1) % count);
        self.older[place] = floor;
        return true;
    }

    /// @dev One look is enough while there is room, for places are used again in turn; all are looked at before a deposit is refused.
    function _place(Balance storage self, uint256 count, uint256 next, uint256 horizon)
        private
        view
        returns (uint256 place)
    {
        uint256 looks = count == MAX_FLOORS - 1 ? count : (count == 0 ? 0 : 1);
        for (uint256 i = 0; i < looks; ++i) {
            place = (next + i) % count;
            if (self.older[place].before <= horizon) return place;
        }
        return count;
    }
}
