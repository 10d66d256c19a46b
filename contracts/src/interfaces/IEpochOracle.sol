// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Report} from "../types/Settlement.sol";

/// @title Members' votes on the hash of an epoch's report
/// @notice Epoch e is [GENESIS + e * EPOCH, GENESIS + (e + 1) * EPOCH). Votes are taken from its end for REPORT_WINDOW.
interface IEpochOracle {
    /// @notice Genesis in unix seconds; lengths in seconds. The report window is at most an epoch, so one epoch at most takes votes.
    struct EpochParams {
        uint64 genesisAt;
        uint64 epochFor;
        uint64 reportWindowFor;
    }

    event Voted(uint32 indexed epoch, address indexed member, bytes32 indexed reportHash, uint256 support);
    event VoteWithdrawn(uint32 indexed epoch, address indexed member, bytes32 indexed reportHash, uint256 support);
    event ConsensusReached(uint32 indexed epoch, bytes32 indexed reportHash, uint256 support);
    event ReportSubmitted(
        uint32 indexed epoch, bytes32 indexed reportHash, address indexed submitter, uint256 rootIndex
    );
    event MemberAdded(address indexed member, uint256 members, uint256 quorum);
    event MemberRemoved(address indexed member, uint256 members, uint256 quorum);
    event QuorumChanged(uint256 quorum);
    event ReporterChanged(address indexed member, address indexed reporter);
    event LimitsChanged(address indexed limits);
    event SettlementChanged(address indexed settlement);

    error NotMember(address caller);
    error MemberExists(address member);
    error InvalidQuorum(uint256 quorum, uint256 members);
    error TooManyMembers(uint256 max);
    error EpochNotEnded(uint32 epoch, uint256 endsAt);
    error DeadlineMissed(uint32 epoch, uint256 deadline);
    error AlreadyProcessed(uint32 epoch);
    error ZeroReportHash();
    error SameVote(uint32 epoch, bytes32 reportHash);
    error NoConsensus(uint32 epoch, bytes32 reportHash, uint256 support, uint256 quorum);
    error RefBlockOutOfRange(uint256 refBlock, uint256 min, uint256 max);
    error RefBlockHashMismatch(bytes32 have, bytes32 want);
    error ZeroAddress();
    error InvalidGenesis(uint64 genesisAt);
    error InvalidEpoch(uint256 have, uint256 max);
    error InvalidReportWindow(uint256 have, uint256 max);

    /// @notice Votes for a report hash; a member may change its vote until the epoch is processed. Members or their reporters.
    function vote(uint32 epoch, bytes32 reportHash) external;

    /// @notice Submits the data behind the agreed hash. Anyone, once a quorum of current members agrees.
    function submitReport(Report calldata report) external returns (uint256 rootIndex);

    /// @notice Membership and quorum; every change clears the votes of the unprocessed epoch, so none completes a quorum. Only the timelock.
    function addMember(address member, uint256 quorum_) external;
    function removeMember(address member, uint256 quorum_) external;
    function setQuorum(uint256 quorum_) external;

    /// @notice Lets a hot key vote for the calling member; zero removes it.
    function setReporter(address reporter) external;

    /// @notice Replaceable parts. Only the timelock.
    function setLimits(address limits) external;
    function setSettlement(address settlement) external;

    function currentEpoch() external view returns (uint32);
    function epochEnd(uint32 epoch) external view returns (uint64);
    function deadlineOf(uint32 epoch) external view returns (uint64);
    function members() external view returns (address[] memory);
    /// @notice True for members and for their reporters.
    function isMember(address caller) external view returns (bool);
    function quorum() external view returns (uint256);
    /// @notice Live vote of a member in the round of `epoch`; zero if none, or once a later epoch is voted on.
    function voteOf(uint32 epoch, address member) external view returns (bytes32);
    /// @notice Live votes of current members for a hash; zero once a later epoch is voted on.
    function support(uint32 epoch, bytes32 reportHash) external view returns (uint256);
    /// @notice Hash of the processed report; zero if none.
    function processedHash(uint32 epoch) external view returns (bytes32);
    /// @notice Last processed epoch plus one; zero if none.
    function processedEpochs() external view returns (uint32);
}
