// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {Deployment} from "../utils/Deployment.sol";

/// @title The whole deployment, with actors whose addresses are plain numbers
abstract contract SymbolicNetwork is Deployment {
    /// @dev Slot of the beacon's windows.
    uint256 private constant WINDOWS = 2;

    function _actor(string memory name) internal pure override returns (address) {
        return address(uint160(uint256(keccak256(bytes(name)))));
    }

    /// @dev Writes a window into the beacon's storage: Halmos knows no block hashes, which opening and drawing read.
    function _putWindow(uint256 windowId, IChallengeBeacon.Window memory window) internal {
        uint256 slot = uint256(keccak256(abi.encode(windowId, WINDOWS)));
        uint256 times = uint256(window.openedAt) | uint256(window.openedBlock) << 64 | uint256(window.closedAt) << 128
            | uint256(window.closedBlock) << 192;
        _put(slot, window.secretHash);
        _put(slot + 1, window.windowSeed);
        _put(slot + 2, window.commitmentsRoot);
        _put(slot + 3, window.drawSeed);
        _put(slot + 4, bytes32(times));
        _put(slot + 5, bytes32(uint256(window.commitmentCount) | uint256(window.secretBlock) << 32));
    }

    function _put(uint256 slot, bytes32 value) private {
        vm.store(address(beacon), bytes32(slot), value);
    }
}
