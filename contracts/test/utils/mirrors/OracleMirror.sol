// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

import {EpochOracle} from "../../../src/EpochOracle.sol";
import {IEpochOracle} from "../../../src/interfaces/IEpochOracle.sol";
import {Mirror} from "./Mirror.sol";

/// @title Members, votes and processed reports rebuilt from the oracle's events
/// @dev Written from the promise, not from the code: votes are kept by member, and every change of members or quorum forgets them all.
contract OracleMirror is Mirror {
    uint256 public quorum;
    uint32 public processedEpochs;

    /// @notice The epoch of the live votes.
    uint32 public roundEpoch;

    /// @notice Every hash that was ever voted for.
    bytes32[] public hashes;

    address[] private _members;
    mapping(address member => address) private _reporterOf;
    mapping(uint32 epoch => bytes32) private _processed;

    /// @dev Votes of a round; a new number forgets them all.
    uint256 private _round;
    mapping(uint256 round => mapping(address member => bytes32)) private _votes;

    constructor(address source) Mirror(source) {}

    function apply_(Vm.Log calldata log) external override {
        bytes32 kind = log.topics[0];
        if (kind == IEpochOracle.Voted.selector) {
            _voted(log);
        } else if (kind == IEpochOracle.MemberAdded.selector) {
            _members.push(_address(log.topics[1]));
        } else if (kind == IEpochOracle.MemberRemoved.selector) {
            _removed(_address(log.topics[1]));
        } else if (kind == IEpochOracle.QuorumChanged.selector) {
            _changed(abi.decode(log.data, (uint256)));
        } else if (kind == IEpochOracle.ReporterChanged.selector) {
            _reporterOf[_address(log.topics[1])] = _address(log.topics[2]);
        } else if (kind == IEpochOracle.ReportSubmitted.selector) {
            _submitted(uint32(_id(log)), log.topics[2]);
        }
    }

    function members() external view returns (address[] memory) {
        return _members;
    }

    function reporterOf(address member) external view returns (address) {
        return _reporterOf[member];
    }

    /// @notice Live votes of today's members for `reportHash` (invariant 25).
    function supportOf(bytes32 reportHash) public view returns (uint256 votes) {
        for (uint256 i = 0; i < _members.length; ++i) {
            if (_votes[_round][_members[i]] == reportHash) ++votes;
        }
    }

    /// @dev Invariants 24 and 25 beside the comparison.
    function compare() external view override {
        EpochOracle oracle = EpochOracle(SOURCE);
        assertEq(keccak256(abi.encode(oracle.members())), keccak256(abi.encode(_members)), "members");
        assertEq(oracle.quorum(), quorum, "quorum");
        assertTrue(2 * quorum > _members.length && quorum <= _members.length, "24: a majority");
        assertEq(oracle.processedEpochs(), processedEpochs, "processedEpochs");
        for (uint256 i = 0; i < _members.length; ++i) {
            _compareMember(oracle, _members[i]);
        }
        for (uint256 i = hashes.length; i > 0 && i + 8 > hashes.length; --i) {
            assertEq(oracle.support(roundEpoch, hashes[i - 1]), supportOf(hashes[i - 1]), "25: live votes");
            assertEq(oracle.support(roundEpoch + 1, hashes[i - 1]), 0, "25: no votes of another epoch");
        }
        for (uint32 epoch = 0; epoch <= processedEpochs; ++epoch) {
            assertEq(oracle.processedHash(epoch), _processed[epoch], "processedHash");
        }
    }

    function _compareMember(EpochOracle oracle, address member) private view {
        bytes32 vote = _votes[_round][member];
        assertEq(oracle.voteOf(roundEpoch, member), vote, "voteOf member");
        assertTrue(oracle.isMember(member), "isMember");
        address reporter = _reporterOf[member];
        if (reporter == address(0)) return;
        assertEq(oracle.voteOf(roundEpoch, reporter), vote, "voteOf reporter");
        assertTrue(oracle.isMember(reporter), "isMember reporter");
    }

    function _voted(Vm.Log calldata log) private {
        uint32 epoch = uint32(_id(log));
        if (epoch != roundEpoch) {
            roundEpoch = epoch;
            ++_round;
        }
        _votes[_round][_address(log.topics[2])] = log.topics[3];
        hashes.push(log.topics[3]);
        require(abi.decode(log.data, (uint256)) == supportOf(log.topics[3]), "the event tells the support");
    }

    function _removed(address member) private {
        uint256 place;
        while (_members[place] != member) {
            ++place;
        }
        _members[place] = _members[_members.length - 1];
        _members.pop();
        delete _reporterOf[member];
    }

    function _changed(uint256 quorum_) private {
        quorum = quorum_;
        ++_round;
    }

    /// @dev Invariants 26 and 27: one report an epoch, epochs only grow.
    function _submitted(uint32 epoch, bytes32 reportHash) private {
        require(epoch >= processedEpochs, "27: epochs grow");
        require(_processed[epoch] == bytes32(0), "26: one report an epoch");
        _processed[epoch] = reportHash;
        processedEpochs = epoch + 1;
    }
}
