// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {SystemHandler} from "./SystemHandler.sol";

/// @title Settlement invariants 17 to 23
contract RewardSettlementInvariants is Test {
    SystemHandler private handler;

    function setUp() public {
        handler = new SystemHandler();
        bytes4[] memory selectors = new bytes4[](14);
        selectors[0] = handler.report.selector;
        selectors[1] = handler.settle.selector;
        selectors[2] = handler.settleMany.selector;
        selectors[3] = handler.settleAndWithdraw.selector;
        selectors[4] = handler.settleFalsely.selector;
        selectors[5] = handler.disableRoot.selector;
        selectors[6] = handler.fund.selector;
        selectors[7] = handler.flushPenalties.selector;
        selectors[8] = handler.join.selector;
        selectors[9] = handler.requestUnbond.selector;
        selectors[10] = handler.withdraw.selector;
        selectors[11] = handler.donate.selector;
        selectors[12] = handler.pass.selector;
        selectors[13] = handler.leave.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }

    /// forge-config: default.invariant.runs = 10
    /// forge-config: default.invariant.depth = 100
    /// @dev Invariants 17, 18, 20, 21 and 23 here; 19, 21 and 22 at every action of the handler.
    function invariant_settlement() public view {
        handler.checkClaims();
        handler.compare();
    }
}
