// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title One provider's stake by the second it arrived
/// @dev A plain history of balances cannot say what an offence may reach: after "stake 100, offence, withdraw 100, stake 100" it
///      shows 100 then and 100 now, yet nothing of it is liable. So the stake is kept in tranches, oldest first:
///
///        [ at 10: 100 ][ at 50: 40 ][ at 90: 7 ]        an offence at 60 reaches 140
///
///      Whatever leaves, leaves newest first among what it may touch. Withdrawals therefore never shield an older offence
///      (invariant 11), an offence never touches later stake (invariant 12), and because each offence reaches a prefix, taking the
///      newest liable stake first makes the total the same in every order of cases (invariant 10).
///      Σ tranches equals the pool's tokens at all times.
library StakeTranches {
    using SafeCast for uint256;

    /// @notice One slot: wei that arrived in second `at`.
    struct Tranche {
        uint48 at;
        uint208 tokens;
    }

    /// @dev Bounds every loop below.
    uint256 internal constant MAX_TRANCHES = 64;

    /// @notice Adds a deposit of second `at`, which is not before the newest tranche.
    /// @param horizon Offences up to this second are no longer judged, so older tranches may be told apart no more.
    /// @return added False when 64 deposits are younger than the horizon.
    function add(Tranche[] storage self, uint256 at, uint256 amount, uint256 horizon) internal returns (bool added) {
        uint256 length = self.length;
        if (length != 0 && self[length - 1].at == at) {
            self[length - 1].tokens += amount.toUint208();
            return true;
        }
        if (length == MAX_TRANCHES && !_merge(self, horizon)) return false;

        self.push(Tranche({at: SafeCast.toUint48(at), tokens: amount.toUint208()}));
        return true;
    }

    /// @notice Sum of the tranches that arrived up to the end of second `at`, wei.
    function reachable(Tranche[] storage self, uint256 at) internal view returns (uint256 sum) {
        uint256 length = self.length;
        for (uint256 i = 0; i < length && self[i].at <= at; ++i) {
            sum += self[i].tokens;
        }
    }

    /// @notice Takes `amount` wei, newest first, from the tranches that arrived up to `at`.
    /// @dev The caller checks `amount <= reachable(at)`; the loop underflows its index otherwise and reverts.
    function remove(Tranche[] storage self, uint256 at, uint256 amount) internal {
        uint256 i = self.length;
        while (amount != 0) {
            Tranche storage tranche = self[--i];
            if (tranche.at > at) continue;

            uint256 part = Math.min(tranche.tokens, amount);
            tranche.tokens -= part.toUint208();
            amount -= part;
        }
        while (self.length != 0 && self[self.length - 1].tokens == 0) {
            self.pop();
        }
    }

    /// @dev Joins all tranches up to the horizon into the first one, dated by the oldest: dated later, a provider could
    ///      age its stake out of an offence with many small deposits.
    function _merge(Tranche[] storage self, uint256 horizon) private returns (bool shorter) {
        uint256 length = self.length;
        uint256 kept = 1;
        for (uint256 i = 1; i < length; ++i) {
            Tranche memory tranche = self[i];
            if (tranche.at <= horizon) self[0].tokens += tranche.tokens;
            else if (tranche.tokens != 0) self[kept++] = tranche;
        }
        shorter = kept < length;
        for (uint256 i = kept; i < length; ++i) {
            self.pop();
        }
    }
}
