// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Deployment} from "../utils/Deployment.sol";
import {Questions} from "../utils/Questions.sol";

/// @dev Invariant 31 on empty contracts; `ask` in the walks asks full ones.
contract GettersTest is Deployment {
    function testFuzz_getters_whenNothingHappenedYet_thenTheyNeverRevert(uint256 number, bytes32 word, address who)
        public
        view
    {
        _askEverything(number, word, who);
    }

    function testFuzz_getters_whenTheClockIsAnywhere_thenTheyNeverRevert(uint256 number, bytes32 word, uint32 time)
        public
    {
        vm.warp(time);
        _askEverything(number, word, address(this));

        vm.warp(GENESIS + time);
        _askEverything(number, word, address(this));
    }

    function test_getters_whenNumbersAreAtTheirEdges_thenTheyNeverRevert() public view {
        uint256[6] memory edges = [0, 1, type(uint32).max, type(uint64).max, type(uint128).max, type(uint256).max];
        for (uint256 i = 0; i < edges.length; ++i) {
            _askEverything(edges[i], bytes32(edges[i]), address(uint160(edges[i])));
        }
    }

    function _askEverything(uint256 number, bytes32 word, address who) private view {
        Questions.ask(registry, number, who);
        Questions.ask(vault, number, uint256(word));
        Questions.ask(oracle, number, word, who);
        Questions.ask(settlement, number, word);
        Questions.ask(court, number, word);
        Questions.ask(computeCourt, number, word, who);
        Questions.ask(beacon, number);
        Questions.ask(escrow, number, word);
        Questions.ask(sink, who);
    }
}
