// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {ComputeCourt} from "../../../src/ComputeCourt.sol";
import {IChallengeBeacon} from "../../../src/interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "../../../src/interfaces/IComputeCourt.sol";
import {ComputeCommitment} from "../../../src/types/Compute.sol";
import {Trees} from "../Trees.sol";
import {Mirror} from "./Mirror.sol";

/// @title Accusations and bonds rebuilt from ComputeCourt's events
/// @dev `offenceAt` is the second in which the window closed: the beacon's event, read here from the beacon.
contract DisputeMirror is Mirror {
    /// @dev The data of `Accused`.
    struct Accused {
        ComputeCommitment commitment;
        uint32 row;
        address member;
        uint96 bond;
        uint64 deadline;
    }

    bytes32 private constant COMMITMENT_TYPEHASH = keccak256(
        "ComputeCommitment(uint256 windowId,bytes32 windowSeed,address node,uint256 device,uint32 m,uint32 n,uint32 steps,bytes32 root)"
    );

    IChallengeBeacon private immutable BEACON;

    bytes32[] public accusationIds;

    /// @notice Bonds of live accusations, wei.
    uint256 public heldBonds;
    /// @notice Wei that convictions cost, Σ over all.
    uint256 public taken;
    mapping(uint256 providerId => uint256) public liveAccusations;
    mapping(bytes32 accusationId => uint256) public accusedAt;

    mapping(bytes32 accusationId => IComputeCourt.Accusation) private _accusations;
    mapping(bytes32 offenceId => bool) private _convicted;
    mapping(bytes32 sealHash => uint256) private _sealedIn;
    bytes32[] private _seals;

    constructor(address source, IChallengeBeacon beacon) Mirror(source) {
        BEACON = beacon;
    }

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        bytes32 id = log.topics[1];
        if (kind == IComputeCourt.Sealed.selector) _sealed(id);
        else if (kind == IComputeCourt.Accused.selector) _accused(id, log);
        else if (kind == IComputeCourt.AccusationAnswered.selector) _answered(_accusations[id], log.data);
        else if (kind == IComputeCourt.StepPicked.selector) _picked(_accusations[id], log.data);
        else if (kind == IComputeCourt.RowRevealed.selector) _revealed(_accusations[id], log.data);
        else if (kind == IComputeCourt.FalseByteProven.selector) _proven(_accusations[id]);
        else if (kind == IComputeCourt.ContradictionProven.selector) _proven(_accusations[id]);
        else if (kind == IComputeCourt.EquivocationProven.selector) _convict(id);
        else if (kind == IComputeCourt.Convicted.selector) taken += abi.decode(log.data, (uint256));
        else if (kind == IComputeCourt.AccusationEnded.selector) _ended(id, log.data);
        else if (kind == IComputeCourt.BondPaid.selector) heldBonds -= abi.decode(log.data, (uint256));
    }

    function accusationCount() external view returns (uint256) {
        return accusationIds.length;
    }

    function compare() external view override {
        ComputeCourt court = ComputeCourt(SOURCE);
        for (uint256 i = 0; i < accusationIds.length; ++i) {
            IComputeCourt.Accusation memory rebuilt = _accusations[accusationIds[i]];
            bytes32 kept = keccak256(abi.encode(court.accusation(accusationIds[i])));
            assertEq(kept, keccak256(abi.encode(rebuilt)), "accusation");
            assertEq(court.isConvicted(rebuilt.offenceId), _convicted[rebuilt.offenceId], "isConvicted");
            assertEq(court.openAccusations(rebuilt.providerId), liveAccusations[rebuilt.providerId], "openAccusations");
        }
        for (uint256 i = 0; i < _seals.length; ++i) {
            assertEq(court.sealedBlock(_seals[i]), _sealedIn[_seals[i]], "sealedBlock");
        }
    }

    function _sealed(bytes32 sealHash) private {
        require(_sealedIn[sealHash] == 0, "a seal is noted once");
        _sealedIn[sealHash] = block.number;
        _seals.push(sealHash);
    }

    function _accused(bytes32 id, Vm.Log calldata log) private {
        Accused memory given = abi.decode(bytes.concat(log.data), (Accused));
        IComputeCourt.Accusation storage noted = _accusations[id];
        accusationIds.push(id);
        accusedAt[id] = block.timestamp;
        noted.state = IComputeCourt.AccusationState.Accused;
        noted.providerId = SafeCast.toUint64(uint256(log.topics[2]));
        noted.accuser = _address(log.topics[3]);
        (noted.row, noted.bond, noted.deadline) = (given.row, given.bond, SafeCast.toUint48(given.deadline));
        _describe(noted, given.commitment, given.member);
        liveAccusations[noted.providerId] += 1;
        heldBonds += given.bond;
    }

    function _describe(IComputeCourt.Accusation storage noted, ComputeCommitment memory commitment, address member)
        private
    {
        while (uint256(1) << noted.log2n < commitment.n) {
            ++noted.log2n;
        }
        noted.steps = SafeCast.toUint16(commitment.steps);
        noted.offenceAt = SafeCast.toUint48(BEACON.window(commitment.windowId).closedAt);
        noted.offenceId = keccak256(abi.encode(commitment.windowId, commitment.node, commitment.device, member));
        noted.commitmentHash = keccak256(abi.encode(COMMITMENT_TYPEHASH, commitment));
    }

    function _answered(IComputeCourt.Accusation storage noted, bytes calldata data) private {
        (bytes32[] memory hashes, bytes memory head, uint64 deadline) = abi.decode(data, (bytes32[], bytes, uint64));
        noted.state = IComputeCourt.AccusationState.Answered;
        (noted.hashesRoot, noted.headHash) = (_rootOf(hashes), keccak256(head));
        noted.deadline = SafeCast.toUint48(deadline);
    }

    function _picked(IComputeCourt.Accusation storage noted, bytes calldata data) private {
        uint64 deadline;
        (noted.step, noted.hashBefore, noted.hashAt, deadline) = abi.decode(data, (uint16, bytes32, bytes32, uint64));
        noted.state = IComputeCourt.AccusationState.Picked;
        noted.deadline = SafeCast.toUint48(deadline);
    }

    function _revealed(IComputeCourt.Accusation storage noted, bytes calldata data) private {
        (bytes memory row, uint64 deadline) = abi.decode(data, (bytes, uint64));
        bytes32[] memory words = new bytes32[](row.length / 32);
        for (uint256 i = 0; i < words.length; ++i) {
            bytes32 word;
            assembly ("memory-safe") {
                word := mload(add(add(row, 32), mul(i, 32)))
            }
            words[i] = word;
        }
        noted.state = IComputeCourt.AccusationState.Revealed;
        noted.wordsRoot = _rootOf(words);
        noted.deadline = SafeCast.toUint48(deadline);
    }

    function _proven(IComputeCourt.Accusation storage noted) private {
        noted.state = IComputeCourt.AccusationState.Proven;
        _convict(noted.offenceId);
    }

    /// @dev Invariant 9: an offence is convicted once.
    function _convict(bytes32 offenceId) private {
        require(!_convicted[offenceId], "9: convicted twice");
        _convicted[offenceId] = true;
    }

    function _ended(bytes32 id, bytes calldata data) private {
        IComputeCourt.Accusation storage noted = _accusations[id];
        bool proven = noted.state == IComputeCourt.AccusationState.Proven;
        noted.state = abi.decode(data, (IComputeCourt.AccusationState));
        liveAccusations[noted.providerId] -= 1;
        if (noted.state == IComputeCourt.AccusationState.Convicted && !proven) _convict(noted.offenceId);
    }

    function _rootOf(bytes32[] memory values) private pure returns (bytes32) {
        bytes32[] memory leaves = new bytes32[](values.length);
        for (uint256 i = 0; i < values.length; ++i) {
            leaves[i] = keccak256(bytes.concat(keccak256(abi.encode(i, values[i]))));
        }
        return Trees.root(leaves);
    }
}
