// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {SwarmToken} from "../../src/SwarmToken.sol";

/// @title What a token holder signs for ERC-2612, built from the standard's text
library Permits {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    function digest(SwarmToken token, address owner, address spender, uint256 value, uint256 deadline)
        internal
        view
        returns (bytes32)
    {
        bytes32 structHash =
            keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, token.nonces(owner), deadline));
        return MessageHashUtils.toTypedDataHash(token.DOMAIN_SEPARATOR(), structHash);
    }
}
