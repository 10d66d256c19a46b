// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {ClaimActions} from "./ClaimActions.sol";

/// @title Cases of every kind: by report and by bond, answered, vetoed, executed, expired and replaced
abstract contract CourtActions is ClaimActions {
    uint256 internal constant BOND = 1000e18;

    /// @dev What a case could take when it was opened, and what its provider had lost by then to penalties and slashes.
    struct Reach {
        uint256 stakeWei;
        uint256 lostWei;
    }

    /// @notice Wei that each offence cost in all, and the most that anyone stated for it.
    mapping(bytes32 caseId => uint256) public tookFor;
    mapping(bytes32 caseId => uint256) public statedFor;

    /// @notice How often a case of an offence was executed: by bond and by report.
    mapping(bytes32 caseId => uint256) public executedByBond;
    mapping(bytes32 caseId => uint256) public executedByReport;

    mapping(bytes32 caseId => Reach) private _reachOf;
    uint256 private _evidence;

    /// @dev What the buckets leave, noted before an execution changes it.
    uint256 private _bucketsBefore;

    address internal immutable reporter = makeAddr("reporter");
    address internal immutable bystander = makeAddr("bystander");

    /// @notice Somebody states a violation, true or not; nothing happens to anybody yet.
    function accuse(uint256 who, uint256 kind, uint256 amount, uint256 age) public {
        uint256 id = _anyProvider(who);
        if (id == 0) return;
        violations.push(
            Violation({
                providerId: id,
                class: ViolationClass(1 + kind % 3),
                severity: kind % 2 == 0 ? Severity.Penalty : Severity.Severe,
                epoch: oracle.currentEpoch(),
                offenceAt: SafeCast.toUint64(block.timestamp - age % 8 days),
                amount: SafeCast.toUint128(_spread(amount, 2 * vault.pool(id).tokens)),
                suspendedFor: kind % 5 == 0 ? type(uint64).max : SafeCast.toUint64(kind % 9 days),
                evidenceHash: keccak256(abi.encode("evidence", ++_evidence))
            })
        );
        violationPlaces.push();
    }

    /// @notice The same offence in other words: another amount, another second.
    function accuseAgain(uint256 which, uint256 amount) external {
        if (violations.length == 0) return;
        Violation memory again = violations[which % violations.length];
        again.amount = SafeCast.toUint128(_spread(amount, 1 + 2 * vault.pool(again.providerId).tokens));
        violations.push(again);
        violationPlaces.push();
    }

    /// @notice Invariants 9 and 21: opens exactly what an activated root says and no report opened before.
    function openByReport(uint256 which) external observed {
        if (violations.length == 0) return;
        uint256 index = _ripeViolation(which);
        Violation memory violation = violations[index];
        Place memory at = violationPlaces[index];
        bytes32 caseId = court.caseIdOf(violation);
        ISlashingCourt.Case memory previous = court.caseAt(caseId);
        bytes32[] memory path = at.root == 0 ? new bytes32[](1) : _outcomePathIn(at);
        uint256 root = at.root == 0 ? 0 : at.root - 1;
        if (!_isRipe(index)) {
            bytes memory call = abi.encodeCall(court.open, (violation, root, path));
            _mustFail(reporter, address(court), call, "9, 21: a case without ground");
            return;
        }
        vm.prank(reporter);
        court.open(violation, root, path);

        _noteOpened(caseId, violation);
        hits["case replaced"] += previous.bond != 0 && _isLiveCase(previous.state) ? 1 : 0;
    }

    /// @notice Invariants 9 and 14: opens with a bond what has no case yet.
    function openWithBond(uint256 which) public observed {
        if (which % 2 == 0) accuse(which >> 1, which >> 9, which >> 17, 0);
        if (violations.length == 0) return;
        Violation memory violation = violations[violations.length - 1 - which % _least(violations.length, 4)];
        bytes32 caseId = court.caseIdOf(violation);
        _fund(reporter, BOND);
        vm.prank(reporter);
        token.approve(address(court), BOND);
        if (court.caseAt(caseId).state != ISlashingCourt.CaseState.None || !_isRecent(violation)) {
            bytes memory call = abi.encodeCall(court.openWithBond, (violation));
            _mustFail(reporter, address(court), call, "9: one case an offence");
            return;
        }
        vm.prank(reporter);
        court.openWithBond(violation);

        _noteOpened(caseId, violation);
    }

    function answer(uint256 which) external observed {
        (bool found, bytes32 caseId, ISlashingCourt.Case memory record) = _anyCase(which);
        if (!found) return;
        address owner = _owner(record.providerId);
        bytes memory call = abi.encodeCall(court.answer, (caseId, bytes32(which), "ipfs://answer"));
        _mustFail(bystander, address(court), call, "a stranger answered");
        if (record.state != ISlashingCourt.CaseState.Open || block.timestamp >= record.executableAt) {
            _mustFail(owner, address(court), call, "answered twice or late");
            return;
        }
        vm.prank(owner);
        court.answer(caseId, bytes32(which), "ipfs://answer");
    }

    /// @notice Invariant 14: the bond of a vetoed case goes to the accused.
    function veto(uint256 which) external observed {
        (bool found, bytes32 caseId, ISlashingCourt.Case memory record) = _freshCase(which);
        if (!found || which % 3 != 0) return;
        if (!_isLiveCase(record.state) || block.timestamp >= record.executableAt) {
            bytes memory call = abi.encodeCall(court.veto, (caseId, bytes32(which)));
            _mustFail(vetoer, address(court), call, "vetoed late");
            return;
        }
        address accused = registry.payoutOf(record.providerId);
        uint256 before = token.balanceOf(accused);

        vm.prank(vetoer);
        court.veto(caseId, bytes32(which));

        assertEq(token.balanceOf(accused), before + record.bond, "14: the bond is the accused's");
        hits["vetoed"] += 1;
    }

    /// @notice Invariants 8 to 12, 14 and 15, at every execution.
    function execute(uint256 which) external observed {
        (bool found, bytes32 caseId, ISlashingCourt.Case memory record) = _dueCase(which, false);
        if (!found) return;
        bool open = _isLiveCase(record.state);
        if (!open || block.timestamp < record.executableAt || block.timestamp >= record.expiresAt) {
            bytes memory call = abi.encodeCall(court.execute, (caseId));
            _mustFail(bystander, address(court), call, "9, 13: executed twice or out of time");
            return;
        }
        _execute(caseId, record);
    }

    /// @notice Invariant 13: whoever asks, a case that is over lets the stake and the bond go.
    function expire(uint256 which) external observed {
        (bool found, bytes32 caseId, ISlashingCourt.Case memory record) = _dueCase(which, true);
        if (!found) return;
        if (!_isLiveCase(record.state) || block.timestamp < record.expiresAt) {
            _mustFail(bystander, address(court), abi.encodeCall(court.expire, (caseId)), "13: expired early or twice");
            return;
        }
        _expire(caseId, record);
    }

    /// @notice Invariant 10: two cases of one kind against one provider, executed in either order, take the same.
    function executeInEitherOrder(uint256 who, uint256 kind, uint256 amount, uint256 other) external {
        uint256 id = _anyProvider(who);
        if (id == 0) return;
        bytes32 first = _openFresh(who, kind, amount, other % 3 days);
        bytes32 second = _openFresh(who, kind, other, amount % 3 days);
        vm.warp(court.caseAt(second).executableAt);

        uint256 before = vm.snapshotState();
        uint256 oneWay = court.execute(first) + court.execute(second);
        assertTrue(vm.revertToState(before));
        uint256 otherWay = court.execute(second) + court.execute(first);
        assertTrue(vm.revertToStateAndDelete(before));
        // The recorder does not go back with the state.
        vm.getRecordedLogs();

        assertApproxEqAbs(oneWay, otherWay, 2, "10: the order of cases does not matter");
        if (oneWay != 0) hits["either order"] += 1;
    }

    /// @notice Invariants 9, 13 and 14 over all cases.
    function checkCases() external view {
        for (uint256 i = 0; i < courtMirror.caseCount(); ++i) {
            bytes32 caseId = courtMirror.caseIds(i);
            ISlashingCourt.Case memory record = court.caseAt(caseId);
            assertLe(executedByBond[caseId], 1, "9: executed once by bond");
            assertLe(executedByReport[caseId], 1, "9: executed once by report");
            assertLe(tookFor[caseId], statedFor[caseId], "9: no more than the worst that was stated");
            assertLe(record.expiresAt, record.openedAt + 10 days, "13: within ten days");
        }
        for (uint256 id = 1; id <= registry.providerCount(); ++id) {
            assertEq(vault.pool(id).openCases, courtMirror.liveCases(id), "13: stake is held by live cases only");
        }
        uint256 held = courtMirror.heldBonds() + donated[address(court)];
        assertEq(token.balanceOf(address(court)), held, "14: bonds are conserved");
    }

    function _execute(bytes32 caseId, ISlashingCourt.Case memory record) internal {
        uint256 most = _mostOf(record);
        uint256 bounty = sink.bountyOf(reporter);
        uint256 bondTo = token.balanceOf(reporter);
        uint256 bystanderHas = token.balanceOf(bystander);
        Reach memory reach = _reachOf[caseId];
        uint256 lostSince = taken[record.providerId] - reach.lostWei;

        vm.prank(bystander);
        uint256 took = court.execute(caseId);

        assertEq(took, most, "8, 12: min(request, stake of the offence still there, buckets)");
        if (took < record.amount && took + lostSince < reach.stakeWei) {
            assertEq(took, _bucketsBefore, "11: only buckets and other judgements lower it");
        }
        assertEq(sink.bountyOf(reporter), bounty + took / 10, "15: the reporter has its tenth");
        assertEq(token.balanceOf(bystander), bystanderHas, "15: who calls gains nothing");
        assertEq(token.balanceOf(reporter), bondTo + record.bond, "14: the bond returns");
        taken[record.providerId] += took;
        tookFor[caseId] += took;
        record.bond == 0 ? ++executedByReport[caseId] : ++executedByBond[caseId];
        hits[took == 0 ? bytes32("executed for nothing") : bytes32("slashed")] += 1;
    }

    function _expire(bytes32 caseId, ISlashingCourt.Case memory record) internal {
        uint256 before = token.balanceOf(record.reporter);

        vm.prank(bystander);
        court.expire(caseId);

        assertEq(token.balanceOf(record.reporter), before + record.bond, "14: the bond returns");
        hits["expired"] += 1;
    }

    function _anyCase(uint256 which) internal view returns (bool, bytes32 caseId, ISlashingCourt.Case memory record) {
        uint256 count = courtMirror.caseCount();
        if (count == 0) return (false, caseId, record);
        // Now and then one that is over: it must stay so.
        caseId = courtMirror.caseIds(which % count);
        for (uint256 i = 0; i < count && which % 8 != 0; ++i) {
            caseId = courtMirror.caseIds((which % count + i) % count);
            if (_isLiveCase(court.caseAt(caseId).state)) break;
        }
        return (true, caseId, court.caseAt(caseId));
    }

    /// @dev A live case that can be executed or, if `over`, only expire; if there is none, any case.
    function _dueCase(uint256 which, bool over)
        private
        view
        returns (bool, bytes32 caseId, ISlashingCourt.Case memory record)
    {
        uint256 count = courtMirror.caseCount();
        for (uint256 i = 0; i < count && which % 4 != 0; ++i) {
            caseId = courtMirror.caseIds((which % count + i) % count);
            record = court.caseAt(caseId);
            bool due = block.timestamp >= (over ? record.expiresAt : record.executableAt);
            if (due && (over || _isExecutable(record)) && _isLiveCase(record.state)) return (true, caseId, record);
        }
        return _anyCase(which);
    }

    /// @dev A live case that can still be vetoed; if there is none, any case.
    function _freshCase(uint256 which) private view returns (bool, bytes32 caseId, ISlashingCourt.Case memory record) {
        uint256 count = courtMirror.caseCount();
        for (uint256 i = 0; i < count && which % 4 != 0; ++i) {
            caseId = courtMirror.caseIds((which % count + i) % count);
            record = court.caseAt(caseId);
            if (_isLiveCase(record.state) && block.timestamp < record.executableAt) return (true, caseId, record);
        }
        return _anyCase(which);
    }

    function _openFresh(uint256 who, uint256 kind, uint256 amount, uint256 age) private observed returns (bytes32) {
        accuse(who, kind, amount, age);
        Violation memory violation = violations[violations.length - 1];
        _fund(reporter, BOND);
        vm.startPrank(reporter);
        token.approve(address(court), BOND);
        bytes32 caseId = court.openWithBond(violation);
        vm.stopPrank();
        _noteOpened(caseId, violation);
        return caseId;
    }

    /// @dev One of the last violations that a report may open; if there is none, any of them.
    function _ripeViolation(uint256 which) private view returns (uint256 index) {
        uint256 among = _least(violations.length, 12);
        for (uint256 i = 0; i < among; ++i) {
            index = violations.length - 1 - (which % among + i) % among;
            if (which % 8 != 0 && _isRipe(index)) return index;
        }
    }

    /// @dev In an activated root, recent, and not opened by a report before.
    function _isRipe(uint256 index) private view returns (bool) {
        Violation memory violation = violations[index];
        ISlashingCourt.Case memory previous = court.caseAt(court.caseIdOf(violation));
        if (previous.state != ISlashingCourt.CaseState.None && previous.bond == 0) return false;
        uint256 root = violationPlaces[index].root;
        return root != 0 && _isActive(root - 1) && _isRecent(violation);
    }

    function _isLiveCase(ISlashingCourt.CaseState state) internal pure returns (bool) {
        return state == ISlashingCourt.CaseState.Open || state == ISlashingCourt.CaseState.Answered;
    }

    function _mostOf(ISlashingCourt.Case memory record) private returns (uint256 most) {
        (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(record.providerId);
        _bucketsBefore = _isSevereSecurity(record) ? globalWei : _least(providerWei, globalWei);
        most = _least(record.amount, vaultMirror.stakeAt(record.providerId, record.offenceAt));
        return _least(most, _bucketsBefore);
    }

    function _noteOpened(bytes32 caseId, Violation memory violation) private {
        uint256 id = violation.providerId;
        _reachOf[caseId] = Reach(vault.stakeAt(id, violation.offenceAt), taken[id]);
        if (violation.amount > statedFor[caseId]) statedFor[caseId] = violation.amount;
        hits["case opened"] += 1;
    }

    function _isRecent(Violation memory violation) private view returns (bool) {
        return violation.offenceAt + 7 days >= block.timestamp;
    }

    function _isExecutable(ISlashingCourt.Case memory record) private view returns (bool) {
        bool inTime = block.timestamp >= record.executableAt && block.timestamp < record.expiresAt;
        return inTime && _isLiveCase(record.state);
    }

    function _isSevereSecurity(ISlashingCourt.Case memory record) private pure returns (bool) {
        return record.class == ViolationClass.Security && record.severity == Severity.Severe;
    }
}
