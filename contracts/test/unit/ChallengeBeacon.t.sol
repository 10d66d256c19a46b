// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ChallengeBeacon} from "../../src/ChallengeBeacon.sol";
import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {IEpochOracle} from "../../src/interfaces/IEpochOracle.sol";
import {Deployment} from "../utils/Deployment.sol";

contract ChallengeBeaconTest is Deployment {
    bytes32 private constant SECRET = keccak256("secret");
    bytes32 private constant ROOT = keccak256("commitments");
    uint256 private constant EPOCH = 2;
    uint256 private constant WINDOW_ID = EPOCH << 16 | 1;

    address private immutable stranger = makeAddr("stranger");

    address private member;

    function setUp() public override {
        super.setUp();
        member = oracleMember(0);
        vm.roll(1000);
        vm.warp(GENESIS + EPOCH * 1 days);
    }

    function test_constructor_whenOracleIsZero_thenItReverts() public {
        vm.expectRevert(IChallengeBeacon.ZeroAddress.selector);
        new ChallengeBeacon(IEpochOracle(address(0)));
    }

    function test_membersOnly_whenCallerIsAStranger_thenItReverts() public {
        bytes memory notMember = abi.encodeWithSelector(IChallengeBeacon.NotMember.selector, stranger);
        vm.startPrank(stranger);
        vm.expectRevert(notMember);
        beacon.commitSecret(WINDOW_ID, SECRET);
        vm.expectRevert(notMember);
        beacon.open(WINDOW_ID, SECRET);
        vm.expectRevert(notMember);
        beacon.close(WINDOW_ID, ROOT, 1);
    }

    function test_membersOnly_whenCallerIsAReporter_thenItMayAct() public {
        vm.prank(member);
        oracle.setReporter(stranger);
        vm.prank(stranger);
        beacon.commitSecret(WINDOW_ID, SECRET);
        _assertState(IChallengeBeacon.WindowState.Committed);
    }

    function test_commitSecret_whenEpochIsPastOrImpossible_thenItReverts() public {
        uint256 past = (EPOCH - 1) << 16;
        uint256 impossible = uint256(1) << 48;
        vm.startPrank(member);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.WindowNotInEpoch.selector, past, EPOCH));
        beacon.commitSecret(past, SECRET);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.WindowNotInEpoch.selector, impossible, EPOCH));
        beacon.commitSecret(impossible, SECRET);
        beacon.commitSecret((EPOCH + 1) << 16, SECRET);
    }

    function test_commitSecret_whenZeroOrRepeated_thenItReverts() public {
        vm.startPrank(member);
        vm.expectRevert(IChallengeBeacon.ZeroSecretHash.selector);
        beacon.commitSecret(WINDOW_ID, bytes32(0));
        beacon.commitSecret(WINDOW_ID, SECRET);
        vm.expectRevert(
            abi.encodeWithSelector(
                IChallengeBeacon.WrongWindowState.selector,
                WINDOW_ID,
                IChallengeBeacon.WindowState.Committed,
                IChallengeBeacon.WindowState.None
            )
        );
        beacon.commitSecret(WINDOW_ID, SECRET);
    }

    function test_open_whenNotCommitted_thenItReverts() public {
        _expectWrongState(IChallengeBeacon.WindowState.None, IChallengeBeacon.WindowState.Committed);
        vm.prank(member);
        beacon.open(WINDOW_ID, SECRET);
    }

    function test_open_whenEpochIsAnother_thenItReverts() public {
        _commit();
        vm.warp(block.timestamp + 1 days);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.WindowNotInEpoch.selector, WINDOW_ID, EPOCH + 1));
        vm.prank(member);
        beacon.open(WINDOW_ID, SECRET);
    }

    /// @dev A secret of the same block could be chosen with the block's randomness in hand.
    function test_open_whenSecretIsOfThisBlock_thenItReverts() public {
        vm.startPrank(member);
        beacon.commitSecret(WINDOW_ID, keccak256(abi.encode(SECRET)));
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.SecretTooFresh.selector, WINDOW_ID, block.number));
        beacon.open(WINDOW_ID, SECRET);
    }

    function test_open_whenSecretIsAnother_thenItReverts() public {
        _commit();
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.WrongSecret.selector, WINDOW_ID));
        vm.prank(member);
        beacon.open(WINDOW_ID, keccak256("another"));
    }

    function testFuzz_open_whenAllHolds_thenTheSeedFollowsTheFormula(bytes32 randomness) public {
        _commit();
        vm.prevrandao(randomness);
        bytes32 want = keccak256(abi.encode(randomness, blockhash(block.number - 1), SECRET));

        vm.expectEmit(address(beacon));
        emit IChallengeBeacon.WindowOpened(WINDOW_ID, want);
        vm.prank(member);
        assertEq(beacon.open(WINDOW_ID, SECRET), want);

        IChallengeBeacon.Window memory window = beacon.window(WINDOW_ID);
        assertEq(window.windowSeed, want);
        assertEq(window.openedBlock, block.number);
        assertEq(window.openedAt, block.timestamp);
        _assertState(IChallengeBeacon.WindowState.Open);
    }

    function test_open_whenOpenedTwice_thenTheSeedStays() public {
        _open();
        _expectWrongState(IChallengeBeacon.WindowState.Open, IChallengeBeacon.WindowState.Committed);
        vm.prank(member);
        beacon.open(WINDOW_ID, SECRET);
    }

    function test_close_whenNotOpen_thenItReverts() public {
        _commit();
        _expectWrongState(IChallengeBeacon.WindowState.Committed, IChallengeBeacon.WindowState.Open);
        vm.prank(member);
        beacon.close(WINDOW_ID, ROOT, 1);
    }

    function test_close_whenRootAndCountDisagree_thenItReverts() public {
        _open();
        vm.startPrank(member);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.CommitmentsMismatch.selector, ROOT, 0));
        beacon.close(WINDOW_ID, ROOT, 0);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.CommitmentsMismatch.selector, bytes32(0), 1));
        beacon.close(WINDOW_ID, bytes32(0), 1);
        beacon.close(WINDOW_ID, bytes32(0), 0);
    }

    /// @dev Attack 15: the root cannot change once the draw is known.
    function test_close_whenClosedOrDrawn_thenTheRootStays() public {
        _close();
        _expectWrongState(IChallengeBeacon.WindowState.Closed, IChallengeBeacon.WindowState.Open);
        vm.prank(member);
        beacon.close(WINDOW_ID, keccak256("better"), 1);

        vm.roll(block.number + 3);
        beacon.draw(WINDOW_ID);
        _expectWrongState(IChallengeBeacon.WindowState.Drawn, IChallengeBeacon.WindowState.Open);
        vm.prank(member);
        beacon.close(WINDOW_ID, keccak256("better"), 1);
        assertEq(beacon.window(WINDOW_ID).commitmentsRoot, ROOT);
    }

    function test_draw_whenNotClosed_thenItReverts() public {
        _open();
        _expectWrongState(IChallengeBeacon.WindowState.Open, IChallengeBeacon.WindowState.Closed);
        beacon.draw(WINDOW_ID);
    }

    function test_draw_whenTooEarly_thenItReverts() public {
        _close();
        uint256 closed = block.number;
        for (uint256 wait = 0; wait < 3; ++wait) {
            vm.roll(closed + wait);
            vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.DrawTooEarly.selector, WINDOW_ID, closed + 3));
            beacon.draw(WINDOW_ID);
        }
        vm.roll(closed + 3);
        beacon.draw(WINDOW_ID);
    }

    function test_draw_whenMissed_thenTheWindowIsVoid() public {
        _close();
        uint256 closed = block.number;
        vm.roll(closed + 257);
        _assertState(IChallengeBeacon.WindowState.Void);
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.DrawMissed.selector, WINDOW_ID, closed + 256));
        beacon.draw(WINDOW_ID);
        vm.roll(closed + 256);
        beacon.draw(WINDOW_ID);
        vm.roll(closed + 100_000);
        _assertState(IChallengeBeacon.WindowState.Drawn);
    }

    /// @dev Nobody can re-roll by waiting: every block in time gives the same seed.
    function testFuzz_draw_whenInTime_thenTheSeedIsTheSame(uint256 wait, address caller) public {
        _close();
        uint256 closed = block.number;
        vm.roll(closed + bound(wait, 3, 256));
        bytes32 want = keccak256(abi.encode(blockhash(closed + 2), beacon.window(WINDOW_ID).windowSeed, ROOT));
        assertNotEq(blockhash(closed + 2), bytes32(0));

        vm.prank(caller);
        assertEq(beacon.draw(WINDOW_ID), want);
        _expectWrongState(IChallengeBeacon.WindowState.Drawn, IChallengeBeacon.WindowState.Closed);
        beacon.draw(WINDOW_ID);
    }

    /// @dev Bug class 68.
    function test_domainSeparator_whenTheChainForks_thenItFollows() public {
        assertEq(beacon.domainSeparator(), _separator());
        vm.chainId(block.chainid + 1);
        assertEq(beacon.domainSeparator(), _separator());
    }

    function _separator() private view returns (bytes32) {
        bytes32 typeHash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(abi.encode(typeHash, keccak256("Swarm"), keccak256("1"), block.chainid, address(beacon)));
    }

    function _commit() private {
        vm.prank(member);
        beacon.commitSecret(WINDOW_ID, keccak256(abi.encode(SECRET)));
        vm.roll(block.number + 1);
    }

    function _open() private {
        _commit();
        vm.prank(member);
        beacon.open(WINDOW_ID, SECRET);
        vm.roll(block.number + 10);
    }

    function _close() private {
        _open();
        vm.prank(member);
        beacon.close(WINDOW_ID, ROOT, 3);
    }

    function _assertState(IChallengeBeacon.WindowState want) private view {
        assertEq(uint256(beacon.stateOf(WINDOW_ID)), uint256(want));
    }

    function _expectWrongState(IChallengeBeacon.WindowState have, IChallengeBeacon.WindowState want) private {
        vm.expectRevert(abi.encodeWithSelector(IChallengeBeacon.WrongWindowState.selector, WINDOW_ID, have, want));
    }
}
