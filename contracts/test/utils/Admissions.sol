// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @title What a node signs to join a provider, built from the text of the standard and not from the registry's code
library Admissions {
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant TYPEHASH =
        keccak256("NodeAdmission(uint256 providerId,address node,uint256 nonce,uint256 deadline)");

    function digest(
        uint256 chainId,
        address registry,
        uint256 providerId,
        address node,
        uint256 nonce,
        uint256 deadline
    ) internal pure returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("Swarm"), keccak256("1"), chainId, registry));
        bytes32 structHash = keccak256(abi.encode(TYPEHASH, providerId, node, nonce, deadline));
        return MessageHashUtils.toTypedDataHash(domain, structHash);
    }
}
