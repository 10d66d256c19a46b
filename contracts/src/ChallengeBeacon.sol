// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IChallengeBeacon} from "./interfaces/IChallengeBeacon.sol";
import {IEpochOracle} from "./interfaces/IEpochOracle.sol";

/// @title Seeds of the compute windows
/// @dev The order of events is the security: secret < randomness of the seed < commitments < randomness of the draw.
///
///      block   s          n > s             c             c + 2            c + 256
///              |          |                 |             |                |
///              commit-    open              close         its hash         last block
///              Secret     (windowSeed)      (root)        is the draw      for draw
contract ChallengeBeacon is IChallengeBeacon, EIP712 {
    /// @dev Blocks between closing and the block whose hash draws the rows: nobody knows it while commitments can still change.
    uint256 private constant DRAW_DELAY = 2;

    /// @dev Blocks after closing within which the draw must happen; the hash of block c + DRAW_DELAY is on chain that long.
    uint256 private constant DRAW_WINDOW = 256;

    IEpochOracle private immutable ORACLE;

    /// @dev slot 2 (behind the EIP-712 names); windowId (epoch << 16 | window) to its record.
    mapping(uint256 windowId => Window) private _windows;

    modifier onlyMember() {
        require(ORACLE.isMember(msg.sender), NotMember(msg.sender));
        _;
    }

    constructor(IEpochOracle oracle) EIP712("Swarm", "1") {
        require(address(oracle) != address(0), ZeroAddress());

        ORACLE = oracle;
    }

    /// @inheritdoc IChallengeBeacon
    function commitSecret(uint256 windowId, bytes32 secretHash) external onlyMember {
        uint32 epochNow = ORACLE.currentEpoch();
        uint256 epoch = windowId >> 16;
        require(epoch >= epochNow && epoch <= type(uint32).max, WindowNotInEpoch(windowId, epochNow));
        require(secretHash != bytes32(0), ZeroSecretHash());
        _requireState(windowId, WindowState.None);

        Window storage record = _windows[windowId];
        record.secretHash = secretHash;
        record.secretBlock = SafeCast.toUint64(block.number);

        emit SecretCommitted(windowId, secretHash);
    }

    /// @inheritdoc IChallengeBeacon
    function open(uint256 windowId, bytes32 secret) external onlyMember returns (bytes32 windowSeed) {
        uint32 epochNow = ORACLE.currentEpoch();
        require(windowId >> 16 == epochNow, WindowNotInEpoch(windowId, epochNow));
        _requireState(windowId, WindowState.Committed);
        Window storage record = _windows[windowId];
        require(block.number > record.secretBlock, SecretTooFresh(windowId, record.secretBlock));
        require(keccak256(abi.encode(secret)) == record.secretHash, WrongSecret(windowId));

        windowSeed = keccak256(abi.encode(block.prevrandao, blockhash(block.number - 1), secret));
        record.windowSeed = windowSeed;
        record.openedAt = SafeCast.toUint64(block.timestamp);
        record.openedBlock = SafeCast.toUint64(block.number);

        emit WindowOpened(windowId, windowSeed);
    }

    /// @inheritdoc IChallengeBeacon
    function close(uint256 windowId, bytes32 commitmentsRoot, uint32 commitmentCount) external onlyMember {
        _requireState(windowId, WindowState.Open);
        require(
            (commitmentsRoot == bytes32(0)) == (commitmentCount == 0),
            CommitmentsMismatch(commitmentsRoot, commitmentCount)
        );

        Window storage record = _windows[windowId];
        record.commitmentsRoot = commitmentsRoot;
        record.commitmentCount = commitmentCount;
        record.closedAt = SafeCast.toUint64(block.timestamp);
        record.closedBlock = SafeCast.toUint64(block.number);

        emit WindowClosed(windowId, commitmentsRoot, commitmentCount);
    }

    /// @inheritdoc IChallengeBeacon
    function draw(uint256 windowId) external returns (bytes32 drawSeed) {
        Window storage record = _windows[windowId];
        uint256 closedBlock = record.closedBlock;
        WindowState state = stateOf(windowId);
        require(state != WindowState.Void, DrawMissed(windowId, closedBlock + DRAW_WINDOW));
        require(state == WindowState.Closed, WrongWindowState(windowId, state, WindowState.Closed));
        uint256 drawBlock = closedBlock + DRAW_DELAY;
        require(block.number > drawBlock, DrawTooEarly(windowId, drawBlock + 1));

        drawSeed = keccak256(abi.encode(blockhash(drawBlock), record.windowSeed, record.commitmentsRoot));
        record.drawSeed = drawSeed;

        emit WindowDrawn(windowId, drawSeed);
    }

    /// @inheritdoc IChallengeBeacon
    function window(uint256 windowId) external view returns (Window memory) {
        return _windows[windowId];
    }

    /// @inheritdoc IChallengeBeacon
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @inheritdoc IChallengeBeacon
    function stateOf(uint256 windowId) public view returns (WindowState) {
        Window storage record = _windows[windowId];
        if (record.secretHash == bytes32(0)) return WindowState.None;
        if (record.openedBlock == 0) return WindowState.Committed;
        if (record.closedBlock == 0) return WindowState.Open;
        if (record.drawSeed != bytes32(0)) return WindowState.Drawn;
        return block.number > record.closedBlock + DRAW_WINDOW ? WindowState.Void : WindowState.Closed;
    }

    function _requireState(uint256 windowId, WindowState want) private view {
        WindowState have = stateOf(windowId);
        require(have == want, WrongWindowState(windowId, have, want));
    }
}
