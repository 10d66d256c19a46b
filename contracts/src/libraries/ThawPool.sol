// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IStakeVault} from "../interfaces/IStakeVault.sol";

/// @title Shares of the thawing part of one provider's stake
/// @dev Unbond requests hold shares, not tokens, so that one slash reaches all of them without a loop:
///
///        tokens      |------------ active ------------|------ thawTokens ------|
///        request i                                      shares_i / thawShares of it
///
///      Shares round down when a request is made and tokens round down when it leaves, so the last to leave never finds the pool
///      short (invariant 5) and no round trip gains a wei (invariant 6).
///
///      A share is never worth more than a wei (thawTokens <= thawShares): it starts at one, a floor of shares * t / s with t <= s
///      leaves at most as many tokens as shares, and a slash only takes tokens. So every request of a wei mints a share.
///
///      A slash makes a share worth less, and the next request then mints more shares for a token. Unchecked, a series of near
///      total slashes overflows the 128 bits. `resetWorthless` ends every request once a token is 2^32 shares: what is left is
///      dust by construction, thawTokens <= thawShares / 2^32. With it no walk passed 2^110 shares.
library ThawPool {
    using SafeCast for uint256;

    /// @dev log2 of the shares a token may cost before the pool starts over.
    uint256 private constant MAX_SHARES_PER_TOKEN_LOG2 = 32;

    /// @notice Active stake, wei.
    function active(IStakeVault.Pool storage self) internal view returns (uint256) {
        return self.tokens - self.thawTokens;
    }

    /// @notice Wei that `shares` of the live nonce are worth, rounded down in favour of those who stay.
    function toTokens(IStakeVault.Pool storage self, uint256 shares) internal view returns (uint256) {
        return shares == 0 ? 0 : Math.mulDiv(shares, self.thawTokens, self.thawShares);
    }

    /// @notice Moves `amount` wei from active to thawing.
    /// @dev The caller checks `amount <= active`.
    /// @return shares Rounded down; zero means that the amount is too small to thaw.
    function thaw(IStakeVault.Pool storage self, uint256 amount) internal returns (uint256 shares) {
        shares = self.thawShares == 0 ? amount : Math.mulDiv(amount, self.thawShares, self.thawTokens);
        self.thawTokens = (self.thawTokens + amount).toUint128();
        self.thawShares = (self.thawShares + shares).toUint128();
    }

    /// @notice Ends `shares`; the tokens become active again.
    function unthaw(IStakeVault.Pool storage self, uint256 shares) internal returns (uint256 amount) {
        amount = toTokens(self, shares);
        self.thawTokens = (self.thawTokens - amount).toUint128();
        self.thawShares = (self.thawShares - shares).toUint128();
    }

    /// @notice Takes `amount` wei pro rata from active and thawing.
    /// @dev The caller checks `amount <= tokens`. The thawing part rounds down and active pays the rest, which never exceeds it:
    ///      ceil(amount * active / tokens) <= active for amount <= tokens. Invariant 4.
    function reduce(IStakeVault.Pool storage self, uint256 amount) internal returns (uint256 fromThawing) {
        if (amount == 0) return 0;
        fromThawing = Math.mulDiv(amount, self.thawTokens, self.tokens);
        self.thawTokens = (self.thawTokens - fromThawing).toUint128();
        self.tokens = (self.tokens - amount).toUint128();
    }

    /// @notice Ends all requests when their shares are all but worthless; the dust becomes active again.
    function resetWorthless(IStakeVault.Pool storage self) internal returns (bool done, uint256 dust) {
        uint256 shares = self.thawShares;
        dust = self.thawTokens;
        if (shares == 0 || shares >> MAX_SHARES_PER_TOKEN_LOG2 < dust) return (false, 0);

        self.thawTokens = 0;
        self.thawShares = 0;
        self.nonce += 1;
        return (true, dust);
    }
}
