// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {IChallengeBeacon} from "./interfaces/IChallengeBeacon.sol";
import {IComputeCourt} from "./interfaces/IComputeCourt.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {ComputeMessages} from "./libraries/ComputeMessages.sol";
import {Leaves} from "./libraries/Leaves.sol";
import {ComputeCommitment} from "./types/Compute.sol";

/// @title What must be shown before anyone is accused: a seal, a window, a signature
/// @dev Only a signature accuses: an inclusion path under the window's root would let one member accuse a node of what it never
///      signed. The seed of the window is part of what is signed, so a commitment of an abandoned branch of the chain is void here.
abstract contract ComputeEvidence is IComputeCourt {
    using ComputeMessages for ComputeCommitment;

    IProviderRegistry internal immutable REGISTRY;
    IChallengeBeacon internal immutable BEACON;

    /// @dev Seconds after a window closed in which its commitments can be accused.
    uint64 internal immutable ACCUSE_FOR;

    /// @inheritdoc IComputeCourt
    /// @dev slot 0, block number.
    mapping(bytes32 sealHash => uint256) public sealedBlock;

    constructor(IProviderRegistry registry, IChallengeBeacon beacon, uint64 accuseFor) {
        require(address(registry) != address(0) && address(beacon) != address(0), ZeroAddress());

        (REGISTRY, BEACON, ACCUSE_FOR) = (registry, beacon, accuseFor);
    }

    /// @inheritdoc IComputeCourt
    function seal(bytes32 sealHash) external {
        // Noted once: anyone can send a seal seen in the mempool again, which must not make it fresh again.
        if (sealedBlock[sealHash] != 0) return;

        sealedBlock[sealHash] = block.number;

        emit Sealed(sealHash);
    }

    /// @inheritdoc IComputeCourt
    function commitmentHashOf(ComputeCommitment calldata commitment) public pure returns (bytes32) {
        return commitment.hashOf();
    }

    /// @inheritdoc IComputeCourt
    function accusationIdOf(bytes32 offenceId, bytes32 commitmentHash, uint32 row, address accuser)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(offenceId, commitmentHash, row, accuser));
    }

    /// @inheritdoc IComputeCourt
    function offenceIdOf(uint256 windowId, address node, uint256 device, address member) public pure returns (bytes32) {
        return keccak256(abi.encode(windowId, node, device, member));
    }

    /// @inheritdoc IComputeCourt
    function sealOf(address accuser, bytes32 subject, bytes32 salt) public pure returns (bytes32) {
        return keccak256(abi.encode(accuser, subject, salt));
    }

    /// @return window Drawn, recent enough, and the one the commitment was signed for.
    function _requireWindow(ComputeCommitment calldata commitment)
        internal
        view
        returns (IChallengeBeacon.Window memory window)
    {
        uint256 windowId = commitment.windowId;
        bool drawn = BEACON.stateOf(windowId) == IChallengeBeacon.WindowState.Drawn;
        require(drawn, WindowNotDrawn(windowId));
        window = BEACON.window(windowId);
        uint256 accuseUntil = uint256(window.closedAt) + ACCUSE_FOR;
        require(block.timestamp <= accuseUntil, AccusedTooLate(windowId, window.closedAt, accuseUntil));
        bytes32 seed = commitment.windowSeed;
        require(seed == window.windowSeed, WrongWindowSeed(seed, window.windowSeed));
    }

    function _requireRow(ComputeCommitment calldata commitment, uint256 row) internal pure {
        require(commitment.hasShape(), InvalidShape(commitment.m, commitment.n, commitment.steps));
        require(row < commitment.m, RowOutOfRange(row, commitment.m));
    }

    /// @dev A key that was thrown away can sign nothing for windows that open later; removal takes back nothing of earlier ones.
    /// @return providerId Whose node signed; the key may have been removed and the provider retired since the window opened.
    function _requireSigned(ComputeCommitment calldata commitment, bytes calldata signature, uint256 openedAt)
        internal
        view
        returns (uint256 providerId)
    {
        address node = commitment.node;
        _requireSigner(commitment.hashOf(), signature, node);
        uint256 removedAt;
        (providerId, removedAt) = REGISTRY.nodeRecord(node);
        require(providerId != 0, UnknownNode(node));
        require(removedAt == 0 || openedAt <= removedAt, KeyRemoved(node, removedAt, openedAt));
    }

    /// @dev The member signed "passed" over this commitment, and had to look at this row for it.
    /// @return providerId Whose stake answers for the member.
    function _requirePassed(
        ComputeCommitment calldata commitment,
        uint256 row,
        PassedProof calldata passed,
        bytes32 drawSeed
    ) internal view returns (uint256 providerId) {
        address member = passed.verdicts.member;
        _requireSigner(ComputeMessages.hashOf(passed.verdicts), passed.signature, member);
        uint256 epoch = commitment.windowId >> 16;
        require(passed.verdicts.epoch == epoch, WrongEpoch(passed.verdicts.epoch, epoch));
        bytes32 commitmentHash = commitment.hashOf();
        bytes32 leaf = ComputeMessages.leafOf(commitmentHash);
        require(Leaves.proven(passed.path, passed.verdicts.passedRoot, leaf), VerdictNotProven(commitmentHash));
        bool drawn = passed.counter < passed.verdicts.draws && commitment.drawnRow(drawSeed, passed.counter) == row;
        require(drawn, RowNotDrawn(row, passed.counter));
        providerId = REGISTRY.providerIdOf(member);
        require(providerId != 0, MemberHasNoStake(member));
    }

    /// @dev A copy of an accusation seen in the mempool has no seal of an earlier block.
    function _requireSealed(bytes32 subject, bytes32 salt) internal view {
        bytes32 sealHash = sealOf(msg.sender, subject, salt);
        uint256 noted = sealedBlock[sealHash];
        require(noted != 0, NotSealed(sealHash));
        require(block.number > noted, SealTooFresh(sealHash, noted));
    }

    function _requireSigner(bytes32 structHash, bytes calldata signature, address want) private view {
        bytes32 digest = MessageHashUtils.toTypedDataHash(BEACON.domainSeparator(), structHash);
        address have = ECDSA.recoverCalldata(digest, signature);
        require(have == want, WrongSigner(have, want));
    }
}
