// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

/// @title `new` for a contract whose creation code lies in forge's out/ and may have been exchanged there
/// @dev Creates at the depth of the caller, so pranks and expected reverts meet it as they meet `new`.
library Deployer {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function deploy(string memory artifact, bytes memory arguments) internal returns (address created) {
        bytes memory code = bytes.concat(VM.getCode(artifact), arguments);
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
            if iszero(created) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }
}
