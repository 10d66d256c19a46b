// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {EpochOracle} from "../../src/EpochOracle.sol";
import {IEpochOracle} from "../../src/interfaces/IEpochOracle.sol";
import {IReportLimits} from "../../src/interfaces/IReportLimits.sol";
import {Report} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";

contract EpochOracleTest is Reports {
    bytes32 private constant HASH_A = keccak256("report a");
    bytes32 private constant HASH_B = keccak256("report b");

    address private immutable stranger = makeAddr("stranger");

    address[] private seats;
    uint256 private aliceId;

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < MEMBERS; ++i) {
            seats.push(oracleMember(i));
        }
        (, aliceId) = _join("alice");
    }

    function test_constructor_whenTimesAreOutOfRange_thenItReverts() public {
        IEpochOracle.EpochParams memory params = epochParams();
        params.epochFor = 0;
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidEpoch.selector, 0, 365 days));
        new EpochOracle(address(manager), params, seats, QUORUM);

        params.epochFor = 365 days + 1;
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidEpoch.selector, params.epochFor, 365 days));
        new EpochOracle(address(manager), params, seats, QUORUM);

        params = epochParams();
        params.genesisAt = uint64(block.timestamp + 366 days);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidGenesis.selector, params.genesisAt));
        new EpochOracle(address(manager), params, seats, QUORUM);
    }

    /// @dev Two epochs must never take votes at once: the round holds one.
    function test_constructor_whenReportWindowIsOutOfRange_thenItReverts() public {
        IEpochOracle.EpochParams memory params = epochParams();
        params.reportWindowFor = params.epochFor + 1;
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidReportWindow.selector, 1 days + 1, 1 days));
        new EpochOracle(address(manager), params, seats, QUORUM);
        params.reportWindowFor = 0;
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidReportWindow.selector, 0, 1 days));
        new EpochOracle(address(manager), params, seats, QUORUM);
    }

    function test_constructor_whenMembersAreNotDistinct_thenItReverts() public {
        seats[6] = seats[0];
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.MemberExists.selector, seats[0]));
        new EpochOracle(address(manager), epochParams(), seats, QUORUM);
        seats[6] = address(0);
        vm.expectRevert(IEpochOracle.ZeroAddress.selector);
        new EpochOracle(address(manager), epochParams(), seats, QUORUM);
    }

    function test_constructor_whenMembersAreTooMany_thenItReverts() public {
        for (uint256 i = MEMBERS; i < 32; ++i) {
            seats.push(oracleMember(i));
        }
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.TooManyMembers.selector, 31));
        new EpochOracle(address(manager), epochParams(), seats, 17);
        seats.pop();
        assertEq(new EpochOracle(address(manager), epochParams(), seats, 16).members().length, 31);
    }

    /// @dev Invariant 24.
    function testFuzz_constructor_whenQuorumIsAny_thenItMustBeAMajority(uint256 members, uint256 quorum) public {
        members = bound(members, 1, 7);
        quorum = bound(quorum, 0, 8);
        while (seats.length > members) {
            seats.pop();
        }
        if (quorum * 2 <= members || quorum > members) {
            vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidQuorum.selector, quorum, members));
            new EpochOracle(address(manager), epochParams(), seats, quorum);
        } else {
            assertEq(new EpochOracle(address(manager), epochParams(), seats, quorum).quorum(), quorum);
        }
    }

    function test_vote_whenCallerHasNoSeat_thenItReverts() public {
        _endEpoch(0);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NotMember.selector, stranger));
        vm.prank(stranger);
        oracle.vote(0, HASH_A);
    }

    function test_vote_whenHashIsZeroOrTheSame_thenItReverts() public {
        _endEpoch(0);
        vm.startPrank(seats[0]);
        vm.expectRevert(IEpochOracle.ZeroReportHash.selector);
        oracle.vote(0, bytes32(0));
        oracle.vote(0, HASH_A);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.SameVote.selector, 0, HASH_A));
        oracle.vote(0, HASH_A);
    }

    function test_vote_whenOutsideTheWindow_thenItReverts() public {
        uint256 endsAt = oracle.epochEnd(3);
        vm.startPrank(seats[0]);
        vm.warp(endsAt - 1);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.EpochNotEnded.selector, 3, endsAt));
        oracle.vote(3, HASH_A);
        vm.warp(endsAt);
        oracle.vote(3, HASH_A);
        vm.warp(endsAt + 1 days - 1);
        oracle.vote(3, HASH_B);
        vm.warp(endsAt + 1 days);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.DeadlineMissed.selector, 3, endsAt + 1 days));
        oracle.vote(3, HASH_A);
    }

    function test_vote_whenEpochIsProcessed_thenItReverts() public {
        _publish(0);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.AlreadyProcessed.selector, 0));
        vm.prank(seats[6]);
        oracle.vote(0, HASH_B);
    }

    function test_vote_whenChanged_thenTheSupportMoves() public {
        _endEpoch(0);
        _voteAll(2, HASH_A);
        vm.expectEmit(address(oracle));
        emit IEpochOracle.VoteWithdrawn(0, seats[1], HASH_A, 1);
        vm.expectEmit(address(oracle));
        emit IEpochOracle.Voted(0, seats[1], HASH_B, 1);
        vm.prank(seats[1]);
        oracle.vote(0, HASH_B);

        assertEq(oracle.support(0, HASH_A), 1);
        assertEq(oracle.support(0, HASH_B), 1);
        assertEq(oracle.voteOf(0, seats[1]), HASH_B);
    }

    function test_vote_whenMemberAndReporterVote_thenItCountsOnce() public {
        _endEpoch(0);
        vm.prank(seats[2]);
        oracle.setReporter(stranger);
        assertTrue(oracle.isMember(stranger));

        vm.expectEmit(address(oracle));
        emit IEpochOracle.Voted(0, seats[2], HASH_A, 1);
        vm.prank(stranger);
        oracle.vote(0, HASH_A);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.SameVote.selector, 0, HASH_A));
        vm.prank(seats[2]);
        oracle.vote(0, HASH_A);
        assertEq(oracle.support(0, HASH_A), 1);
    }

    function test_vote_whenAQuorumIsReached_thenItTellsSo() public {
        _endEpoch(0);
        _voteAll(QUORUM - 1, HASH_A);
        vm.expectEmit(address(oracle));
        emit IEpochOracle.ConsensusReached(0, HASH_A, QUORUM);
        vm.prank(seats[QUORUM - 1]);
        oracle.vote(0, HASH_A);
    }

    function test_vote_whenVotesOfAnEarlierEpochExist_thenTheyDoNotCount() public {
        _endEpoch(0);
        _voteAll(MEMBERS, HASH_A);
        _endEpoch(1);
        vm.prank(seats[0]);
        oracle.vote(1, HASH_A);

        assertEq(oracle.support(1, HASH_A), 1);
        assertEq(oracle.support(0, HASH_A), 0);
        assertEq(oracle.voteOf(1, seats[1]), bytes32(0));
    }

    function test_submitReport_whenFewerThanAQuorumAgree_thenItReverts() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        bytes32 reportHash = keccak256(abi.encode(report));
        _voteAll(QUORUM - 1, reportHash);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NoConsensus.selector, 0, reportHash, QUORUM - 1, QUORUM));
        oracle.submitReport(report);
    }

    /// @dev Invariant 30: a change of any field is another hash.
    function testFuzz_submitReport_whenAFieldDiffers_thenItReverts(uint256 field) public {
        _endEpoch(0);
        _setLine(aliceId, 5e18, 1e18);
        Report memory report = _draft(0);
        _agree(report);
        field = bound(field, 0, 7);
        if (field == 0) report.refBlock -= 1;
        if (field == 1) report.refBlockHash = HASH_A;
        if (field == 2) report.paramsVersion += 1;
        if (field == 3) report.root = HASH_A;
        if (field == 4) report.leafCount += 1;
        if (field == 5) report.totalReward += 1;
        if (field == 6) report.totalPenalty -= 1;
        if (field == 7) report.manifestHash = HASH_A;

        bytes32 reportHash = keccak256(abi.encode(report));
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NoConsensus.selector, 0, reportHash, 0, QUORUM));
        oracle.submitReport(report);
    }

    function test_submitReport_whenRefBlockIsOutOfRange_thenItReverts() public {
        _publish(0);
        uint256 refBlock = block.number - 1;
        _endEpoch(1);
        Report memory report = _draft(1);

        report.refBlock = SafeCast.toUint64(refBlock);
        _expectRefBlockOutOfRange(report, refBlock + 1);
        report.refBlock = uint64(block.number);
        _expectRefBlockOutOfRange(report, refBlock + 1);
    }

    function test_submitReport_whenRefBlockHashIsAnother_thenItReverts() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        bytes32 want = report.refBlockHash;
        report.refBlockHash = HASH_A;
        _agree(report);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.RefBlockHashMismatch.selector, HASH_A, want));
        oracle.submitReport(report);
    }

    function test_submitReport_whenRefBlockHashIsForgotten_thenItTakesTheQuorumsWord() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        _agree(report);
        vm.roll(block.number + 300);
        assertEq(blockhash(report.refBlock), bytes32(0));
        oracle.submitReport(report);
        assertEq(oracle.processedEpochs(), 1);
    }

    function test_submitReport_whenALimitDoesNotHold_thenItReverts() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        report.leafCount = 2;
        _agree(report);
        vm.expectRevert(abi.encodeWithSelector(IReportLimits.LeafCountMismatch.selector, 2, 1));
        oracle.submitReport(report);
    }

    function test_submitReport_whenItComesTwice_thenItReverts() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        _agree(report);
        oracle.submitReport(report);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.AlreadyProcessed.selector, 0));
        oracle.submitReport(report);
    }

    function test_submitReport_whenOutsideTheWindow_thenItReverts() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        _agree(report);
        uint256 deadline = oracle.deadlineOf(0);
        vm.warp(deadline);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.DeadlineMissed.selector, 0, deadline));
        oracle.submitReport(report);
        report.epoch = 2;
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.EpochNotEnded.selector, 2, oracle.epochEnd(2)));
        oracle.submitReport(report);
    }

    function test_submitReport_whenAllHolds_thenSettlementHasItWhoeverCalls() public {
        _endEpoch(0);
        _setLine(aliceId, 5e18, 0);
        Report memory report = _draft(0);
        _agree(report);
        bytes32 reportHash = keccak256(abi.encode(report));

        vm.expectEmit(address(oracle));
        emit IEpochOracle.ReportSubmitted(0, reportHash, stranger, 0);
        vm.prank(stranger);
        assertEq(oracle.submitReport(report), 0);

        assertEq(oracle.processedHash(0), reportHash);
        assertEq(settlement.rootAt(0).root, report.root);
    }

    /// @dev Bug class 44: a missed epoch is neither lost nor paid twice.
    function test_submitReport_whenEpochsWereMissed_thenTheNextCoversThem() public {
        _setLine(aliceId, 100_000e18, 0);
        _publish(0);
        _setLine(aliceId, 299_000e18, 0);
        _publish(2);
        assertEq(oracle.processedEpochs(), 3);
        assertEq(oracle.processedHash(1), bytes32(0));
        assertEq(settlement.totals().reward, 299_000e18);
    }

    function test_membership_whenCallerIsNotTheTimelock_thenItReverts() public {
        bytes memory unauthorized = abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, seats[0]);
        vm.startPrank(seats[0]);
        vm.expectRevert(unauthorized);
        oracle.addMember(stranger, 5);
        vm.expectRevert(unauthorized);
        oracle.removeMember(seats[1], 4);
        vm.expectRevert(unauthorized);
        oracle.setQuorum(4);
        vm.expectRevert(unauthorized);
        oracle.setLimits(stranger);
        vm.expectRevert(unauthorized);
        oracle.setSettlement(stranger);
    }

    function test_membership_whenMemberDoesNotFit_thenItReverts() public {
        vm.startPrank(address(timelock));
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.MemberExists.selector, seats[3]));
        oracle.addMember(seats[3], 5);
        vm.expectRevert(IEpochOracle.ZeroAddress.selector);
        oracle.addMember(address(0), 5);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NotMember.selector, stranger));
        oracle.removeMember(stranger, 4);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidQuorum.selector, 4, 8));
        oracle.addMember(stranger, 4);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidQuorum.selector, 7, 6));
        oracle.removeMember(seats[0], 7);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.InvalidQuorum.selector, 3, 7));
        oracle.setQuorum(3);
        vm.expectRevert(IEpochOracle.ZeroAddress.selector);
        oracle.setLimits(address(0));
        vm.expectRevert(IEpochOracle.ZeroAddress.selector);
        oracle.setSettlement(address(0));
    }

    /// @dev Invariant 29, bug class 45: four of seven agree; lowering the quorum to four must not make that a decision.
    function test_setQuorum_whenVotesAreLive_thenTheyMustBeCastAgain() public {
        _endEpoch(0);
        Report memory report = _draft(0);
        bytes32 reportHash = keccak256(abi.encode(report));
        _voteAll(4, reportHash);
        vm.prank(address(timelock));
        oracle.setQuorum(4);

        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NoConsensus.selector, 0, reportHash, 0, 4));
        oracle.submitReport(report);
        _voteAll(4, reportHash);
        oracle.submitReport(report);
    }

    function test_removeMember_whenItVoted_thenItsVoteIsGone() public {
        _endEpoch(0);
        _voteAll(5, HASH_A);
        vm.prank(address(timelock));
        oracle.removeMember(seats[0], 4);

        assertEq(oracle.support(0, HASH_A), 0);
        assertFalse(oracle.isMember(seats[0]));
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NotMember.selector, seats[0]));
        vm.prank(seats[0]);
        oracle.vote(0, HASH_A);
    }

    function test_removeMember_whenFromTheMiddle_thenOtherSeatsKeepTheirKeys() public {
        address oldReporter = makeAddr("reporter of 2");
        vm.prank(seats[2]);
        oracle.setReporter(oldReporter);
        vm.prank(seats[6]);
        oracle.setReporter(stranger);
        vm.expectEmit(address(oracle));
        emit IEpochOracle.MemberRemoved(seats[2], 6, 4);
        vm.prank(address(timelock));
        oracle.removeMember(seats[2], 4);

        assertFalse(oracle.isMember(oldReporter));
        _endEpoch(0);
        vm.prank(stranger);
        oracle.vote(0, HASH_A);
        assertEq(oracle.voteOf(0, seats[6]), HASH_A);
        assertEq(oracle.members().length, 6);
    }

    /// @dev Invariants 25 and 29 on random walks: support is the number of current members whose live vote it is, and a change of
    ///      members or quorum never raises it.
    function testFuzz_support_whenWalking_thenItIsTheLiveVotesOfMembers(uint256 seed) public {
        _endEpoch(0);
        for (uint256 step = 0; step < 24; ++step) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 before = oracle.support(0, HASH_A);
            if (seed % 4 == 0) {
                _changeMembers(seed >> 8);
                assertLe(oracle.support(0, HASH_A), before);
            } else {
                _voteRandomly(seed >> 8);
            }
            assertEq(oracle.support(0, HASH_A), _countVotes(HASH_A));
            assertEq(oracle.support(0, HASH_B), _countVotes(HASH_B));
            assertGt(oracle.quorum() * 2, oracle.members().length);
        }
    }

    function test_setReporter_whenCallerIsNoMember_thenItReverts() public {
        vm.prank(seats[0]);
        oracle.setReporter(stranger);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.NotMember.selector, stranger));
        vm.prank(stranger);
        oracle.setReporter(makeAddr("reporter of a reporter"));
    }

    function test_setReporter_whenItHasASeat_thenItReverts() public {
        vm.prank(seats[0]);
        oracle.setReporter(stranger);
        vm.startPrank(seats[1]);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.MemberExists.selector, stranger));
        oracle.setReporter(stranger);
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.MemberExists.selector, seats[0]));
        oracle.setReporter(seats[0]);
        vm.stopPrank();
        vm.expectRevert(abi.encodeWithSelector(IEpochOracle.MemberExists.selector, stranger));
        vm.prank(address(timelock));
        oracle.addMember(stranger, 5);
    }

    function test_setReporter_whenReplacedOrRemoved_thenTheOldOneLosesTheSeat() public {
        address second = makeAddr("second reporter");
        vm.startPrank(seats[0]);
        oracle.setReporter(stranger);
        oracle.setReporter(second);
        assertFalse(oracle.isMember(stranger));
        assertTrue(oracle.isMember(second));
        oracle.setReporter(address(0));
        assertFalse(oracle.isMember(second));
        assertFalse(oracle.isMember(address(0)));
        assertTrue(oracle.isMember(seats[0]));
    }

    /// @dev Invariant 31.
    function testFuzz_views_whenAnythingIsAsked_thenTheyNeverRevert(uint32 epoch, bytes32 reportHash, address who)
        public
    {
        oracle.epochEnd(epoch);
        oracle.deadlineOf(epoch);
        assertEq(oracle.support(epoch, reportHash), 0);
        assertEq(oracle.voteOf(epoch, who), bytes32(0));
        assertEq(oracle.processedHash(epoch), bytes32(0));
        vm.warp(GENESIS - 1);
        assertEq(oracle.currentEpoch(), 0);
        vm.warp(GENESIS + 1 days);
        assertEq(oracle.currentEpoch(), 1);
    }

    function _voteAll(uint256 count, bytes32 reportHash) private {
        for (uint256 i = 0; i < count; ++i) {
            vm.prank(seats[i]);
            oracle.vote(0, reportHash);
        }
    }

    function _voteRandomly(uint256 seed) private {
        address[] memory current = oracle.members();
        address member = current[seed % current.length];
        bytes32 reportHash = (seed >> 64) % 3 == 0 ? HASH_B : HASH_A;
        if (oracle.voteOf(0, member) == reportHash) return;
        vm.prank(member);
        oracle.vote(0, reportHash);
    }

    function _changeMembers(uint256 seed) private {
        address[] memory current = oracle.members();
        address newcomer = seats[(seed >> 32) % MEMBERS];
        vm.startPrank(address(timelock));
        if (seed % 3 == 0) {
            oracle.setQuorum(current.length / 2 + 1);
        } else if (current.length > 3 && seed % 3 == 1) {
            oracle.removeMember(current[(seed >> 64) % current.length], (current.length - 1) / 2 + 1);
        } else if (!oracle.isMember(newcomer)) {
            oracle.addMember(newcomer, (current.length + 1) / 2 + 1);
        }
        vm.stopPrank();
    }

    function _countVotes(bytes32 reportHash) private view returns (uint256 votes) {
        address[] memory current = oracle.members();
        for (uint256 i = 0; i < current.length; ++i) {
            if (oracle.voteOf(0, current[i]) == reportHash) ++votes;
        }
    }

    function _expectRefBlockOutOfRange(Report memory report, uint256 min) private {
        _agree(report);
        vm.expectRevert(
            abi.encodeWithSelector(IEpochOracle.RefBlockOutOfRange.selector, report.refBlock, min, block.number - 1)
        );
        oracle.submitReport(report);
    }
}
