// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {JobEscrow} from "../../../src/JobEscrow.sol";
import {IJobEscrow} from "../../../src/interfaces/IJobEscrow.sol";
import {Mirror} from "./Mirror.sol";

/// @title Jobs and their budgets rebuilt from the escrow's events
contract EscrowMirror is Mirror {
    /// @notice Budgets of jobs that are not over, wei.
    uint256 public heldBudgets;

    /// @notice Wei burned in all.
    uint256 public burned;

    IJobEscrow.Job[] private _jobs;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == IJobEscrow.JobPosted.selector) _posted(log);
        else if (kind == IJobEscrow.JobAccepted.selector) _accepted(_of(log), log);
        else if (kind == IJobEscrow.JobCompleted.selector) _completed(_of(log), log.data);
        else if (kind == IJobEscrow.JobPaid.selector) _paid(_of(log), log.data);
        else if (kind == IJobEscrow.JobRefunded.selector) _end(_of(log), IJobEscrow.JobState.Refunded);
        else if (kind == IJobEscrow.JobCancelled.selector) _end(_of(log), IJobEscrow.JobState.Cancelled);
    }

    function compare() external view override {
        JobEscrow escrow = JobEscrow(SOURCE);
        assertEq(escrow.jobCount(), _jobs.length, "jobCount");
        for (uint256 id = 1; id <= _jobs.length; ++id) {
            assertEq(keccak256(abi.encode(escrow.job(id))), keccak256(abi.encode(_jobs[id - 1])), "job");
        }
    }

    function _posted(Vm.Log calldata log) private {
        require(_id(log) == _jobs.length + 1, "ids are dense");
        IJobEscrow.Job storage job = _jobs.push();
        job.state = IJobEscrow.JobState.Posted;
        job.customer = _address(log.topics[2]);
        job.postedAt = SafeCast.toUint64(block.timestamp);
        (job.kind, job.specHash, job.budget, job.acceptBy, job.maxRunFor) =
            abi.decode(log.data, (uint8, bytes32, uint128, uint64, uint32));
        heldBudgets += job.budget;
    }

    function _accepted(IJobEscrow.Job storage job, Vm.Log calldata log) private {
        job.state = IJobEscrow.JobState.Accepted;
        job.providerId = uint256(log.topics[2]);
        job.node = _address(log.topics[3]);
        job.completeBy = abi.decode(log.data, (uint64));
    }

    function _completed(IJobEscrow.Job storage job, bytes calldata data) private {
        job.state = IJobEscrow.JobState.Completed;
        (job.receiptDigest, job.judgeBy) = abi.decode(data, (bytes32, uint64));
    }

    /// @dev The parts of a pay are the budget, to the wei.
    function _paid(IJobEscrow.Job storage job, bytes calldata data) private {
        (uint256 toProvider, uint256 toOracle, uint256 burn, uint256 refunded) =
            abi.decode(data, (uint256, uint256, uint256, uint256));
        assertEq(toProvider + toOracle + burn + refunded, job.budget, "parts of the budget");
        burned += burn;
        _end(job, IJobEscrow.JobState.Paid);
    }

    function _end(IJobEscrow.Job storage job, IJobEscrow.JobState state) private {
        job.state = state;
        heldBudgets -= job.budget;
    }

    function _of(Vm.Log calldata log) private view returns (IJobEscrow.Job storage) {
        return _jobs[_id(log) - 1];
    }
}
