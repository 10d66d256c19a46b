// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

import {SlashSink} from "../../../src/SlashSink.sol";
import {ISlashSink} from "../../../src/interfaces/ISlashSink.sol";
import {Mirror} from "./Mirror.sol";

/// @title Bounties and insurance rebuilt from the sink's events
contract SinkMirror is Mirror {
    uint256 public insurance;
    uint256 public totalBounties;

    /// @notice Wei burned in all.
    uint256 public burned;

    address[] private _reporters;
    mapping(address reporter => uint256) private _bounties;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == ISlashSink.Deposited.selector) {
            _deposited(_address(log.topics[2]), log.data);
        } else if (kind == ISlashSink.BountyClaimed.selector) {
            _bounties[_address(log.topics[1])] = 0;
            totalBounties -= abi.decode(log.data, (uint256));
        } else if (kind == ISlashSink.InsurancePaid.selector) {
            insurance -= abi.decode(log.data, (uint256));
        }
    }

    function compare() external view override {
        SlashSink sink = SlashSink(SOURCE);
        assertEq(sink.insurance(), insurance, "insurance");
        assertEq(sink.totalBounties(), totalBounties, "totalBounties");
        uint256 sum;
        for (uint256 i = 0; i < _reporters.length; ++i) {
            assertEq(sink.bountyOf(_reporters[i]), _bounties[_reporters[i]], "bountyOf");
            sum += _bounties[_reporters[i]];
        }
        assertEq(sum, totalBounties, "bounties sum up");
    }

    /// @dev Invariant 15: a bounty is less than what is burned of the same slash.
    function _deposited(address reporter, bytes calldata data) private {
        (uint256 amount, uint256 burn, uint256 bounty, uint256 insured) =
            abi.decode(data, (uint256, uint256, uint256, uint256));
        assertEq(burn + bounty + insured, amount, "parts of the slash");
        assertLe(bounty, burn, "15: the reporter gains less than is burned");
        if (_bounties[reporter] == 0 && bounty != 0 && !_knows(reporter)) _reporters.push(reporter);
        _bounties[reporter] += bounty;
        totalBounties += bounty;
        insurance += insured;
        burned += burn;
    }

    function _knows(address reporter) private view returns (bool) {
        for (uint256 i = 0; i < _reporters.length; ++i) {
            if (_reporters[i] == reporter) return true;
        }
        return false;
    }
}
