// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Test} from "forge-std/Test.sol";

import {Emission} from "../../src/libraries/Emission.sol";
import {Report} from "../../src/types/Settlement.sol";

/// @title One full epoch as the oracle settles it: schedule, leaves, outcomes and report hash
contract EpochGoldenTest is Test {
    using SafeCast for uint256;

    string private _json;

    function setUp() public {
        _json = vm.readFile("tests/golden/epoch.json");
    }

    function test_emission_whenPythonFollowsTheSchedule_thenToTheWei() public view {
        uint256 first = vm.parseJsonUint(_json, ".emissionFirst");
        uint256 decay = vm.parseJsonUint(_json, ".emissionDecayRay");
        uint256[] memory epochs = vm.parseJsonUintArray(_json, ".emissionEpochs");
        uint256[] memory cumulative = vm.parseJsonUintArray(_json, ".emissionCumulative");

        for (uint256 i = 0; i < epochs.length; ++i) {
            assertEq(Emission.cumulative(first, decay, epochs[i]), cumulative[i]);
        }
        assertGt(epochs.length, 0);
    }

    function test_settlement_whenPythonSettled_thenEveryLeafIsInTheRootAndTheTotalsAreTheirSum() public view {
        uint256[] memory ids = vm.parseJsonUintArray(_json, ".providerIds");
        uint256[] memory rewards = vm.parseJsonUintArray(_json, ".cumRewards");
        uint256[] memory penalties = vm.parseJsonUintArray(_json, ".cumPenalties");
        Report memory report = _report();
        (uint256 reward, uint256 penalty) = (0, 0);

        for (uint256 i = 0; i < ids.length; ++i) {
            bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(_domain(), ids[i], rewards[i], penalties[i]))));
            bytes32[] memory path = vm.parseJsonBytes32Array(_json, string.concat(".paths[", vm.toString(i), "]"));
            assertTrue(MerkleProof.verify(path, report.root, leaf));
            reward += rewards[i];
            penalty += penalties[i];
        }
        assertEq(report.leafCount, ids.length);
        assertEq(report.totalReward, reward);
        assertEq(report.totalPenalty, penalty);
    }

    function test_outcomes_whenPythonListedThem_thenEveryLeafIsInTheRoot() public view {
        bytes32[] memory leaves = vm.parseJsonBytes32Array(_json, ".outcomeLeaves");
        for (uint256 i = 0; i < leaves.length; ++i) {
            bytes32[] memory path =
                vm.parseJsonBytes32Array(_json, string.concat(".outcomePaths[", vm.toString(i), "]"));
            assertTrue(MerkleProof.verify(path, _report().outcomesRoot, leaves[i]));
        }
        assertEq(leaves.length, 3);
    }

    function test_report_whenPythonPublished_thenItBindsTheManifestAndMembersVoteOnItsHash() public view {
        Report memory report = _report();
        assertEq(sha256(bytes(vm.parseJsonString(_json, ".manifest"))), report.manifestHash);
        assertEq(keccak256(abi.encode(report)), vm.parseJsonBytes32(_json, ".reportHash"));
    }

    function _domain() private view returns (bytes32) {
        uint256 chainId = vm.parseJsonUint(_json, ".chainId");
        return keccak256(abi.encode("Swarm/Settlement/v1", chainId, vm.parseJsonAddress(_json, ".contract")));
    }

    function _report() private view returns (Report memory report) {
        report.epoch = vm.parseJsonUint(_json, ".report.epoch").toUint32();
        report.refBlock = vm.parseJsonUint(_json, ".report.refBlock").toUint64();
        report.refBlockHash = vm.parseJsonBytes32(_json, ".report.refBlockHash");
        report.paramsVersion = vm.parseJsonUint(_json, ".report.paramsVersion").toUint32();
        report.root = vm.parseJsonBytes32(_json, ".report.root");
        report.leafCount = vm.parseJsonUint(_json, ".report.leafCount").toUint32();
        report.totalReward = vm.parseJsonUint(_json, ".report.totalReward").toUint128();
        report.totalPenalty = vm.parseJsonUint(_json, ".report.totalPenalty").toUint128();
        report.outcomesRoot = vm.parseJsonBytes32(_json, ".report.outcomesRoot");
        report.manifestHash = vm.parseJsonBytes32(_json, ".report.manifestHash");
    }
}
