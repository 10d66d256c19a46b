// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IJobEscrow} from "../../src/interfaces/IJobEscrow.sol";
import {Admissions} from "../utils/Admissions.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title States of a job and where its budget is, for every move at every second and every budget
contract JobEscrowSymbolic is SymbolicNetwork {
    uint256 private constant NODE_KEY = 7;
    uint32 private constant ACCEPT_FOR = 1 days;
    uint32 private constant RUN_FOR = 2 days;
    uint64 private constant JUDGE_FOR = 5 days;

    address private constant CUSTOMER = address(0xC0);
    address private constant ALICE = address(0xA11CE);
    uint256 private aliceId;
    address private node;

    function setUp() public override {
        super.setUp();
        aliceId = _register(ALICE);
        node = vm.addr(NODE_KEY);
        bytes32 digest = Admissions.digest(block.chainid, address(registry), aliceId, node, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(NODE_KEY, digest);
        vm.prank(ALICE);
        registry.addNode(aliceId, node, block.timestamp, abi.encodePacked(r, s, v));
    }

    /// @dev A job moves as the diagram says, each move inside its own time.
    function check_job_whenMoved_thenTheMoveIsOneOfTheDiagram(uint8 prepared, uint8 move, uint32 wait) public {
        vm.assume(prepared < 3 && move < 4);
        uint256 jobId = _post(100e18);
        _prepare(jobId, prepared);
        IJobEscrow.JobState before = escrow.job(jobId).state;
        vm.warp(block.timestamp + wait);
        bool done = _move(jobId, move);
        IJobEscrow.JobState state = escrow.job(jobId).state;

        assert(done == (state != before));
        assert(done == _isAllowed(before, move, wait));
        bool live = state == IJobEscrow.JobState.Posted || state == IJobEscrow.JobState.Accepted
            || state == IJobEscrow.JobState.Completed;
        assert(token.balanceOf(address(escrow)) == (live ? 100e18 : 0));
    }

    /// @dev Whatever the budget, cancelling or refunding gives the customer all of it, once.
    function check_budget_whenTheJobEndsUnpaid_thenAllOfItReturns(uint128 budget, bool accepted) public {
        vm.assume(budget >= 1e18 && budget <= INITIAL_SUPPLY);
        uint256 jobId = _post(budget);
        assert(token.balanceOf(CUSTOMER) == 0);
        if (accepted) _prepare(jobId, 1);
        vm.warp(block.timestamp + RUN_FOR);
        _move(jobId, accepted ? 3 : 2);

        assert(token.balanceOf(CUSTOMER) == budget);
        assert(token.balanceOf(address(escrow)) == 0);
        assert(!_move(jobId, 2) && !_move(jobId, 3));
    }

    function _post(uint128 budget) private returns (uint256 jobId) {
        _fund(CUSTOMER, budget);
        vm.startPrank(CUSTOMER);
        token.approve(address(escrow), budget);
        jobId = escrow.post(1, keccak256("spec"), budget, ACCEPT_FOR, RUN_FOR);
        vm.stopPrank();
    }

    /// @dev 0 posted, 1 accepted, 2 completed.
    function _prepare(uint256 jobId, uint8 state) private {
        if (state > 0) assert(_move(jobId, 0));
        if (state > 1) assert(_move(jobId, 1));
    }

    /// @dev 0 accept, 1 complete, 2 cancel, 3 refund, each by who may.
    function _move(uint256 jobId, uint8 kind) private returns (bool done) {
        vm.prank(kind == 2 ? CUSTOMER : ALICE);
        if (kind == 0) {
            try escrow.accept(jobId, aliceId, node) {
                done = true;
            } catch {}
        } else if (kind == 1) {
            try escrow.complete(jobId, keccak256("receipt")) {
                done = true;
            } catch {}
        } else if (kind == 2) {
            try escrow.cancel(jobId) {
                done = true;
            } catch {}
        } else {
            try escrow.refund(jobId) {
                done = true;
            } catch {}
        }
    }

    function _isAllowed(IJobEscrow.JobState before, uint8 move, uint256 wait) private pure returns (bool) {
        if (before == IJobEscrow.JobState.Posted) return move == 2 || (move == 0 && wait < ACCEPT_FOR);
        if (before == IJobEscrow.JobState.Accepted) {
            return (move == 1 && wait < RUN_FOR) || (move == 3 && wait >= RUN_FOR);
        }
        return move == 3 && wait >= JUDGE_FOR;
    }
}
