// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";

/// @title A token that mints for everyone and calls back whoever it is told to on every transfer
contract CallbackToken is ERC20, ERC20Permit, ISwarmToken {
    /// @dev slot behind ERC20Permit; zero means an honest transfer.
    address private _target;
    bytes private _data;

    constructor() ERC20("Callback", "CALL") ERC20Permit("Callback") {}

    function callBack(address target, bytes calldata data) external {
        (_target, _data) = (target, data);
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    function cap() external pure returns (uint256) {
        return type(uint256).max;
    }

    function nonces(address owner) public view override(ERC20Permit, IERC20Permit) returns (uint256) {
        return super.nonces(owner);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (_target != address(0) && from != address(0)) Address.functionCall(_target, _data);
    }
}
