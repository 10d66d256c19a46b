// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {Disputes} from "../utils/Disputes.sol";

contract ComputeCourtTest is Disputes {
    function test_prove_whenAByteIsFalse_thenItConvicts() public {
        Game memory game = _false();
        _playTo(game, LIE_STEP);
        _prove(game, LIE_STEP, LIE_COLUMN);
        _assertConvicted(game);
    }

    function test_timeout_whenTheAccuserFallsSilent_thenTheAccusedHasTheBond() public {
        Game memory game = _honest(5);
        _playTo(game, 3);
        vm.warp(block.timestamp + 12 hours + 1);
        computeCourt.timeout(game.id);
        _assertAcquitted(game, 0);
    }
}
