// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Vm} from "forge-std/Vm.sol";

import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";

/// @title The vault's storage rebuilt from its events alone
/// @dev An indexer in Solidity. It shares no code with the vault: a storage write without an event, or an event that does not say enough,
///      shows as a difference.
contract VaultMirror {
    struct Deposit {
        uint256 at;
        uint256 tokens;
    }

    uint256 public totalStaked;
    uint256 public unbondingFor;

    mapping(uint256 providerId => IStakeVault.Pool) private _pools;
    mapping(uint256 providerId => uint256) public openRequests;
    mapping(uint256 providerId => mapping(uint256 requestId => IStakeVault.UnbondRequest)) private _unbonds;
    mapping(uint256 providerId => Deposit[]) private _deposits;

    /// @dev Second of the offence that the next `Slashed` is about.
    uint256 private _offenceAt;

    /// @notice Applies the vault's logs of the current second, in order.
    function apply_(address vault, Vm.Log[] calldata logs) external {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == vault) _apply(logs[i]);
        }
    }

    function pool(uint256 providerId) external view returns (IStakeVault.Pool memory) {
        return _pools[providerId];
    }

    function unbondRequest(uint256 providerId, uint256 requestId)
        external
        view
        returns (IStakeVault.UnbondRequest memory)
    {
        return _unbonds[providerId][requestId];
    }

    function stakeAt(uint256 providerId, uint256 at) external view returns (uint256 sum) {
        Deposit[] storage deposits = _deposits[providerId];
        for (uint256 i = 0; i < deposits.length; ++i) {
            if (deposits[i].at <= at) sum += deposits[i].tokens;
        }
    }

    function _apply(Vm.Log calldata log) private {
        bytes32 kind = log.topics[0];
        uint256 id = log.topics.length > 1 ? uint256(log.topics[1]) : 0;
        if (kind == IStakeVault.Staked.selector) _staked(id, abi.decode(log.data, (uint256)));
        else if (kind == IStakeVault.UnbondRequested.selector) _requested(id, uint256(log.topics[2]), log.data);
        else if (kind == IStakeVault.UnbondCancelled.selector) _ended(id, uint256(log.topics[2]), log.data);
        else if (kind == IStakeVault.Withdrawn.selector) _withdrawn(id, uint256(log.topics[2]), log.data);
        else if (kind == IStakeVault.PenaltyTaken.selector) _penalised(id, log.data);
        else if (kind == IStakeVault.SlashOrdered.selector) (, _offenceAt) = abi.decode(log.data, (uint256, uint64));
        else if (kind == IStakeVault.Slashed.selector) _slashed(id, log.data);
        else if (kind == IStakeVault.ThawPoolReset.selector) _reset(id, log.data);
        else if (kind == IStakeVault.CaseOpened.selector) _pools[id].openCases = abi.decode(log.data, (uint32));
        else if (kind == IStakeVault.CaseClosed.selector) _pools[id].openCases = abi.decode(log.data, (uint32));
        else if (kind == IStakeVault.UnbondingChanged.selector) unbondingFor = abi.decode(log.data, (uint64));
    }

    function _staked(uint256 id, uint256 amount) private {
        _pools[id].tokens += SafeCast.toUint128(amount);
        totalStaked += amount;
        _deposits[id].push(Deposit(block.timestamp, amount));
    }

    function _requested(uint256 id, uint256 requestId, bytes calldata data) private {
        (uint128 amount, uint128 shares, uint64 nonce, uint64 maturesAt) =
            abi.decode(data, (uint128, uint128, uint64, uint64));
        _pools[id].thawTokens += amount;
        _pools[id].thawShares += shares;
        _unbonds[id][requestId] = IStakeVault.UnbondRequest(shares, maturesAt, nonce);
        openRequests[id] += 1;
    }

    function _ended(uint256 id, uint256 requestId, bytes calldata data) private returns (uint128 amount) {
        uint128 shares;
        (amount, shares) = abi.decode(data, (uint128, uint128));
        _pools[id].thawTokens -= amount;
        _pools[id].thawShares -= shares;
        delete _unbonds[id][requestId];
        openRequests[id] -= 1;
    }

    function _withdrawn(uint256 id, uint256 requestId, bytes calldata data) private {
        uint128 amount = _ended(id, requestId, data);
        _take(id, amount, 0, block.timestamp);
    }

    function _penalised(uint256 id, bytes calldata data) private {
        (uint128 amount,, uint128 fromThawing, uint32 settledRoots) =
            abi.decode(data, (uint128, uint256, uint128, uint32));
        _pools[id].settledRoots = settledRoots;
        _take(id, amount, fromThawing, block.timestamp);
    }

    function _slashed(uint256 id, bytes calldata data) private {
        (uint128 amount, uint128 fromThawing) = abi.decode(data, (uint128, uint128));
        _take(id, amount, fromThawing, _offenceAt);
    }

    function _reset(uint256 id, bytes calldata data) private {
        (uint64 nonce, uint256 dust) = abi.decode(data, (uint64, uint256));
        require(dust == _pools[id].thawTokens, "the event's dust is what thawed");
        _pools[id].nonce = nonce;
        _pools[id].thawTokens = 0;
        _pools[id].thawShares = 0;
        openRequests[id] = 0;
    }

    /// @dev Newest first, of what was there at `at`.
    function _take(uint256 id, uint128 amount, uint128 fromThawing, uint256 at) private {
        _pools[id].tokens -= amount;
        _pools[id].thawTokens -= fromThawing;
        totalStaked -= amount;
        Deposit[] storage deposits = _deposits[id];
        for (uint256 i = deposits.length; i > 0; --i) {
            Deposit storage deposit = deposits[i - 1];
            if (deposit.at > at) continue;
            uint256 part = deposit.tokens < amount ? deposit.tokens : amount;
            deposit.tokens -= part;
            amount -= SafeCast.toUint128(part);
        }
        require(amount == 0, "took more than was there");
    }
}
