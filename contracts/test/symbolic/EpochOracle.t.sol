// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {EpochOracle} from "../../src/EpochOracle.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title Votes and quorum of small committees, for every vote and every quorum
contract EpochOracleSymbolic is SymbolicNetwork {
    address[3] private seats = [address(0x51), address(0x52), address(0x53)];
    EpochOracle private committee;

    function setUp() public override {
        super.setUp();
        committee = new EpochOracle(address(manager), epochParams(), _members(3), 2);
        vm.warp(GENESIS + 1 days);
    }

    /// @dev Invariant 24: a committee stands exactly if its quorum is more than half and at most all.
    /// @custom:halmos --loop 4
    function check_quorum_whenTheCommitteeIsSmall_thenItIsAMajority(uint256 quorum) public {
        for (uint256 count = 1; count <= 3; ++count) {
            bool stands;
            try new EpochOracle(address(manager), epochParams(), _members(count), quorum) returns (EpochOracle made) {
                stands = true;
                assert(made.quorum() == quorum);
            } catch {}
            assert(stands == (quorum <= count && quorum > count / 2));
        }
    }

    /// @dev Invariant 25: support is the number of members whose last vote it is, whoever votes twice.
    function check_support_whenMembersVoteAnything_thenItCountsLastVotes(bytes32 a, bytes32 b, bytes32 c) public {
        vm.assume(a != bytes32(0) && b != bytes32(0) && c != bytes32(0) && a != c);
        _vote(0, a);
        _vote(1, b);
        _vote(0, c);

        assert(committee.support(0, c) == (b == c ? 2 : 1));
        assert(committee.support(0, a) == (b == a ? 1 : 0));
        assert(committee.voteOf(0, seats[0]) == c);
        assert(committee.voteOf(0, seats[2]) == bytes32(0));
    }

    /// @dev Invariant 29: after any change of the quorum no vote counts.
    function check_setQuorum_whenVotesAreLive_thenNoneCounts(bytes32 a, uint256 quorum) public {
        vm.assume(a != bytes32(0));
        _vote(0, a);
        _vote(1, a);
        vm.prank(address(timelock));
        try committee.setQuorum(quorum) {
            assert(committee.support(0, a) == 0);
            assert(quorum == 2 || quorum == 3);
        } catch {
            assert(committee.support(0, a) == 2);
        }
    }

    function _vote(uint256 seat, bytes32 reportHash) private {
        vm.prank(seats[seat]);
        committee.vote(0, reportHash);
    }

    function _members(uint256 count) private view returns (address[] memory members) {
        members = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            members[i] = seats[i];
        }
    }
}
