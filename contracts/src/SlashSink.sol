// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {ISlashSink} from "./interfaces/ISlashSink.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";

/// @title Where slashed stake and penalties go: burn, bounty, insurance
/// @dev Bounties are pulled, so a reporter that cannot receive tokens never stops a slash. Invariant 15: the reporter's whole gain
///      is its bounty, which is less than what is burned.
contract SlashSink is ISlashSink, AccessManaged {
    using SafeERC20 for IERC20;

    /// @notice Largest share of a slash that a reporter may get, bps.
    uint256 public constant MAX_BOUNTY_BPS = 3000;

    uint256 private constant BPS = 10_000;

    /// @notice The staking token, which can be burned.
    ISwarmToken public immutable TOKEN;

    /// @inheritdoc ISlashSink
    /// @dev slot 1, wei.
    uint256 public insurance;

    /// @notice All bounties not yet claimed.
    /// @dev slot 2, wei.
    uint256 public totalBounties;

    /// @inheritdoc ISlashSink
    /// @dev slot 3, wei.
    mapping(address reporter => uint256) public bountyOf;

    /// @param authority AccessManager that names the vault and the timelock.
    constructor(address authority, ISwarmToken token) AccessManaged(authority) {
        require(address(token) != address(0), ZeroAddress());
        TOKEN = token;
    }

    /// @inheritdoc ISlashSink
    function deposit(bytes32 caseId, uint256 amount, address reporter, uint256 bountyBps) external restricted {
        require(bountyBps <= MAX_BOUNTY_BPS, BountyTooHigh(bountyBps, MAX_BOUNTY_BPS));
        uint256 owed = insurance + totalBounties + amount;
        uint256 held = TOKEN.balanceOf(address(this));
        require(held >= owed, NotReceived(held, owed));

        // The burn rounds up and the bounty down, so splitting one offence into many cases earns a reporter nothing. At most 30 %
        // against half: the two never exceed the amount, insurance keeps what is left.
        uint256 burned = Math.ceilDiv(amount, 2);
        uint256 bounty = reporter == address(0) ? 0 : Math.mulDiv(amount, bountyBps, BPS);
        uint256 insured = amount - burned - bounty;
        insurance += insured;
        totalBounties += bounty;
        bountyOf[reporter] += bounty;

        emit Deposited(caseId, amount, burned, bounty, insured, reporter);

        TOKEN.burn(burned);
    }

    /// @inheritdoc ISlashSink
    function claimBounty(address reporter) external returns (uint256 amount) {
        amount = bountyOf[reporter];
        require(amount != 0, NothingToClaim(reporter));

        bountyOf[reporter] = 0;
        totalBounties -= amount;

        emit BountyClaimed(reporter, amount);

        IERC20(TOKEN).safeTransfer(reporter, amount);
    }

    /// @inheritdoc ISlashSink
    function distribute(address to, uint256 amount) external restricted {
        require(amount <= insurance, InsufficientInsurance(insurance, amount));

        insurance -= amount;

        emit InsurancePaid(to, amount);

        IERC20(TOKEN).safeTransfer(to, amount);
    }
}
