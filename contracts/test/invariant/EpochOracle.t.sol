// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {SystemHandler} from "./SystemHandler.sol";

/// @title Consensus invariants 24 to 30
contract EpochOracleInvariants is Test {
    SystemHandler private handler;

    function setUp() public {
        handler = new SystemHandler();
        bytes4[] memory selectors = new bytes4[](18);
        selectors[0] = handler.prepare.selector;
        selectors[1] = handler.vote.selector;
        selectors[2] = handler.vote.selector;
        selectors[3] = handler.vote.selector;
        selectors[4] = handler.voteAll.selector;
        selectors[5] = handler.submit.selector;
        selectors[6] = handler.submitForged.selector;
        selectors[7] = handler.voteAsAFormerMember.selector;
        selectors[8] = handler.voteOutOfTime.selector;
        selectors[9] = handler.addMember.selector;
        selectors[10] = handler.removeMember.selector;
        selectors[11] = handler.setQuorum.selector;
        selectors[12] = handler.setQuorumOutOfRange.selector;
        selectors[13] = handler.setReporter.selector;
        selectors[14] = handler.disableRoot.selector;
        selectors[15] = handler.join.selector;
        selectors[16] = handler.passHours.selector;
        selectors[17] = handler.passHours.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }

    /// forge-config: default.invariant.runs = 10
    /// forge-config: default.invariant.depth = 128
    /// @dev Invariants 24 and 25 by comparison with a model of votes by member; 26 and 27 as each report arrives; 28, 29 and 30 at every
    ///      action of the handler.
    function invariant_consensus() public view {
        handler.compare();
    }
}
