// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ExpiringPause} from "./ExpiringPause.sol";
import {SettlementRoots} from "./SettlementRoots.sol";
import {IExitGate} from "./interfaces/IExitGate.sol";
import {IProviderRegistry} from "./interfaces/IProviderRegistry.sol";
import {IRewardSettlement} from "./interfaces/IRewardSettlement.sol";
import {ISlashSink} from "./interfaces/ISlashSink.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {ISwarmToken} from "./interfaces/ISwarmToken.sol";
import {Emission} from "./libraries/Emission.sol";
import {Leaves} from "./libraries/Leaves.sol";
import {Report, SettlementLeaf} from "./types/Settlement.sol";

/// @title Claims, penalties and emission
/// @dev Conservation: balance == minted + funded - Σ claimed + netted penalties (+ donations). Every wei of reward a leaf adds leaves
///      either as pay or as a netted penalty, so Σ claimed <= Σ totals <= minted + funded (invariants 17, 18, 19).
contract RewardSettlement is SettlementRoots, ExpiringPause, ReentrancyGuardTransient {
    using SafeERC20 for ISwarmToken;

    /// @dev One slot: wei claimed and penalised (the token's cap is below 2^90), and the number of the latest settled root plus one.
    struct Line {
        uint96 claimed;
        uint96 penalised;
        uint32 settledRoots;
    }

    string private constant LEAF_KIND = "Swarm/Settlement/v1";

    ISwarmToken private immutable TOKEN;
    IProviderRegistry private immutable REGISTRY;
    IStakeVault private immutable VAULT;
    ISlashSink private immutable SINK;

    /// @dev Domain of the leaves, and the chain and the address it holds for; hashed anew elsewhere, as on a fork of the chain.
    bytes32 private immutable LEAF_DOMAIN;
    uint256 private immutable CHAIN_ID;
    address private immutable SELF;

    /// @dev Wei of epoch 0.
    uint128 private immutable EMISSION_FIRST;

    /// @dev Ray; factor of the emission from one epoch to the next.
    uint256 private immutable EMISSION_DECAY_RAY;

    /// @dev slot 4 (behind the pause, which every payment reads), wei of penalties netted against rewards and not yet flushed to the sink.
    uint128 private _netted;

    /// @dev slot 5, wei minted for rewards and wei of fees received.
    uint128 private _minted;
    uint128 private _funded;

    /// @dev slot 6, wei, cumulative since genesis.
    mapping(uint256 providerId => Line) private _lines;

    constructor(
        address authority,
        ISwarmToken token,
        IProviderRegistry registry,
        IStakeVault vault,
        ISlashSink sink,
        SettlementParams memory params
    ) AccessManaged(authority) SettlementRoots(params.activationFor) {
        require(address(token) != address(0) && address(registry) != address(0), ZeroAddress());
        require(address(vault) != address(0) && address(sink) != address(0), ZeroAddress());
        require(params.emissionDecayRay <= Emission.RAY, InvalidEmission(params.emissionDecayRay, Emission.RAY));

        TOKEN = token;
        REGISTRY = registry;
        VAULT = vault;
        SINK = sink;
        LEAF_DOMAIN = Leaves.domain(LEAF_KIND);
        (CHAIN_ID, SELF) = (block.chainid, address(this));
        EMISSION_FIRST = params.emissionFirst;
        EMISSION_DECAY_RAY = params.emissionDecayRay;
    }

    /// @inheritdoc IRewardSettlement
    function acceptReport(Report calldata report) external restricted returns (uint256 rootIndex) {
        uint256 owed = _requireFunded(report);

        rootIndex = _append(report);
        if (owed != 0) _mint(owed);
    }

    /// @inheritdoc IRewardSettlement
    function settle(uint256 rootIndex, SettlementLeaf calldata leaf, bytes32[] calldata proof)
        external
        nonReentrant
        returns (uint256 paid)
    {
        _requireProven(_activeRoot(rootIndex), leaf, proof);
        return _settle(rootIndex, leaf);
    }

    /// @inheritdoc IRewardSettlement
    function settleMany(
        uint256 rootIndex,
        SettlementLeaf[] calldata leaves,
        bytes32[] calldata proof,
        bool[] calldata proofFlags
    ) external nonReentrant {
        _requireAllProven(_activeRoot(rootIndex), leaves, proof, proofFlags);
        for (uint256 i; i < leaves.length; ++i) {
            _settle(rootIndex, leaves[i]);
        }
    }

    /// @inheritdoc IRewardSettlement
    function settleAndWithdraw(
        uint256 rootIndex,
        SettlementLeaf calldata leaf,
        bytes32[] calldata proof,
        uint256 requestId
    ) external nonReentrant returns (uint256 paid, uint256 withdrawn) {
        _requireProven(_activeRoot(rootIndex), leaf, proof);
        paid = _settle(rootIndex, leaf);
        withdrawn = VAULT.withdraw(leaf.providerId, requestId);
    }

    /// @inheritdoc IRewardSettlement
    function fund(uint256 amount) external nonReentrant {
        require(amount != 0, ZeroAmount());

        _funded += SafeCast.toUint128(amount);

        emit Funded(msg.sender, amount);

        TOKEN.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IRewardSettlement
    function flushPenalties() external nonReentrant returns (uint256 amount) {
        amount = _netted;
        if (amount == 0) return 0;

        _netted = 0;

        emit PenaltiesFlushed(amount);

        TOKEN.safeTransfer(address(SINK), amount);
        SINK.deposit(bytes32(0), amount, address(0), 0);
    }

    /// @inheritdoc IRewardSettlement
    function account(uint256 providerId) external view returns (Account memory) {
        Line storage line = _lines[providerId];
        return Account(line.claimed, line.penalised);
    }

    /// @inheritdoc IExitGate
    function settledRootsOf(uint256 providerId) external view returns (uint32) {
        return _lines[providerId].settledRoots;
    }

    /// @inheritdoc IRewardSettlement
    function totalMinted() external view returns (uint256) {
        return _minted;
    }

    /// @inheritdoc IRewardSettlement
    function totalFunded() external view returns (uint256) {
        return _funded;
    }

    /// @inheritdoc IRewardSettlement
    function nettedPenalties() external view returns (uint256) {
        return _netted;
    }

    /// @inheritdoc IRewardSettlement
    function leafDomain() public view returns (bytes32) {
        if (block.chainid == CHAIN_ID && address(this) == SELF) return LEAF_DOMAIN;
        return Leaves.domain(LEAF_KIND);
    }

    /// @inheritdoc IRewardSettlement
    function cumulativeEmission(uint256 epochs) public view returns (uint256) {
        return Emission.cumulative(EMISSION_FIRST, EMISSION_DECAY_RAY, epochs);
    }

    /// @dev Nets one proven line; pays, nets or takes exactly the difference of its growth (invariant 19).
    function _settle(uint256 rootIndex, SettlementLeaf calldata leaf) private returns (uint256 paid) {
        // An older root after a newer one, or the same root twice, changes nothing (invariant 20).
        Line storage line = _lines[leaf.providerId];
        (uint256 claimed, uint256 penalised, uint256 settledRoots) = (line.claimed, line.penalised, line.settledRoots);
        if (settledRoots > rootIndex) return 0;

        uint256 cumReward = Math.max(leaf.cumReward, claimed);
        uint256 cumPenalty = Math.max(leaf.cumPenalty, penalised);
        (uint256 reward, uint256 penalty) = (cumReward - claimed, cumPenalty - penalised);
        paid = reward > penalty ? reward - penalty : 0;
        (line.claimed, line.penalised, line.settledRoots) =
        (SafeCast.toUint96(cumReward), SafeCast.toUint96(cumPenalty), SafeCast.toUint32(rootIndex + 1));
        if (reward != paid) _netted += SafeCast.toUint128(reward - paid);

        _pay(rootIndex, leaf.providerId, reward, penalty, paid);
        if (penalty > reward) _takeShortfall(rootIndex, leaf.providerId, penalty - reward);
    }

    function _pay(uint256 rootIndex, uint256 providerId, uint256 reward, uint256 penalty, uint256 paid) private {
        address payout = paid == 0 ? address(0) : REGISTRY.payoutOf(providerId);

        emit Settled(providerId, rootIndex, payout, reward, penalty, paid);

        if (paid != 0) _transfer(payout, paid);
    }

    /// @dev A pause stops pay only: penalties and settlements without pay go on, so it holds nobody longer than itself (invariant 32).
    function _transfer(address payout, uint256 paid) private whenNotPaused {
        TOKEN.safeTransfer(payout, paid);
    }

    function _takeShortfall(uint256 rootIndex, uint256 providerId, uint256 owed) private {
        uint256 taken = VAULT.takePenalty(providerId, owed, SafeCast.toUint32(rootIndex + 1));
        if (taken < owed) emit PenaltyShortfall(providerId, owed - taken);
    }

    /// @dev Mints for this contract; `_requireFunded` has checked the schedule.
    function _mint(uint256 amount) private {
        _minted += SafeCast.toUint128(amount);

        emit Minted(amount, _minted);

        TOKEN.mint(address(this), amount);
    }

    /// @dev Wei to mint so that every reward is backed, inside the schedule (invariants 18, 23).
    function _requireFunded(Report calldata report) private view returns (uint256 owed) {
        uint256 held = uint256(_minted) + _funded;
        if (report.totalReward <= held) return 0;
        owed = report.totalReward - held;
        uint256 mintable = Math.saturatingSub(cumulativeEmission(uint256(report.epoch) + 1), _minted);
        require(owed <= mintable, NotFunded(held + mintable, report.totalReward));
    }

    function _requireProven(bytes32 root, SettlementLeaf calldata leaf, bytes32[] calldata proof) private view {
        require(proof.length != 0, EmptyProof());
        require(Leaves.proven(proof, root, _leafOf(leafDomain(), leaf)), InvalidProof(leaf.providerId));
    }

    function _requireAllProven(
        bytes32 root,
        SettlementLeaf[] calldata lines,
        bytes32[] calldata proof,
        bool[] calldata proofFlags
    ) private view {
        require(lines.length != 0 && proofFlags.length != 0, EmptyProof());
        require(
            lines.length + proof.length == proofFlags.length + 1,
            LengthMismatch(lines.length + proof.length, proofFlags.length + 1)
        );
        bytes32 domain = leafDomain();
        bytes32[] memory leaves = new bytes32[](lines.length);
        for (uint256 i; i < lines.length; ++i) {
            leaves[i] = _leafOf(domain, lines[i]);
        }
        require(Leaves.allProven(proof, proofFlags, root, leaves), InvalidProof(lines[0].providerId));
    }

    /// @dev Provider 0 is the stone leaf that pads a tree of one provider; it belongs to nobody.
    function _leafOf(bytes32 domain, SettlementLeaf calldata line) private pure returns (bytes32) {
        require(line.providerId != 0, InvalidProof(0));
        return Leaves.ofProvider(domain, line);
    }
}
