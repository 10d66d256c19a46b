// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {ChallengeBeacon} from "../../../src/ChallengeBeacon.sol";
import {IChallengeBeacon} from "../../../src/interfaces/IChallengeBeacon.sol";
import {Mirror} from "./Mirror.sol";

/// @title Windows rebuilt from the beacon's events
contract BeaconMirror is Mirror {
    uint256[] private _windowIds;
    mapping(uint256 windowId => IChallengeBeacon.Window) private _windows;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        IChallengeBeacon.Window storage record = _windows[_id(log)];
        uint64 nowAt = SafeCast.toUint64(block.timestamp);
        uint64 blockNumber = SafeCast.toUint64(block.number);
        if (kind == IChallengeBeacon.SecretCommitted.selector) {
            _windowIds.push(_id(log));
            (record.secretHash, record.secretBlock) = (abi.decode(log.data, (bytes32)), blockNumber);
        } else if (kind == IChallengeBeacon.WindowOpened.selector) {
            record.windowSeed = abi.decode(log.data, (bytes32));
            (record.openedAt, record.openedBlock) = (nowAt, blockNumber);
        } else if (kind == IChallengeBeacon.WindowClosed.selector) {
            (record.commitmentsRoot, record.commitmentCount) = abi.decode(log.data, (bytes32, uint32));
            (record.closedAt, record.closedBlock) = (nowAt, blockNumber);
        } else if (kind == IChallengeBeacon.WindowDrawn.selector) {
            record.drawSeed = abi.decode(log.data, (bytes32));
        }
    }

    function compare() external view override {
        ChallengeBeacon beacon = ChallengeBeacon(SOURCE);
        for (uint256 i = 0; i < _windowIds.length; ++i) {
            bytes32 rebuilt = keccak256(abi.encode(_windows[_windowIds[i]]));
            assertEq(keccak256(abi.encode(beacon.window(_windowIds[i]))), rebuilt, "window");
        }
    }
}
