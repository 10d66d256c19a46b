// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Report, SettlementLeaf} from "../types/Settlement.sol";
import {IExitGate} from "./IExitGate.sol";
import {IReportLimits} from "./IReportLimits.sol";

/// @title Roots, claims, penalties and emission
interface IRewardSettlement is IExitGate {
    struct SettlementParams {
        uint64 activationFor;
        uint128 emissionFirst;
        uint256 emissionDecayRay;
    }

    struct Root {
        bytes32 root;
        bytes32 outcomesRoot;
        uint64 activatesAt;
        uint64 refBlock;
        uint32 epoch;
        uint32 leafCount;
        bool disabled;
    }

    /// @notice What was netted for a provider so far, wei.
    struct Account {
        uint128 claimed;
        uint128 penalised;
    }

    event ReportAccepted(
        uint256 indexed rootIndex,
        uint32 indexed epoch,
        bytes32 root,
        bytes32 outcomesRoot,
        bytes32 manifestHash,
        uint32 leafCount,
        uint128 totalReward,
        uint128 totalPenalty,
        uint64 activatesAt
    );
    event RootDisabled(uint256 indexed rootIndex);
    event Settled(
        uint256 indexed providerId,
        uint256 indexed rootIndex,
        address indexed payout,
        uint256 reward,
        uint256 penalty,
        uint256 paid
    );
    event PenaltyShortfall(uint256 indexed providerId, uint256 amount);
    event Funded(address indexed from, uint256 amount);
    event Minted(uint256 amount, uint256 totalMinted);
    event PenaltiesFlushed(uint256 amount);

    error UnknownRoot(uint256 rootIndex);
    error RootNotActive(uint256 rootIndex, uint64 activatesAt);
    error RootIsDisabled(uint256 rootIndex);
    error RootAlreadyActive(uint256 rootIndex);
    error InvalidProof(uint256 providerId);
    error EmptyProof();
    error NotFunded(uint256 have, uint256 want);
    error ZeroAddress();
    error ZeroAmount();
    error InvalidEmission(uint256 decayRay, uint256 max);
    error InvalidActivation(uint64 activationFor);
    error LengthMismatch(uint256 nodes, uint256 want);

    /// @notice Records the root of a report that passed votes and limits, minting what it owes inside the schedule. Only EpochOracle.
    function acceptReport(Report calldata report) external returns (uint256 rootIndex);

    /// @notice Stops a root before it activates. Only the guardian.
    function disableRoot(uint256 rootIndex) external;

    /// @notice Nets one provider against an activated root: pays rewards minus penalties to its payout address, or takes the
    ///         shortfall from stake. Anyone for anyone; an older root after a newer one changes nothing.
    function settle(uint256 rootIndex, SettlementLeaf calldata leaf, bytes32[] calldata proof)
        external
        returns (uint256 paid);

    /// @notice `settle` for many providers with one proof for all of them, as `getMultiProof` of `@openzeppelin/merkle-tree` makes it.
    ///         Lines of neighbouring ids share nearly all of their paths.
    /// @param leaves Lines in the order of ids, each at most once.
    /// @param proof Nodes that the lines do not give themselves.
    /// @param proofFlags One for each pair that is hashed: true takes the next line or result, false the next node of `proof`.
    function settleMany(
        uint256 rootIndex,
        SettlementLeaf[] calldata leaves,
        bytes32[] calldata proof,
        bool[] calldata proofFlags
    ) external;

    /// @notice `settle`, then withdraws a matured unbond request to the owner.
    function settleAndWithdraw(
        uint256 rootIndex,
        SettlementLeaf calldata leaf,
        bytes32[] calldata proof,
        uint256 requestId
    ) external returns (uint256 paid, uint256 withdrawn);

    /// @notice Adds fees to what roots may owe.
    function fund(uint256 amount) external;

    /// @notice Sends the penalties netted against rewards to the sink (half burned, the rest insurance). Anyone.
    function flushPenalties() external returns (uint256 amount);

    function rootCount() external view returns (uint256);
    function rootAt(uint256 rootIndex) external view returns (Root memory);
    function account(uint256 providerId) external view returns (Account memory);
    /// @notice Totals of the latest root that is not disabled; what the next report builds on.
    function totals() external view returns (IReportLimits.Totals memory);
    /// @notice Domain of settlement leaves: keccak256(abi.encode("Swarm/Settlement/v1", chainId, this)).
    function leafDomain() external view returns (bytes32);
    /// @notice True when `leafHash` is in the outcomes tree of an activated, not disabled root.
    function outcomeProven(uint256 rootIndex, bytes32 leafHash, bytes32[] calldata proof) external view returns (bool);
    /// @notice Wei the schedule allows in all for the first `epochs` epochs.
    function cumulativeEmission(uint256 epochs) external view returns (uint256);
    function totalMinted() external view returns (uint256);
    function totalFunded() external view returns (uint256);
    /// @notice Penalties netted against rewards and not yet flushed to the sink, wei.
    function nettedPenalties() external view returns (uint256);
}
