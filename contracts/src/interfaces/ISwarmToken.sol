// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";

/// @title SWM, the capped staking and reward token
interface ISwarmToken is IERC20, IERC20Permit {
    /// @notice New tokens would exceed the cap.
    error CapExceeded(uint256 supply, uint256 cap);

    /// @notice Creates `amount` wei for `to`. Only the minter role (RewardSettlement) may call.
    function mint(address to, uint256 amount) external;

    /// @notice Destroys `amount` wei of the caller.
    function burn(uint256 amount) external;

    /// @notice Largest supply that can ever exist, in wei.
    function cap() external view returns (uint256);
}
