// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ComputeEvidence} from "./ComputeEvidence.sol";
import {IChallengeBeacon} from "./interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "./interfaces/IComputeCourt.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";
import {ComputeCommitment} from "./types/Compute.sol";

/// @title How an accusation begins and ends: bonds, deadlines, convictions
/// @dev A bond is held while its accusation is live and leaves with it (invariant 14); an offence is convicted once (invariant 9);
///      every accusation ends, or can be ended by anyone, within MAX_CASE_FOR (invariant 13).
abstract contract ComputeCases is ComputeEvidence {
    using SafeERC20 for ISwarmToken;

    /// @dev Seconds; no accusation holds stake back for longer.
    uint256 private constant MAX_CASE_FOR = 10 days;

    uint256 private constant BPS = 10_000;

    /// @dev What an accuser gets must stay far below what is lost, or a cheater accuses itself.
    uint256 private constant MAX_BOUNTY_BPS = 3000;

    /// @dev The bond doubles with each open accusation at most this often.
    uint256 private constant MAX_DOUBLINGS = 10;

    ISwarmToken private immutable TOKEN;
    IStakeVault private immutable VAULT;

    /// @dev Seconds for the answer, and for each later move.
    uint64 private immutable ANSWER_FOR;
    uint64 internal immutable MOVE_FOR;

    /// @dev Wei of the bond of a first accusation.
    uint96 private immutable BOND_WEI;

    /// @dev bps of the stake of the offence, and of the slash.
    uint16 private immutable SLASH_BPS;
    uint16 private immutable BOUNTY_BPS;

    /// @dev slot 1.
    mapping(bytes32 accusationId => Accusation) internal _accusations;

    /// @inheritdoc IComputeCourt
    /// @dev slot 2.
    mapping(bytes32 offenceId => bool) public isConvicted;

    /// @inheritdoc IComputeCourt
    /// @dev slot 3.
    mapping(uint256 providerId => uint256) public openAccusations;

    constructor(
        ISwarmToken token,
        IProviderRegistry registry,
        IStakeVault vault,
        IChallengeBeacon beacon,
        ComputeCourtParams memory numbers
    ) ComputeEvidence(registry, beacon, numbers.accuseFor) {
        require(address(token) != address(0) && address(vault) != address(0), ZeroAddress());
        require(numbers.bondWei != 0, ZeroBond());
        require(numbers.slashBps != 0 && numbers.slashBps <= BPS, InvalidBps(numbers.slashBps, BPS));
        require(numbers.bountyBps <= MAX_BOUNTY_BPS, InvalidBps(numbers.bountyBps, MAX_BOUNTY_BPS));
        _requireWindows(numbers, vault.minUnbondingFor());

        (TOKEN, VAULT) = (token, vault);
        (ANSWER_FOR, MOVE_FOR) = (numbers.answerFor, numbers.moveFor);
        (BOND_WEI, SLASH_BPS, BOUNTY_BPS) = (numbers.bondWei, numbers.slashBps, numbers.bountyBps);
    }

    /// @inheritdoc IComputeCourt
    function timeout(bytes32 accusationId) external {
        Accusation storage record = _requireLive(accusationId);
        require(!isConvicted[record.offenceId], AlreadyConvicted(record.offenceId));
        require(block.timestamp > record.deadline, DeadlineNotPassed(accusationId, record.deadline));

        bool accusedIsLate = record.state == AccusationState.Accused || record.state == AccusationState.Picked;
        if (accusedIsLate) _convict(record.offenceId, record.providerId);
        _end(accusationId, record, accusedIsLate ? AccusationState.Convicted : AccusationState.Acquitted);
    }

    /// @inheritdoc IComputeCourt
    function execute(bytes32 accusationId) external {
        Accusation storage record = _accusations[accusationId];
        require(record.state == AccusationState.Proven, WrongState(accusationId, record.state, AccusationState.Proven));

        _end(accusationId, record, AccusationState.Convicted);
    }

    /// @inheritdoc IComputeCourt
    function dismiss(bytes32 accusationId) external {
        Accusation storage record = _requireLive(accusationId);
        require(isConvicted[record.offenceId], NotConvicted(record.offenceId));

        _end(accusationId, record, AccusationState.Dismissed);
    }

    /// @inheritdoc IComputeCourt
    function equivocate(
        ComputeCommitment calldata first,
        bytes calldata firstSignature,
        ComputeCommitment calldata second,
        bytes calldata secondSignature,
        bytes32 salt
    ) external returns (bytes32 offenceId) {
        IChallengeBeacon.Window memory window = _requireWindow(first);
        offenceId = offenceIdOf(first.windowId, first.node, first.device, address(0));
        bool same = offenceId == offenceIdOf(second.windowId, second.node, second.device, address(0))
            && second.windowSeed == first.windowSeed;
        (bytes32 one, bytes32 other) = (commitmentHashOf(first), commitmentHashOf(second));
        require(same && one != other, NotEquivocation());
        uint256 providerId = _requireSigned(first, firstSignature, window.openedAt);
        _requireSigned(second, secondSignature, window.openedAt);
        _requireSealed(offenceId, salt);
        require(!isConvicted[offenceId], AlreadyConvicted(offenceId));

        _convict(offenceId, providerId);

        emit EquivocationProven(offenceId, providerId, one, other);

        _slash(offenceId, providerId, window.closedAt, msg.sender);
    }

    /// @inheritdoc IComputeCourt
    function accusation(bytes32 accusationId) external view returns (Accusation memory) {
        return _accusations[accusationId];
    }

    /// @inheritdoc IComputeCourt
    function params() external view returns (ComputeCourtParams memory) {
        return ComputeCourtParams({
            accuseFor: ACCUSE_FOR,
            answerFor: ANSWER_FOR,
            moveFor: MOVE_FOR,
            bondWei: BOND_WEI,
            slashBps: SLASH_BPS,
            bountyBps: BOUNTY_BPS
        });
    }

    /// @inheritdoc IComputeCourt
    function bondOf(uint256 providerId) public view returns (uint256) {
        uint256 doublings = Math.min(openAccusations[providerId], MAX_DOUBLINGS);
        return Math.min(uint256(BOND_WEI) << doublings, type(uint96).max);
    }

    function _accuse(
        ComputeCommitment calldata commitment,
        uint32 row,
        bytes32 salt,
        address member,
        uint256 providerId,
        uint64 offenceAt
    ) internal returns (bytes32 accusationId) {
        bytes32 offenceId = offenceIdOf(commitment.windowId, commitment.node, commitment.device, member);
        require(!isConvicted[offenceId], AlreadyConvicted(offenceId));
        bytes32 commitmentHash = commitmentHashOf(commitment);
        accusationId = accusationIdOf(offenceId, commitmentHash, row, msg.sender);
        _requireSealed(accusationId, salt);
        Accusation storage record = _accusations[accusationId];
        require(record.state == AccusationState.None, AlreadyAccused(accusationId));

        uint96 bond = SafeCast.toUint96(bondOf(providerId));
        (record.state, record.deadline) = (AccusationState.Accused, _after(ANSWER_FOR));
        (record.log2n, record.steps) = (SafeCast.toUint8(Math.log2(commitment.n)), SafeCast.toUint16(commitment.steps));
        (record.row, record.providerId) = (row, SafeCast.toUint64(providerId));
        (record.offenceAt, record.offenceId) = (SafeCast.toUint48(offenceAt), offenceId);
        (record.accuser, record.bond, record.commitmentHash) = (msg.sender, bond, commitmentHash);
        openAccusations[providerId] += 1;

        emit Accused(accusationId, providerId, msg.sender, commitment, row, member, bond, record.deadline);

        VAULT.openCase(providerId);
        TOKEN.safeTransferFrom(msg.sender, address(this), bond);
    }

    /// @dev Guilt that needs no more moves. The accused is excluded here; until `execute` its stake stays where it is, held by the case.
    function _proven(Accusation storage record) internal {
        record.state = AccusationState.Proven;
        _convict(record.offenceId, record.providerId);
    }

    /// @dev A provider whose stake has gone is excluded all the same.
    function _convict(bytes32 offenceId, uint256 providerId) private {
        isConvicted[offenceId] = true;
        REGISTRY.suspend(providerId, type(uint64).max);
    }

    /// @dev The one way out of an accusation: final state, stake released, bond paid, and the slash if it is a conviction.
    function _end(bytes32 accusationId, Accusation storage record, AccusationState state) internal {
        (uint256 providerId, uint256 bond, address accuser) = (record.providerId, record.bond, record.accuser);
        address bondTo = state == AccusationState.Acquitted ? REGISTRY.payoutOf(providerId) : accuser;
        bool convicted = state == AccusationState.Convicted;
        record.state = state;
        openAccusations[providerId] -= 1;

        emit AccusationEnded(accusationId, providerId, state);
        emit BondPaid(accusationId, bondTo, bond);

        VAULT.closeCase(providerId);
        if (convicted) _slash(record.offenceId, providerId, record.offenceAt, accuser);
        TOKEN.safeTransfer(bondTo, bond);
    }

    function _slash(bytes32 offenceId, uint256 providerId, uint64 offenceAt, address reporter) private {
        // Rounded up: no stake is too small for a slash.
        uint256 amount = Math.ceilDiv(VAULT.stakeAt(providerId, offenceAt) * SLASH_BPS, BPS);
        uint256 taken = amount == 0 ? 0 : VAULT.slash(_order(offenceId, providerId, amount, offenceAt, reporter));

        emit Convicted(offenceId, providerId, reporter, taken);
    }

    function _after(uint256 span) internal view returns (uint48) {
        return SafeCast.toUint48(block.timestamp + span);
    }

    function _requireLive(bytes32 accusationId) private view returns (Accusation storage record) {
        record = _accusations[accusationId];
        AccusationState state = record.state;
        bool live = state != AccusationState.None && state < AccusationState.Proven;
        require(live, WrongState(accusationId, state, AccusationState.Accused));
    }

    function _order(bytes32 offenceId, uint256 providerId, uint256 amount, uint64 offenceAt, address reporter)
        private
        view
        returns (IStakeVault.Slash memory)
    {
        return IStakeVault.Slash({
            providerId: providerId,
            caseId: offenceId,
            amount: amount,
            offenceAt: offenceAt,
            providerCapped: false,
            globalCapped: false,
            reporter: reporter,
            bountyBps: BOUNTY_BPS
        });
    }

    function _requireWindows(ComputeCourtParams memory numbers, uint256 minUnbondingFor) private pure {
        bool filled = numbers.accuseFor != 0 && numbers.answerFor != 0 && numbers.moveFor != 0;
        uint256 caseFor = uint256(numbers.answerFor) + 3 * uint256(numbers.moveFor);
        require(filled && caseFor <= MAX_CASE_FOR, InvalidWindows(caseFor, MAX_CASE_FOR));
        uint256 reach = numbers.accuseFor + caseFor;
        require(reach <= minUnbondingFor, InvalidWindows(reach, minUnbondingFor));
    }
}
