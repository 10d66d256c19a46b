// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Providers, their keys and their nodes
/// @notice Ids are dense and start at 1; provider `id` is leaf `id - 1` of every settlement tree.
interface IProviderRegistry {
    /// @notice What the registry knows of a provider. `payout` is the address in force now.
    struct Provider {
        address owner;
        address operator;
        address payout;
        address defender;
        address pendingPayout;
        uint64 pendingPayoutAt;
        uint64 registeredAt;
        uint64 suspendedUntil;
        uint8 hardwareClass;
        bytes8 region;
        bool retired;
    }

    event ProviderRegistered(
        uint256 indexed providerId,
        address indexed owner,
        address operator,
        address payout,
        uint8 hardwareClass,
        bytes8 region
    );
    event NodeAdded(uint256 indexed providerId, address indexed node);
    event NodeRemoved(uint256 indexed providerId, address indexed node);
    event OperatorChanged(uint256 indexed providerId, address indexed operator);
    event DefenderChanged(uint256 indexed providerId, address indexed defender);
    event PayoutChangeQueued(uint256 indexed providerId, address indexed payout, uint64 effectiveAt);
    event ProviderRetired(uint256 indexed providerId);
    /// @notice The provider is suspended until `suspendedUntil` (unix s, exclusive); type(uint64).max is exclusion, zero means reinstated.
    event ProviderSuspended(uint256 indexed providerId, uint64 suspendedUntil);

    error UnknownProvider(uint256 providerId);
    error AlreadyRegistered(address owner, uint256 providerId);
    error NotProviderOwner(uint256 providerId, address caller);
    error NotProviderOwnerOrOperator(uint256 providerId, address caller);
    error ProviderIsRetired(uint256 providerId);
    error NodeAlreadyAdded(address node, uint256 providerId);
    error UnknownNode(uint256 providerId, address node);
    error TooManyNodes(uint256 have, uint256 max);
    error InvalidNodeSignature(address recovered, address node);
    error SignatureExpired(uint256 deadline, uint256 nowAt);
    error ZeroAddress();
    error InvalidClass(uint8 hardwareClass);
    error InvalidPayoutDelay(uint64 delay);

    /// @notice Registers the caller as owner of a new provider. One provider an owner.
    /// @param operator Hot key that may manage nodes and jobs, never stake.
    /// @param payout Where rewards go.
    /// @param hardwareClass 1 cpu, 2 gpu, 3 storage.
    /// @param region Eight ASCII bytes, for example "eu-west".
    function register(address operator, address payout, uint8 hardwareClass, bytes8 region)
        external
        returns (uint256 providerId);

    /// @notice Adds a node that proves possession of its key by signing NodeAdmission(providerId, node, nonce, deadline). Owner or operator.
    function addNode(uint256 providerId, address node, uint256 deadline, bytes calldata signature) external;

    /// @notice Removes a node; its key can never be added again. Owner or operator.
    function removeNode(uint256 providerId, address node) external;

    /// @notice Replaces the hot operator key at once. Owner only.
    function setOperator(uint256 providerId, address operator) external;

    /// @notice Queues a new payout address, in force after PAYOUT_DELAY. Owner only.
    function setPayout(uint256 providerId, address payout) external;

    /// @notice Sets the key that may answer accusations in the provider's name; zero removes it. Owner only.
    function setDefender(uint256 providerId, address defender) external;

    /// @notice Stops the provider for good: no nodes, no work; stake can still leave. Owner only.
    function retire(uint256 providerId) external;

    /// @notice Lengthens a suspension; never shortens it. Only courts.
    function suspend(uint256 providerId, uint64 suspendedUntil) external;

    /// @notice Lifts a suspension or exclusion after review. Only the timelock.
    function reinstate(uint256 providerId) external;

    function provider(uint256 providerId) external view returns (Provider memory);
    function providerCount() external view returns (uint256);
    /// @notice Number of providers registered at the end of a past block.
    function providerCountAt(uint256 blockNumber) external view returns (uint256);
    /// @notice Zero if the address owns no provider.
    function providerIdOf(address owner) external view returns (uint256);
    /// @notice Zero if the address is no live node.
    function providerIdOfNode(address node) external view returns (uint256);
    /// @notice Who added a node key, for ever, and when it was removed: what the key signs for later than that binds nobody.
    /// @return providerId Zero if no provider did; a retired one stays.
    /// @return removedAt Unix s, zero while the key is in use.
    function nodeRecord(address node) external view returns (uint256 providerId, uint64 removedAt);
    /// @notice Number of live nodes of a provider.
    function nodeCount(uint256 providerId) external view returns (uint256);
    /// @notice Zero address for an unknown provider.
    function ownerOf(uint256 providerId) external view returns (address);
    /// @notice The owner, and whether it retired the provider: all that a deposit of stake depends on, in one call.
    function ownership(uint256 providerId) external view returns (address owner, bool retired);
    /// @notice True once the owner retired the provider.
    function isRetired(uint256 providerId) external view returns (bool);
    function payoutOf(uint256 providerId) external view returns (address);
    /// @notice True for the owner, the operator, the defender and the live nodes of the provider.
    function mayDefend(uint256 providerId, address caller) external view returns (bool);
    /// @notice Next nonce of NodeAdmission signatures of a node key.
    function nodeNonce(address node) external view returns (uint256);
}
