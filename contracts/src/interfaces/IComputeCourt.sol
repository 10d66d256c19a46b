// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {ComputeCommitment, PassedVerdicts} from "../types/Compute.sol";

/// @title Objective cases: a false commitment loses by arithmetic, without a vote
/// @notice The accused answers with the hash of the row after every step, the accuser names the first false one, the accused reveals
///         that row, and one dot product decides. Whoever misses a deadline loses.
interface IComputeCourt {
    enum AccusationState {
        None,
        Accused,
        Answered,
        Picked,
        Revealed,
        Proven,
        Convicted,
        Acquitted,
        Dismissed
    }

    /// @notice One accused row. `providerId` is the accused: the node's provider, or the member's own.
    /// @dev `wordsRoot` is over (index, 32-byte word) of the revealed row; `hashesRoot` over (step, hash) of the answer. `offenceAt` is
    ///      when the window closed, unix s: the stake of that second answers.
    struct Accusation {
        AccusationState state;
        uint8 log2n;
        uint16 steps;
        uint16 step;
        uint48 deadline;
        uint48 offenceAt;
        uint32 row;
        uint64 providerId;
        address accuser;
        uint96 bond;
        bytes32 offenceId;
        bytes32 commitmentHash;
        bytes32 hashesRoot;
        bytes32 headHash;
        bytes32 hashBefore;
        bytes32 hashAt;
        bytes32 wordsRoot;
    }

    /// @notice A hash of the answer with its path in the tree over (step, hash).
    struct StepHash {
        bytes32 hash;
        bytes32[] path;
    }

    /// @notice A verdict "passed" with the member's signature, the commitment's path under `passedRoot`, and the counter that draws the row.
    struct PassedProof {
        PassedVerdicts verdicts;
        bytes signature;
        bytes32[] path;
        uint32 counter;
    }

    /// @notice Lengths in seconds, the first bond in wei, the slash in bps of the stake of the offence, the reporter's part in bps.
    struct ComputeCourtParams {
        uint64 accuseFor;
        uint64 answerFor;
        uint64 moveFor;
        uint96 bondWei;
        uint16 slashBps;
        uint16 bountyBps;
    }

    event Sealed(bytes32 indexed sealHash);
    /// @notice `member` is zero when the node itself is accused.
    event Accused(
        bytes32 indexed accusationId,
        uint256 indexed providerId,
        address indexed accuser,
        ComputeCommitment commitment,
        uint32 row,
        address member,
        uint96 bond,
        uint64 deadline
    );
    event AccusationAnswered(
        bytes32 indexed accusationId, address indexed by, bytes32[] hashes, bytes head, uint64 deadline
    );
    event StepPicked(bytes32 indexed accusationId, uint16 step, bytes32 hashBefore, bytes32 hashAt, uint64 deadline);
    event RowRevealed(bytes32 indexed accusationId, address indexed by, bytes row, uint64 deadline);
    /// @notice Byte `column` of the row after `step` is not what the chain of the commitment gives.
    event FalseByteProven(bytes32 indexed accusationId, uint16 step, uint32 column, int8 claimed, int8 computed);
    /// @notice The committed tree holds another head of the accused row beside the one of the answer.
    event ContradictionProven(bytes32 indexed accusationId, bytes32 headHash, bytes32 otherHeadHash);
    event EquivocationProven(bytes32 indexed offenceId, uint256 indexed providerId, bytes32 first, bytes32 second);
    event AccusationEnded(bytes32 indexed accusationId, uint256 indexed providerId, AccusationState state);
    event BondPaid(bytes32 indexed accusationId, address indexed to, uint256 amount);
    /// @notice `taken` wei left the accused's stake for this offence.
    event Convicted(bytes32 indexed offenceId, uint256 indexed providerId, address indexed reporter, uint256 taken);

    error ZeroAddress();
    error ZeroBond();
    error InvalidBps(uint256 bps, uint256 maxBps);
    error InvalidWindows(uint256 sum, uint256 max);
    error InvalidShape(uint256 m, uint256 n, uint256 steps);
    error RowOutOfRange(uint256 row, uint256 m);
    error ColumnOutOfRange(uint256 column, uint256 n);
    error StepOutOfRange(uint256 step, uint256 steps);
    error WindowNotDrawn(uint256 windowId);
    error WrongWindowSeed(bytes32 have, bytes32 want);
    error AccusedTooLate(uint256 windowId, uint256 closedAt, uint256 accuseUntil);
    error NotSealed(bytes32 sealHash);
    error SealTooFresh(bytes32 sealHash, uint256 sealedBlock);
    error WrongSigner(address have, address want);
    error UnknownNode(address node);
    error KeyRemoved(address node, uint256 removedAt, uint256 openedAt);
    error MemberHasNoStake(address member);
    error VerdictNotProven(bytes32 commitmentHash);
    error RowNotDrawn(uint256 row, uint256 counter);
    error WrongEpoch(uint256 have, uint256 want);
    error AlreadyAccused(bytes32 accusationId);
    error AlreadyConvicted(bytes32 offenceId);
    error NotConvicted(bytes32 offenceId);
    error WrongState(bytes32 accusationId, AccusationState have, AccusationState want);
    error WrongCommitment(bytes32 have, bytes32 want);
    error DeadlinePassed(bytes32 accusationId, uint64 deadline);
    error DeadlineNotPassed(bytes32 accusationId, uint64 deadline);
    error MayNotDefend(uint256 providerId, address caller);
    error NotAccuser(address caller, address accuser);
    error WrongLength(uint256 have, uint256 want);
    error RowNotCommitted(uint256 row);
    error HashNotProven(uint256 step);
    error WrongRow(bytes32 have, bytes32 want);
    error WrongHead(bytes32 have, bytes32 want);
    error WordNotProven(uint256 index);
    error ByteIsTrue(uint256 column, int8 value);
    error NotContradiction();
    error NotEquivocation();

