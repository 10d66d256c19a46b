// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Test} from "forge-std/Test.sol";

import {DisputeHandler} from "./DisputeHandler.sol";

/// @title Invariants 9, 13, 14, 36 and 37 of ComputeCourt, and the rebuilding of its storage from events
abstract contract DisputeWalk is Test {
    DisputeHandler internal handler;
    bytes4[] private selectors;

    function _target(bool lies) internal {
        handler = new DisputeHandler(lies);
        selectors.push(handler.accuse.selector);
        selectors.push(handler.accuse.selector);
        selectors.push(handler.answer.selector);
        selectors.push(handler.answer.selector);
        selectors.push(handler.pick.selector);
        selectors.push(handler.reveal.selector);
        selectors.push(handler.prove.selector);
        selectors.push(handler.playOn.selector);
        selectors.push(handler.contradict.selector);
        selectors.push(handler.equivocate.selector);
        selectors.push(handler.signTwice.selector);
        selectors.push(handler.timeout.selector);
        selectors.push(handler.dismiss.selector);
        selectors.push(handler.execute.selector);
        selectors.push(handler.removeNode.selector);
        selectors.push(handler.requestUnbond.selector);
        selectors.push(handler.withdraw.selector);
        selectors.push(handler.pass.selector);
        selectors.push(handler.ask.selector);
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }

    function afterInvariant() public {
        handler.finish();
    }

    /// @dev How often each thing happens in a few fixed walks: one that never meets what it checks proves nothing. A conviction ends a
    ///      walk, so there are several.
    function _count(bytes32[] memory names, uint256 walks) internal returns (uint256[] memory counts) {
        counts = new uint256[](names.length);
        uint256 start = vm.snapshotState();
        for (uint256 walk = 0; walk < walks; ++walk) {
            for (uint256 i = 0; i < 100; ++i) {
                _step(walk, i);
            }
            handler.check();
            for (uint256 k = 0; k < names.length; ++k) {
                counts[k] += handler.hits(names[k]);
            }
            assertTrue(vm.revertToState(start));
        }
    }

    function _step(uint256 walk, uint256 i) private {
        bytes4 chosen = selectors[_dice(walk, i, 0) % selectors.length];
        Address.functionCall(
            address(handler), abi.encodeWithSelector(chosen, _dice(walk, i, 1), _dice(walk, i, 2) & type(uint32).max)
        );
    }

    function _requireMet(bytes32[] memory names, uint256[] memory counts) internal {
        for (uint256 k = 0; k < names.length; ++k) {
            emit log_named_uint(string(bytes.concat(names[k])), counts[k]);
            assertGt(counts[k], 1, string(bytes.concat(names[k])));
        }
    }

    function _dice(uint256 walk, uint256 step, uint256 number) private pure returns (uint256) {
        return uint256(keccak256(abi.encode("dispute", walk, step, number)));
    }
}

/// @title An honest provider that answers in time never loses stake, whatever anybody does (invariant 36)
contract HonestDisputeInvariants is DisputeWalk {
    function setUp() public {
        _target(false);
    }

    /// forge-config: default.invariant.runs = 8
    /// forge-config: default.invariant.depth = 100
    /// @dev Invariants 13, 14 and 36.
    function invariant_honestDisputes() public view {
        handler.check();
    }

    function test_walk_whenHonest_thenItMeetsEveryMove() public {
        bytes32[] memory names = new bytes32[](7);
        (names[0], names[1], names[2]) = ("true byte refused", "foreign head refused", "forgery refused");
        (names[3], names[4], names[5]) = ("acquitted", "held", "withdrawn");
        names[6] = "key removed";

        _requireMet(names, _count(names, 10));
    }
}

/// @title A provider that lied in one row loses to everyone who accuses that row and plays on (invariant 37)
contract LyingDisputeInvariants is DisputeWalk {
    function setUp() public {
        _target(true);
    }

    /// forge-config: default.invariant.runs = 8
    /// forge-config: default.invariant.depth = 100
    /// @dev Invariants 9, 13 and 14; 37 at the end of every walk.
    function invariant_lyingDisputes() public view {
        handler.check();
    }

    function test_walk_whenOneRowIsFalse_thenItMeetsEveryEnd() public {
        bytes32[] memory names = new bytes32[](6);
        (names[0], names[1], names[2]) = ("proven", "convicted by silence", "signed twice");
        (names[3], names[4], names[5]) = ("dismissed", "acquitted", "executed");

        _requireMet(names, _count(names, 20));
    }
}
