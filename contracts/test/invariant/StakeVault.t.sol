// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {Deployment} from "../utils/Deployment.sol";
import {VaultMirror} from "../utils/VaultMirror.sol";
import {VaultHandler} from "./VaultHandler.sol";

/// @title Custody invariants 1 to 7, slashing 8, 12 and 16, and the rebuilding of storage from events
contract StakeVaultInvariants is Deployment {
    VaultHandler private handler;
    VaultMirror private mirror;

    function setUp() public override {
        super.setUp();
        handler = new VaultHandler(vault, token, registry, settlement);
        mirror = handler.MIRROR();
        _fund(address(handler), INITIAL_SUPPLY);
        _grant(COURT, address(handler));
        _grant(SETTLEMENT, address(handler));
        _grant(ORACLE, address(handler));
        _target();
    }

    /// forge-config: default.invariant.runs = 20
    /// forge-config: default.invariant.depth = 160
    /// @dev One walk for all: each check is named and numbered below. Invariants 8 and 12 are checked by the handler at every slash.
    function invariant_custodyAndSlashing() public view {
        _checkBalance();
        _checkFates();
        _checkThawing();
        _checkRequests();
        _checkReach();
        _checkBuckets();
        _checkEvents();
    }

    /// @dev Invariants 5 and 6, at the end of every walk: everyone can leave, the last one too, with all that was not taken.
    function afterInvariant() public {
        handler.leaveAll();

        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            uint256 lost = handler.slashed(id) + handler.penalised(id);
            assertEq(handler.withdrawn(id) + lost, handler.deposited(id));
            assertEq(vault.pool(id).tokens, 0);
        }
        assertEq(token.balanceOf(address(vault)), handler.donated());
    }

    /// @dev Invariants 1, 2 and 7: the vault holds exactly the pools and what was donated.
    function _checkBalance() private view {
        uint256 pools;
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            pools += vault.pool(id).tokens;
        }
        assertEq(pools, vault.totalStaked());
        assertEq(token.balanceOf(address(vault)), pools + handler.donated());
    }

    /// @dev Invariant 3, provider by provider: nobody pays for another.
    function _checkFates() private view {
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            uint256 gone = handler.withdrawn(id) + handler.slashed(id) + handler.penalised(id);
            assertEq(handler.deposited(id), vault.pool(id).tokens + gone);
        }
    }

    /// @dev Invariant 4, and bug classes 8, 11 and 12: a share is worth between 2^-32 and 1 wei.
    function _checkThawing() private view {
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            IStakeVault.Pool memory own = vault.pool(id);
            assertLe(own.thawTokens, own.tokens);
            assertLe(own.thawTokens, own.thawShares);
            assertEq(own.thawTokens == 0, own.thawShares == 0);
            assertTrue(own.thawShares == 0 || own.thawShares >> 32 < own.thawTokens);
            assertEq(vault.activeStake(id) + own.thawTokens, own.tokens);
        }
    }

    /// @dev Invariant 4 of the requests: what the live ones are worth never exceeds what thaws, and misses at most a wei each.
    function _checkRequests() private view {
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            uint256 worth;
            uint256 shares;
            uint256 open;
            for (uint256 requestId = 0; requestId < handler.requests(id); ++requestId) {
                IStakeVault.UnbondRequest memory request = vault.unbondRequest(id, requestId);
                if (request.shares == 0 || request.nonce != vault.pool(id).nonce) continue;
                worth += vault.unbondValue(id, requestId);
                shares += request.shares;
                ++open;
            }
            assertEq(shares, vault.pool(id).thawShares);
            assertEq(open, vault.openRequests(id));
            assertLe(worth, vault.pool(id).thawTokens);
            assertGe(worth + open, vault.pool(id).thawTokens);
        }
    }

    /// @dev The ground of invariants 11 and 12: what an offence of any second reaches is what the mirror's list of deposits says, and
    ///      nothing once it is too old to be judged.
    function _checkReach() private view {
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            assertEq(vault.stakeAt(id, uint64(block.timestamp)), vault.pool(id).tokens);
            uint64 moment = handler.someMoment(id);
            bool judged = moment + vault.MAX_UNBONDING() >= block.timestamp;
            assertEq(vault.stakeAt(id, moment), judged ? mirror.stakeAt(id, moment) : 0);
        }
    }

    /// @dev Invariant 16: what a bucket offers is never above its capacity on the stake before its use.
    function _checkBuckets() private view {
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            (uint256 providerWei, uint256 globalWei) = vault.bucketAvailable(id);
            assertLe(providerWei, uint256(vault.pool(id).tokens) * vault.providerBucketBps() / 10_000);
            assertLe(globalWei, vault.totalStaked() * vault.globalBucketBps() / 10_000);
        }
    }

    /// @dev Every storage write can be rebuilt from events.
    function _checkEvents() private view {
        assertEq(mirror.totalStaked(), vault.totalStaked());
        for (uint256 id = 1; id <= handler.PROVIDERS(); ++id) {
            assertEq(keccak256(abi.encode(mirror.pool(id))), keccak256(abi.encode(vault.pool(id))));
            assertEq(mirror.openRequests(id), vault.openRequests(id));
            for (uint256 requestId = 0; requestId < handler.requests(id); ++requestId) {
                bytes32 rebuilt = keccak256(abi.encode(mirror.unbondRequest(id, requestId)));
                assertEq(rebuilt, keccak256(abi.encode(vault.unbondRequest(id, requestId))));
            }
        }
    }

    function _target() private {
        bytes4[] memory selectors = new bytes4[](11);
        selectors[0] = handler.stake.selector;
        selectors[1] = handler.requestUnbond.selector;
        selectors[2] = handler.cancelUnbond.selector;
        selectors[3] = handler.withdraw.selector;
        selectors[4] = handler.slash.selector;
        selectors[5] = handler.takePenalty.selector;
        selectors[6] = handler.openCase.selector;
        selectors[7] = handler.closeCase.selector;
        selectors[8] = handler.acceptReport.selector;
        selectors[9] = handler.donate.selector;
        selectors[10] = handler.pass.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector({addr: address(handler), selectors: selectors}));
    }
}
