// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Violation, Severity, ViolationClass} from "../types/Outcomes.sol";

/// @title Subjective cases: open, answer, veto, execute or expire
interface ISlashingCourt {
    enum CaseState {
        None,
        Open,
        Answered,
        Vetoed,
        Executed,
        Expired
    }

    struct Case {
        CaseState state;
        ViolationClass class;
        Severity severity;
        uint64 offenceAt;
        uint64 openedAt;
        uint64 executableAt;
        uint64 expiresAt;
        uint256 providerId;
        uint128 amount;
        uint64 suspendedFor;
        address reporter;
        uint128 bond;
        bytes32 evidenceHash;
    }

    /// @notice Lengths in seconds; the bond in wei; the reporter's part of a slash in bps (at most 1000).
    struct CourtParams {
        uint64 vetoFor;
        uint64 severeVetoFor;
        uint64 executeFor;
        uint64 severeExecuteFor;
        uint64 maxOffenceAgeFor;
        uint128 bondWei;
        uint16 bountyBps;
    }

    event CaseOpened(
        bytes32 indexed caseId,
        uint256 indexed providerId,
        address indexed reporter,
        ViolationClass class,
        Severity severity,
        uint32 epoch,
        uint64 offenceAt,
        uint128 amount,
        uint64 suspendedFor,
        bytes32 evidenceHash,
        uint128 bond,
        uint64 executableAt,
        uint64 expiresAt
    );
    event CaseAnswered(bytes32 indexed caseId, address indexed by, bytes32 answerHash, string uri);
    event CaseVetoed(bytes32 indexed caseId, address indexed by, bytes32 reasonHash);
    event CaseExecuted(bytes32 indexed caseId, uint256 indexed providerId, uint256 taken, uint64 suspendedUntil);
    event CaseExpired(bytes32 indexed caseId);
    event BondPaid(bytes32 indexed caseId, address indexed to, uint256 amount);

    error UsedOffence(bytes32 caseId);
    error OutcomeNotProven(uint256 rootIndex);
    error WarningHasNoCase();
    error InvalidViolation();
    error WrongCaseState(bytes32 caseId, CaseState have);
    error WindowClosed(bytes32 caseId, uint64 closedAt);
    error NotExecutable(bytes32 caseId, uint64 executableAt, uint64 expiresAt);
    error NotExpired(bytes32 caseId, uint64 expiresAt);
    error MayNotDefend(uint256 providerId, address caller);
    error AnswerTooLong(uint256 length, uint256 max);
    error ZeroAddress();
    error ZeroBond();
    error InvalidBounty(uint256 bps, uint256 maxBps);
    error InvalidWindows(uint256 vetoFor, uint256 executeFor, uint256 maxSum);
    error OffenceOutOfRange(uint64 offenceAt, uint256 oldest, uint256 newest);

    /// @notice Opens a case that a quorum-agreed report contains. Anyone; no bond; the caller becomes its reporter.
    /// @dev A bonded case of the same offence gives way: a live one ends (bond returned), and what an executed one took is deducted.
    ///      Otherwise the accused could open a case of one wei against itself and have the report's case refused as used.
    function open(Violation calldata violation, uint256 rootIndex, bytes32[] calldata proof)
        external
        returns (bytes32 caseId);

    /// @notice Opens a case on the caller's own word with a bond of BOND wei, lost to the accused if vetoed.
    function openWithBond(Violation calldata violation) external returns (bytes32 caseId);

    /// @notice Puts the provider's answer on record before the veto window ends. Owner, operator, defender or node.
    function answer(bytes32 caseId, bytes32 answerHash, string calldata uri) external;

    /// @notice Dismisses a case inside its window. Only the veto role.
    function veto(bytes32 caseId, bytes32 reasonHash) external;

    /// @notice Slashes and suspends after the window, before expiry. Anyone.
    function execute(bytes32 caseId) external returns (uint256 taken);

    /// @notice Ends a case nobody executed in time. Anyone.
    function expire(bytes32 caseId) external;

    /// @notice The case of an id. `amount` is wei asked for; once executed, wei taken for the offence.
    function caseAt(bytes32 caseId) external view returns (Case memory);
    /// @notice keccak256(abi.encode(providerId, class, epoch, evidenceHash)): each offence has one case.
    function caseIdOf(Violation calldata violation) external view returns (bytes32);
    /// @notice Leaf of a violation in the outcomes tree.
    function violationLeaf(Violation calldata violation) external view returns (bytes32);
    /// @notice Bond of a case opened without a report, wei.
    function bondWei() external view returns (uint256);
}
