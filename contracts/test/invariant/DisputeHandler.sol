// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "forge-std/Vm.sol";

import {IComputeCourt} from "../../src/interfaces/IComputeCourt.sol";
import {IStakeVault} from "../../src/interfaces/IStakeVault.sol";
import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {Disputes} from "../utils/Disputes.sol";
import {Questions} from "../utils/Questions.sol";
import {Trees} from "../utils/Trees.sol";
import {DisputeMirror} from "../utils/mirrors/DisputeMirror.sol";

/// @title One commitment of 64 rows, accusers of every kind, and a provider that is honest or lies in one row
/// @dev Moves are made in any order, at any time, with any choice of row, step and column. The honest provider has one duty: before time
///      passes a deadline of its own, it moves. The correct accuser of the false row has the same duty.
contract DisputeHandler is Disputes {
    uint256 private constant MOST_LIVE = 6;

    /// @notice Whether row 9 of the commitment is false.
    bool public immutable LIES;
    DisputeMirror public immutable MIRROR;

    /// @notice How often something worth seeing happened.
    mapping(bytes32 what => uint256) public hits;

    uint256 public withdrawn;
    uint256 public bondsWon;

    Game[] private _games;
    bytes32[] private _tree;
    uint256 private _requests;

    modifier observed() {
        vm.recordLogs();
        _;
        _fold();
    }

    constructor(bool lies) {
        LIES = lies;
        setUp();
        MIRROR = new DisputeMirror(address(computeCourt), beacon);
        _tree = _leaves();
        if (lies) _tree[LIE_ROW] = IndexedTree.leaf(LIE_ROW, keccak256(_false().states[STEPS]));
    }

    /// @notice Anyone accuses any row, the right one or not, with the bond that is asked.
    function accuse(uint256 who, uint256 row) external observed {
        if (MIRROR.liveAccusations(aliceId) >= MOST_LIVE) return;
        Game memory game = _game(uint32(row % 4 == 0 ? LIE_ROW : row % 64), row >> 8);
        game.accuser = row % 4 == 0 && LIES ? accuser : makeAddr(string.concat("accuser", vm.toString(who % 4)));
        game.id = _accusationId(game);
        bool known = computeCourt.accusation(game.id).state != IComputeCourt.AccusationState.None;
        bool late = block.timestamp > uint256(closedAt) + 7 days;
        _pay(game.accuser);
        _sealNow(game.accuser, game.id);
        bytes memory signature = _signed(game.commitment);
        if (known || late || _isConvicted()) {
            bytes memory call = abi.encodeCall(computeCourt.accuse, (game.commitment, signature, game.row, SALT));
            _mustFail(game.accuser, call, "accused twice, late, or after the conviction");
            return;
        }
        vm.prank(game.accuser);
        computeCourt.accuse(game.commitment, signature, game.row, SALT);

        _games.push(game);
        assertEq(computeCourt.accusation(game.id).bond, BOND << (MIRROR.liveAccusations(aliceId)), "the bond doubles");
    }

    function answer(uint256 which) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found) return;
        if (!_canMove(game, IComputeCourt.AccusationState.Accused)) {
            bytes memory call = abi.encodeCall(
                computeCourt.answer, (game.id, game.commitment, _hashes(game.states), game.states[STEPS], game.path)
            );
            _mustFail(defender, call, "answered twice or late");
            return;
        }
        _answer(game);
    }

    /// @notice Any step: the first false one, a true one, the last one.
    function pick(uint256 which, uint32 step) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found || !_canMove(game, IComputeCourt.AccusationState.Answered)) return;
        _pick(game, _stepFor(game, uint16(step)));
    }

    function reveal(uint256 which) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found || !_canMove(game, IComputeCourt.AccusationState.Picked)) return;
        _reveal(game, computeCourt.accusation(game.id).step);
    }

    /// @notice Invariants 36 and 37: a byte is proven false exactly when it is.
    function prove(uint256 which, uint32 column) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found || !_canMove(game, IComputeCourt.AccusationState.Revealed)) return;
        _tryProof(game, _columnFor(game, column));
    }

    /// @notice Both sides move at once, as far as the game goes: single moves rarely get there.
    function playOn(uint256 which, uint32 choice) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found) return;
        if (_canMove(game, IComputeCourt.AccusationState.Accused)) _answer(game);
        if (_canMove(game, IComputeCourt.AccusationState.Answered)) _pick(game, _stepFor(game, uint16(choice >> 16)));
        if (_canMove(game, IComputeCourt.AccusationState.Picked)) _reveal(game, computeCourt.accusation(game.id).step);
        if (_canMove(game, IComputeCourt.AccusationState.Revealed)) _tryProof(game, _columnFor(game, choice));
    }

    /// @notice Invariant 36: the tree of a commitment holds one head a row.
    function contradict(uint256 which, bytes32 headHash) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found) return;
        // The answered head itself contradicts nothing.
        if (uint256(headHash) % 2 == 0) headHash = keccak256(_head(game));
        bytes memory call = abi.encodeCall(computeCourt.contradict, (game.id, game.commitment, headHash, game.path));
        _mustFail(stranger, call, "36: a head that was never committed");
        hits["foreign head refused"] += 1;
    }

    /// @notice Invariant 36: nobody but the node signs.
    function equivocate(bytes32 root, uint256 key) external observed {
        Game memory game = _game(0, 0);
        (bytes32 first, uint256 signer) = (game.commitment.root, 1 + key % 1e9);
        bytes memory signature = _signed(game.commitment);
        IComputeCourt court = computeCourt;
        _sealNow(stranger, _offenceId(address(0)));
        game.commitment.root = root == first ? bytes32(0) : root;
        bytes memory forged = _signedBy(signer, computeCourt.commitmentHashOf(game.commitment));
        bytes memory call =
            abi.encodeCall(court.equivocate, (_game(0, 0).commitment, signature, game.commitment, forged, SALT));
        _mustFail(stranger, call, "36: equivocation without two signatures");
        hits["forgery refused"] += 1;
    }

    /// @notice Invariant 9: a liar may have signed the true commitment too; the offence is the same one, convicted once.
    function signTwice(uint256 seed) external observed {
        if (!LIES || seed % 3 != 0 || block.timestamp > uint256(closedAt) + 7 days) return;
        bytes memory one = _signed(trueCommitment);
        bytes memory other = _signed(falseCommitment);
        _sealNow(stranger, _offenceId(address(0)));
        if (_isConvicted()) {
            bytes memory call =
                abi.encodeCall(computeCourt.equivocate, (trueCommitment, one, falseCommitment, other, SALT));
            _mustFail(stranger, call, "9: convicted twice");
            return;
        }
        vm.prank(stranger);
        computeCourt.equivocate(trueCommitment, one, falseCommitment, other, SALT);
        hits["signed twice"] += 1;
    }

    /// @notice Invariant 37: a key that is removed after the window opened still answers for what it signed.
    function removeNode(uint256 seed) external {
        if (seed % 8 != 0 || registry.providerIdOfNode(node) == 0) return;
        vm.prank(alice);
        registry.removeNode(aliceId, node);
        hits["key removed"] += 1;
    }

    /// @notice Ends what is overdue, for whoever is late; what is in time stays.
    function timeout(uint256 which) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (!found) return;
        uint256 deadline = computeCourt.accusation(game.id).deadline;
        if (which % 4 == 1 && block.timestamp <= deadline) _passTo(deadline + 1);
        _timeout(game);
    }

    /// @notice An accusation of an offence that is convicted already lets bond and stake go.
    function dismiss(uint256 which) external observed {
        (bool found, Game memory game) = _anyGame(which);
        if (found) _dismiss(game);
    }

    /// @notice What is proven anyone may execute, and nothing else.
    function execute(uint256 which) external observed {
        for (uint256 i = 0; i < _games.length; ++i) {
            if (computeCourt.accusation(_games[i].id).state == IComputeCourt.AccusationState.Proven) {
                _execute(_games[i]);
                return;
            }
        }
        (bool found, Game memory game) = _anyGame(which);
        if (found) _mustFail(stranger, abi.encodeCall(computeCourt.execute, (game.id)), "executed without a proof");
    }

    function requestUnbond(uint256 amount) external {
        uint256 active = vault.activeStake(aliceId);
        if (active == 0 || _requests == 16) return;
        vm.prank(alice);
        vault.requestUnbond(aliceId, 1 + amount % active);
        ++_requests;
    }

    /// @notice Invariant 13: stake is held while an accusation lives, and no longer.
    function withdraw(uint256 which) external observed {
        if (_requests == 0) return;
        uint256 requestId = which % _requests;
        IStakeVault.UnbondRequest memory request = vault.unbondRequest(aliceId, requestId);
        if (request.shares == 0) return;
        // Two weeks are longer than most walks: now and then somebody waits for the day.
        if (which % 3 == 0 && block.timestamp < request.maturesAt) {
            _passTo(request.maturesAt);
            if (which % 2 == 0) _endAll();
        }
        if (block.timestamp < request.maturesAt) return;
        if (MIRROR.liveAccusations(aliceId) != 0) {
            vm.expectPartialRevert(IStakeVault.CaseOpen.selector);
            vault.withdraw(aliceId, requestId);
            hits["held"] += 1;
            return;
        }
        withdrawn += vault.withdraw(aliceId, requestId);
        hits["withdrawn"] += 1;
    }

    /// @notice Up to twelve hours; whoever must not be late moves first.
    function pass(uint256 time) external {
        _passTo(block.timestamp + 1 + time % 12 hours);
    }

    /// @notice Invariant 31: whatever happened, and whatever is asked, no getter reverts.
    function ask(uint256 number, bytes32 word) external view {
        Questions.ask(computeCourt, number, word, accuser);
        (bool found, Game memory game) = _anyGame(number);
        if (found) Questions.ask(computeCourt, aliceId, game.id, game.accuser);
    }

    /// @notice Invariants 13, 14, 36 and the rebuilding of the court's storage.
    function check() external view {
        MIRROR.compare();
        assertEq(token.balanceOf(address(computeCourt)), MIRROR.heldBonds(), "14: bonds are conserved");
        assertEq(vault.pool(aliceId).openCases, MIRROR.liveAccusations(aliceId), "13: held by live accusations only");
        for (uint256 i = 0; i < MIRROR.accusationCount(); ++i) {
            bytes32 id = MIRROR.accusationIds(i);
            assertLe(computeCourt.accusation(id).deadline, MIRROR.accusedAt(id) + 10 days, "13: within ten days");
        }
        uint256 taken = MIRROR.taken();
        assertEq(vault.pool(aliceId).tokens + withdrawn + taken, STAKE, "9: half the stake, once");
        assertEq(token.balanceOf(alice), withdrawn + bondsWon, "14: the accused has its stake and the bonds it won");
        assertLe(taken, STAKE / 2, "9: half the stake, once");
        if (LIES) return;
        assertEq(taken, 0, "36: an honest provider lost stake");
        assertFalse(_isConvicted(), "36: an honest commitment was convicted");
        assertEq(registry.provider(aliceId).suspendedUntil, 0, "36: an honest provider was excluded");
    }

    /// @notice Invariants 13, 14 and 37: time runs out for everyone; a correct accuser of the false row has won.
    function finish() external {
        for (uint256 i = 0; i < 8; ++i) {
            _passTo(block.timestamp + 12 hours);
        }
        bool accusedCorrectly;
        for (uint256 i = 0; i < _games.length; ++i) {
            accusedCorrectly = accusedCorrectly || _isCorrect(_games[i]);
            _close(_games[i]);
        }
        assertEq(vault.pool(aliceId).openCases, 0, "13: an accusation never ended");
        assertEq(token.balanceOf(address(computeCourt)), 0, "14: a bond was left behind");
        if (!accusedCorrectly) return;
        assertTrue(_isConvicted(), "37: a correct accuser lost");
        assertGe(token.balanceOf(accuser), 10 * BOND, "37: a correct accuser paid for it");
    }

    function _passTo(uint256 until) private {
        _fold();
        _moveInTime(until);
        vm.roll(block.number + 1 + (until - block.timestamp) / 12);
        vm.warp(until);
    }

    /// @dev Whoever must not be late moves before `until`, and answers what the other side moves then: the honest provider, the correct
    ///      accuser of the false row, and a liar now and then, else it would never meet a proof.
    function _moveInTime(uint256 until) private observed {
        for (uint256 i = 0; i < _games.length; ++i) {
            while (_move(i, until)) {}
        }
    }

    function _move(uint256 which, uint256 until) private returns (bool moved) {
        IComputeCourt.Accusation memory record = computeCourt.accusation(_games[which].id);
        if (!_isLive(record.state) || record.deadline >= until || _isConvicted()) return false;
        Game memory game = _games[which];
        bool plays = !LIES || game.row != LIE_ROW || until % 4 == 0;
        if (_canMove(game, IComputeCourt.AccusationState.Accused) && plays) {
            _answer(game);
        } else if (_canMove(game, IComputeCourt.AccusationState.Picked) && plays) {
            _reveal(game, record.step);
        } else if (_canMove(game, IComputeCourt.AccusationState.Answered) && _isCorrect(game)) {
            _pick(game, _firstFalse(game));
        } else if (_canMove(game, IComputeCourt.AccusationState.Revealed) && _isCorrect(game)) {
            _tryProof(game, _falseColumn(game, record.step));
        } else {
            return false;
        }
        return true;
    }

    function _tryProof(Game memory game, uint32 column) private {
        uint16 step = computeCourt.accusation(game.id).step;
        (bytes32 word, bytes32[] memory path) = _word(game.states[step], column);
        bytes memory before = step == 0 ? bytes("") : game.states[step - 1];
        bytes memory call = abi.encodeCall(computeCourt.prove, (game.id, game.commitment, column, before, word, path));
        bytes[] memory own = _statesOf(game.row);
        bool follows = step == 0 || keccak256(before) == keccak256(own[step - 1]);
        if (follows && game.states[step][column] == own[step][column]) {
            _mustFail(stranger, call, "36: a true byte was proven false");
            hits["true byte refused"] += 1;
            return;
        }
        // After a false row before, what is true does not follow either: the byte decides.
        (bool done,) = address(computeCourt).call(call);
        assertTrue(done || !follows, "37: a false byte was not");
        if (done) hits["proven"] += 1;
    }

    function _timeout(Game memory game) private {
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        bytes memory call = abi.encodeCall(computeCourt.timeout, (game.id));
        if (!_isLive(record.state) || _isConvicted() || block.timestamp <= record.deadline) {
            _mustFail(stranger, call, "ended in time or twice");
            return;
        }
        uint256 before = token.balanceOf(alice);
        computeCourt.timeout(game.id);
        bool acquitted = computeCourt.accusation(game.id).state == IComputeCourt.AccusationState.Acquitted;
        assertEq(token.balanceOf(alice), before + (acquitted ? record.bond : 0), "14: the accused has the bond");
        if (acquitted) bondsWon += record.bond;
        hits[acquitted ? bytes32("acquitted") : bytes32("convicted by silence")] += 1;
    }

    function _dismiss(Game memory game) private {
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        if (!_isLive(record.state) || !_isConvicted()) {
            _mustFail(stranger, abi.encodeCall(computeCourt.dismiss, (game.id)), "dismissed without a conviction");
            return;
        }
        uint256 before = token.balanceOf(record.accuser);
        computeCourt.dismiss(game.id);
        assertEq(token.balanceOf(record.accuser), before + record.bond, "14: the bond returns");
        hits["dismissed"] += 1;
    }

    function _execute(Game memory game) private {
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        uint256 before = token.balanceOf(record.accuser);
        vm.prank(stranger);
        computeCourt.execute(game.id);
        assertEq(token.balanceOf(record.accuser), before + record.bond, "14: the bond returns");
        hits["executed"] += 1;
    }

    function _endAll() private {
        for (uint256 i = 0; i < _games.length; ++i) {
            IComputeCourt.AccusationState state = computeCourt.accusation(_games[i].id).state;
            if (state == IComputeCourt.AccusationState.Proven) _execute(_games[i]);
            else if (!_isLive(state)) continue;
            else if (_isConvicted()) _dismiss(_games[i]);
            else _timeout(_games[i]);
        }
        _fold();
    }

    function _close(Game memory game) private {
        IComputeCourt.AccusationState state = computeCourt.accusation(game.id).state;
        if (state == IComputeCourt.AccusationState.Proven) computeCourt.execute(game.id);
        else if (!_isLive(state)) return;
        else if (_isConvicted()) computeCourt.dismiss(game.id);
        else computeCourt.timeout(game.id);
    }

    /// @dev What the accused stands for in this row. The false row ends as committed, whatever the liar says of the way there.
    function _game(uint32 row, uint256 story) private view returns (Game memory game) {
        game = LIES ? _false() : _honest(row);
        (game.row, game.path) = (row, Trees.path(_tree, row));
        if (!LIES || row != LIE_ROW) game.states = _statesOf(row);
        else if (story % 3 == 0) game.states[story % STEPS] = _statesOf(row)[story % STEPS];
        else if (story % 3 == 1) game.states[story % STEPS] = _statesOf(row ^ 1)[story % STEPS];
    }

    /// @dev A correct accuser picks the first false step; anyone else any step.
    function _stepFor(Game memory game, uint16 step) private view returns (uint16) {
        return _isCorrect(game) ? _firstFalse(game) : step % (STEPS + 1);
    }

    /// @dev A correct accuser finds a false byte every other time, else any.
    function _columnFor(Game memory game, uint32 column) private view returns (uint32) {
        bool aimed = column % 2 == 0 && _isCorrect(game);
        return aimed ? _falseColumn(game, computeCourt.accusation(game.id).step) : column / 2 % 64;
    }

    function _isCorrect(Game memory game) private view returns (bool) {
        return LIES && game.row == LIE_ROW && game.accuser == accuser;
    }

    function _firstFalse(Game memory game) private view returns (uint16 step) {
        bytes[] memory own = _statesOf(game.row);
        while (keccak256(own[step]) == keccak256(game.states[step])) {
            ++step;
        }
    }

    function _falseColumn(Game memory game, uint16 step) private view returns (uint32 column) {
        bytes memory own = _statesOf(game.row)[step];
        while (own[column] == game.states[step][column]) {
            ++column;
        }
    }

    function _canMove(Game memory game, IComputeCourt.AccusationState state) private view returns (bool) {
        IComputeCourt.Accusation memory record = computeCourt.accusation(game.id);
        return record.state == state && block.timestamp <= record.deadline && !_isConvicted();
    }

    function _isConvicted() private view returns (bool) {
        return computeCourt.isConvicted(_offenceId(address(0)));
    }

    /// @dev Whether moves or time decide it still.
    function _isLive(IComputeCourt.AccusationState state) private pure returns (bool) {
        return state != IComputeCourt.AccusationState.None && state < IComputeCourt.AccusationState.Proven;
    }

    /// @dev One of the accusations; mostly one that lives.
    function _anyGame(uint256 which) private view returns (bool, Game memory game) {
        uint256 count = _games.length;
        if (count == 0) return (false, game);
        uint256 chosen = which % count;
        for (uint256 i = 0; i < count && which % 8 != 0; ++i) {
            chosen = (which % count + i) % count;
            if (_isLive(computeCourt.accusation(_games[chosen].id).state)) break;
        }
        return (true, _games[chosen]);
    }

    function _pay(address who) private {
        _fund(who, computeCourt.bondOf(aliceId));
        vm.prank(who);
        token.approve(address(computeCourt), type(uint256).max);
    }

    /// @dev Folded in the block of the seal, which is what the court notes.
    function _sealNow(address who, bytes32 subject) private {
        bytes32 sealHash = computeCourt.sealOf(who, subject, SALT);
        vm.prank(who);
        computeCourt.seal(sealHash);
        _fold();
        vm.roll(block.number + 1);
    }

    function _mustFail(address caller, bytes memory data, string memory why) private {
        _fold();
        vm.prank(caller);
        (bool done,) = address(computeCourt).call(data);
        assertFalse(done, why);
        vm.getRecordedLogs();
    }

    function _fold() private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(computeCourt)) MIRROR.apply_(logs[i]);
        }
    }
}
