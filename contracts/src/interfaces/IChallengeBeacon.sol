// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Seeds of the compute windows
/// @notice windowId = epoch << 16 | window. A window goes Committed -> Open -> Closed -> Drawn; a window that is not drawn in time is void.
interface IChallengeBeacon {
    enum WindowState {
        None,
        Committed,
        Open,
        Closed,
        Drawn,
        Void
    }

    struct Window {
        bytes32 secretHash;
        bytes32 windowSeed;
        bytes32 commitmentsRoot;
        bytes32 drawSeed;
        uint64 openedAt;
        uint64 openedBlock;
        uint64 closedAt;
        uint64 closedBlock;
        uint32 commitmentCount;
        uint64 secretBlock;
    }

    event SecretCommitted(uint256 indexed windowId, bytes32 secretHash);
    event WindowOpened(uint256 indexed windowId, bytes32 windowSeed);
    event WindowClosed(uint256 indexed windowId, bytes32 commitmentsRoot, uint32 commitmentCount);
    event WindowDrawn(uint256 indexed windowId, bytes32 drawSeed);

    error WrongWindowState(uint256 windowId, WindowState have, WindowState want);
    error WrongSecret(uint256 windowId);
    error SecretTooFresh(uint256 windowId, uint256 secretBlock);
    error ZeroSecretHash();
    error WindowNotInEpoch(uint256 windowId, uint32 epochNow);
    error DrawTooEarly(uint256 windowId, uint256 earliestBlock);
    error DrawMissed(uint256 windowId, uint256 latestBlock);
    error CommitmentsMismatch(bytes32 commitmentsRoot, uint32 commitmentCount);
    error NotMember(address caller);
    error ZeroAddress();

    /// @notice Fixes keccak256(abi.encode(secret)) for a window of this or a later epoch before its randomness exists. Members only.
    function commitSecret(uint256 windowId, bytes32 secretHash) external;

    /// @notice Opens the window: windowSeed = keccak256(abi.encode(prevrandao, blockhash(n - 1), secret)). Members only; in the window's epoch only.
    function open(uint256 windowId, bytes32 secret) external returns (bytes32 windowSeed);

    /// @notice Fixes the root over all commitments of the window (zero for none). Members only.
    function close(uint256 windowId, bytes32 commitmentsRoot, uint32 commitmentCount) external;

    /// @notice drawSeed = keccak256(abi.encode(blockhash(c + 2), windowSeed, commitmentsRoot)), c the closing block. Anyone, within 256 blocks.
    function draw(uint256 windowId) external returns (bytes32 drawSeed);

    function window(uint256 windowId) external view returns (Window memory);
    function stateOf(uint256 windowId) external view returns (WindowState);
    /// @notice EIP-712 domain separator of node messages.
    function domainSeparator() external view returns (bytes32);
}
