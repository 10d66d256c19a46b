// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Questions} from "../utils/Questions.sol";
import {ExitActions} from "./ExitActions.sol";
import {GuardActions} from "./GuardActions.sol";
import {JobActions} from "./JobActions.sol";
import {MemberActions} from "./MemberActions.sol";

/// @title Everything that anybody can do, on all contracts at once
/// @dev Each walk chooses its part of it: few actions go deep, all of them together go wide.
contract SystemHandler is ExitActions, JobActions, MemberActions, GuardActions {
    constructor() {
        for (uint256 i = 0; i < 3; ++i) {
            join();
            stake(i, 60 * 1e23);
            addNode(i);
        }
    }

    /// @notice Invariant 31: whatever happened, and whatever is asked, no getter reverts.
    function ask(uint256 number, bytes32 word, address who) external view {
        if (uint256(word) % 2 == 0) number %= 10;
        Questions.ask(registry, number, who);
        Questions.ask(vault, number, uint256(word));
        Questions.ask(oracle, number, word, who);
        Questions.ask(settlement, number, word);
        Questions.ask(court, number, word);
        Questions.ask(computeCourt, number, word, who);
        Questions.ask(beacon, number);
        Questions.ask(escrow, number, word);
        Questions.ask(sink, who);
    }

    /// @notice Every wei that exists is where the books say, and no wei came from nowhere.
    function checkMoney() external view {
        assertEq(token.balanceOf(address(vault)), vault.totalStaked() + donated[address(vault)], "vault");
        assertEq(token.balanceOf(address(escrow)), escrowMirror.heldBudgets() + donated[address(escrow)], "escrow");
        uint256 sunk = sinkMirror.insurance() + sinkMirror.totalBounties() + donated[address(sink)];
        assertEq(token.balanceOf(address(sink)), sunk, "sink");
        uint256 burned = sinkMirror.burned() + escrowMirror.burned();
        assertEq(token.totalSupply(), INITIAL_SUPPLY + settlementMirror.minted() - burned, "supply");
    }
}
