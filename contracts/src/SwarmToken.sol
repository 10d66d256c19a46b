// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";

import {ISwarmToken} from "./interfaces/ISwarmToken.sol";

/// @title SWM, the capped staking and reward token
contract SwarmToken is ISwarmToken, ERC20Permit, AccessManaged {
    /// @notice Largest supply that can ever exist, wei.
    uint256 public immutable CAP;

    /// @param authority AccessManager that names the minter.
    /// @param cap_ Largest supply, wei.
    /// @param initialHolder Receives `initialSupply` wei at deployment.
    constructor(address authority, uint256 cap_, address initialHolder, uint256 initialSupply)
        ERC20("Swarm", "SWM")
        ERC20Permit("Swarm")
        AccessManaged(authority)
    {
        CAP = cap_;
        _mintCapped(initialHolder, initialSupply);
    }

    /// @inheritdoc ISwarmToken
    function mint(address to, uint256 amount) external restricted {
        _mintCapped(to, amount);
    }

    /// @inheritdoc ISwarmToken
    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    /// @inheritdoc ISwarmToken
    function cap() external view returns (uint256) {
        return CAP;
    }

    /// @inheritdoc IERC20Permit
    function nonces(address owner) public view override(ERC20Permit, IERC20Permit) returns (uint256) {
        return super.nonces(owner);
    }

    function _mintCapped(address to, uint256 amount) private {
        _mint(to, amount);
        require(totalSupply() <= CAP, CapExceeded(totalSupply(), CAP));
    }
}
