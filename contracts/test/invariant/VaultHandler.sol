// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Test} from "forge-std/Test.sol";

import {ProviderRegistry} from "../../src/ProviderRegistry.sol";
import {RewardSettlement} from "../../src/RewardSettlement.sol";
import {StakeVault} from "../../src/StakeVault.sol";
import {SwarmToken} from "../../src/SwarmToken.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Report} from "../../src/types/Settlement.sol";
import {VaultMirror} from "../utils/VaultMirror.sol";

/// @title Everything that providers, courts, the settlement and donors can do to the vault, in any order
/// @dev Only calls that must succeed are made: a revert is a finding (fail_on_revert). The handler holds the roles COURT, SETTLEMENT and
///      ORACLE, so each is used far more wildly than the contracts that hold them in a deployment would.
contract VaultHandler is Test {
    uint256 public constant PROVIDERS = 3;

    StakeVault public immutable VAULT;
    SwarmToken public immutable TOKEN;
    ProviderRegistry public immutable REGISTRY;
    RewardSettlement public immutable SETTLEMENT;
    VaultMirror public immutable MIRROR;

    /// @notice Wei by fate, over all providers and by provider.
    uint256 public donated;
    mapping(uint256 providerId => uint256) public deposited;
    mapping(uint256 providerId => uint256) public withdrawn;
    mapping(uint256 providerId => uint256) public slashed;
    mapping(uint256 providerId => uint256) public penalised;

    /// @notice Request ids ever made, by provider.
    mapping(uint256 providerId => uint256) public requests;

    /// @notice Seconds in which stake moved: where histories may differ.
    uint64[] private _moments;

    uint32 private _epoch;

    modifier observed() {
        vm.recordLogs();
        _;
        MIRROR.apply_(address(VAULT), vm.getRecordedLogs());
        _moments.push(uint64(block.timestamp));
    }

    constructor(StakeVault vault, SwarmToken token, ProviderRegistry registry, RewardSettlement settlement) {
        (VAULT, TOKEN, REGISTRY, SETTLEMENT) = (vault, token, registry, settlement);
        MIRROR = new VaultMirror();
        for (uint256 id = 1; id <= PROVIDERS; ++id) {
            vm.startPrank(ownerOf(id));
            registry.register(ownerOf(id), ownerOf(id), 1, "eu-west");
            token.approve(address(vault), type(uint256).max);
            vm.stopPrank();
        }
    }

    function ownerOf(uint256 providerId) public returns (address) {
        return makeAddr(string.concat("owner", vm.toString(providerId)));
    }

    /// @notice A second in which stake moved, another one for each step and provider.
    function someMoment(uint256 providerId) external view returns (uint64) {
        uint256 count = _moments.length;
        return count == 0 ? 0 : _moments[uint256(keccak256(abi.encode(count, providerId))) % count];
    }

    function stake(uint256 who, uint256 amount) external observed {
        uint256 id = _pick(who);
        amount = _spread(amount, 1e24);
        if (!TOKEN.transfer(ownerOf(id), amount)) revert();

        vm.prank(ownerOf(id));
        VAULT.stake(id, amount);

        deposited[id] += amount;
    }

    function requestUnbond(uint256 who, uint256 amount) external observed {
        uint256 id = _pick(who);
        uint256 active = VAULT.activeStake(id);
        if (active == 0 || VAULT.openRequests(id) == VAULT.MAX_REQUESTS()) return;

        vm.prank(ownerOf(id));
        uint256 requestId = VAULT.requestUnbond(id, _spread(amount, active));

        assertEq(requestId, requests[id]++, "ids are dense");
    }

    function cancelUnbond(uint256 who, uint256 which) external observed {
        uint256 id = _pick(who);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found) return;

        vm.prank(ownerOf(id));
        VAULT.cancelUnbond(id, requestId);
    }

    /// @dev Three times of four the gates are opened first; else it is tried as things stand.
    function withdraw(uint256 who, uint256 which) external observed {
        uint256 id = _pick(who);
        (bool found, uint256 requestId) = _liveRequest(id, which);
        if (!found) return;
        if (which % 4 != 0) _openGates(id, requestId);
        if (!_mayLeave(id, requestId)) return;
        uint256 worth = VAULT.unbondValue(id, requestId);

        uint256 amount = VAULT.withdraw(id, requestId);

        assertEq(amount, worth, "unbondValue is what withdraw pays");
        withdrawn[id] += amount;
    }

    /// @dev Invariants 8 and 12. `size` chooses between any amount, nearly everything and far too much.
    function slash(uint256 who, uint256 size, uint256 amount, uint256 age, uint256 caps) external observed {
        uint256 id = _pick(who);
        uint256 tokens = VAULT.pool(id).tokens;
        if (size % 3 == 0) amount = _spread(amount, tokens + 1);
        else if (size % 3 == 1) amount = tokens - (tokens == 0 ? 0 : amount % (tokens / 1e6 + 1));
        uint64 offenceAt = SafeCast.toUint64(block.timestamp - age % 17 days);
        IStakeVault.Slash memory order = IStakeVault.Slash(
            id, bytes32(amount), amount, offenceAt, caps & 1 != 0, caps & 2 != 0, address(this), 1000
        );
        uint256 most = _mostOf(order);

        uint256 taken = VAULT.slash(order);

        assertEq(taken, most, "min(request, stake of the offence, buckets)");
        slashed[id] += taken;
    }

    function takePenalty(uint256 who, uint256 amount, bool settle) external observed {
        uint256 id = _pick(who);
        (uint32 activatedRoots,) = SETTLEMENT.exitStatus();
        uint256 tokens = VAULT.pool(id).tokens;
        amount = amount % 4 == 0 ? 0 : _spread(amount, tokens + 1);

        uint256 taken = VAULT.takePenalty(id, amount, settle ? activatedRoots : 0);

        assertLe(taken, amount);
        penalised[id] += taken;
    }

    function openCase(uint256 who) external observed {
        VAULT.openCase(_pick(who));
    }

    function closeCase(uint256 who) external observed {
        uint256 id = _pick(who);
        if (VAULT.pool(id).openCases != 0) VAULT.closeCase(id);
    }

    function acceptReport() external observed {
        Report memory report;
        (report.epoch, report.leafCount) = (_epoch++, SafeCast.toUint32(PROVIDERS));
        report.root = keccak256(abi.encode(report.epoch));
        SETTLEMENT.acceptReport(report);
    }

    function donate(uint256 amount) external observed {
        amount = _spread(amount, 1e22);
        if (!TOKEN.transfer(address(VAULT), amount)) revert();
        donated += amount;
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + 1 + time % 9 days);
    }

    /// @dev Lets everyone leave: cases end, the oracle is dead, every request ends, the rest is asked back. Invariants 5, 6 and 34.
    function leaveAll() external {
        for (uint256 id = 1; id <= PROVIDERS; ++id) {
            while (VAULT.pool(id).openCases != 0) {
                VAULT.closeCase(id);
            }
            for (uint256 requestId = 0; requestId < requests[id]; ++requestId) {
                if (_isLive(id, requestId) && requestId % 2 == 0) _cancel(id, requestId);
            }
            uint256 active = VAULT.activeStake(id);
            if (active == 0) continue;
            if (VAULT.openRequests(id) == VAULT.MAX_REQUESTS()) continue;
            vm.prank(ownerOf(id));
            requests[id] = VAULT.requestUnbond(id, active) + 1;
        }
        vm.warp(block.timestamp + VAULT.unbondingFor() + 11 days);
        for (uint256 id = 1; id <= PROVIDERS; ++id) {
            for (uint256 requestId = requests[id]; requestId > 0; --requestId) {
                if (_isLive(id, requestId - 1)) withdrawn[id] += VAULT.withdraw(id, requestId - 1);
            }
        }
    }

    /// @dev The mirror reads the clock once for all logs, so time passes before the first call that moves stake.
    function _openGates(uint256 id, uint256 requestId) private {
        uint64 maturesAt = VAULT.unbondRequest(id, requestId).maturesAt;
        if (block.timestamp < maturesAt) vm.warp(maturesAt);
        while (VAULT.pool(id).openCases != 0) {
            VAULT.closeCase(id);
        }
        (uint32 activatedRoots,) = SETTLEMENT.exitStatus();
        VAULT.takePenalty(id, 0, activatedRoots);
    }

    function _cancel(uint256 id, uint256 requestId) private {
        vm.prank(ownerOf(id));
        VAULT.cancelUnbond(id, requestId);
    }

    function _mostOf(IStakeVault.Slash memory order) private view returns (uint256 most) {
        (uint256 providerWei, uint256 globalWei) = VAULT.bucketAvailable(order.providerId);
        most = _min(order.amount, VAULT.pool(order.providerId).tokens);
        most = _min(most, MIRROR.stakeAt(order.providerId, order.offenceAt));
        if (order.providerCapped) most = _min(most, providerWei);
        if (order.globalCapped) most = _min(most, globalWei);
    }

    function _mayLeave(uint256 id, uint256 requestId) private view returns (bool) {
        (uint32 activatedRoots, uint64 lastReportAt) = SETTLEMENT.exitStatus();
        bool settled = VAULT.pool(id).settledRoots >= activatedRoots;
        bool stale = block.timestamp > lastReportAt + VAULT.STALE_AFTER();
        bool matured = block.timestamp >= VAULT.unbondRequest(id, requestId).maturesAt;
        return matured && VAULT.pool(id).openCases == 0 && (settled || stale);
    }

    function _liveRequest(uint256 id, uint256 which) private view returns (bool found, uint256 requestId) {
        uint256 count = requests[id];
        for (uint256 i = 0; i < count; ++i) {
            requestId = (which % count + i) % count;
            if (_isLive(id, requestId)) return (true, requestId);
        }
    }

    function _isLive(uint256 id, uint256 requestId) private view returns (bool) {
        IStakeVault.UnbondRequest memory request = VAULT.unbondRequest(id, requestId);
        return request.shares != 0 && request.nonce == VAULT.pool(id).nonce;
    }

    function _pick(uint256 who) private pure returns (uint256) {
        return 1 + who % PROVIDERS;
    }

    /// @dev 1 wei to `most`, small and large amounts alike: rounding shows at the small end.
    function _spread(uint256 seed, uint256 most) private pure returns (uint256) {
        uint256 top = most >> (seed % 90);
        return top == 0 ? 1 : 1 + (seed / 90) % top;
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
