// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Answers one question of an exit gate and not the other
contract StatusGate {
    function exitStatus() external pure returns (uint256 activatedRoots, uint256 lastReportAt) {
        return (0, 0);
    }
}

/// @title Answers the other one
contract RootsGate {
    function settledRootsOf(uint256) external pure returns (uint32) {
        return 0;
    }
}
