// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Report} from "../../src/types/Settlement.sol";
import {EpochActions} from "./EpochActions.sol";

/// @title Members who come, go and change their keys, and reports that nobody agreed on
abstract contract MemberActions is EpochActions {
    uint256 private constant MOST_MEMBERS = 9;

    uint256 private _names;
    address[] private _formerMembers;

    function addMember(uint256 seed) external observed {
        uint256 count = oracle.members().length;
        if (count >= MOST_MEMBERS) return;
        address member = makeAddr(string.concat("newcomer", vm.toString(++_names)));

        _byTimelock(address(oracle), abi.encodeCall(oracle.addMember, (member, _majority(count + 1, seed))));

        _requireNoVotes();
    }

    function removeMember(uint256 which, uint256 seed) external observed {
        address[] memory members = oracle.members();
        if (members.length < 3) return;
        address member = members[which % members.length];
        _formerMembers.push(member);
        if (oracleMirror.reporterOf(member) != address(0)) _formerMembers.push(oracleMirror.reporterOf(member));

        uint256 quorum = _majority(members.length - 1, seed);
        _byTimelock(address(oracle), abi.encodeCall(oracle.removeMember, (member, quorum)));

        _requireNoVotes();
    }

    function setQuorum(uint256 seed) external observed {
        uint256 quorum = _majority(oracle.members().length, seed);
        _byTimelock(address(oracle), abi.encodeCall(oracle.setQuorum, (quorum)));

        _requireNoVotes();
    }

    /// @notice Invariant 24: no minority and no more than all, whatever the timelock asks for.
    function setQuorumOutOfRange(uint256 seed) external observed {
        uint256 count = oracle.members().length;
        uint256 quorum = seed % 2 == 0 ? seed % (count / 2 + 1) : count + 1 + seed % 1e6;
        bytes memory call = abi.encodeCall(oracle.setQuorum, (quorum));
        _mustFail(address(timelock), address(oracle), call, "24: a quorum that is no majority");
    }

    function setReporter(uint256 which, uint256 how) external observed {
        address[] memory members = oracle.members();
        address member = members[which % members.length];
        address reporter = how % 4 == 0 ? address(0) : makeAddr(string.concat("key", vm.toString(++_names)));
        if (oracleMirror.reporterOf(member) != address(0)) _formerMembers.push(oracleMirror.reporterOf(member));

        vm.prank(member);
        oracle.setReporter(reporter);
    }

    /// @notice Invariant 25: who has no seat any more has no vote either.
    function voteAsAFormerMember(uint256 which) external observed {
        if (!drafted || _formerMembers.length == 0) return;
        address former = _formerMembers[which % _formerMembers.length];
        bytes memory call = abi.encodeCall(oracle.vote, (draft.epoch, keccak256(abi.encode(draft))));
        _mustFail(former, address(oracle), call, "25: a former member voted");
        hits["former member refused"] += 1;
    }

    /// @notice Invariant 28: no vote on an epoch before or after its window.
    function voteOutOfTime(uint256 who, uint256 which) external observed {
        address[] memory members = oracle.members();
        uint32 epoch = oracle.currentEpoch();
        uint32 closed = epoch < 2 ? epoch + 1 : epoch - 2;
        bytes memory call = abi.encodeCall(oracle.vote, (which % 2 == 0 ? epoch : closed, bytes32(which | 1)));
        _mustFail(members[who % members.length], address(oracle), call, "28: voted early or late");
    }

    /// @notice Invariant 30: a report that differs in one field from what the quorum hashed is another report.
    function submitForged(uint256 field, uint256 by) external observed {
        if (!drafted) return;
        Report memory forged = draft;
        uint32 less = uint32(1 + by % 1e6);
        field %= 9;
        if (field == 0) forged.epoch += less;
        else if (field == 1) forged.refBlock -= 1;
        else if (field == 2) forged.refBlockHash = keccak256(abi.encode(by));
        else if (field == 3) forged.paramsVersion += less;
        else if (field == 4) forged.root = keccak256(abi.encode(by));
        else if (field == 5) forged.leafCount += less;
        else if (field == 6) forged.totalReward += less;
        else if (field == 7) forged.totalPenalty += less;
        else forged.outcomesRoot = keccak256(abi.encode(by));
        bytes memory call = abi.encodeCall(oracle.submitReport, (forged));
        _mustFail(address(this), address(oracle), call, "30: data that nobody hashed");
    }

    /// @dev Invariants 25 and 29: a change leaves no vote alive, so it can complete no quorum.
    function _requireNoVotes() private {
        hits["membership changed"] += 1;
        if (!drafted) return;
        assertEq(oracle.support(draft.epoch, keccak256(abi.encode(draft))), 0, "29: votes outlived a change");
        bytes memory call = abi.encodeCall(oracle.submitReport, (draft));
        _mustFail(address(this), address(oracle), call, "29: a change completed a quorum");
    }

    function _majority(uint256 members, uint256 seed) private pure returns (uint256) {
        uint256 least = members / 2 + 1;
        return least + seed % (members - least + 1);
    }
}
