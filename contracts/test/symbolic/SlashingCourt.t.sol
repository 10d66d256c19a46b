// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title States of a bonded case, for every caller's move at every second
contract SlashingCourtSymbolic is SymbolicNetwork {
    uint256 private constant STAKE = 10_000e18;

    address private immutable alice = _actor("alice");
    address private immutable reporter = _actor("reporter");
    uint256 private aliceId;
    bytes32 private caseId;
    uint256 private openedAt;

    function setUp() public override {
        super.setUp();
        aliceId = _register(alice);
        _stake(alice, aliceId, STAKE);
        openedAt = GENESIS + 1 days;
        vm.warp(openedAt);
        uint256 bond = court.bondWei();
        _fund(reporter, bond);
        vm.startPrank(reporter);
        token.approve(address(court), bond);
        caseId = court.openWithBond(
            Violation({
                providerId: aliceId,
                class: ViolationClass.Protocol,
                severity: Severity.Penalty,
                epoch: 0,
                offenceAt: SafeCast.toUint64(GENESIS + 1),
                amount: 0,
                suspendedFor: 1 days,
                evidenceHash: keccak256("evidence")
            })
        );
        vm.stopPrank();
    }

    /// @dev Invariants 13 and 14: whatever is called when, a case moves as the diagram says, and bond and stake are held while it is live.
    function check_case_whenMovedTwice_thenEveryMoveIsOneOfTheDiagram(
        uint8 first,
        uint8 second,
        uint32 wait,
        uint32 more
    ) public {
        uint256 time = openedAt + wait;
        vm.warp(time);
        ISlashingCourt.CaseState before = ISlashingCourt.CaseState.Open;
        _move(first);
        _checkMove(before, time);

        before = court.caseAt(caseId).state;
        time += more;
        vm.warp(time);
        _move(second);
        _checkMove(before, time);
    }

    /// @dev One of the four moves, by whoever may make it; a revert leaves everything as it was.
    function _move(uint8 kind) private {
        if (kind == 0) {
            vm.prank(alice);
            try court.answer(caseId, bytes32("answer"), "") {} catch {}
        } else if (kind == 1) {
            vm.prank(vetoer);
            try court.veto(caseId, bytes32("reason")) {} catch {}
        } else if (kind == 2) {
            try court.execute(caseId) {} catch {}
        } else {
            try court.expire(caseId) {} catch {}
        }
    }

    function _checkMove(ISlashingCourt.CaseState before, uint256 time) private view {
        ISlashingCourt.CaseState state = court.caseAt(caseId).state;
        bool wasLive = _isLive(before);
        assert(state == before || wasLive);
        if (state != before) {
            if (state == ISlashingCourt.CaseState.Answered) assert(time < openedAt + 3 days);
            if (state == ISlashingCourt.CaseState.Vetoed) assert(time < openedAt + 3 days);
            if (state == ISlashingCourt.CaseState.Executed) {
                assert(time >= openedAt + 3 days && time < openedAt + 10 days);
            }
            if (state == ISlashingCourt.CaseState.Expired) assert(time >= openedAt + 10 days);
            assert(state != ISlashingCourt.CaseState.None && state != ISlashingCourt.CaseState.Open);
        }
        bool live = _isLive(state);
        assert(vault.pool(aliceId).openCases == (live ? 1 : 0));
        assert(token.balanceOf(address(court)) == (live ? court.bondWei() : 0));
    }

    function _isLive(ISlashingCourt.CaseState state) private pure returns (bool) {
        return state == ISlashingCourt.CaseState.Open || state == ISlashingCourt.CaseState.Answered;
    }
}
