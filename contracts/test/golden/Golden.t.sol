// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ChallengeBeacon} from "../../src/ChallengeBeacon.sol";
import {JobEscrow} from "../../src/JobEscrow.sol";
import {ProviderRegistry} from "../../src/ProviderRegistry.sol";
import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {SlashingCourt} from "../../src/SlashingCourt.sol";
import {Leaves} from "../../src/libraries/Leaves.sol";
import {JobOutcome, Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";

/// @title The bytes that Python writes (`make golden`) are the bytes that the contracts read
/// @dev Every file names the chain and the contracts it was written for; the real contracts are moved to those addresses.
contract GoldenTest is Reports {
    using ECDSA for bytes32;
    using SafeCast for uint256;

    function test_settlement_whenPythonWroteTheTree_thenEveryLineIsPaid() public {
        string memory json = _open("settlement");
        RewardSettlement moved = RewardSettlement(_moved(address(settlement), json, ".contract"));
        _prepare(moved);
        bytes32 domain = moved.leafDomain();
        assertEq(domain, vm.parseJsonBytes32(json, ".domain"));
        bytes32[] memory leaves = vm.parseJsonBytes32Array(json, ".leaves");
        uint256 rootIndex = _acceptRoot(moved, vm.parseJsonBytes32(json, ".root"));

        for (uint256 i = 0; i < leaves.length; ++i) {
            SettlementLeaf memory line = _goldenLine(json, i);
            bytes32[] memory path = vm.parseJsonBytes32Array(json, _at(".paths", i));
            assertEq(this.leafOf(domain, line), leaves[i]);
            assertTrue(this.proven(path, vm.parseJsonBytes32(json, ".root"), leaves[i]));
            // The largest number a leaf can name is more than all tokens; it is there for the encoding alone.
            if (line.cumReward == type(uint128).max) continue;
            moved.settle(rootIndex, line, path);
            assertEq(moved.account(line.providerId).claimed, line.cumReward);
        }
    }

    function test_settlement_whenPythonWroteALoneLeaf_thenItIsPaid() public {
        string memory json = _open("settlement");
        RewardSettlement moved = RewardSettlement(_moved(address(settlement), json, ".contract"));
        _prepare(moved);
        uint256 rootIndex = _acceptRoot(moved, vm.parseJsonBytes32(json, ".loneRoot"));
        SettlementLeaf memory line = _goldenLine(json, 0);
        assertEq(moved.settle(rootIndex, line, vm.parseJsonBytes32Array(json, ".lonePath")), line.cumReward);
    }

    function test_outcomes_whenPythonWroteTheTree_thenCourtAndEscrowHaveItsLeaves() public {
        string memory json = _open("outcomes");
        SlashingCourt movedCourt = SlashingCourt(_moved(address(court), json, ".court"));
        JobEscrow movedEscrow = JobEscrow(_moved(address(escrow), json, ".escrow"));
        bytes32[] memory leaves = vm.parseJsonBytes32Array(json, ".leaves");
        bytes32[] memory caseIds = vm.parseJsonBytes32Array(json, ".caseIds");
        uint256 jobs = vm.parseJsonUintArray(json, ".jobs.jobId").length;

        for (uint256 i = 0; i < caseIds.length; ++i) {
            Violation memory violation = _goldenViolation(json, i);
            assertEq(movedCourt.violationLeaf(violation), leaves[i]);
            assertEq(movedCourt.caseIdOf(violation), caseIds[i]);
        }
        for (uint256 i = 0; i < jobs; ++i) {
            assertEq(movedEscrow.jobLeaf(_goldenJob(json, i)), leaves[caseIds.length + i]);
        }
        assertEq(leaves.length, caseIds.length + jobs);
    }

    function test_outcomes_whenPythonWroteThePaths_thenSettlementProvesThem() public {
        string memory json = _open("outcomes");
        bytes32[] memory leaves = vm.parseJsonBytes32Array(json, ".leaves");
        Report memory report;
        (report.root, report.outcomesRoot) = (MANIFEST, vm.parseJsonBytes32(json, ".root"));
        vm.prank(address(oracle));
        uint256 rootIndex = settlement.acceptReport(report);
        vm.warp(block.timestamp + 1 days);

        for (uint256 i = 0; i < leaves.length; ++i) {
            bytes32[] memory path = vm.parseJsonBytes32Array(json, _at(".paths", i));
            assertTrue(settlement.outcomeProven(rootIndex, leaves[i], path));
            assertFalse(settlement.outcomeProven(rootIndex, leaves[(i + 1) % leaves.length], path));
        }
    }

    function test_report_whenPythonHashedIt_thenMembersVoteOnTheSameHash() public view {
        string memory json = _open("report");
        bytes32[] memory hashes = vm.parseJsonBytes32Array(json, ".hashes");
        for (uint256 i = 0; i < hashes.length; ++i) {
            assertEq(keccak256(abi.encode(_goldenReport(json, i))), hashes[i]);
        }
        assertGt(hashes.length, 0);
    }

    function test_eip712_whenPythonSigned_thenEveryDigestAndSignerIsTheSame() public {
        string memory json = _open("eip712");
        bytes32 beaconDomain = ChallengeBeacon(_moved(address(beacon), json, ".beacon")).domainSeparator();
        assertEq(beaconDomain, vm.parseJsonBytes32(json, ".beaconDomain"));
        bytes32 registryDomain = vm.parseJsonBytes32(json, ".registryDomain");
        address signer = vm.parseJsonAddress(json, ".signer");
        string[] memory kinds = vm.parseJsonKeys(json, ".types");

        for (uint256 i = 0; i < kinds.length; ++i) {
            bool admission = keccak256(bytes(kinds[i])) == keccak256("NodeAdmission");
            bytes32 digest = MessageHashUtils.toTypedDataHash(
                admission ? registryDomain : beaconDomain, _structHash(json, kinds[i])
            );
            assertEq(digest, vm.parseJsonBytes32(json, string.concat(".digests.", kinds[i])), kinds[i]);
            assertEq(digest.recover(vm.parseJsonBytes(json, string.concat(".signatures.", kinds[i]))), signer);
        }
    }

    function test_eip712_whenPythonSignedAnAdmission_thenTheRegistryAdmitsTheNode() public {
        string memory json = _open("eip712");
        (address alice, uint256 aliceId) = _join("alice");
        ProviderRegistry moved = ProviderRegistry(_moved(address(registry), json, ".registry"));
        address node = vm.parseJsonAddress(json, ".messages.NodeAdmission.node");
        uint256 deadline = vm.parseJsonUint(json, ".messages.NodeAdmission.deadline");
        vm.warp(deadline);
        vm.prank(alice);
        moved.addNode(aliceId, node, deadline, vm.parseJsonBytes(json, ".signatures.NodeAdmission"));
        assertEq(moved.providerIdOfNode(node), aliceId);
    }

    function test_challenge_whenPythonDerivedTheSeeds_thenTheBeaconDoesToo() public {
        string memory json = _open("challenge");
        ChallengeBeacon moved = ChallengeBeacon(_moved(address(beacon), json, ".beacon"));
        uint256 windowId = vm.parseJsonUint(json, ".windowId");
        vm.warp(oracle.epochEnd((windowId >> 16).toUint32()) - 1);
        vm.roll(1000);
        vm.startPrank(oracleMember(0));
        moved.commitSecret(windowId, vm.parseJsonBytes32(json, ".secretHash"));
        vm.roll(1001);
        vm.setBlockhash(1000, vm.parseJsonBytes32(json, ".previousBlockHash"));
        vm.prevrandao(vm.parseJsonBytes32(json, ".prevrandao"));
        bytes32 windowSeed = moved.open(windowId, vm.parseJsonBytes32(json, ".secret"));
        moved.close(windowId, vm.parseJsonBytes32(json, ".commitmentsRoot"), 1);
        vm.roll(1004);
        vm.setBlockhash(1003, vm.parseJsonBytes32(json, ".drawBlockHash"));

        assertEq(windowSeed, vm.parseJsonBytes32(json, ".windowSeed"));
        assertEq(moved.draw(windowId), vm.parseJsonBytes32(json, ".drawSeed"));
        assertEq(_seedW(json, address(moved), windowId, windowSeed), vm.parseJsonUint(json, ".seedW"));
        assertEq(_seedX(json, address(moved), windowId, windowSeed), vm.parseJsonUint(json, ".seedX"));
    }

    function test_challenge_whenPythonDrewTheRows_thenTheFormulaDoesToo() public view {
        string memory json = _open("challenge");
        uint256[] memory rows = vm.parseJsonUintArray(json, ".rows");
        bytes32 drawSeed = vm.parseJsonBytes32(json, ".drawSeed");
        address node = vm.parseJsonAddress(json, ".node");
        uint256 device = vm.parseJsonUint(json, ".device");
        bytes32 root = vm.parseJsonBytes32(json, ".root");
        uint256 m = vm.parseJsonUint(json, ".m");

        uint256 found;
        for (uint256 c = 0; found < rows.length; ++c) {
            uint256 row = uint256(keccak256(abi.encode(drawSeed, node, device, root, c))) % m;
            if (!_contains(rows, found, row)) assertEq(rows[found++], row);
        }
    }

    function leafOf(bytes32 domain, SettlementLeaf calldata line) external pure returns (bytes32) {
        return Leaves.ofProvider(domain, line);
    }

    function proven(bytes32[] calldata path, bytes32 root, bytes32 leaf) external pure returns (bool) {
        return Leaves.proven(path, root, leaf);
    }

    function _open(string memory name) private view returns (string memory) {
        return vm.readFile(string.concat("tests/golden/", name, ".json"));
    }

    /// @dev Moves a deployed contract to where the file wants it, and the chain with it.
    function _moved(address from, string memory json, string memory key) private returns (address to) {
        to = vm.parseJsonAddress(json, key);
        vm.cloneAccount(from, to);
        // A clone has only the slots that this test has touched; the authority is slot 0 of every contract that has one.
        vm.store(to, bytes32(0), vm.load(from, bytes32(0)));
        vm.chainId(vm.parseJsonUint(json, ".chainId"));
    }

    /// @dev Five providers without stake, and the roles of the settlement for its new address.
    function _prepare(RewardSettlement moved) private {
        for (uint256 i = 0; i < 5; ++i) {
            _join(string.concat("provider ", vm.toString(i)));
        }
        _assignByTimelock(address(moved), moved.acceptReport.selector, ORACLE);
        _grant(MINTER, address(moved));
        _grant(SETTLEMENT, address(moved));
    }

    function _acceptRoot(RewardSettlement moved, bytes32 root) private returns (uint256 rootIndex) {
        Report memory report;
        (report.root, report.totalReward) = (root, 100e18);
        vm.prank(address(oracle));
        rootIndex = moved.acceptReport(report);
        vm.warp(block.timestamp + 1 days);
    }

    function _goldenLine(string memory json, uint256 i) private pure returns (SettlementLeaf memory) {
        return
            _line(_uintAt(json, ".providerIds", i), _uintAt(json, ".cumRewards", i), _uintAt(json, ".cumPenalties", i));
    }

    function _goldenViolation(string memory json, uint256 i) private pure returns (Violation memory) {
        return Violation({
            providerId: _uintAt(json, ".violations.providerId", i),
            class: ViolationClass(_uintAt(json, ".violations.violationClass", i)),
            severity: Severity(_uintAt(json, ".violations.severity", i)),
            epoch: _uintAt(json, ".violations.epoch", i).toUint32(),
            offenceAt: _uintAt(json, ".violations.offenceAt", i).toUint64(),
            amount: _uintAt(json, ".violations.amount", i).toUint128(),
            suspendedFor: _uintAt(json, ".violations.suspendedFor", i).toUint64(),
            evidenceHash: _wordAt(json, ".violations.evidenceHash", i)
        });
    }

    function _goldenJob(string memory json, uint256 i) private pure returns (JobOutcome memory) {
        return JobOutcome({
            jobId: _uintAt(json, ".jobs.jobId", i),
            receiptDigest: _wordAt(json, ".jobs.receiptDigest", i),
            payWei: _uintAt(json, ".jobs.pay", i).toUint128()
        });
    }

    function _goldenReport(string memory json, uint256 i) private pure returns (Report memory) {
        return Report({
            epoch: _uintAt(json, ".epoch", i).toUint32(),
            refBlock: _uintAt(json, ".refBlock", i).toUint64(),
            refBlockHash: _wordAt(json, ".refBlockHash", i),
            paramsVersion: _uintAt(json, ".paramsVersion", i).toUint32(),
            root: _wordAt(json, ".root", i),
            leafCount: _uintAt(json, ".leafCount", i).toUint32(),
            totalReward: _uintAt(json, ".totalReward", i).toUint128(),
            totalPenalty: _uintAt(json, ".totalPenalty", i).toUint128(),
            outcomesRoot: _wordAt(json, ".outcomesRoot", i),
            manifestHash: _wordAt(json, ".manifestHash", i)
        });
    }

    /// @dev hashStruct of EIP-712 from the text of the type: all our fields are one word each.
    function _structHash(string memory json, string memory kind) private pure returns (bytes32) {
        string memory text = vm.parseJsonString(json, string.concat(".types.", kind));
        bytes memory words = abi.encode(keccak256(bytes(text)));
        string[] memory fields = vm.split(vm.replace(vm.split(text, "(")[1], ")", ""), ",");
        for (uint256 i = 0; i < fields.length; ++i) {
            string[] memory typed = vm.split(fields[i], " ");
            string memory key = string.concat(".messages.", kind, ".", typed[1]);
            words = bytes.concat(words, _field(json, key, keccak256(bytes(typed[0]))));
        }
        return keccak256(words);
    }

    function _field(string memory json, string memory key, bytes32 typeName) private pure returns (bytes memory) {
        if (typeName == keccak256("address")) return abi.encode(vm.parseJsonAddress(json, key));
        if (typeName == keccak256("bytes32")) return abi.encode(vm.parseJsonBytes32(json, key));
        return abi.encode(vm.parseJsonUint(json, key));
    }

    function _seedW(string memory json, address at, uint256 windowId, bytes32 windowSeed)
        private
        view
        returns (uint256)
    {
        bytes32 tag = keccak256("swarm.compute.weights.v1");
        uint256 n = vm.parseJsonUint(json, ".n");
        return uint64(bytes8(keccak256(abi.encode(tag, block.chainid, at, windowId, windowSeed, n))));
    }

    function _seedX(string memory json, address at, uint256 windowId, bytes32 windowSeed)
        private
        view
        returns (uint256)
    {
        bytes32 tag = keccak256("swarm.compute.input.v1");
        address node = vm.parseJsonAddress(json, ".node");
        uint256 device = vm.parseJsonUint(json, ".device");
        return uint64(bytes8(keccak256(abi.encode(tag, block.chainid, at, windowId, windowSeed, node, device))));
    }

    function _uintAt(string memory json, string memory key, uint256 i) private pure returns (uint256) {
        return vm.parseJsonUintArray(json, key)[i];
    }

    function _wordAt(string memory json, string memory key, uint256 i) private pure returns (bytes32) {
        return vm.parseJsonBytes32Array(json, key)[i];
    }

    function _at(string memory key, uint256 i) private pure returns (string memory) {
        return string.concat(key, "[", vm.toString(i), "]");
    }

    function _contains(uint256[] memory rows, uint256 count, uint256 row) private pure returns (bool) {
        for (uint256 i = 0; i < count; ++i) {
            if (rows[i] == row) return true;
        }
        return false;
    }
}
