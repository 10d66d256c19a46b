// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {Report} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";

/// @title The report of ten thousand providers costs what the report of ten does
/// @dev Execution only, not isolated, because ten thousand registrations as transactions take minutes; the contracts are cooled instead.
contract ReportGasTest is Reports {
    function test_submitReport_whenLeavesAreAThousandfold_thenItCostsTheSame() public {
        uint256 start = vm.snapshotState();
        uint256 ten = _gasOfSecondReport(10);
        assertTrue(vm.revertToState(start));
        uint256 tenThousand = _gasOfSecondReport(10_000);

        vm.snapshotValue("reports", "submitReport, 10 leaves", ten);
        vm.snapshotValue("reports", "submitReport, 10,000 leaves", tenThousand);
        assertApproxEqAbs(tenThousand, ten, 100);
    }

    function _gasOfSecondReport(uint256 providers) private returns (uint256 used) {
        _joinMany(providers);
        _gasOfReport(0);
        used = _gasOfReport(1);
        assertEq(settlement.totals().leafCount, providers);
    }

    function _joinMany(uint256 count) private {
        vm.pauseGasMetering();
        for (uint256 i = 0; i < count; ++i) {
            uint256 providerId = registry.providerCount() + 1;
            address owner = address(SafeCast.toUint160(0x1000000 + providerId));
            vm.prank(owner);
            registry.register(owner, owner, 2, "eu-west");
            book.push(_line(providerId, 0, 0));
        }
        vm.resumeGasMetering();
    }

    function _gasOfReport(uint32 epoch) private returns (uint256) {
        vm.pauseGasMetering();
        _endEpoch(epoch);
        Report memory report = _draft(epoch);
        _agree(report);
        vm.resumeGasMetering();
        vm.cool(address(oracle));
        vm.cool(address(settlement));
        vm.cool(address(limits));
        vm.cool(address(registry));
        vm.cool(address(manager));
        oracle.submitReport(report);
        return vm.lastCallGas().gasTotalUsed;
    }
}
