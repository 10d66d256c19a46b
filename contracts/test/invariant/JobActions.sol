// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IJobEscrow} from "../../src/interfaces/IJobEscrow.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {JobOutcome} from "../../src/types/Outcomes.sol";
import {Admissions} from "../utils/Admissions.sol";
import {ClaimActions} from "./ClaimActions.sol";

/// @title Keys of providers and the jobs their nodes run
abstract contract JobActions is ClaimActions {
    uint256 private _keys;
    address[] private _nodes;
    address internal immutable customer = makeAddr("customer");

    function addNode(uint256 who) public observed {
        uint256 id = _anyProvider(who);
        if (id == 0 || registry.isRetired(id)) return;
        (address node, uint256 key) = makeAddrAndKey(string.concat("node", vm.toString(++_keys)));
        bytes32 digest = Admissions.digest(block.chainid, address(registry), id, node, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        bytes memory call = abi.encodeCall(registry.addNode, (id, node, block.timestamp, abi.encodePacked(r, s, v)));

        vm.prank(registry.provider(id).operator);
        (bool done,) = address(registry).call(call);

        assertTrue(done, "a signed node joins");
        _nodes.push(node);
        _mustFail(_owner(id), address(registry), call, "a key joined twice");
    }

    function removeNode(uint256 which) external observed {
        if (_nodes.length == 0) return;
        address node = _nodes[which % _nodes.length];
        uint256 id = registry.providerIdOfNode(node);
        if (id == 0 || which % 3 != 0) return;
        vm.prank(_owner(id));
        registry.removeNode(id, node);
    }

    /// @dev One at a time, ahead, of bounded length; by the node, the owner or the operator of a live one.
    function announce(uint256 which, uint256 startsIn, uint256 length) external observed {
        if (_nodes.length == 0) return;
        address node = _nodes[which % _nodes.length];
        uint256 id = registry.providerIdOfNode(node);
        uint64 startsAt = SafeCast.toUint64(block.timestamp + startsIn % 40 days);
        uint64 endsAt = startsAt + SafeCast.toUint64(length % 8 days);
        (, uint64 lastEndsAt) = registry.maintenanceOf(node);
        bytes memory call = abi.encodeCall(registry.announceMaintenance, (id, node, startsAt, endsAt));
        _mustFail(makeAddr("stranger"), address(registry), call, "announced by a stranger");
        bool inTime = startsAt > block.timestamp && startsAt <= block.timestamp + 30 days;
        bool bounded = endsAt > startsAt && endsAt <= startsAt + 7 days;
        if (id == 0 || lastEndsAt > block.timestamp || !inTime || !bounded) {
            _mustFail(node, address(registry), call, "an announcement nobody may make");
            return;
        }
        address[3] memory speakers = [node, _owner(id), registry.provider(id).operator];
        vm.prank(speakers[which % 3]);
        registry.announceMaintenance(id, node, startsAt, endsAt);
        hits["maintenance announced"] += 1;
    }

    function withdrawAnnounced(uint256 which) external observed {
        if (_nodes.length == 0) return;
        address node = _awaited(which);
        uint256 id = registry.providerIdOfNode(node);
        (uint64 startsAt,) = registry.maintenanceOf(node);
        bytes memory call = abi.encodeCall(registry.withdrawMaintenance, (id, node));
        if (id == 0 || startsAt <= block.timestamp) {
            _mustFail(node, address(registry), call, "maintenance withdrawn that has begun, or never was");
            return;
        }
        vm.prank(node);
        registry.withdrawMaintenance(id, node);
        hits["maintenance withdrawn"] += 1;
    }

    function changeKeys(uint256 who, uint256 how) external observed {
        uint256 id = _anyProvider(who);
        if (id == 0) return;
        address key = makeAddr(string.concat("key of provider", vm.toString(how % 9)));
        vm.startPrank(_owner(id));
        if (how % 8 < 3) registry.setOperator(id, key);
        else if (how % 8 < 6) registry.setPayout(id, key);
        else registry.setDefender(id, how % 8 == 6 ? key : address(0));
        vm.stopPrank();
    }

    function retireOrReinstate(uint256 who, uint256 how) external observed {
        uint256 id = _anyProvider(who);
        if (id == 0) return;
        if (how % 16 == 0 && !registry.isRetired(id)) {
            vm.prank(_owner(id));
            registry.retire(id);
        } else if (how % 2 == 1) {
            _byTimelock(address(registry), abi.encodeCall(registry.reinstate, (id)));
        }
    }

    function postJob(uint256 budget, uint256 times) external observed {
        if (_isPaused(address(escrow))) return;
        uint128 amount = SafeCast.toUint128(1e18 + _spread(budget, 1e21));
        _fund(customer, amount);
        vm.startPrank(customer);
        token.approve(address(escrow), amount);
        escrow.post(uint8(1 + times % 6), keccak256("spec"), amount, 2 days, uint32(1 + times % 9 days));
        vm.stopPrank();
    }

    function acceptJob(uint256 which, uint256 node) external observed {
        (uint256 jobId, IJobEscrow.Job memory job) = _anyJob(which);
        if (job.state != IJobEscrow.JobState.Posted || _nodes.length == 0) return;
        address chosen = _nodes[node % _nodes.length];
        uint256 id = registry.providerIdOfNode(chosen);
        IProviderRegistry.Provider memory provider = registry.provider(id);
        bytes memory call = abi.encodeCall(escrow.accept, (jobId, id, chosen));
        bool late = block.timestamp >= job.acceptBy || _isPaused(address(escrow));
        if (late || id == 0 || provider.retired || provider.suspendedUntil > block.timestamp) {
            _mustFail(chosen, address(escrow), call, "a job for nobody");
            return;
        }
        vm.prank(node % 2 == 0 ? chosen : provider.operator);
        escrow.accept(jobId, id, chosen);
    }

    /// @dev The oracle judges every completed job, a quarter of them as failed.
    function completeJob(uint256 which, uint256 pay) external observed {
        (uint256 jobId, IJobEscrow.Job memory job) = _anyJob(which);
        if (job.state != IJobEscrow.JobState.Accepted) return;
        bytes32 digest = keccak256(abi.encode(which));
        if (block.timestamp >= job.completeBy) {
            _mustFail(job.node, address(escrow), abi.encodeCall(escrow.complete, (jobId, digest)), "completed late");
            return;
        }
        vm.prank(job.node);
        escrow.complete(jobId, digest);

        uint256 payWei = pay % 4 == 0 ? 0 : _least(_spread(pay, 2 * job.budget), job.budget);
        jobOutcomes.push(JobOutcome(jobId, digest, SafeCast.toUint128(payWei)));
        jobPlaces.push();
    }

    function settleJob(uint256 which) external observed {
        if (jobOutcomes.length == 0) return;
        uint256 index = _payableOutcome(which);
        Place memory at = jobPlaces[index];
        if (at.root == 0) return;
        bytes memory call = abi.encodeCall(escrow.settleJob, (jobOutcomes[index], at.root - 1, _outcomePathIn(at)));
        bool over = escrow.job(jobOutcomes[index].jobId).state != IJobEscrow.JobState.Completed;
        if (over || !_isActive(at.root - 1)) {
            _mustFail(customer, address(escrow), call, "21: a budget left twice or without a verdict");
            return;
        }
        (bool done,) = address(escrow).call(call);
        assertTrue(done, "a judged job is paid");
        hits["job paid"] += 1;
    }

    /// @notice Cancels or refunds, whichever the state allows; too early it must fail.
    function takeBack(uint256 which) external observed {
        (uint256 jobId, IJobEscrow.Job memory job) = _anyJob(which);
        if (job.state == IJobEscrow.JobState.None) return;
        bool accepted = job.state == IJobEscrow.JobState.Accepted;
        bool completed = job.state == IJobEscrow.JobState.Completed;
        if (job.state == IJobEscrow.JobState.Posted) {
            if (which % 4 != 0) return;
            vm.prank(customer);
            escrow.cancel(jobId);
        } else if ((accepted || completed) && block.timestamp >= (accepted ? job.completeBy : job.judgeBy)) {
            escrow.refund(jobId);
            hits["job refunded"] += 1;
        } else {
            _mustFail(customer, address(escrow), abi.encodeCall(escrow.refund, (jobId)), "a budget left early or twice");
        }
    }

    /// @dev A live node whose maintenance lies ahead; if there is none, any.
    function _awaited(uint256 which) private view returns (address node) {
        uint256 count = _nodes.length;
        for (uint256 i = 0; i < count; ++i) {
            node = _nodes[(which % count + i) % count];
            (uint64 startsAt,) = registry.maintenanceOf(node);
            if (startsAt > block.timestamp && registry.providerIdOfNode(node) != 0) return node;
        }
    }

    /// @dev One that can be paid now; if there is none, any.
    function _payableOutcome(uint256 which) private view returns (uint256 index) {
        uint256 count = jobOutcomes.length;
        for (uint256 i = 0; i < count && which % 4 != 0; ++i) {
            index = (which % count + i) % count;
            uint256 root = jobPlaces[index].root;
            if (root == 0 || !_isActive(root - 1)) continue;
            if (escrow.job(jobOutcomes[index].jobId).state == IJobEscrow.JobState.Completed) return index;
        }
        return which % count;
    }

    function _anyJob(uint256 which) private view returns (uint256 jobId, IJobEscrow.Job memory job) {
        uint256 count = escrow.jobCount();
        if (count == 0) return (0, job);
        jobId = count - which % _least(count, 4);
        return (jobId, escrow.job(jobId));
    }
}
