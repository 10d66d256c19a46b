// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IRewardSettlement} from "./interfaces/IRewardSettlement.sol";
import {ISlashingCourt} from "./interfaces/ISlashingCourt.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";
import {Leaves} from "./libraries/Leaves.sol";
import {Severity, Violation, ViolationClass} from "./types/Outcomes.sol";

/// @title Subjective cases: open, answer, veto, execute or expire
/// @dev      openedAt             executableAt             expiresAt
///              | answer, veto         | execute                | expire
///              |---- veto window -----|---- execute window ----|        both together at most MAX_CASE_FOR (invariant 13)
///
///      A bond is held while its case is live and leaves with it: to the accused if vetoed, else back (invariant 14).
contract SlashingCourt is ISlashingCourt, AccessManaged {
    using SafeERC20 for ISwarmToken;

    /// @dev Seconds; no case holds stake back for longer.
    uint256 private constant MAX_CASE_FOR = 10 days;

    /// @dev A subjective case pays its reporter at most a tenth of the slash.
    uint256 private constant MAX_BOUNTY_BPS = 1000;

    /// @dev Bytes of an answer's link.
    uint256 private constant MAX_URI_LENGTH = 256;

    ISwarmToken private immutable TOKEN;
    IProviderRegistry private immutable REGISTRY;
    IStakeVault private immutable VAULT;
    IRewardSettlement private immutable SETTLEMENT;

    /// @dev Seconds in which a case can be answered and vetoed; the second for severe security cases.
    uint64 private immutable VETO_FOR;
    uint64 private immutable SEVERE_VETO_FOR;

    /// @dev Seconds after the veto window in which a case can be executed; the second for severe security cases.
    uint64 private immutable EXECUTE_FOR;
    uint64 private immutable SEVERE_EXECUTE_FOR;

    /// @dev Seconds after which an offence is too old for a case.
    uint64 private immutable MAX_OFFENCE_AGE_FOR;

    /// @dev Wei of a bond.
    uint128 private immutable BOND_WEI;

    /// @dev Reporter's part of a slash, bps.
    uint16 private immutable BOUNTY_BPS;

    /// @dev slot 1; one case an offence.
    mapping(bytes32 caseId => Case) private _cases;

    constructor(
        address authority,
        ISwarmToken token,
        IProviderRegistry registry,
        IStakeVault vault,
        IRewardSettlement settlement,
        CourtParams memory params
    ) AccessManaged(authority) {
        require(address(token) != address(0) && address(registry) != address(0), ZeroAddress());
        require(address(vault) != address(0) && address(settlement) != address(0), ZeroAddress());
        require(params.bondWei != 0, ZeroBond());
        require(params.bountyBps <= MAX_BOUNTY_BPS, InvalidBounty(params.bountyBps, MAX_BOUNTY_BPS));
        _requireWindows(params.vetoFor, params.executeFor);
        _requireWindows(params.severeVetoFor, params.severeExecuteFor);

        TOKEN = token;
        REGISTRY = registry;
        VAULT = vault;
        SETTLEMENT = settlement;
        VETO_FOR = params.vetoFor;
        SEVERE_VETO_FOR = params.severeVetoFor;
        EXECUTE_FOR = params.executeFor;
        SEVERE_EXECUTE_FOR = params.severeExecuteFor;
        MAX_OFFENCE_AGE_FOR = params.maxOffenceAgeFor;
        BOND_WEI = params.bondWei;
        BOUNTY_BPS = params.bountyBps;
    }

    /// @inheritdoc ISlashingCourt
    function open(Violation calldata violation, uint256 rootIndex, bytes32[] calldata proof)
        external
        returns (bytes32 caseId)
    {
        _requireValid(violation);
        bool agreed = SETTLEMENT.outcomeProven(rootIndex, violationLeaf(violation), proof);
        require(agreed, OutcomeNotProven(rootIndex));
        caseId = caseIdOf(violation);
        Case storage record = _cases[caseId];
        require(record.state == CaseState.None || record.bond != 0, UsedOffence(caseId));

        uint256 taken = record.state == CaseState.Executed ? record.amount : 0;
        if (_isLive(record.state)) _end(caseId, record, CaseState.Expired, record.reporter);
        _open(caseId, violation, SafeCast.toUint128(Math.saturatingSub(violation.amount, taken)), 0);
    }

    /// @inheritdoc ISlashingCourt
    function openWithBond(Violation calldata violation) external returns (bytes32 caseId) {
        _requireValid(violation);
        caseId = caseIdOf(violation);
        require(_cases[caseId].state == CaseState.None, UsedOffence(caseId));

        _open(caseId, violation, violation.amount, BOND_WEI);

        TOKEN.safeTransferFrom(msg.sender, address(this), BOND_WEI);
    }

    /// @inheritdoc ISlashingCourt
    function answer(bytes32 caseId, bytes32 answerHash, string calldata uri) external {
        Case storage record = _cases[caseId];
        require(REGISTRY.mayDefend(record.providerId, msg.sender), MayNotDefend(record.providerId, msg.sender));
        require(record.state == CaseState.Open, WrongCaseState(caseId, record.state));
        require(block.timestamp < record.executableAt, WindowClosed(caseId, record.executableAt));
        uint256 length = bytes(uri).length;
        require(length <= MAX_URI_LENGTH, AnswerTooLong(length, MAX_URI_LENGTH));

        record.state = CaseState.Answered;

        emit CaseAnswered(caseId, msg.sender, answerHash, uri);
    }

    /// @inheritdoc ISlashingCourt
    function veto(bytes32 caseId, bytes32 reasonHash) external restricted {
        Case storage record = _cases[caseId];
        require(_isLive(record.state), WrongCaseState(caseId, record.state));
        require(block.timestamp < record.executableAt, WindowClosed(caseId, record.executableAt));

        emit CaseVetoed(caseId, msg.sender, reasonHash);

        _end(caseId, record, CaseState.Vetoed, REGISTRY.payoutOf(record.providerId));
    }

    /// @inheritdoc ISlashingCourt
    function execute(bytes32 caseId) external returns (uint256 taken) {
        Case storage record = _cases[caseId];
        require(_isLive(record.state), WrongCaseState(caseId, record.state));
        require(
            block.timestamp >= record.executableAt && block.timestamp < record.expiresAt,
            NotExecutable(caseId, record.executableAt, record.expiresAt)
        );

        _end(caseId, record, CaseState.Executed, record.reporter);
        if (record.amount != 0) taken = VAULT.slash(_order(caseId, record));
        record.amount = SafeCast.toUint128(taken);
        uint64 suspendedUntil = _suspendedUntil(record.suspendedFor);
        if (suspendedUntil != 0) REGISTRY.suspend(record.providerId, suspendedUntil);

        emit CaseExecuted(caseId, record.providerId, taken, suspendedUntil);
    }

    /// @inheritdoc ISlashingCourt
    function expire(bytes32 caseId) external {
        Case storage record = _cases[caseId];
        require(_isLive(record.state), WrongCaseState(caseId, record.state));
        require(block.timestamp >= record.expiresAt, NotExpired(caseId, record.expiresAt));

        _end(caseId, record, CaseState.Expired, record.reporter);
    }

    /// @inheritdoc ISlashingCourt
    function caseAt(bytes32 caseId) external view returns (Case memory) {
        return _cases[caseId];
    }

    /// @inheritdoc ISlashingCourt
    function bondWei() external view returns (uint256) {
        return BOND_WEI;
    }

    /// @inheritdoc ISlashingCourt
    function caseIdOf(Violation calldata violation) public pure returns (bytes32) {
        return keccak256(abi.encode(violation.providerId, violation.class, violation.epoch, violation.evidenceHash));
    }

    /// @inheritdoc ISlashingCourt
    function violationLeaf(Violation calldata violation) public view returns (bytes32) {
        return Leaves.ofViolation(Leaves.domain("Swarm/Violation/v1"), violation);
    }

    function _open(bytes32 caseId, Violation calldata violation, uint128 amount, uint128 bond) private {
        bool severe = _isSevereSecurity(violation.class, violation.severity);
        uint64 openedAt = SafeCast.toUint64(block.timestamp);
        uint64 executableAt = openedAt + (severe ? SEVERE_VETO_FOR : VETO_FOR);
        Case memory record = Case({
            state: CaseState.Open,
            class: violation.class,
            severity: violation.severity,
            offenceAt: violation.offenceAt,
            openedAt: openedAt,
            executableAt: executableAt,
            expiresAt: executableAt + (severe ? SEVERE_EXECUTE_FOR : EXECUTE_FOR),
            providerId: violation.providerId,
            amount: amount,
            suspendedFor: violation.suspendedFor,
            reporter: msg.sender,
            bond: bond,
            evidenceHash: violation.evidenceHash
        });
        _cases[caseId] = record;

        _emitOpened(caseId, violation.epoch, record);

        VAULT.openCase(violation.providerId);
    }

    /// @dev The one way out of a live case: final state, stake released, bond paid. Executed cases slash right after.
    function _end(bytes32 caseId, Case storage record, CaseState state, address bondTo) private {
        record.state = state;
        uint256 bond = record.bond;

        if (state == CaseState.Expired) emit CaseExpired(caseId);
        if (bond != 0) emit BondPaid(caseId, bondTo, bond);

        VAULT.closeCase(record.providerId);
        if (bond != 0) TOKEN.safeTransfer(bondTo, bond);
    }

    function _emitOpened(bytes32 caseId, uint32 epoch, Case memory record) private {
        emit CaseOpened(
            caseId,
            record.providerId,
            record.reporter,
            record.class,
            record.severity,
            epoch,
            record.offenceAt,
            record.amount,
            record.suspendedFor,
            record.evidenceHash,
            record.bond,
            record.executableAt,
            record.expiresAt
        );
    }

    function _order(bytes32 caseId, Case storage record) private view returns (IStakeVault.Slash memory) {
        return IStakeVault.Slash({
            providerId: record.providerId,
            caseId: caseId,
            amount: record.amount,
            offenceAt: record.offenceAt,
            providerCapped: !_isSevereSecurity(record.class, record.severity),
            globalCapped: true,
            reporter: record.reporter,
            bountyBps: BOUNTY_BPS
        });
    }

    function _suspendedUntil(uint64 suspendedFor) private view returns (uint64) {
        if (suspendedFor == 0) return 0;
        return uint64(Math.min(block.timestamp + suspendedFor, type(uint64).max));
    }

    function _requireValid(Violation calldata violation) private view {
        require(violation.severity != Severity.Warning, WarningHasNoCase());
        bool named = violation.class != ViolationClass.None && violation.severity != Severity.None;
        bool known = violation.providerId != 0 && violation.providerId <= REGISTRY.providerCount();
        bool hurts = violation.amount != 0 || violation.suspendedFor != 0;
        require(named && known && hurts && violation.evidenceHash != bytes32(0), InvalidViolation());

        uint256 oldest = Math.saturatingSub(block.timestamp, MAX_OFFENCE_AGE_FOR);
        require(
            violation.offenceAt >= oldest && violation.offenceAt <= block.timestamp,
            OffenceOutOfRange(violation.offenceAt, oldest, block.timestamp)
        );
    }

    function _isLive(CaseState state) private pure returns (bool) {
        return state == CaseState.Open || state == CaseState.Answered;
    }

    function _isSevereSecurity(ViolationClass class, Severity severity) private pure returns (bool) {
        return class == ViolationClass.Security && severity == Severity.Severe;
    }

    function _requireWindows(uint256 vetoFor, uint256 executeFor) private pure {
        bool valid = vetoFor != 0 && executeFor != 0 && vetoFor + executeFor <= MAX_CASE_FOR;
        require(valid, InvalidWindows(vetoFor, executeFor, MAX_CASE_FOR));
    }
}
