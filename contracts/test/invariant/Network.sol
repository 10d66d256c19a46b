// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {BeaconMirror} from "../utils/mirrors/BeaconMirror.sol";
import {BucketMirror} from "../utils/mirrors/BucketMirror.sol";
import {CourtMirror} from "../utils/mirrors/CourtMirror.sol";
import {EscrowMirror} from "../utils/mirrors/EscrowMirror.sol";
import {Mirror} from "../utils/mirrors/Mirror.sol";
import {OracleMirror} from "../utils/mirrors/OracleMirror.sol";
import {PauseMirror} from "../utils/mirrors/PauseMirror.sol";
import {RegistryMirror} from "../utils/mirrors/RegistryMirror.sol";
import {SettlementMirror} from "../utils/mirrors/SettlementMirror.sol";
import {SinkMirror} from "../utils/mirrors/SinkMirror.sol";
import {Reports} from "../utils/Reports.sol";
import {VaultMirror} from "../utils/VaultMirror.sol";

/// @title The ground of every walk: all contracts real, every event of theirs folded as it is written
/// @dev An action makes only calls whose outcome it can foretell: one that should succeed is called plainly (a revert is a finding,
///      fail_on_revert), one that should fail goes through `_mustFail`.
abstract contract Network is Reports {
    VaultMirror internal vaultMirror;
    RegistryMirror internal registryMirror;
    OracleMirror internal oracleMirror;
    SettlementMirror internal settlementMirror;
    CourtMirror internal courtMirror;
    EscrowMirror internal escrowMirror;
    SinkMirror internal sinkMirror;

    /// @notice Wei that were simply sent to a contract.
    mapping(address to => uint256) public donated;

    /// @notice How often something worth seeing happened: a walk that never gets there proves nothing.
    mapping(bytes32 what => uint256) public hits;

    /// @dev Each source has one mirror here; the vault's oldest one stands beside them, and pauses and buckets have their own.
    Mirror[] private _mirrors;
    mapping(address source => Mirror[]) private _mirrorsOf;

    modifier observed() {
        vm.recordLogs();
        _;
        _fold(vm.getRecordedLogs());
    }

    constructor() {
        vm.recordLogs();
        setUp();
        vaultMirror = new VaultMirror();
        _add(registryMirror = new RegistryMirror(address(registry)));
        _add(oracleMirror = new OracleMirror(address(oracle)));
        _add(settlementMirror = new SettlementMirror(address(settlement)));
        _add(courtMirror = new CourtMirror(address(court)));
        _add(escrowMirror = new EscrowMirror(address(escrow)));
        _add(sinkMirror = new SinkMirror(address(sink)));
        _add(new BeaconMirror(address(beacon)));
        _add(new BucketMirror(address(vault)));
        _add(new PauseMirror(address(vault)));
        _add(new PauseMirror(address(settlement)));
        _add(new PauseMirror(address(escrow)));
        _fold(vm.getRecordedLogs());
    }

    /// @notice Lets up to two days pass, a block every twelve seconds.
    function pass(uint256 time) external observed {
        _pass(1 + time % 2 days);
    }

    /// @notice Lets up to twelve hours pass, so that windows of a day are met.
    function passHours(uint256 time) external observed {
        _pass(1 + time % 12 hours);
    }

    /// @notice Anyone may send tokens anywhere; it must change nothing (invariant 7).
    function donate(uint256 where, uint256 amount) external observed {
        address[5] memory places = [address(vault), address(settlement), address(court), address(escrow), address(sink)];
        amount = _spread(amount, 1e22);
        _fund(places[where % places.length], amount);
        donated[places[where % places.length]] += amount;
    }

    /// @notice Compares what was rebuilt from events with every contract.
    function compare() external view {
        for (uint256 i = 0; i < _mirrors.length; ++i) {
            _mirrors[i].compare();
        }
        _compareVault();
    }

    /// @dev What was logged before is folded first: mirrors read the clock.
    function _pass(uint256 time) internal {
        _foldNow();
        vm.warp(block.timestamp + time);
        vm.roll(block.number + 1 + time / 12);
    }

    /// @dev Invariants 9, 21, 22, 26, 28, 29 and 30 have a side that must not happen. The recorder keeps what a reverted call logged; the
    ///      chain does not, so those logs are dropped.
    function _mustFail(address caller, address target, bytes memory data, string memory why) internal {
        _foldNow();
        vm.prank(caller);
        (bool done,) = target.call(data);
        assertFalse(done, why);
        vm.getRecordedLogs();
    }

    function _foldNow() internal {
        _fold(vm.getRecordedLogs());
    }

    /// @dev Owners have names, so that handlers need no list of them.
    function _owner(uint256 providerId) internal view returns (address) {
        return registry.ownerOf(providerId);
    }

    /// @dev One of the registered providers; 0 when there is none.
    function _anyProvider(uint256 seed) internal view returns (uint256) {
        uint256 count = registry.providerCount();
        return count == 0 ? 0 : 1 + seed % count;
    }

    /// @dev 1 wei to `most`, small and large amounts alike: rounding shows at the small end.
    function _spread(uint256 seed, uint256 most) internal pure returns (uint256) {
        uint256 top = most >> (seed % 60);
        return top == 0 ? 1 : 1 + (seed / 60) % top;
    }

    function _least(uint256 a, uint256 b) internal pure returns (uint256) {
        return a < b ? a : b;
    }

    function _fold(Vm.Log[] memory logs) private {
        Vm.Log[] memory single = new Vm.Log[](1);
        for (uint256 i = 0; i < logs.length; ++i) {
            Mirror[] storage readers = _mirrorsOf[logs[i].emitter];
            for (uint256 j = 0; j < readers.length; ++j) {
                readers[j].apply_(logs[i]);
            }
            if (logs[i].emitter != address(vault)) continue;
            single[0] = logs[i];
            vaultMirror.apply_(address(vault), single);
        }
    }

    function _add(Mirror mirror) private {
        _mirrors.push(mirror);
        _mirrorsOf[mirror.SOURCE()].push(mirror);
    }

    /// @dev `settledRoots` of a pool comes from the settlement too, which has its own mirror.
    function _compareVault() private view {
        assertEq(vaultMirror.totalStaked(), vault.totalStaked(), "totalStaked");
        assertEq(vaultMirror.unbondingFor(), vault.unbondingFor(), "unbondingFor");
        for (uint256 id = 1; id <= registry.providerCount(); ++id) {
            assertEq(_poolHash(vaultMirror.pool(id)), _poolHash(vault.pool(id)), "pool");
            assertEq(vaultMirror.openRequests(id), vault.openRequests(id), "openRequests");
            assertEq(vault.stakeAt(id, uint64(block.timestamp)), vault.pool(id).tokens, "tranches are the stake");
        }
    }

    function _poolHash(IStakeVault.Pool memory pool) private pure returns (bytes32) {
        pool.settledRoots = 0;
        return keccak256(abi.encode(pool));
    }
}
