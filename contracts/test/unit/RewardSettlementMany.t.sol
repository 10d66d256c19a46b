// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IRewardSettlement} from "../../src/interfaces/IRewardSettlement.sol";
import {SettlementLeaf} from "../../src/types/Settlement.sol";
import {Reports} from "../utils/Reports.sol";
import {Trees} from "../utils/Trees.sol";

/// @dev Many lines under one proof.
contract RewardSettlementManyTest is Reports {
    address private immutable stranger = makeAddr("stranger");

    address private alice;
    address private bob;
    uint256 private aliceId;
    uint256 private bobId;

    function setUp() public override {
        super.setUp();
        (alice, aliceId) = _join("alice");
        (bob, bobId) = _join("bob");
        _stake(alice, aliceId, 10_000e18);
    }

    function test_settleMany_whenLengthsDiffer_thenItReverts() public {
        uint256 rootIndex = _publishActive(0);
        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.LengthMismatch.selector, 3, 2));
        settlement.settleMany(rootIndex, new SettlementLeaf[](2), new bytes32[](1), new bool[](1));
    }

    function test_settleMany_whenNothingIsProven_thenItReverts() public {
        uint256 rootIndex = _publishActive(0);
        bytes32[] memory root = new bytes32[](1);
        root[0] = settlement.rootAt(rootIndex).root;

        vm.expectRevert(IRewardSettlement.EmptyProof.selector);
        settlement.settleMany(rootIndex, new SettlementLeaf[](0), root, new bool[](0));
        vm.expectRevert(IRewardSettlement.EmptyProof.selector);
        settlement.settleMany(rootIndex, new SettlementLeaf[](1), new bytes32[](0), new bool[](0));
    }

    /// @dev Whichever neighbours of however many providers: each is paid its line, all by one proof, as if settled one by one.
    function testFuzz_settleMany_whenNeighbours_thenEachIsPaidItsLine(uint256 providers, uint256 first, uint256 count)
        public
    {
        _joinMore(bound(providers, 2, 40));
        first = bound(first, 0, book.length - 1);
        count = bound(count, 1, book.length - first);
        uint256 rootIndex = _publishActive(0);
        (SettlementLeaf[] memory lines, bytes32[] memory proof, bool[] memory flags) = _batch(first, count);

        settlement.settleMany(rootIndex, lines, proof, flags);

        for (uint256 id = 1; id <= book.length; ++id) {
            bool settled = id > first && id <= first + count;
            assertEq(token.balanceOf(registry.payoutOf(id)), settled ? id * 1e18 : 0);
            assertEq(settlement.settledRootsOf(id), settled ? rootIndex + 1 : 0);
        }
        settlement.settleMany(rootIndex, lines, proof, flags);
        assertEq(token.balanceOf(registry.payoutOf(first + 1)), (first + 1) * 1e18, "twice is once");
    }

    /// @dev Invariant 22, for batches: one wrong wei, one wrong id, a wrong node, a turned flag or a line too many spoils all of it.
    function testFuzz_settleMany_whenOnePartIsWrong_thenItReverts(uint256 part, uint256 where) public {
        _joinMore(13);
        uint256 rootIndex = _publishActive(0);
        (SettlementLeaf[] memory lines, bytes32[] memory proof, bool[] memory flags) = _batch(3, 6);
        part %= 5;
        if (part == 0) ++lines[where % lines.length].cumReward;
        else if (part == 1) lines[where % lines.length].providerId = 1 + where % 3;
        else if (part == 2) proof[where % proof.length] ^= bytes32(uint256(1));
        else if (part == 3) flags[where % flags.length] = !flags[where % flags.length];
        else lines[where % 5] = lines[where % 5 + 1];

        vm.expectRevert();
        settlement.settleMany(rootIndex, lines, proof, flags);
    }

    function test_settleMany_whenALineIsTheStone_thenItReverts() public {
        delete book;
        book.push(_line(aliceId, 5e18, 0));
        _grant(ORACLE, address(this));
        uint256 rootIndex = settlement.acceptReport(_draft(0));
        vm.warp(block.timestamp + 1 days);
        SettlementLeaf[] memory lines = new SettlementLeaf[](2);
        lines[0] = book[0];
        bool[] memory flags = new bool[](1);
        flags[0] = true;

        vm.expectRevert(abi.encodeWithSelector(IRewardSettlement.InvalidProof.selector, 0));
        settlement.settleMany(rootIndex, lines, new bytes32[](0), flags);
    }

    /// @dev A false line beside the two nodes that give the root, whatever the flags: the line is hashed into the result, for no flag reads
    ///      past it. (OpenZeppelin's multiproof reads zero where a result is asked for too early; no node of these trees is zero.)
    function testFuzz_settleMany_whenALineShouldBeLeftOut_thenItReverts(bool first, bool second) public {
        _setLine(aliceId, 5e18, 0);
        uint256 rootIndex = _publishActive(0);
        SettlementLeaf[] memory lines = new SettlementLeaf[](1);
        lines[0] = _line(aliceId, 50_000e18, 0);
        bool[] memory flags = new bool[](2);
        (flags[0], flags[1]) = (first, second);
        bytes32[] memory proof = _leaves();

        vm.expectRevert();
        settlement.settleMany(rootIndex, lines, proof, flags);
    }

    function test_settleMany_whenALineWasSettledAlone_thenItIsPaidOnce() public {
        _setLine(aliceId, 10e18, 0);
        _setLine(bobId, 20e18, 5e18);
        uint256 rootIndex = _publishActive(0);
        (SettlementLeaf[] memory lines, bytes32[] memory proof, bool[] memory flags) = _batch(0, 2);
        _settle(rootIndex, aliceId);

        vm.prank(stranger);
        settlement.settleMany(rootIndex, lines, proof, flags);

        assertEq(token.balanceOf(alice), 10e18);
        assertEq(token.balanceOf(bob), 15e18);
        assertEq(token.balanceOf(address(settlement)), settlement.totalMinted() - 30e18 + settlement.nettedPenalties());
    }

    /// @dev Fills the network up to `providers`; each has its id in tokens to claim.
    function _joinMore(uint256 providers) private {
        while (book.length < providers) {
            _join(string.concat("provider", vm.toString(book.length)));
        }
        for (uint256 id = 1; id <= book.length; ++id) {
            _setLine(id, id * 1e18, 0);
        }
    }

    /// @dev The lines of the book from `first` on, and one proof for them.
    function _batch(uint256 first, uint256 count)
        private
        view
        returns (SettlementLeaf[] memory lines, bytes32[] memory proof, bool[] memory flags)
    {
        lines = new SettlementLeaf[](count);
        for (uint256 i = 0; i < count; ++i) {
            lines[i] = book[first + i];
        }
        (proof, flags) = Trees.multiPathIn(Trees.build(_leaves()), first, count);
    }
}
