// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IChallengeBeacon} from "../../src/interfaces/IChallengeBeacon.sol";
import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title States of a compute window, for every move of a member at every block
/// @dev Halmos knows no block hashes, so opening and drawing are asked only where they must refuse; unit tests open and draw.
contract ChallengeBeaconSymbolic is SymbolicNetwork {
    uint256 private constant WINDOW_ID = 1;
    bytes32 private constant SECRET = keccak256("secret");
    uint64 private constant CLOSED_AT = 1002;

    address private member;

    function setUp() public override {
        super.setUp();
        member = oracleMember(0);
    }

    /// @dev A secret is fixed in a new window only, and never again.
    function check_commitSecret_whenCalled_thenOnlyANewWindowTakesIt(uint8 prepared, uint64 atBlock, bytes32 word)
        public
    {
        IChallengeBeacon.Window memory before = _prepare(prepared);
        vm.roll(atBlock);
        vm.prank(member);
        try beacon.commitSecret(WINDOW_ID, word) {
            assert(prepared == 0 && word != bytes32(0));
            assert(beacon.stateOf(WINDOW_ID) == IChallengeBeacon.WindowState.Committed);
            assert(beacon.window(WINDOW_ID).secretHash == word);
        } catch {
            assert(prepared != 0 || word == bytes32(0));
            _checkSame(before);
        }
    }

    /// @dev A root is fixed in an open window only; what was fixed before stays.
    function check_close_whenCalled_thenOnlyAnOpenWindowTakesIt(
        uint8 prepared,
        uint64 atBlock,
        bytes32 word,
        uint32 count
    ) public {
        IChallengeBeacon.Window memory before = _prepare(prepared);
        vm.assume(atBlock != 0);
        vm.roll(atBlock);
        vm.prank(member);
        try beacon.close(WINDOW_ID, word, count) {
            assert(prepared == 2 && (word == bytes32(0)) == (count == 0));
            assert(beacon.stateOf(WINDOW_ID) == IChallengeBeacon.WindowState.Closed);
            before.commitmentsRoot = word;
            before.commitmentCount = count;
            before.closedAt = uint64(block.timestamp);
            before.closedBlock = atBlock;
        } catch {
            assert(prepared != 2 || (word == bytes32(0)) != (count == 0));
        }
        _checkSame(before);
    }

    /// @dev No window opens twice, without a secret, with another secret or in the secret's own block.
    function check_open_whenItMayNot_thenItReverts(uint8 prepared, uint64 atBlock, bytes32 secret) public {
        vm.assume(prepared != 1 || atBlock <= 1000);
        IChallengeBeacon.Window memory before = _prepare(prepared);
        vm.roll(atBlock);
        vm.prank(member);
        try beacon.open(WINDOW_ID, secret) {
            assert(false);
        } catch {
            _checkSame(before);
        }
    }

    /// @dev Nobody draws before the block of the draw is past, after its hash is gone, twice, or before closing.
    function check_draw_whenItMayNot_thenItReverts(uint8 prepared, uint64 atBlock) public {
        vm.assume(prepared != 3 || atBlock <= CLOSED_AT + 2 || atBlock > CLOSED_AT + 256);
        IChallengeBeacon.Window memory before = _prepare(prepared);
        vm.roll(atBlock);
        try beacon.draw(WINDOW_ID) {
            assert(false);
        } catch {
            _checkSame(before);
        }
    }

    function _checkSame(IChallengeBeacon.Window memory before) private view {
        IChallengeBeacon.Window memory window = beacon.window(WINDOW_ID);
        assert(window.secretHash == before.secretHash && window.secretBlock == before.secretBlock);
        assert(window.windowSeed == before.windowSeed && window.openedBlock == before.openedBlock);
        assert(window.commitmentsRoot == before.commitmentsRoot && window.closedBlock == before.closedBlock);
        assert(window.openedAt == before.openedAt && window.closedAt == before.closedAt);
        assert(window.commitmentCount == before.commitmentCount && window.drawSeed == before.drawSeed);
    }

    /// @dev A window that is 0 new, 1 committed, 2 open, 3 closed, 4 drawn; each step lies one block after the one before.
    function _prepare(uint8 state) private returns (IChallengeBeacon.Window memory window) {
        vm.assume(state < 5);
        if (state > 0) (window.secretHash, window.secretBlock) = (keccak256(abi.encode(SECRET)), 1000);
        if (state > 1) {
            (window.windowSeed, window.openedBlock, window.openedAt) = (keccak256("seed"), 1001, uint64(GENESIS));
        }
        if (state > 2) {
            (window.commitmentsRoot, window.commitmentCount) = (keccak256("root"), 1);
            (window.closedBlock, window.closedAt) = (CLOSED_AT, uint64(GENESIS));
        }
        if (state > 3) window.drawSeed = keccak256("draw");
        if (state > 0) _putWindow(WINDOW_ID, window);
    }
}
