// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {JobOutcome, Violation} from "../../src/types/Outcomes.sol";
import {Report, SettlementLeaf} from "../../src/types/Settlement.sol";
import {Trees} from "../utils/Trees.sol";
import {ProviderActions} from "./ProviderActions.sol";

/// @title What an honest oracle drafts, what its members vote on, and what the guardian disables
/// @dev Lines grow from the last root that counts. One draft at a time; a disabled root outdates it.
abstract contract EpochActions is ProviderActions {
    /// @dev Where an outcome stands: in no report yet if `root` is zero, else in root `root - 1` at `place`.
    struct Place {
        uint256 root;
        uint256 place;
    }

    uint256 private constant MOST_GROWTH = 15_000e18;
    uint256 private constant MOST_OUTCOMES = 8;

    /// @notice Every violation that anybody states, true or not, and whether the oracle agrees.
    Violation[] internal violations;
    Place[] internal violationPlaces;

    JobOutcome[] internal jobOutcomes;
    Place[] internal jobPlaces;

    /// @dev What the roots say: lines by provider, leaves of outcomes.
    mapping(uint256 rootIndex => SettlementLeaf[]) internal linesOf;
    mapping(uint256 rootIndex => bytes32[]) internal outcomesOf;

    Report internal draft;
    bool internal drafted;

    /// @dev What the draft carries: violation i as 2i, job outcome i as 2i + 1.
    uint256[] private _carried;

    /// @dev Reference block of the last report taken.
    uint256 private _lastRefBlock;

    /// @notice Everything an epoch needs at once; the walks of the oracle do it vote by vote.
    function report(uint256 seed) external {
        prepare(seed);
        voteAll();
        submit();
    }

    /// @notice Every member votes for the draft.
    function voteAll() public {
        uint256 count = oracle.members().length;
        for (uint256 i = 0; i < count; ++i) {
            vote(i, 1);
        }
    }

    /// @notice Drafts the report of the last epoch that ended; if that is settled, of the one that runs, after its end.
    function prepare(uint256 seed) public observed {
        if (registry.providerCount() == 0) return;
        _pass(1);
        uint32 epoch = oracle.currentEpoch();
        bool settled = epoch == 0 || oracle.processedEpochs() >= epoch;
        if (settled) vm.warp(oracle.epochEnd(epoch));
        else epoch -= 1;

        _grow(seed);
        _carry();
        draft = _draft(epoch);
        drafted = true;
    }

    /// @notice A member, or its reporter, votes for the draft, or now and then for another.
    function vote(uint256 who, uint256 choice) public observed {
        if (!drafted) return;
        address[] memory members = oracle.members();
        address member = members[who % members.length];
        bytes32 reportHash = _choice(choice);
        if (!_inWindow()) {
            bytes memory call = abi.encodeCall(oracle.vote, (draft.epoch, reportHash));
            _mustFail(member, address(oracle), call, "28: voted late");
            return;
        }
        if (oracle.voteOf(draft.epoch, member) == reportHash) return;
        address reporter = oracleMirror.reporterOf(member);

        vm.prank(choice & 2 != 0 && reporter != address(0) ? reporter : member);
        oracle.vote(draft.epoch, reportHash);
    }

    /// @notice Invariant 30: the draft is taken exactly when a quorum stands behind its hash.
    function submit() public observed {
        if (!drafted) return;
        bytes memory call = abi.encodeCall(oracle.submitReport, (draft));
        if (!_inWindow() || oracleMirror.supportOf(keccak256(abi.encode(draft))) < oracleMirror.quorum()) {
            _mustFail(address(this), address(oracle), call, "28, 29, 30: a report late or without a quorum");
            hits["no quorum"] += 1;
            return;
        }
        uint256 rootIndex = oracle.submitReport(draft);

        _note(rootIndex);
        hits["report taken"] += 1;
        assertGt(draft.refBlock, _lastRefBlock, "27: reference blocks grow");
        _lastRefBlock = draft.refBlock;
        assertEq(settlement.rootAt(rootIndex).leafCount, registry.providerCountAt(draft.refBlock), "23: leafCount");
        _mustFail(address(this), address(oracle), call, "26: a second report of the epoch");
        drafted = false;
    }

    /// @notice The guardian disables a root that is pending; one that is active stays (invariant 21).
    function disableRoot(uint256 which) external observed {
        uint256 count = settlement.rootCount();
        if (count == 0) return;
        uint256 rootIndex = count - 1 - which % _least(count, 3);
        IRewardSettlement.Root memory root = settlement.rootAt(rootIndex);
        if (root.disabled || block.timestamp >= root.activatesAt) {
            bytes memory call = abi.encodeCall(settlement.disableRoot, (rootIndex));
            _mustFail(guardian, address(settlement), call, "21: a root changed after its activation");
            return;
        }
        vm.prank(guardian);
        settlement.disableRoot(rootIndex);
        drafted = false;
        hits["root disabled"] += 1;
    }

    function fund(uint256 amount) external observed {
        amount = _spread(amount, 1e23);
        _fund(address(this), amount);
        token.approve(address(settlement), amount);
        settlement.fund(amount);
    }

    function flushPenalties() external observed {
        settlement.flushPenalties();
    }

    function _inWindow() internal view returns (bool) {
        uint256 endsAt = oracle.epochEnd(draft.epoch);
        return block.timestamp >= endsAt && block.timestamp < endsAt + 1 days;
    }

    function _choice(uint256 choice) internal view returns (bytes32) {
        bytes32 honest = keccak256(abi.encode(draft));
        return choice & 1 == 1 || choice % 3 == 0 ? honest : keccak256(abi.encode(honest, choice % 5));
    }

    function _pathIn(uint256 rootIndex, uint256 id) internal view returns (bytes32[] memory) {
        return Trees.path(_leavesIn(rootIndex), id - 1);
    }

    function _leavesIn(uint256 rootIndex) internal view returns (bytes32[] memory leaves) {
        SettlementLeaf[] storage lines = linesOf[rootIndex];
        leaves = new bytes32[](lines.length < 2 ? 2 : lines.length);
        for (uint256 i = 0; i < leaves.length; ++i) {
            leaves[i] = _leaf(i < lines.length ? lines[i] : SettlementLeaf(0, 0, 0));
        }
    }

    /// @dev The padding of one outcome alone is the same leaf that `Reports` puts there.
    function _outcomePathIn(Place memory at) internal view returns (bytes32[] memory) {
        bytes32[] memory leaves = outcomesOf[at.root - 1];
        if (leaves.length > 1) return Trees.path(leaves, at.place);
        bytes32[] memory padding = new bytes32[](1);
        padding[0] = _leaf(SettlementLeaf(0, 0, 0));
        return padding;
    }

    /// @dev Number of the last root that counts or will; 0 if none.
    function _lastGoodRoot() internal view returns (uint256) {
        return settlementMirror.latest(type(uint256).max);
    }

    /// @dev The book: the lines of the last root that counts, each grown a little or not at all; newcomers begin.
    function _grow(uint256 seed) private {
        uint256 base = _lastGoodRoot();
        delete book;
        for (uint256 id = 1; id <= registry.providerCount(); ++id) {
            bool known = base != 0 && id <= linesOf[base - 1].length;
            SettlementLeaf memory line = known ? linesOf[base - 1][id - 1] : SettlementLeaf(id, 0, 0);
            uint256 dice = uint256(keccak256(abi.encode(seed, id)));
            if (dice % 4 != 0) line.cumReward += SafeCast.toUint128(_spread(dice >> 8, MOST_GROWTH));
            if (dice % 3 == 0) line.cumPenalty += SafeCast.toUint128(_spread(dice >> 128, MOST_GROWTH));
            book.push(line);
        }
    }

    /// @dev Outcomes that no living root carries yet.
    function _carry() private {
        delete outcomes;
        delete _carried;
        for (uint256 i = violations.length; i > 0 && outcomes.length < MOST_OUTCOMES; --i) {
            if (!_isAgreed(i - 1) || _isCarried(violationPlaces[i - 1])) continue;
            outcomes.push(court.violationLeaf(violations[i - 1]));
            _carried.push(2 * (i - 1));
        }
        for (uint256 i = jobOutcomes.length; i > 0 && outcomes.length < MOST_OUTCOMES; --i) {
            if (_isCarried(jobPlaces[i - 1])) continue;
            outcomes.push(escrow.jobLeaf(jobOutcomes[i - 1]));
            _carried.push(2 * (i - 1) + 1);
        }
    }

    function _note(uint256 rootIndex) private {
        for (uint256 i = 0; i < book.length; ++i) {
            linesOf[rootIndex].push(book[i]);
        }
        outcomesOf[rootIndex] = outcomes;
        for (uint256 i = 0; i < _carried.length; ++i) {
            Place memory at = Place(rootIndex + 1, i);
            if (_carried[i] % 2 == 0) violationPlaces[_carried[i] / 2] = at;
            else jobPlaces[_carried[i] / 2] = at;
        }
    }

    /// @dev The oracle agrees with three of four stated violations.
    function _isAgreed(uint256 index) private view returns (bool) {
        return uint256(violations[index].evidenceHash) % 4 != 0;
    }

    function _isCarried(Place memory at) private view returns (bool) {
        return at.root != 0 && !settlement.rootAt(at.root - 1).disabled;
    }
}
