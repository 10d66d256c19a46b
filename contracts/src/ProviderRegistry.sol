// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Checkpoints} from "@openzeppelin/contracts/utils/structs/Checkpoints.sol";

import {NodeMaintenance} from "./NodeMaintenance.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";

/// @title Providers, their keys and their nodes
/// @dev Ids are never reused and owners never change: a slash that was opened against an id always meets the same stake and the same
///      person (invariant 11).
contract ProviderRegistry is IProviderRegistry, EIP712, AccessManaged, NodeMaintenance {
    using Checkpoints for Checkpoints.Trace208;

    /// @dev Five slots of one provider.
    struct Record {
        address owner;
        uint64 registeredAt;
        uint8 hardwareClass;
        bool retired;
        address operator;
        uint64 suspendedUntil;
        uint32 nodes;
        address payout;
        uint64 pendingPayoutAt;
        address pendingPayout;
        bytes8 region;
        address defender;
    }

    /// @dev One slot of one node key. Both `providerId` and `removedAt` are set once and stay, so that a removed key never returns.
    struct NodeRecord {
        uint64 providerId;
        uint32 nonce;
        uint64 removedAt;
    }

    /// @notice Message a node signs to prove that it holds its key.
    bytes32 public constant NODE_ADMISSION_TYPEHASH =
        keccak256("NodeAdmission(uint256 providerId,address node,uint256 nonce,uint256 deadline)");

    /// @notice Most live nodes of one provider.
    uint256 public constant MAX_NODES = 1024;

    /// @notice Longest payout delay a deployment may choose, seconds.
    uint64 public constant MAX_PAYOUT_DELAY = 30 days;

    uint8 private constant LAST_CLASS = 3;

    /// @notice Time before a new payout address is in force, seconds.
    uint64 public immutable PAYOUT_DELAY;

    /// @dev slot 4, block number -> providers registered.
    Checkpoints.Trace208 private _counts;

    /// @dev slot 5, by provider id.
    mapping(uint256 providerId => Record) private _records;

    /// @dev slot 6, by node key.
    mapping(address node => NodeRecord) private _nodes;

    /// @inheritdoc IProviderRegistry
    /// @dev slot 7.
    mapping(address owner => uint256) public providerIdOf;

    modifier onlyOwner(uint256 providerId) {
        _requireOwner(providerId);
        _;
    }

    modifier onlyOwnerOrOperator(uint256 providerId) {
        _requireOwnerOrOperator(providerId);
        _;
    }

    /// @param authority AccessManager that names courts and the timelock.
    /// @param payoutDelayFor Seconds before a new payout address is in force, within (0, MAX_PAYOUT_DELAY].
    constructor(address authority, uint64 payoutDelayFor) EIP712("Swarm", "1") AccessManaged(authority) {
        require(payoutDelayFor != 0 && payoutDelayFor <= MAX_PAYOUT_DELAY, InvalidPayoutDelay(payoutDelayFor));
        PAYOUT_DELAY = payoutDelayFor;
    }

    /// @inheritdoc IProviderRegistry
    function register(address operator, address payout, uint8 hardwareClass, bytes8 region)
        external
        returns (uint256 providerId)
    {
        require(providerIdOf[msg.sender] == 0, AlreadyRegistered(msg.sender, providerIdOf[msg.sender]));
        require(operator != address(0) && payout != address(0), ZeroAddress());
        require(hardwareClass != 0 && hardwareClass <= LAST_CLASS, InvalidClass(hardwareClass));

        providerId = providerCount() + 1;
        _counts.push(SafeCast.toUint48(block.number), SafeCast.toUint208(providerId));
        providerIdOf[msg.sender] = providerId;
        Record storage record = _records[providerId];
        record.owner = msg.sender;
        record.registeredAt = uint64(block.timestamp);
        record.hardwareClass = hardwareClass;
        record.operator = operator;
        record.payout = payout;
        record.region = region;

        emit ProviderRegistered(providerId, msg.sender, operator, payout, hardwareClass, region);
    }

    /// @inheritdoc IProviderRegistry
    function addNode(uint256 providerId, address node, uint256 deadline, bytes calldata signature)
        external
        onlyOwnerOrOperator(providerId)
    {
        Record storage record = _records[providerId];
        NodeRecord storage entry = _nodes[node];
        require(!record.retired, ProviderIsRetired(providerId));
        require(block.timestamp <= deadline, SignatureExpired(deadline, block.timestamp));
        require(entry.providerId == 0, NodeAlreadyAdded(node, entry.providerId));
        require(record.nodes < MAX_NODES, TooManyNodes(record.nodes, MAX_NODES));
        address recovered = _recoverAdmission(providerId, node, entry.nonce, deadline, signature);
        require(recovered == node && node != address(0), InvalidNodeSignature(recovered, node));

        record.nodes += 1;
        entry.providerId = SafeCast.toUint64(providerId);
        entry.nonce += 1;

        emit NodeAdded(providerId, node);
    }

    /// @inheritdoc IProviderRegistry
    function removeNode(uint256 providerId, address node) external onlyOwnerOrOperator(providerId) {
        NodeRecord storage entry = _nodes[node];
        require(_isNodeOf(entry, providerId), UnknownNode(providerId, node));

        _records[providerId].nodes -= 1;
        entry.removedAt = uint64(block.timestamp);

        emit NodeRemoved(providerId, node);
    }

    /// @inheritdoc IProviderRegistry
    function setOperator(uint256 providerId, address operator) external onlyOwner(providerId) {
        require(operator != address(0), ZeroAddress());

        _records[providerId].operator = operator;

        emit OperatorChanged(providerId, operator);
    }

    /// @inheritdoc IProviderRegistry
    function setPayout(uint256 providerId, address payout) external onlyOwner(providerId) {
        require(payout != address(0), ZeroAddress());

        Record storage record = _records[providerId];
        // A change that is already in force must not be lost with the queue it sits in.
        record.payout = payoutOf(providerId);
        record.pendingPayout = payout;
        record.pendingPayoutAt = uint64(block.timestamp) + PAYOUT_DELAY;

        emit PayoutChangeQueued(providerId, payout, record.pendingPayoutAt);
    }

    /// @inheritdoc IProviderRegistry
    function setDefender(uint256 providerId, address defender) external onlyOwner(providerId) {
        _records[providerId].defender = defender;

        emit DefenderChanged(providerId, defender);
    }

    /// @inheritdoc IProviderRegistry
    function retire(uint256 providerId) external onlyOwner(providerId) {
        Record storage record = _records[providerId];
        require(!record.retired, ProviderIsRetired(providerId));

        record.retired = true;

        emit ProviderRetired(providerId);
    }

    /// @inheritdoc IProviderRegistry
    function suspend(uint256 providerId, uint64 suspendedUntil) external restricted {
        Record storage record = _requireKnown(providerId);
        if (suspendedUntil <= record.suspendedUntil) return;

        record.suspendedUntil = suspendedUntil;

        emit ProviderSuspended(providerId, suspendedUntil);
    }

    /// @inheritdoc IProviderRegistry
    function reinstate(uint256 providerId) external restricted {
        Record storage record = _requireKnown(providerId);

        record.suspendedUntil = 0;

        emit ProviderSuspended(providerId, 0);
    }

    /// @inheritdoc IProviderRegistry
    function provider(uint256 providerId) external view returns (Provider memory) {
        Record storage record = _records[providerId];
        bool inForce = _inForce(record.pendingPayoutAt);
        return Provider({
            owner: record.owner,
            operator: record.operator,
            payout: payoutOf(providerId),
            defender: record.defender,
            pendingPayout: inForce ? address(0) : record.pendingPayout,
            pendingPayoutAt: inForce ? 0 : record.pendingPayoutAt,
            registeredAt: record.registeredAt,
            suspendedUntil: record.suspendedUntil,
            hardwareClass: record.hardwareClass,
            region: record.region,
            retired: record.retired
        });
    }

    /// @inheritdoc IProviderRegistry
    function providerCountAt(uint256 blockNumber) external view returns (uint256) {
        return _counts.upperLookupRecent(SafeCast.toUint48(Math.min(blockNumber, type(uint48).max)));
    }

    /// @inheritdoc IProviderRegistry
    function providerIdOfNode(address node) external view returns (uint256) {
        NodeRecord memory entry = _nodes[node];
        return entry.removedAt == 0 && !_records[entry.providerId].retired ? entry.providerId : 0;
    }

    /// @inheritdoc IProviderRegistry
    function nodeRecord(address node) external view returns (uint256 providerId, uint64 removedAt) {
        NodeRecord memory entry = _nodes[node];
        return (entry.providerId, entry.removedAt);
    }

    /// @inheritdoc IProviderRegistry
    function nodeCount(uint256 providerId) external view returns (uint256) {
        return _records[providerId].retired ? 0 : _records[providerId].nodes;
    }

    /// @inheritdoc IProviderRegistry
    function ownerOf(uint256 providerId) external view returns (address) {
        return _records[providerId].owner;
    }

    /// @inheritdoc IProviderRegistry
    function ownership(uint256 providerId) external view returns (address owner, bool retired) {
        Record storage record = _records[providerId];
        return (record.owner, record.retired);
    }

    /// @inheritdoc IProviderRegistry
    function isRetired(uint256 providerId) external view returns (bool) {
        return _records[providerId].retired;
    }

    /// @inheritdoc IProviderRegistry
    function mayDefend(uint256 providerId, address caller) external view returns (bool) {
        Record storage record = _records[providerId];
        NodeRecord memory entry = _nodes[caller];
        // The zero address stands for "no defender" and "no such provider" in storage; it defends nobody.
        if (caller == address(0)) return false;
        if (caller == record.owner || caller == record.operator || caller == record.defender) return true;
        return _isNodeOf(entry, providerId);
    }

    /// @inheritdoc IProviderRegistry
    function nodeNonce(address node) external view returns (uint256) {
        return _nodes[node].nonce;
    }

    /// @inheritdoc IProviderRegistry
    function providerCount() public view returns (uint256) {
        return _counts.latest();
    }

    /// @inheritdoc IProviderRegistry
    function payoutOf(uint256 providerId) public view returns (address) {
        Record storage record = _records[providerId];
        (address payout, uint64 pendingAt) = (record.payout, record.pendingPayoutAt);
        // What `_inForce` asks, written out: every settlement comes through here, nearly always with nothing pending.
        if (pendingAt == 0 || block.timestamp < pendingAt) return payout;
        return record.pendingPayout;
    }

    /// @inheritdoc NodeMaintenance
    function _requireMayAnnounce(uint256 providerId, address node) internal view override {
        Record storage record = _requireKnown(providerId);
        bool may = msg.sender == node || msg.sender == record.owner || msg.sender == record.operator;
        require(may, MayNotAnnounce(node, msg.sender));
        require(_isNodeOf(_nodes[node], providerId) && !record.retired, UnknownNode(providerId, node));
    }

    function _recoverAdmission(
        uint256 providerId,
        address node,
        uint256 nonce,
        uint256 deadline,
        bytes calldata signature
    ) private view returns (address recovered) {
        bytes32 structHash = keccak256(abi.encode(NODE_ADMISSION_TYPEHASH, providerId, node, nonce, deadline));
        (recovered,,) = ECDSA.tryRecoverCalldata(_hashTypedDataV4(structHash), signature);
    }

    /// @dev Provider zero, to which no key was added, has no nodes.
    function _isNodeOf(NodeRecord memory entry, uint256 providerId) private pure returns (bool) {
        return entry.providerId == providerId && entry.removedAt == 0 && providerId != 0;
    }

    function _inForce(uint64 pendingPayoutAt) private view returns (bool) {
        return pendingPayoutAt != 0 && block.timestamp >= pendingPayoutAt;
    }

    function _requireKnown(uint256 providerId) private view returns (Record storage record) {
        record = _records[providerId];
        require(record.owner != address(0), UnknownProvider(providerId));
    }

    function _requireOwner(uint256 providerId) private view {
        require(_requireKnown(providerId).owner == msg.sender, NotProviderOwner(providerId, msg.sender));
    }

    function _requireOwnerOrOperator(uint256 providerId) private view {
        Record storage record = _requireKnown(providerId);
        require(
            record.owner == msg.sender || record.operator == msg.sender,
            NotProviderOwnerOrOperator(providerId, msg.sender)
        );
    }
}
