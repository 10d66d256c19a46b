// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {SlashingCourt} from "../../src/SlashingCourt.sol";
import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {Reports} from "../utils/Reports.sol";

contract SlashingCourtTest is Reports {
    uint256 private constant STAKE = 10_000e18;
    uint256 private constant BOND = 1000e18;

    address private immutable reporter = makeAddr("reporter");
    address private immutable stranger = makeAddr("stranger");

    address private alice;
    address private bob;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        _stake(alice, aliceId, STAKE);
        uint256 bobId;
        (bob, bobId) = _join("bob");
        // A hundred times alice's stake, so that the bucket of all stake (1 %) is as large as all of hers.
        _stake(bob, bobId, 99 * STAKE);
        vm.warp(block.timestamp + 1 days);
    }

    function test_constructor_whenAPartIsMissing_thenItReverts() public {
        ISlashingCourt.CourtParams memory params = courtParams();
        vm.expectRevert(ISlashingCourt.ZeroAddress.selector);
        new SlashingCourt(address(manager), token, registry, IStakeVault(address(0)), settlement, params);
        vm.expectRevert(ISlashingCourt.ZeroAddress.selector);
        new SlashingCourt(address(manager), token, registry, vault, IRewardSettlement(address(0)), params);

        params.bountyBps = 1001;
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.InvalidBounty.selector, 1001, 1000));
        _deploy(params);
        params.bondWei = 0;
        vm.expectRevert(ISlashingCourt.ZeroBond.selector);
        _deploy(params);
    }

    /// @dev Invariant 13: no deployment exists in which a case lasts longer than ten days.
    function testFuzz_constructor_whenWindowsAreAny_thenNoCaseOutlivesTenDays(uint64 vetoFor, uint64 executeFor)
        public
    {
        ISlashingCourt.CourtParams memory params = courtParams();
        vetoFor = uint64(bound(vetoFor, 0, 11 days));
        executeFor = uint64(bound(executeFor, 0, 11 days));
        bool valid = vetoFor != 0 && executeFor != 0 && vetoFor + executeFor <= 10 days;
        bytes memory invalid =
            abi.encodeWithSelector(ISlashingCourt.InvalidWindows.selector, vetoFor, executeFor, 10 days);

        (params.vetoFor, params.executeFor) = (vetoFor, executeFor);
        if (!valid) vm.expectRevert(invalid);
        _deploy(params);
        params = courtParams();
        (params.severeVetoFor, params.severeExecuteFor) = (vetoFor, executeFor);
        if (!valid) vm.expectRevert(invalid);
        _deploy(params);
    }

    function test_open_whenItIsAWarning_thenItReverts() public {
        Violation memory violation = _violation(1e18);
        violation.severity = Severity.Warning;
        _expectRefused(violation, abi.encodeWithSelector(ISlashingCourt.WarningHasNoCase.selector));
    }

    function test_open_whenAFieldIsMissing_thenItReverts() public {
        bytes memory invalid = abi.encodeWithSelector(ISlashingCourt.InvalidViolation.selector);
        Violation memory violation = _violation(1e18);
        violation.class = ViolationClass.None;
        _expectRefused(violation, invalid);
        violation = _violation(1e18);
        violation.severity = Severity.None;
        _expectRefused(violation, invalid);
        violation = _violation(1e18);
        violation.providerId = 0;
        _expectRefused(violation, invalid);
        violation.providerId = 3;
        _expectRefused(violation, invalid);
        violation = _violation(1e18);
        violation.evidenceHash = bytes32(0);
        _expectRefused(violation, invalid);
        violation = _violation(0);
        _expectRefused(violation, invalid);
    }

    function test_open_whenTheOffenceIsOutOfRange_thenItReverts() public {
        uint256 nowAt = GENESIS + 30 days;
        vm.warp(nowAt);
        Violation memory violation = _violation(1e18);
        violation.offenceAt = SafeCast.toUint64(nowAt + 1);
        _expectRefused(
            violation,
            abi.encodeWithSelector(
                ISlashingCourt.OffenceOutOfRange.selector, violation.offenceAt, nowAt - 7 days, nowAt
            )
        );
        violation.offenceAt = SafeCast.toUint64(nowAt - 7 days - 1);
        _expectRefused(
            violation,
            abi.encodeWithSelector(
                ISlashingCourt.OffenceOutOfRange.selector, violation.offenceAt, nowAt - 7 days, nowAt
            )
        );
    }

    function test_open_whenNotProven_thenItReverts() public {
        Violation memory violation = _violation(100e18);
        outcomes.push(court.violationLeaf(violation));
        uint256 rootIndex = _publish(1);
        bytes32[] memory path = _outcomePath(0);

        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.OutcomeNotProven.selector, rootIndex));
        court.open(violation, rootIndex, path);
        vm.warp(block.timestamp + 1 days);
        violation.amount += 1;
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.OutcomeNotProven.selector, rootIndex));
        court.open(violation, rootIndex, path);
    }

    /// @dev Invariant 22: what is proven here is neither a violation of another court nor on another chain.
    function test_violationLeaf_whenChainOrCourtIsAnother_thenItIsAnother() public {
        Violation memory violation = _violation(100e18);
        bytes32 leaf = court.violationLeaf(violation);
        assertEq(
            leaf,
            keccak256(
                bytes.concat(
                    keccak256(
                        abi.encode(
                            keccak256(abi.encode("Swarm/Violation/v1", block.chainid, address(court))), violation
                        )
                    )
                )
            )
        );
        assertNotEq(_deploy(courtParams()).violationLeaf(violation), leaf);
        vm.chainId(block.chainid + 1);
        assertNotEq(court.violationLeaf(violation), leaf);
    }

    function test_open_whenProven_thenItRecordsTheCaseAndHoldsTheStake() public {
        Violation memory violation = _violation(100e18);
        bytes32 caseId = _openReported(violation);

        ISlashingCourt.Case memory record = court.caseAt(caseId);
        assertEq(caseId, keccak256(abi.encode(aliceId, ViolationClass.Protocol, uint32(0), violation.evidenceHash)));
        assertEq(uint256(record.state), uint256(ISlashingCourt.CaseState.Open));
        assertEq(record.reporter, reporter);
        assertEq(record.bond, 0);
        assertEq(record.amount, 100e18);
        assertEq(record.executableAt, block.timestamp + 3 days);
        assertEq(record.expiresAt, block.timestamp + 10 days);
        assertEq(vault.pool(aliceId).openCases, 1);
    }

    /// @dev Invariant 9, bug class 13.
    function test_open_whenTheReportsCaseExists_thenItReverts() public {
        Violation memory violation = _violation(100e18);
        (uint256 rootIndex, bytes32[] memory path) = _prove(violation);
        bytes32 caseId = court.open(violation, rootIndex, path);
        bytes memory used = abi.encodeWithSelector(ISlashingCourt.UsedOffence.selector, caseId);

        vm.expectRevert(used);
        court.open(violation, rootIndex, path);
        vm.warp(block.timestamp + 3 days);
        court.execute(caseId);
        vm.expectRevert(used);
        court.open(violation, rootIndex, path);
        vm.expectRevert(used);
        court.openWithBond(violation);
    }

    /// @dev A cheater's own case of one wei must not stand in the way of the report's case.
    function test_open_whenABondedCaseIsLive_thenItTakesItsPlace() public {
        Violation memory small = _violation(1);
        small.severity = Severity.Penalty;
        bytes32 caseId = _openBonded(alice, small);
        Violation memory violation = _violation(100e18);
        (uint256 rootIndex, bytes32[] memory path) = _prove(violation);

        vm.expectEmit(address(court));
        emit ISlashingCourt.BondPaid(caseId, alice, BOND);
        vm.prank(reporter);
        court.open(violation, rootIndex, path);

        assertEq(token.balanceOf(alice), BOND);
        assertEq(token.balanceOf(address(court)), 0);
        assertEq(court.caseAt(caseId).reporter, reporter);
        assertEq(court.caseAt(caseId).amount, 100e18);
        assertEq(vault.pool(aliceId).openCases, 1);
        assertEq(_executeAfter(caseId, 3 days), 100e18);
    }

    function test_open_whenABondedCaseWasExecuted_thenItDeductsWhatThatTook() public {
        bytes32 caseId = _openBonded(alice, _violation(30e18));
        assertEq(_executeAfter(caseId, 3 days), 30e18);
        assertEq(_openReported(_violation(100e18)), caseId);

        assertEq(court.caseAt(caseId).amount, 70e18);
        assertEq(_executeAfter(caseId, 3 days), 70e18);
        assertEq(vault.pool(aliceId).tokens, STAKE - 100e18);
        assertEq(vault.pool(aliceId).openCases, 0);
    }

    function test_open_whenABondedCaseWasVetoed_thenTheReportsCaseIsStillHeard() public {
        bytes32 caseId = _openBonded(reporter, _violation(30e18));
        vm.prank(vetoer);
        court.veto(caseId, keccak256("reason"));
        assertEq(_openReported(_violation(100e18)), caseId);
        assertEq(court.caseAt(caseId).amount, 100e18);
        assertEq(vault.pool(aliceId).openCases, 1);
    }

    function test_openWithBond_whenACaseExists_thenItReverts() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.UsedOffence.selector, caseId));
        court.openWithBond(_violation(2e18));
    }

    function test_openWithBond_whenNew_thenItHoldsTheBond() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        assertEq(token.balanceOf(address(court)), BOND);
        assertEq(token.balanceOf(reporter), 0);
        assertEq(court.caseAt(caseId).bond, court.bondWei());
        assertEq(vault.pool(aliceId).openCases, 1);
    }

    function test_answer_whenItMayNot_thenItReverts() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.MayNotDefend.selector, aliceId, stranger));
        vm.prank(stranger);
        court.answer(caseId, keccak256("answer"), "https://example.org");

        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.AnswerTooLong.selector, 257, 256));
        court.answer(caseId, keccak256("answer"), string(new bytes(257)));
        vm.warp(block.timestamp + 3 days);
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.WindowClosed.selector, caseId, block.timestamp));
        court.answer(caseId, keccak256("answer"), "");
    }

    function test_answer_whenInTime_thenItIsOnRecordOnce() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        address defender = makeAddr("defender");
        vm.prank(alice);
        registry.setDefender(aliceId, defender);

        vm.expectEmit(address(court));
        emit ISlashingCourt.CaseAnswered(caseId, defender, keccak256("answer"), "ipfs://answer");
        vm.prank(defender);
        court.answer(caseId, keccak256("answer"), "ipfs://answer");

        assertEq(uint256(court.caseAt(caseId).state), uint256(ISlashingCourt.CaseState.Answered));
        _expectWrongState(caseId, ISlashingCourt.CaseState.Answered);
        vm.prank(alice);
        court.answer(caseId, keccak256("second"), "");
        assertEq(_executeAfter(caseId, 3 days), 1e18);
    }

    function test_veto_whenItMayNot_thenItReverts() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, alice));
        vm.prank(alice);
        court.veto(caseId, bytes32(0));

        vm.startPrank(vetoer);
        _expectWrongState(bytes32(0), ISlashingCourt.CaseState.None);
        court.veto(bytes32(0), bytes32(0));
        vm.warp(block.timestamp + 3 days);
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.WindowClosed.selector, caseId, block.timestamp));
        court.veto(caseId, bytes32(0));
    }

    function test_veto_whenInTime_thenTheAccusedGetsTheBond() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        vm.warp(block.timestamp + 3 days - 1);
        vm.prank(vetoer);
        court.veto(caseId, keccak256("reason"));

        assertEq(token.balanceOf(alice), BOND);
        assertEq(token.balanceOf(address(court)), 0);
        assertEq(vault.pool(aliceId).openCases, 0);
        assertEq(vault.pool(aliceId).tokens, STAKE);
        vm.warp(block.timestamp + 1 days);
        _expectWrongState(caseId, ISlashingCourt.CaseState.Vetoed);
        court.execute(caseId);
        _expectWrongState(caseId, ISlashingCourt.CaseState.Vetoed);
        court.expire(caseId);
    }

    function test_execute_whenOutsideItsWindow_thenItReverts() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        uint256 openedAt = block.timestamp;
        bytes memory notExecutable = abi.encodeWithSelector(
            ISlashingCourt.NotExecutable.selector, caseId, openedAt + 3 days, openedAt + 10 days
        );
        vm.warp(openedAt + 3 days - 1);
        vm.expectRevert(notExecutable);
        court.execute(caseId);
        vm.warp(openedAt + 10 days);
        vm.expectRevert(notExecutable);
        court.execute(caseId);
        vm.warp(openedAt + 10 days - 1);
        court.execute(caseId);
        _expectWrongState(caseId, ISlashingCourt.CaseState.Executed);
        court.execute(caseId);
    }

    /// @dev Invariant 8, economics: subjective cases take at most a tenth of the provider a day.
    function test_execute_whenSubjective_thenTheBucketsBoundIt() public {
        bytes32 first = _openBonded(reporter, _violation(STAKE / 20));
        Violation memory other = _violation(STAKE / 2);
        other.evidenceHash = keccak256("more evidence");
        bytes32 second = _openBonded(reporter, other);

        assertEq(_executeAfter(first, 3 days), STAKE / 20);
        uint256 taken = court.execute(second);
        (uint256 left,) = vault.bucketAvailable(aliceId);
        assertLe(STAKE / 20 + taken, STAKE / 10);
        assertGt(taken, 0);
        assertEq(left, 0);
        assertEq(court.caseAt(second).amount, taken);
    }

    function test_execute_whenSevereSecurity_thenItWaitsLongerAndTakesAll() public {
        Violation memory violation = _violation(STAKE);
        (violation.class, violation.severity) = (ViolationClass.Security, Severity.Severe);
        violation.suspendedFor = type(uint64).max;
        bytes32 caseId = _openBonded(reporter, violation);
        uint256 openedAt = block.timestamp;
        vm.warp(openedAt + 7 days - 1);
        vm.expectRevert(
            abi.encodeWithSelector(ISlashingCourt.NotExecutable.selector, caseId, openedAt + 7 days, openedAt + 10 days)
        );
        court.execute(caseId);

        vm.warp(openedAt + 7 days);
        assertEq(court.execute(caseId), STAKE);
        assertEq(registry.provider(aliceId).suspendedUntil, type(uint64).max);
        assertEq(vault.pool(aliceId).tokens, 0);
    }

    function test_execute_whenItOrdersASuspension_thenItSuspends() public {
        Violation memory violation = _violation(0);
        violation.suspendedFor = 7 days;
        bytes32 caseId = _openBonded(reporter, violation);
        vm.warp(block.timestamp + 3 days);

        vm.expectEmit(address(court));
        emit ISlashingCourt.CaseExecuted(caseId, aliceId, 0, uint64(block.timestamp + 7 days));
        court.execute(caseId);
        assertEq(registry.provider(aliceId).suspendedUntil, block.timestamp + 7 days);
    }

    /// @dev Invariants 11 and 12: unbonding does not save the stake, and stake added after the offence is not taken.
    function testFuzz_execute_whenStakeMoved_thenItTakesTheStakeOfTheOffence(uint256 unbonded, uint256 added) public {
        unbonded = bound(unbonded, 1, STAKE);
        added = bound(added, 1, STAKE);
        Violation memory violation = _violation(2 * STAKE);
        (violation.class, violation.severity) = (ViolationClass.Security, Severity.Severe);
        vm.prank(alice);
        vault.requestUnbond(aliceId, unbonded);
        bytes32 caseId = _openBonded(reporter, violation);
        _stake(alice, aliceId, added);

        assertEq(_executeAfter(caseId, 7 days), STAKE);
        assertEq(vault.pool(aliceId).tokens, added);
    }

    /// @dev Invariants 14 and 15: the bond returns; beyond it the reporter's gain is the bounty, and the caller gains nothing.
    function test_execute_whenBonded_thenTheReporterHasBondAndBounty() public {
        bytes32 caseId = _openBonded(reporter, _violation(100e18));
        vm.warp(block.timestamp + 3 days);
        vm.prank(stranger);
        court.execute(caseId);

        assertEq(token.balanceOf(reporter), BOND);
        assertEq(sink.bountyOf(reporter), 10e18);
        assertEq(token.balanceOf(stranger), 0);
        assertEq(sink.insurance(), 40e18);
        assertEq(token.balanceOf(address(court)), 0);
    }

    function test_expire_whenNotOver_thenItReverts() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        uint256 expiresAt = block.timestamp + 10 days;
        vm.warp(expiresAt - 1);
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.NotExpired.selector, caseId, expiresAt));
        court.expire(caseId);
    }

    function test_expire_whenNobodyExecuted_thenStakeAndBondAreFree() public {
        bytes32 caseId = _openBonded(reporter, _violation(1e18));
        vm.warp(block.timestamp + 10 days);
        vm.expectEmit(address(court));
        emit ISlashingCourt.CaseExpired(caseId);
        court.expire(caseId);

        assertEq(token.balanceOf(reporter), BOND);
        assertEq(vault.pool(aliceId).openCases, 0);
        _expectWrongState(caseId, ISlashingCourt.CaseState.Expired);
        court.expire(caseId);
    }

    function _violation(uint256 amount) private view returns (Violation memory) {
        return Violation({
            providerId: aliceId,
            class: ViolationClass.Protocol,
            severity: Severity.Penalty,
            epoch: 0,
            offenceAt: SafeCast.toUint64(GENESIS + 1),
            amount: SafeCast.toUint128(amount),
            suspendedFor: 0,
            evidenceHash: keccak256("evidence")
        });
    }

    function _deploy(ISlashingCourt.CourtParams memory params) private returns (SlashingCourt) {
        return new SlashingCourt(address(manager), token, registry, vault, settlement, params);
    }

    function _openBonded(address by, Violation memory violation) private returns (bytes32 caseId) {
        _fund(by, BOND);
        vm.startPrank(by);
        token.approve(address(court), BOND);
        caseId = court.openWithBond(violation);
        vm.stopPrank();
    }

    /// @dev An activated report of the epoch before that contains the violation.
    function _prove(Violation memory violation) private returns (uint256 rootIndex, bytes32[] memory path) {
        outcomes.push(court.violationLeaf(violation));
        rootIndex = _publishActive(oracle.currentEpoch());
        path = _outcomePath(outcomes.length - 1);
    }

    function _openReported(Violation memory violation) private returns (bytes32 caseId) {
        (uint256 rootIndex, bytes32[] memory path) = _prove(violation);
        vm.prank(reporter);
        return court.open(violation, rootIndex, path);
    }

    function _executeAfter(bytes32 caseId, uint256 wait) private returns (uint256 taken) {
        vm.warp(block.timestamp + wait);
        return court.execute(caseId);
    }

    /// @dev Both doors refuse what is no case.
    function _expectRefused(Violation memory violation, bytes memory reason) private {
        vm.expectRevert(reason);
        court.open(violation, 0, new bytes32[](1));
        vm.expectRevert(reason);
        court.openWithBond(violation);
    }

    function _expectWrongState(bytes32 caseId, ISlashingCourt.CaseState have) private {
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.WrongCaseState.selector, caseId, have));
    }
}
