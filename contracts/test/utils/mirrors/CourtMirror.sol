// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {SlashingCourt} from "../../../src/SlashingCourt.sol";
import {ISlashingCourt} from "../../../src/interfaces/ISlashingCourt.sol";
import {Severity, ViolationClass} from "../../../src/types/Outcomes.sol";
import {Mirror} from "./Mirror.sol";

/// @title Cases and bonds rebuilt from the court's events
contract CourtMirror is Mirror {
    /// @dev The data of `CaseOpened`.
    struct Opened {
        ViolationClass class;
        Severity severity;
        uint32 epoch;
        uint64 offenceAt;
        uint128 amount;
        uint64 suspendedFor;
        bytes32 evidenceHash;
        uint128 bond;
        uint64 executableAt;
        uint64 expiresAt;
    }

    /// @notice Every case id, in the order of first opening.
    bytes32[] public caseIds;

    /// @notice Bonds of live cases, wei.
    uint256 public heldBonds;

    mapping(bytes32 caseId => ISlashingCourt.Case) private _cases;
    mapping(uint256 providerId => uint256) public liveCases;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        bytes32 caseId = log.topics.length > 1 ? log.topics[1] : bytes32(0);
        if (kind == ISlashingCourt.CaseOpened.selector) _opened(caseId, log);
        else if (kind == ISlashingCourt.CaseAnswered.selector) _cases[caseId].state = ISlashingCourt.CaseState.Answered;
        else if (kind == ISlashingCourt.CaseVetoed.selector) _end(caseId, ISlashingCourt.CaseState.Vetoed);
        else if (kind == ISlashingCourt.CaseExpired.selector) _end(caseId, ISlashingCourt.CaseState.Expired);
        else if (kind == ISlashingCourt.CaseExecuted.selector) _executed(caseId, log.data);
        else if (kind == ISlashingCourt.BondPaid.selector) heldBonds -= abi.decode(log.data, (uint256));
    }

    function caseCount() external view returns (uint256) {
        return caseIds.length;
    }

    function compare() external view override {
        SlashingCourt court = SlashingCourt(SOURCE);
        for (uint256 i = 0; i < caseIds.length; ++i) {
            bytes32 rebuilt = keccak256(abi.encode(_cases[caseIds[i]]));
            assertEq(keccak256(abi.encode(court.caseAt(caseIds[i]))), rebuilt, "caseAt");
        }
    }

    function _opened(bytes32 caseId, Vm.Log calldata log) private {
        ISlashingCourt.Case storage noted = _cases[caseId];
        if (noted.state == ISlashingCourt.CaseState.None) caseIds.push(caseId);
        noted.state = ISlashingCourt.CaseState.Open;
        noted.providerId = uint256(log.topics[2]);
        noted.reporter = _address(log.topics[3]);
        noted.openedAt = SafeCast.toUint64(block.timestamp);
        _opened(noted, abi.decode(log.data, (Opened)));
        liveCases[noted.providerId] += 1;
        heldBonds += noted.bond;
    }

    function _opened(ISlashingCourt.Case storage noted, Opened memory opened) private {
        (noted.class, noted.severity, noted.evidenceHash) = (opened.class, opened.severity, opened.evidenceHash);
        (noted.offenceAt, noted.executableAt, noted.expiresAt) =
        (opened.offenceAt, opened.executableAt, opened.expiresAt);
        (noted.amount, noted.suspendedFor, noted.bond) = (opened.amount, opened.suspendedFor, opened.bond);
    }

    function _executed(bytes32 caseId, bytes calldata data) private {
        (uint256 taken,) = abi.decode(data, (uint256, uint64));
        _end(caseId, ISlashingCourt.CaseState.Executed);
        _cases[caseId].amount = SafeCast.toUint128(taken);
    }

    function _end(bytes32 caseId, ISlashingCourt.CaseState state) private {
        _cases[caseId].state = state;
        liveCases[_cases[caseId].providerId] -= 1;
    }
}
