// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IEpochOracle} from "./interfaces/IEpochOracle.sol";
import {IReportLimits} from "./interfaces/IReportLimits.sol";
import {IRewardSettlement} from "./interfaces/IRewardSettlement.sol";
import {Report} from "./types/Settlement.sol";

/// @title Members' votes on the hash of an epoch's report
/// @dev The report window is at most an epoch long, so at any moment one epoch at most takes votes and one round of votes is enough:
///
///      |---- epoch e ----|---- epoch e + 1 ----|---- epoch e + 2 ----|
///                        | votes on e   |      | votes on e + 1 |
///
///      A vote lives in its member's seat and counts while the seat's bit of the round is set. A new epoch and every change of members
///      or quorum clear the bits, so no change can complete a quorum (invariants 25, 29).
contract EpochOracle is IEpochOracle, AccessManaged {
    /// @dev One bit a seat in `Round.voters`.
    uint256 private constant MAX_MEMBERS = 31;

    /// @dev Keeps `epochEnd` of the last uint32 epoch inside uint64.
    uint64 private constant MAX_EPOCH_FOR = 365 days;

    /// @dev One slot, so that a vote reads it once: place in `_members` plus one, and the member who sits or is represented there.
    struct Seat {
        uint8 number;
        address member;
    }

    struct Round {
        uint32 epoch;
        uint32 voters;
        uint32 processedEpochs;
        uint64 refBlock;
        uint8 quorum;
    }

    /// @dev Unix seconds of the start of epoch 0.
    uint64 private immutable GENESIS_AT;

    /// @dev Seconds of an epoch.
    uint64 private immutable EPOCH_FOR;

    /// @dev Seconds after an epoch's end in which votes and the report are taken.
    uint64 private immutable REPORT_WINDOW_FOR;

    /// @dev slot 1; the epoch voted on, bits of the seats that voted, last processed epoch + 1, its reference block, votes needed.
    Round private _round;

    /// @dev slot 2; in the order of the seats.
    address[] private _members;

    /// @dev slot 3; seat of a member or of its reporter, empty for everyone else.
    mapping(address caller => Seat) private _seatOf;

    /// @dev slot 4; the one reporter of a member.
    mapping(address member => address reporter) private _reporterOf;

    /// @dev slot 5; last vote cast from a seat, live while its bit is set.
    mapping(uint256 seat => bytes32 reportHash) private _votes;

    /// @dev slot 6; hash of the processed report of an epoch.
    mapping(uint32 epoch => bytes32 reportHash) private _processed;

    /// @dev slot 7; checks every report before settlement takes it.
    IReportLimits private _limits;

    /// @dev slot 8; takes processed reports.
    IRewardSettlement private _settlement;

    constructor(address authority, EpochParams memory params, address[] memory members_, uint256 quorum_)
        AccessManaged(authority)
    {
        require(params.epochFor != 0 && params.epochFor <= MAX_EPOCH_FOR, InvalidEpoch(params.epochFor, MAX_EPOCH_FOR));
        require(
            params.reportWindowFor != 0 && params.reportWindowFor <= params.epochFor,
            InvalidReportWindow(params.reportWindowFor, params.epochFor)
        );
        require(params.genesisAt <= block.timestamp + MAX_EPOCH_FOR, InvalidGenesis(params.genesisAt));

        GENESIS_AT = params.genesisAt;
        EPOCH_FOR = params.epochFor;
        REPORT_WINDOW_FOR = params.reportWindowFor;
        for (uint256 i; i < members_.length; ++i) {
            _seat(members_[i]);
        }
        _changeQuorum(quorum_);
        for (uint256 i; i < members_.length; ++i) {
            emit MemberAdded(members_[i], members_.length, quorum_);
        }
    }

    /// @inheritdoc IEpochOracle
    function vote(uint32 epoch, bytes32 reportHash) external {
        Seat memory seat = _seatOf[msg.sender];
        require(seat.number != 0, NotMember(msg.sender));
        require(reportHash != bytes32(0), ZeroReportHash());
        Round memory round = _round;
        _requireWindow(epoch, round.processedEpochs);
        if (round.epoch != epoch) (round.epoch, round.voters) = (epoch, 0);
        bytes32 previous = _liveVote(round, seat.number);
        require(previous != reportHash, SameVote(epoch, reportHash));

        round.voters |= _bit(seat.number);
        _round = round;
        _votes[seat.number] = reportHash;

        if (previous != bytes32(0)) emit VoteWithdrawn(epoch, seat.member, previous, _countVotes(round, previous));
        uint256 votes = _countVotes(round, reportHash);
        emit Voted(epoch, seat.member, reportHash, votes);
        if (votes == round.quorum) emit ConsensusReached(epoch, reportHash, votes);
    }

    /// @inheritdoc IEpochOracle
    function submitReport(Report calldata report) external returns (uint256 rootIndex) {
        Round memory round = _round;
        _requireWindow(report.epoch, round.processedEpochs);
        bytes32 reportHash = keccak256(abi.encode(report));
        uint256 votes = round.epoch == report.epoch ? _countVotes(round, reportHash) : 0;
        require(votes >= round.quorum, NoConsensus(report.epoch, reportHash, votes, round.quorum));
        _requireRefBlock(report.refBlock, report.refBlockHash, round.refBlock);

        (round.processedEpochs, round.refBlock) = (report.epoch + 1, report.refBlock);
        _round = round;
        _processed[report.epoch] = reportHash;

        IRewardSettlement settlement = _settlement;
        _limits.check(settlement.totals(), report);
        rootIndex = settlement.acceptReport(report);

        emit ReportSubmitted(report.epoch, reportHash, msg.sender, rootIndex);
    }

    /// @inheritdoc IEpochOracle
    function addMember(address member, uint256 quorum_) external restricted {
        _seat(member);
        _changeQuorum(quorum_);

        emit MemberAdded(member, _members.length, quorum_);
    }

    /// @inheritdoc IEpochOracle
    function removeMember(address member, uint256 quorum_) external restricted {
        uint8 number = _seatOf[member].number;
        require(number != 0 && _seatOf[member].member == member, NotMember(member));

        _dropReporter(member);
        address last = _members[_members.length - 1];
        _members[number - 1] = last;
        _seatOf[last].number = number;
        if (_reporterOf[last] != address(0)) _seatOf[_reporterOf[last]].number = number;
        _members.pop();
        delete _seatOf[member];
        _changeQuorum(quorum_);

        emit MemberRemoved(member, _members.length, quorum_);
    }

    /// @inheritdoc IEpochOracle
    function setQuorum(uint256 quorum_) external restricted {
        _changeQuorum(quorum_);
    }

    /// @inheritdoc IEpochOracle
    function setReporter(address reporter) external {
        Seat memory seat = _seatOf[msg.sender];
        require(seat.number != 0 && seat.member == msg.sender, NotMember(msg.sender));
        require(_seatOf[reporter].number == 0, MemberExists(reporter));

        _dropReporter(msg.sender);
        if (reporter != address(0)) {
            _reporterOf[msg.sender] = reporter;
            _seatOf[reporter] = seat;
        }

        emit ReporterChanged(msg.sender, reporter);
    }

    /// @inheritdoc IEpochOracle
    function setLimits(address limits) external restricted {
        require(limits != address(0), ZeroAddress());

        _limits = IReportLimits(limits);

        emit LimitsChanged(limits);
    }

    /// @inheritdoc IEpochOracle
    function setSettlement(address settlement) external restricted {
        require(settlement != address(0), ZeroAddress());

        _settlement = IRewardSettlement(settlement);

        emit SettlementChanged(settlement);
    }

    /// @inheritdoc IEpochOracle
    function currentEpoch() external view returns (uint32) {
        if (block.timestamp < GENESIS_AT) return 0;
        return SafeCast.toUint32((block.timestamp - GENESIS_AT) / EPOCH_FOR);
    }

    /// @inheritdoc IEpochOracle
    function deadlineOf(uint32 epoch) external view returns (uint64) {
        return epochEnd(epoch) + REPORT_WINDOW_FOR;
    }

    /// @inheritdoc IEpochOracle
    function members() external view returns (address[] memory) {
        return _members;
    }

    /// @inheritdoc IEpochOracle
    function isMember(address caller) external view returns (bool) {
        return _seatOf[caller].number != 0;
    }

    /// @inheritdoc IEpochOracle
    function quorum() external view returns (uint256) {
        return _round.quorum;
    }

    /// @inheritdoc IEpochOracle
    function voteOf(uint32 epoch, address member) external view returns (bytes32) {
        Round memory round = _round;
        return round.epoch == epoch ? _liveVote(round, _seatOf[member].number) : bytes32(0);
    }

    /// @inheritdoc IEpochOracle
    function processedHash(uint32 epoch) external view returns (bytes32) {
        return _processed[epoch];
    }

    /// @inheritdoc IEpochOracle
    function processedEpochs() external view returns (uint32) {
        return _round.processedEpochs;
    }

    /// @inheritdoc IEpochOracle
    function support(uint32 epoch, bytes32 reportHash) external view returns (uint256) {
        Round memory round = _round;
        return round.epoch == epoch && reportHash != bytes32(0) ? _countVotes(round, reportHash) : 0;
    }

    /// @inheritdoc IEpochOracle
    function epochEnd(uint32 epoch) public view returns (uint64) {
        return GENESIS_AT + (uint64(epoch) + 1) * EPOCH_FOR;
    }

    /// @dev Gives `member` the next seat.
    function _seat(address member) private {
        require(member != address(0), ZeroAddress());
        require(_seatOf[member].number == 0, MemberExists(member));
        require(_members.length < MAX_MEMBERS, TooManyMembers(MAX_MEMBERS));

        _members.push(member);
        _seatOf[member] = Seat(SafeCast.toUint8(_members.length), member);
    }

    /// @dev Every change of members or quorum ends here: the votes of the round must be cast again (invariants 24, 29).
    function _changeQuorum(uint256 quorum_) private {
        uint256 count = _members.length;
        require(quorum_ * 2 > count && quorum_ <= count, InvalidQuorum(quorum_, count));

        _round.quorum = SafeCast.toUint8(quorum_);
        _round.voters = 0;

        emit QuorumChanged(quorum_);
    }

    function _dropReporter(address member) private {
        delete _seatOf[_reporterOf[member]];
        delete _reporterOf[member];
    }

    function _countVotes(Round memory round, bytes32 reportHash) private view returns (uint256 votes) {
        uint256 seat = 1;
        for (uint256 voters = round.voters; voters != 0; voters >>= 1) {
            if (voters & 1 == 1 && _votes[seat] == reportHash) ++votes;
            ++seat;
        }
    }

    function _liveVote(Round memory round, uint8 seat) private view returns (bytes32) {
        return seat != 0 && round.voters & _bit(seat) != 0 ? _votes[seat] : bytes32(0);
    }

    function _requireWindow(uint32 epoch, uint32 processed) private view {
        uint256 endsAt = epochEnd(epoch);
        require(block.timestamp >= endsAt, EpochNotEnded(epoch, endsAt));
        require(block.timestamp < endsAt + REPORT_WINDOW_FOR, DeadlineMissed(epoch, endsAt + REPORT_WINDOW_FOR));
        require(epoch >= processed, AlreadyProcessed(epoch));
    }

    /// @dev The hash ties the report to this chain while the EVM still knows it (256 blocks); later the members' quorum vouches for it.
    function _requireRefBlock(uint256 refBlock, bytes32 refBlockHash, uint256 lastRefBlock) private view {
        uint256 min = lastRefBlock + 1;
        require(refBlock >= min && refBlock < block.number, RefBlockOutOfRange(refBlock, min, block.number - 1));
        bytes32 want = blockhash(refBlock);
        require(want == bytes32(0) || want == refBlockHash, RefBlockHashMismatch(refBlockHash, want));
    }

    function _bit(uint8 seat) private pure returns (uint32) {
        return SafeCast.toUint32(uint256(1) << (seat - 1));
    }
}
