// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ChallengeBeacon} from "../../src/ChallengeBeacon.sol";
import {ComputeCourt} from "../../src/ComputeCourt.sol";
import {EpochOracle} from "../../src/EpochOracle.sol";
import {ExpiringPause} from "../../src/ExpiringPause.sol";
import {JobEscrow} from "../../src/JobEscrow.sol";
import {ProviderRegistry} from "../../src/ProviderRegistry.sol";
import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {SlashSink} from "../../src/SlashSink.sol";
import {SlashingCourt} from "../../src/SlashingCourt.sol";
import {StakeVault} from "../../src/StakeVault.sol";
import {ComputeCommitment} from "../../src/types/Compute.sol";
import {JobOutcome, Severity, Violation, ViolationClass} from "../../src/types/Outcomes.sol";

/// @title Invariant 31: the getters of each contract, asked anything; one that reverts fails the caller
/// @dev `ReportLimits.check` is no getter: it exists to revert.
library Questions {
    function ask(ProviderRegistry registry, uint256 id, address who) internal view {
        registry.provider(id);
        registry.payoutOf(id);
        registry.ownerOf(id);
        registry.ownership(id);
        registry.isRetired(id);
        registry.nodeCount(id);
        registry.mayDefend(id, who);
        registry.nodeNonce(who);
        registry.providerIdOf(who);
        registry.nodeRecord(who);
        registry.maintenanceOf(who);
        registry.providerIdOfNode(who);
        registry.providerCount();
        registry.providerCountAt(id);
    }

    function ask(StakeVault vault, uint256 id, uint256 other) internal view {
        vault.pool(id);
        vault.unbondRequest(id, other);
        vault.unbondValue(id, other);
        vault.openRequests(id);
        vault.activeStake(id);
        vault.stakeAt(id, uint64(other));
        vault.bucketAvailable(id);
        vault.totalStaked();
        vault.exitGate();
        vault.minUnbondingFor();
        vault.unbondingFor();
        _askPause(vault);
    }

    function ask(EpochOracle oracle, uint256 number, bytes32 word, address who) internal view {
        oracle.epochEnd(uint32(number));
        oracle.deadlineOf(uint32(number));
        oracle.support(uint32(number), word);
        oracle.voteOf(uint32(number), who);
        oracle.processedHash(uint32(number));
        oracle.processedEpochs();
        oracle.currentEpoch();
        oracle.isMember(who);
        oracle.members();
        oracle.quorum();
    }

    function ask(RewardSettlement settlement, uint256 number, bytes32 word) internal view {
        bytes32[] memory path = new bytes32[](number % 5);
        settlement.account(number);
        settlement.settledRootsOf(number);
        settlement.rootAt(number);
        settlement.outcomeProven(number, word, path);
        settlement.cumulativeEmission(number);
        settlement.exitStatus();
        settlement.totals();
        settlement.rootCount();
        settlement.leafDomain();
        settlement.totalMinted();
        settlement.totalFunded();
        settlement.nettedPenalties();
        _askPause(settlement);
    }

    function ask(SlashingCourt court, uint256 number, bytes32 word) internal view {
        Violation memory violation = Violation({
            providerId: number,
            class: ViolationClass(number % 4),
            severity: Severity(uint256(word) % 4),
            epoch: uint32(number),
            offenceAt: uint64(number),
            amount: uint128(number),
            suspendedFor: uint64(uint256(word)),
            evidenceHash: word
        });
        court.caseAt(word);
        court.caseAt(court.caseIdOf(violation));
        court.violationLeaf(violation);
        court.bondWei();
    }

    function ask(ComputeCourt computeCourt, uint256 number, bytes32 word, address who) internal view {
        ComputeCommitment memory commitment = ComputeCommitment({
            windowId: number,
            windowSeed: word,
            node: who,
            device: number,
            m: uint32(number),
            n: uint32(number >> 32),
            steps: uint32(number >> 64),
            root: word
        });
        bytes32 offenceId = computeCourt.offenceIdOf(number, who, number, who);
        computeCourt.accusation(word);
        computeCourt.accusation(computeCourt.accusationIdOf(offenceId, word, uint32(number), who));
        computeCourt.isConvicted(offenceId);
        computeCourt.openAccusations(number);
        computeCourt.bondOf(number);
        computeCourt.commitmentHashOf(commitment);
        computeCourt.sealedBlock(computeCourt.sealOf(who, offenceId, word));
        computeCourt.params();
    }

    function ask(ChallengeBeacon beacon, uint256 number) internal view {
        beacon.window(number);
        beacon.stateOf(number);
        beacon.domainSeparator();
    }

    function ask(JobEscrow escrow, uint256 number, bytes32 word) internal view {
        escrow.job(number);
        escrow.jobCount();
        escrow.jobLeaf(JobOutcome(number, word, uint128(number)));
        _askPause(escrow);
    }

    function ask(SlashSink sink, address who) internal view {
        sink.bountyOf(who);
        sink.insurance();
        sink.totalBounties();
    }

    function _askPause(ExpiringPause pausable) private view {
        pausable.pausedUntil();
        pausable.nextPauseAt();
    }
}
