// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {SystemHandler} from "./SystemHandler.sol";

/// @title Slashing invariants 8 to 15, and 34 at the end of every walk
contract SlashingCourtInvariants is Test {
    SystemHandler private handler;

    function setUp() public {
        handler = new SystemHandler();
        bytes4[] memory selectors = new bytes4[](18);
        selectors[0] = handler.accuse.selector;
        selectors[1] = handler.accuseAgain.selector;
        selectors[2] = handler.openByReport.selector;
        selectors[3] = handler.openWithBond.selector;
        selectors[4] = handler.answer.selector;
        selectors[5] = handler.veto.selector;
        selectors[6] = handler.execute.selector;
        selectors[7] = handler.expire.selector;
        selectors[8] = handler.executeInEitherOrder.selector;
        selectors[9] = handler.report.selector;
        selectors[10] = handler.settle.selector;
        selectors[11] = handler.stake.selector;
        selectors[12] = handler.requestUnbond.selector;
        selectors[13] = handler.cancelUnbond.selector;
        selectors[14] = handler.withdraw.selector;
        selectors[15] = handler.donate.selector;
        selectors[16] = handler.pass.selector;
        selectors[17] = handler.leave.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }

    /// forge-config: default.invariant.runs = 8
    /// forge-config: default.invariant.depth = 140
    /// @dev Invariants 9, 13 and 14 here; 8, 9, 10, 11, 12, 14 and 15 at every action of the handler.
    function invariant_slashing() public view {
        handler.checkCases();
        handler.compare();
    }

    /// @dev Invariants 5, 13 and 34 at the end of every walk: the oracle is dead, and yet everyone leaves in time.
    function afterInvariant() public {
        handler.leaveWithoutOracle();
        handler.compare();
    }
}
