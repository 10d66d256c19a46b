// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title Shares of the thawing part of one provider's stake
/// @dev Unbond requests hold shares, not tokens, so that one slash reaches all of them without a loop:
///
///        stake       |------------ active ------------|-------- tokens --------|
///        request i                                        shares_i / shares of it
///
///      Shares round down when a request is made and tokens round down when it leaves, so the last to leave never finds the pool
///      short (invariant 5) and no round trip gains a wei (invariant 6).
///
///      A share is never worth more than a wei (tokens <= shares): it starts at one, a floor of shares * t / s with t <= s
///      leaves at most as many tokens as shares, and a slash only takes tokens. So every request of a wei mints a share.
///
///      A slash makes a share worth less, and the next request then mints more shares for a token. Unchecked, a series of near
///      total slashes overflows the 128 bits. `resetWorthless` ends every request once a token is 2^32 shares: what is left is
///      dust by construction, tokens <= shares / 2^32. With it no walk passed 2^110 shares.
library ThawPool {
    using SafeCast for uint256;

    /// @notice One slot: wei asked back and not yet gone, the shares of them, and how often the shares started over.
    struct Pool {
        uint96 tokens;
        uint128 shares;
        uint32 nonce;
    }

    /// @dev log2 of the shares a token may cost before the pool starts over.
    uint256 private constant MAX_SHARES_PER_TOKEN_LOG2 = 32;

    /// @notice Wei that `shares` of the live nonce are worth, rounded down in favour of those who stay.
    function toTokens(Pool storage self, uint256 shares) internal view returns (uint256) {
        return shares == 0 ? 0 : Math.mulDiv(shares, self.tokens, self.shares);
    }

    /// @notice Moves `amount` wei from active to thawing.
    /// @dev The caller checks `amount <= active`.
    /// @return shares Rounded down; zero means that the amount is too small to thaw.
    function thaw(Pool storage self, uint256 amount) internal returns (uint256 shares) {
        shares = self.shares == 0 ? amount : Math.mulDiv(amount, self.shares, self.tokens);
        self.tokens = (self.tokens + amount).toUint96();
        self.shares = (self.shares + shares).toUint128();
    }

    /// @notice Ends `shares`; the tokens become active again.
    function unthaw(Pool storage self, uint256 shares) internal returns (uint256 amount) {
        amount = toTokens(self, shares);
        self.tokens = (self.tokens - amount).toUint96();
        self.shares = (self.shares - shares).toUint128();
    }

    /// @notice Takes the thawing part of `amount` wei, which is taken pro rata from active and thawing.
    /// @dev The caller checks `amount <= stake`. The thawing part rounds down and active pays the rest, which never exceeds it:
    ///      ceil(amount * active / stake) <= active for amount <= stake. Invariant 4.
    /// @param stake Active and thawing, wei.
    function reduce(Pool storage self, uint256 amount, uint256 stake) internal returns (uint256 fromThawing) {
        if (amount == 0) return 0;
        fromThawing = Math.mulDiv(amount, self.tokens, stake);
        self.tokens = (self.tokens - fromThawing).toUint96();
    }

    /// @notice Ends all requests when their shares are all but worthless; the dust becomes active again.
    function resetWorthless(Pool storage self) internal returns (bool done, uint256 dust) {
        uint256 shares = self.shares;
        dust = self.tokens;
        if (shares == 0 || shares >> MAX_SHARES_PER_TOKEN_LOG2 < dust) return (false, 0);

        self.tokens = 0;
        self.shares = 0;
        self.nonce += 1;
        return (true, dust);
    }
}