    /// @notice Notes a sealed accusation; it can be opened from the next block on. A copy of the later accusation has no seal.
    /// @param sealHash `sealOf(caller, accusation or offence id, salt)`.
    function seal(bytes32 sealHash) external;

    /// @notice Accuses one row of a commitment that the node signed, with a bond of `bondOf(providerId)` wei. Each accuser, each row once.
    function accuse(ComputeCommitment calldata commitment, bytes calldata signature, uint32 row, bytes32 salt)
        external
        returns (bytes32 accusationId);

    /// @notice Accuses an oracle member that signed "passed" over a drawn row; the member defends it as a node would.
    function accuseMember(
        ComputeCommitment calldata commitment,
        bytes calldata signature,
        uint32 row,
        PassedProof calldata passed,
        bytes32 salt
    ) external returns (bytes32 accusationId);

    /// @notice Gives the keccak256 of the whole row after steps 0..T, its first 64 bytes at the end, and their path in the committed tree.
    ///         Owner, operator, defender or live node of the accused.
    function answer(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        bytes32[] calldata hashes,
        bytes calldata head,
        bytes32[] calldata path
    ) external;

    /// @notice Shows that the committed tree holds a second head of the accused row, which no honest tree does. Anyone, in place of `pick`;
    ///         not against a member, who looked at one of the two.
    /// @param headHash keccak256 of the other head, for example of the one in the node's proof.
    /// @param path Path of (row, headHash) in the committed tree.
    function contradict(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        bytes32 headHash,
        bytes32[] calldata path
    ) external;

    /// @notice Names the first step whose row is false. Only the accuser. `before` is empty for step 0.
    function pick(bytes32 accusationId, uint16 step, StepHash calldata before, StepHash calldata at) external;

    /// @notice Gives the row behind the picked hash. Owner, operator, defender or live node of the accused.
    function reveal(bytes32 accusationId, bytes calldata row) external;

    /// @notice Shows that byte `column` of the revealed row does not follow: the offence is convicted, the accused excluded. Anyone; the
    ///         accuser is rewarded by `execute`.
    /// @param rowBefore The row behind the hash before the picked one; empty for step 0.
    /// @param word The 32 bytes of the revealed row that hold the byte, with their path under `wordsRoot`.
    function prove(
        bytes32 accusationId,
        ComputeCommitment calldata commitment,
        uint32 column,
        bytes calldata rowBefore,
        bytes32 word,
        bytes32[] calldata path
    ) external;

    /// @notice Ends an accusation whose next move is overdue: the accused loses without an answer or row, else the accuser. Anyone.
    function timeout(bytes32 accusationId) external;

    /// @notice Ends a proven accusation: takes the stake, pays bounty and bond to the accuser. Anyone.
    /// @dev Apart from the proof, which then costs the same whatever the vault, the sink and the token cost.
    function execute(bytes32 accusationId) external;

    /// @notice Ends an accusation of an offence that is convicted already; the bond goes back. Anyone.
    function dismiss(bytes32 accusationId) external;

    /// @notice Convicts a node of two different signed commitments for one window and device. Sealed like an accusation.
    function equivocate(
        ComputeCommitment calldata first,
        bytes calldata firstSignature,
        ComputeCommitment calldata second,
        bytes calldata secondSignature,
        bytes32 salt
    ) external returns (bytes32 offenceId);

    function accusation(bytes32 accusationId) external view returns (Accusation memory);
    /// @notice keccak256(abi.encode(offenceId, commitmentHash, row, accuser)). Were the accuser left out, a cheater could accuse its own
    ///         false row, have its accuser fall silent, and so keep everyone else from accusing it.
    function accusationIdOf(bytes32 offenceId, bytes32 commitmentHash, uint32 row, address accuser)
        external
        pure
        returns (bytes32);
    /// @notice keccak256(abi.encode(windowId, node, device, member)); `member` is zero for the node's own offence.
    function offenceIdOf(uint256 windowId, address node, uint256 device, address member) external pure returns (bytes32);
    /// @notice EIP-712 struct hash of a commitment.
    function commitmentHashOf(ComputeCommitment calldata commitment) external pure returns (bytes32);
    /// @notice keccak256(abi.encode(accuser, subject, salt)); the subject is an accusation id, or an offence id to equivocate.
    function sealOf(address accuser, bytes32 subject, bytes32 salt) external pure returns (bytes32);
    /// @notice Bond of the next accusation against a provider, wei: doubles with each open one, up to 2^10 times.
    function bondOf(uint256 providerId) external view returns (uint256);
    /// @notice Accusations against a provider that are not ended.
    function openAccusations(uint256 providerId) external view returns (uint256);
    function isConvicted(bytes32 offenceId) external view returns (bool);
    /// @notice Block in which a seal was noted, zero for none.
    function sealedBlock(bytes32 sealHash) external view returns (uint256);
    function params() external view returns (ComputeCourtParams memory);
}
