// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {StdAssertions} from "forge-std/StdAssertions.sol";
import {Vm} from "forge-std/Vm.sol";

/// @title One contract's storage rebuilt from its events alone
/// @dev An indexer in Solidity. It shares no code with its contract: a storage write without an event, or an event that does not say enough,
///      shows as a difference in `compare`. Logs are applied in the second and the block in which they were written.
abstract contract Mirror is StdAssertions {
    /// @notice Address of the contract that is rebuilt.
    address public immutable SOURCE;

    constructor(address source) {
        SOURCE = source;
    }

    /// @notice Applies one log of SOURCE.
    function apply_(Vm.Log calldata log) external virtual;

    /// @notice Compares everything that was rebuilt with every getter of SOURCE.
    function compare() external view virtual;

    function _id(Vm.Log calldata log) internal pure returns (uint256) {
        return uint256(log.topics[1]);
    }

    function _address(bytes32 topic) internal pure returns (address) {
        return address(uint160(uint256(topic)));
    }
}
