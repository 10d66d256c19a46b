// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";
import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {Test} from "forge-std/Test.sol";

import {ChallengeBeacon} from "../../src/ChallengeBeacon.sol";
import {ComputeCourt} from "../../src/ComputeCourt.sol";
import {EpochOracle} from "../../src/EpochOracle.sol";
import {JobEscrow} from "../../src/JobEscrow.sol";
import {ProviderRegistry} from "../../src/ProviderRegistry.sol";
import {ReportLimits} from "../../src/ReportLimits.sol";
import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {SlashSink} from "../../src/SlashSink.sol";
import {SlashingCourt} from "../../src/SlashingCourt.sol";
import {StakeVault} from "../../src/StakeVault.sol";
import {SwarmToken} from "../../src/SwarmToken.sol";
import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IEpochOracle} from "../../src/interfaces/IEpochOracle.sol";
import {IExpiringPause} from "../../src/interfaces/IExpiringPause.sol";
import {IJobEscrow} from "../../src/interfaces/IJobEscrow.sol";
import {IReportLimits} from "../../src/interfaces/IReportLimits.sol";
import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {ISlashingCourt} from "../../src/interfaces/ISlashingCourt.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";

/// @title The whole set of contracts, deployed and wired as docs/spec/deployment.md says
/// @dev Real contracts and mainnet numbers only. A test that wants to act in a role grants that role to an actor of its own, by the timelock.
abstract contract Deployment is Test {
    uint64 internal constant MINTER = 1;
    uint64 internal constant SETTLEMENT = 2;
    uint64 internal constant COURT = 3;
    uint64 internal constant ORACLE = 4;
    uint64 internal constant VAULT = 5;
    uint64 internal constant GUARDIAN = 6;
    uint64 internal constant VETO = 7;

    uint256 internal constant GENESIS = 1_800_000_000;
    uint256 internal constant TIMELOCK_FOR = 2 days;
    uint256 internal constant TOKEN_CAP = 1e27;
    uint256 internal constant INITIAL_SUPPLY = 1e26;
    uint64 internal constant PAYOUT_DELAY = 2 days;
    uint256 internal constant MEMBERS = 7;
    uint256 internal constant QUORUM = 5;

    address internal immutable proposer = _actor("proposer");
    address internal immutable executor = _actor("executor");
    address internal immutable guardian = _actor("guardian");
    address internal immutable vetoer = _actor("vetoer");
    address internal immutable treasury = _actor("treasury");

    TimelockController internal timelock;
    AccessManager internal manager;
    SwarmToken internal token;
    ProviderRegistry internal registry;
    SlashSink internal sink;
    StakeVault internal vault;
    EpochOracle internal oracle;
    ChallengeBeacon internal beacon;
    ReportLimits internal limits;
    RewardSettlement internal settlement;
    SlashingCourt internal court;
    ComputeCourt internal computeCourt;
    JobEscrow internal escrow;

    function setUp() public virtual {
        vm.warp(GENESIS);
        _deployCustody();
        _deployJudgement();
        _wire();
        _handOver();
    }

    function vaultParams() internal pure virtual returns (IStakeVault.VaultParams memory) {
        return IStakeVault.VaultParams({
            unbondingFor: 14 days,
            minUnbondingFor: 13 days,
            maxUnbondingFor: 90 days,
            staleAfterFor: 10 days,
            providerBucketBps: 1000,
            globalBucketBps: 100,
            bucketFor: 1 days
        });
    }

    function epochParams() internal pure virtual returns (IEpochOracle.EpochParams memory) {
        return
            IEpochOracle.EpochParams({genesisAt: SafeCast.toUint64(GENESIS), epochFor: 1 days, reportWindowFor: 1 days});
    }

    function limitParams() internal pure virtual returns (IReportLimits.LimitParams memory) {
        return IReportLimits.LimitParams({maxRewardPerEpoch: 100_000e18, maxPenaltyPerEpoch: 100_000e18});
    }

    function settlementParams() internal pure virtual returns (IRewardSettlement.SettlementParams memory) {
        return IRewardSettlement.SettlementParams({
            activationFor: 1 days, emissionFirst: 100_000e18, emissionDecayRay: 0.9995e27
        });
    }

    function courtParams() internal pure virtual returns (ISlashingCourt.CourtParams memory) {
        return ISlashingCourt.CourtParams({
            vetoFor: 3 days,
            severeVetoFor: 7 days,
            executeFor: 7 days,
            severeExecuteFor: 3 days,
            maxOffenceAgeFor: 7 days,
            bondWei: 1000e18,
            bountyBps: 1000
        });
    }

    function computeCourtParams() internal pure virtual returns (IComputeCourt.ComputeCourtParams memory) {
        return IComputeCourt.ComputeCourtParams({
            accuseFor: 7 days, answerFor: 24 hours, moveFor: 12 hours, bondWei: 1000e18, slashBps: 5000, bountyBps: 3000
        });
    }

    function escrowParams() internal pure virtual returns (IJobEscrow.EscrowParams memory) {
        return IJobEscrow.EscrowParams({judgeFor: 5 days, minBudget: 1e18, oracleBps: 500, burnBps: 500});
    }

    /// @dev A test may want the beacon, which every seed and signature names, at a certain address.
    function _newBeacon() internal virtual returns (ChallengeBeacon) {
        return new ChallengeBeacon(oracle);
    }

    function oracleMember(uint256 index) internal returns (address) {
        return _actor(string.concat("member", Strings.toString(index)));
    }

    /// @dev Symbolic tests take addresses that are plain numbers: to Halmos a key's address is unknown.
    function _actor(string memory name) internal virtual returns (address) {
        return makeAddr(name);
    }

    /// @dev Acts as the timelock after its delay; that the delay holds is tested once, with the real schedule.
    function _byTimelock(address target, bytes memory data) internal {
        vm.prank(address(timelock));
        Address.functionCall(target, data);
    }

    function _grant(uint64 role, address actor) internal {
        _byTimelock(address(manager), abi.encodeCall(manager.grantRole, (role, actor, 0)));
    }

    /// @dev Registers `owner` as its own operator and payout.
    function _register(address owner) internal returns (uint256 providerId) {
        vm.prank(owner);
        return registry.register(owner, owner, 2, "eu-west");
    }

    /// @dev Gives `owner` tokens and stakes them.
    function _stake(address owner, uint256 providerId, uint256 amount) internal {
        _fund(owner, amount);
        vm.startPrank(owner);
        token.approve(address(vault), amount);
        vault.stake(providerId, amount);
        vm.stopPrank();
    }

    function _fund(address to, uint256 amount) internal {
        vm.prank(treasury);
        assertTrue(token.transfer(to, amount));
    }

    function _deployCustody() private {
        address[] memory proposers = new address[](1);
        address[] memory executors = new address[](1);
        (proposers[0], executors[0]) = (proposer, executor);
        timelock = new TimelockController(TIMELOCK_FOR, proposers, executors, address(0));
        manager = new AccessManager(address(this));
        token = new SwarmToken(address(manager), TOKEN_CAP, treasury, INITIAL_SUPPLY);
        registry = new ProviderRegistry(address(manager), PAYOUT_DELAY);
        sink = new SlashSink(address(manager), token);
        vault = new StakeVault(address(manager), token, registry, sink, vaultParams());
    }

    function _deployJudgement() private {
        address[] memory members = new address[](MEMBERS);
        for (uint256 i = 0; i < MEMBERS; ++i) {
            members[i] = oracleMember(i);
        }
        oracle = new EpochOracle(address(manager), epochParams(), members, QUORUM);
        beacon = _newBeacon();
        limits = new ReportLimits(registry, limitParams());
        settlement = new RewardSettlement(address(manager), token, registry, vault, sink, settlementParams());
        court = new SlashingCourt(address(manager), token, registry, vault, settlement, courtParams());
        computeCourt = new ComputeCourt(token, registry, vault, beacon, computeCourtParams());
        escrow = new JobEscrow(address(manager), token, registry, settlement, escrowParams());
    }

    function _wire() private {
        vault.setExitGate(address(settlement));
        oracle.setLimits(address(limits));
        oracle.setSettlement(address(settlement));

        _assign(address(token), token.mint.selector, MINTER, address(settlement));
        _assign(address(vault), vault.takePenalty.selector, SETTLEMENT, address(settlement));
        _assignCourt(address(court));
        _assignCourt(address(computeCourt));
        _assign(address(settlement), settlement.acceptReport.selector, ORACLE, address(oracle));
        _assign(address(sink), sink.deposit.selector, VAULT, address(vault));
        _assign(address(sink), sink.deposit.selector, VAULT, address(settlement));
        _assign(address(settlement), settlement.disableRoot.selector, GUARDIAN, guardian);
        _assignPause(address(vault));
        _assignPause(address(settlement));
        _assignPause(address(escrow));
        _assign(address(court), court.veto.selector, VETO, vetoer);
    }

    function _assignCourt(address holder) private {
        _assign(address(vault), vault.slash.selector, COURT, holder);
        _assign(address(vault), vault.openCase.selector, COURT, holder);
        _assign(address(vault), vault.closeCase.selector, COURT, holder);
        _assign(address(registry), registry.suspend.selector, COURT, holder);
    }

    function _assignPause(address target) private {
        _assign(target, IExpiringPause.pauseFor.selector, GUARDIAN, guardian);
        _assign(target, IExpiringPause.resume.selector, GUARDIAN, guardian);
    }

    function _assign(address target, bytes4 selector, uint64 role, address holder) private {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = selector;
        manager.setTargetFunctionRole(target, selectors, role);
        manager.grantRole(role, holder, 0);
    }

    function _handOver() private {
        uint64 admin = manager.ADMIN_ROLE();
        manager.grantRole(admin, address(timelock), 0);
        manager.renounceRole(admin, address(this));
    }
}
