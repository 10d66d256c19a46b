// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @title A token that keeps one percent of every transfer (bug class 40)
contract FeeToken is ERC20 {
    constructor() ERC20("Fee", "FEE") {
        _mint(msg.sender, 1e27);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0) && to != address(0)) _burn(to, value / 100);
    }
}

/// @title A token that says false instead of reverting (bug class 40)
contract FalseToken is ERC20 {
    constructor() ERC20("False", "FALSE") {
        _mint(msg.sender, 1e27);
    }

    function transferFrom(address, address, uint256) public pure override returns (bool) {
        return false;
    }
}

/// @title A token that calls a contract of the attacker's choice in the middle of every transfer
contract ReentrantToken is ERC20 {
    address private _target;
    bytes private _attack;

    constructor() ERC20("Reentrant", "RE") {
        _mint(msg.sender, 1e27);
    }

    function arm(address target, bytes calldata attack) external {
        (_target, _attack) = (target, attack);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (_target != address(0)) Address.functionCall(_target, _attack);
    }
}
