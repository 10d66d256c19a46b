// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Test} from "forge-std/Test.sol";

import {SystemHandler} from "./SystemHandler.sol";

/// @title One walk over the whole system: all contracts real, every storage write rebuilt from events at every step
contract SystemInvariants is Test {
    SystemHandler private handler;
    bytes4[] private selectors;

    function setUp() public {
        handler = new SystemHandler();
        _targetOracle();
        _targetStake();
        _targetJudgement();
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }

    /// forge-config: default.invariant.runs = 7
    /// forge-config: default.invariant.depth = 200
    /// @dev Everything that the other walks check, with everything going on at once.
    function invariant_system() public view {
        handler.checkClaims();
        handler.checkCases();
        handler.checkMoney();
        handler.compare();
    }

    /// @dev Invariants 5, 13 and 34 after any history.
    function afterInvariant() public {
        handler.leaveWithoutOracle();
        handler.compare();
    }

    /// @dev A walk that never meets what it checks proves nothing: a fixed one meets all of it.
    function test_walk_whenLong_thenItMeetsEveryOutcome() public {
        for (uint256 i = 0; i < 4000; ++i) {
            bytes memory call = abi.encodeWithSelector(
                selectors[_dice(i, 0) % selectors.length], _dice(i, 1), _dice(i, 2), _dice(i, 3) >> 96, _dice(i, 4)
            );
            Address.functionCall(address(handler), call);
            if (i % 100 == 0) invariant_system();
        }
        _requireMet();
        afterInvariant();
    }

    function _requireMet() private {
        bytes32[22] memory names = [
            bytes32("report taken"),
            "no quorum",
            "root disabled",
            "root refused",
            "paid",
            "paid by a batch",
            "penalty from stake",
            "false line refused",
            "withdrawn",
            "gate closed",
            "membership changed",
            "former member refused",
            "case opened",
            "case replaced",
            "slashed",
            "vetoed",
            "expired",
            "either order",
            "job refunded",
            "window drawn",
            "maintenance announced",
            "maintenance withdrawn"
        ];
        for (uint256 i = 0; i < names.length; ++i) {
            emit log_named_uint(string(bytes.concat(names[i])), handler.hits(names[i]));
            assertGt(handler.hits(names[i]), 1, string(bytes.concat(names[i])));
        }
        // Accepted, completed, judged and activated within five days: luck.
        assertGt(handler.hits("job paid"), 0, "job paid");
    }

    function _dice(uint256 step, uint256 number) private pure returns (uint256) {
        return uint256(keccak256(abi.encode("walk", step, number)));
    }

    function _targetOracle() private {
        selectors.push(handler.report.selector);
        selectors.push(handler.report.selector);
        selectors.push(handler.prepare.selector);
        selectors.push(handler.vote.selector);
        selectors.push(handler.voteAll.selector);
        selectors.push(handler.submit.selector);
        selectors.push(handler.submitForged.selector);
        selectors.push(handler.addMember.selector);
        selectors.push(handler.removeMember.selector);
        selectors.push(handler.setQuorum.selector);
        selectors.push(handler.setReporter.selector);
        selectors.push(handler.voteAsAFormerMember.selector);
        selectors.push(handler.voteOutOfTime.selector);
        selectors.push(handler.disableRoot.selector);
        selectors.push(handler.stepWindow.selector);
        selectors.push(handler.pass.selector);
        selectors.push(handler.passHours.selector);
    }

    function _targetStake() private {
        selectors.push(handler.join.selector);
        selectors.push(handler.stake.selector);
        selectors.push(handler.requestUnbond.selector);
        selectors.push(handler.cancelUnbond.selector);
        selectors.push(handler.withdraw.selector);
        selectors.push(handler.leave.selector);
        selectors.push(handler.settle.selector);
        selectors.push(handler.settleMany.selector);
        selectors.push(handler.settleAndWithdraw.selector);
        selectors.push(handler.settleFalsely.selector);
        selectors.push(handler.fund.selector);
        selectors.push(handler.flushPenalties.selector);
        selectors.push(handler.donate.selector);
        selectors.push(handler.pause.selector);
        selectors.push(handler.resume.selector);
        selectors.push(handler.changeSettings.selector);
    }

    function _targetJudgement() private {
        selectors.push(handler.accuse.selector);
        selectors.push(handler.accuseAgain.selector);
        selectors.push(handler.openByReport.selector);
        selectors.push(handler.openWithBond.selector);
        selectors.push(handler.answer.selector);
        selectors.push(handler.veto.selector);
        selectors.push(handler.execute.selector);
        selectors.push(handler.expire.selector);
        selectors.push(handler.executeInEitherOrder.selector);
        selectors.push(handler.claimBounty.selector);
        selectors.push(handler.distribute.selector);
        selectors.push(handler.addNode.selector);
        selectors.push(handler.removeNode.selector);
        selectors.push(handler.announce.selector);
        selectors.push(handler.withdrawAnnounced.selector);
        selectors.push(handler.changeKeys.selector);
        selectors.push(handler.retireOrReinstate.selector);
        selectors.push(handler.postJob.selector);
        selectors.push(handler.acceptJob.selector);
        selectors.push(handler.completeJob.selector);
        selectors.push(handler.settleJob.selector);
        // Twice, as reports are: a job is paid only if five of these steps meet within days.
        selectors.push(handler.postJob.selector);
        selectors.push(handler.acceptJob.selector);
        selectors.push(handler.completeJob.selector);
        selectors.push(handler.settleJob.selector);
        selectors.push(handler.takeBack.selector);
        selectors.push(handler.ask.selector);
    }
}
