// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {SlashingCourt} from "../../src/SlashingCourt.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {Reports} from "../utils/Reports.sol";

/// @dev The court at its edges: first and last value of every range, and what it leaves undone.
contract SlashingCourtEdgesTest is Reports {
    uint256 private constant STAKE = 10_000e18;
    uint256 private constant BOND = 1000e18;

    address private immutable reporter = makeAddr("reporter");
    address private alice;
    address private bob;
    uint256 private aliceId;
    uint256 private bobId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        _stake(alice, aliceId, STAKE);
        (bob, bobId) = _join("bob");
        // The bucket of all stake is a hundredth: as large as alice's stake.
        _stake(bob, bobId, 99 * STAKE);
        vm.warp(block.timestamp + 8 days);
    }

    function test_constructor_whenTokenOrRegistryIsMissing_thenItReverts() public {
        vm.expectRevert(ISlashingCourt.ZeroAddress.selector);
        new SlashingCourt(address(manager), ISwarmToken(address(0)), registry, vault, settlement, courtParams());
        vm.expectRevert(ISlashingCourt.ZeroAddress.selector);
        new SlashingCourt(address(manager), token, IProviderRegistry(address(0)), vault, settlement, courtParams());
    }

    function test_constructor_whenParamsAreAtTheirBounds_thenTheyHold() public {
        ISlashingCourt.CourtParams memory params = courtParams();
        (params.vetoFor, params.executeFor) = (1, 10 days - 1);
        (params.severeVetoFor, params.severeExecuteFor) = (10 days - 1, 1);
        (params.bondWei, params.bountyBps) = (1, 1000);
        assertEq(_deploy(params).bondWei(), 1);

        params.bountyBps = 1001;
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.InvalidBounty.selector, 1001, 1000));
        _deploy(params);
        (params.bountyBps, params.bondWei) = (1000, 0);
        vm.expectRevert(ISlashingCourt.ZeroBond.selector);
        _deploy(params);
        (params.bondWei, params.severeExecuteFor) = (1, 2);
        vm.expectRevert(abi.encodeWithSelector(ISlashingCourt.InvalidWindows.selector, 10 days - 1, 2, 10 days));
        _deploy(params);
    }

    function test_openWithBond_whenTheOffenceIsAtEitherEndOfTheRange_thenItOpens() public {
        Violation memory violation = _violation(aliceId, 1e18);
        violation.offenceAt = SafeCast.toUint64(block.timestamp - 7 days);
        assertEq(court.caseAt(_openBonded(violation)).offenceAt, block.timestamp - 7 days);
        violation.offenceAt = SafeCast.toUint64(block.timestamp);
        violation.evidenceHash = keccak256("evidence of another");
        assertEq(court.caseAt(_openBonded(violation)).offenceAt, block.timestamp);
    }

    function test_openWithBond_whenNew_thenTheEventTellsAll() public {
        Violation memory violation = _violation(aliceId, 5e18);
        violation.suspendedFor = 3 days;
        violation.epoch = 4;
        uint64 executableAt = SafeCast.toUint64(block.timestamp + 3 days);
        _giveBond();

        vm.expectEmit(address(court));
        emit ISlashingCourt.CaseOpened(
            court.caseIdOf(violation),
            aliceId,
            reporter,
            violation.class,
            violation.severity,
            4,
            violation.offenceAt,
            5e18,
            3 days,
            violation.evidenceHash,
            SafeCast.toUint128(BOND),
            executableAt,
            executableAt + 7 days
        );
        vm.prank(reporter);
        court.openWithBond(violation);
    }

    /// @dev Only a severe breach of security waits longer; class alone or severity alone does not.
    function test_openWithBond_whenOnlyClassOrSeverityIsTheWorst_thenTheWindowIsTheCommonOne() public {
        Violation memory violation = _violation(aliceId, 1e18);
        violation.class = ViolationClass.Security;
        assertEq(court.caseAt(_openBonded(violation)).executableAt, block.timestamp + 3 days);
        (violation.class, violation.severity) = (ViolationClass.Performance, Severity.Severe);
        assertEq(court.caseAt(_openBonded(violation)).executableAt, block.timestamp + 3 days);
    }

    function test_answer_whenTheLinkIsAsLongAsItMayBe_thenItIsTaken() public {
        bytes32 caseId = _openBonded(_violation(aliceId, 1e18));
        vm.prank(alice);
        court.answer(caseId, keccak256("answer"), string(new bytes(256)));
        assertEq(uint256(court.caseAt(caseId).state), uint256(ISlashingCourt.CaseState.Answered));
    }

    function test_execute_whenTheOrderIsOneWei_thenItTakesOneWei() public {
        bytes32 caseId = _openBonded(_violation(aliceId, 1));
        vm.warp(block.timestamp + 3 days);
        assertEq(court.execute(caseId), 1);
    }

    /// @dev Even the worst case takes no more than the bucket of all stake holds; the last provider can be accused, too.
    function test_execute_whenSevereSecurity_thenTheBucketOfAllStakeBindsStill() public {
        Violation memory violation = _violation(bobId, 99 * STAKE);
        (violation.class, violation.severity) = (ViolationClass.Security, Severity.Severe);
        bytes32 caseId = _openBonded(violation);
        vm.warp(block.timestamp + 7 days);
        assertEq(court.execute(caseId), STAKE);
    }

    function test_execute_whenItOrdersNoSuspension_thenTheRegistryIsNotCalled() public {
        bytes32 caseId = _openBonded(_violation(aliceId, 1e18));
        vm.warp(block.timestamp + 3 days);
        vm.expectCall(address(registry), abi.encodeWithSelector(registry.suspend.selector), 0);
        court.execute(caseId);
    }

    function test_execute_whenItOrdersASuspensionAlone_thenTheVaultSlashesNothing() public {
        Violation memory violation = _violation(aliceId, 0);
        violation.suspendedFor = 1;
        bytes32 caseId = _openBonded(violation);
        vm.warp(block.timestamp + 3 days);
        vm.expectCall(address(vault), abi.encodeWithSelector(IStakeVault.slash.selector), 0);
        court.execute(caseId);
        assertEq(registry.provider(aliceId).suspendedUntil, block.timestamp + 1);
    }

    /// @dev A case without a bond pays none: neither event nor transfer. Only an expired case says that it expired.
    function test_execute_whenTheReportOpenedIt_thenNoBondMoves() public {
        Violation memory violation = _violation(aliceId, 1e18);
        outcomes.push(court.violationLeaf(violation));
        uint256 rootIndex = _publishActive(oracle.currentEpoch());
        bytes32 caseId = court.open(violation, rootIndex, _outcomePath(0));

        vm.warp(block.timestamp + 3 days);
        vm.recordLogs();
        court.execute(caseId);
        _expectNoneOf(ISlashingCourt.BondPaid.selector, ISlashingCourt.CaseExpired.selector);
    }

    function test_veto_whenVetoed_thenItDoesNotSayExpired() public {
        bytes32 caseId = _openBonded(_violation(aliceId, 1e18));
        vm.recordLogs();
        vm.prank(vetoer);
        court.veto(caseId, keccak256("reason"));
        _expectNoneOf(ISlashingCourt.CaseExpired.selector, ISlashingCourt.CaseExecuted.selector);
    }

    /// @dev No log of the court has one of the topics, and the token moved nothing from or to the court without a bond.
    function _expectNoneOf(bytes32 first, bytes32 second) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertGt(logs.length, 0);
        for (uint256 i = 0; i < logs.length; ++i) {
            assertTrue(logs[i].topics[0] != first && logs[i].topics[0] != second);
            bool fromCourt =
                logs[i].topics.length == 3 && logs[i].topics[1] == bytes32(uint256(uint160(address(court))));
            bool nothing = logs[i].topics[0] == IERC20.Transfer.selector && abi.decode(logs[i].data, (uint256)) == 0;
            assertFalse(fromCourt && nothing);
        }
    }

    function _violation(uint256 providerId, uint256 amount) private pure returns (Violation memory) {
        return Violation({
            providerId: providerId,
            class: ViolationClass.Protocol,
            severity: Severity.Penalty,
            epoch: 0,
            offenceAt: SafeCast.toUint64(GENESIS + 8 days),
            amount: SafeCast.toUint128(amount),
            suspendedFor: 0,
            evidenceHash: keccak256("evidence")
        });
    }

    function _deploy(ISlashingCourt.CourtParams memory params) private returns (SlashingCourt) {
        return new SlashingCourt(address(manager), token, registry, vault, settlement, params);
    }

    function _giveBond() private {
        _fund(reporter, BOND);
        vm.prank(reporter);
        token.approve(address(court), BOND);
    }

    function _openBonded(Violation memory violation) private returns (bytes32 caseId) {
        _giveBond();
        vm.prank(reporter);
        return court.openWithBond(violation);
    }
}
