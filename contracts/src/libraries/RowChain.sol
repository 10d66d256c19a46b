// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title One entry of the row chain: X0, or one dot product of a row with a column of W that is generated on the way
/// @dev Formats: compute-proof.md, section Bytes. The plain twin is contracts/test/utils/PlainRowChain.sol; golden columns are in
///      tests/golden/court.json (invariant 38).
///
///      Two splitmix64 states share one 256-bit word, 128 bits apart, so that a product of 64 by 64 bits stays in its half:
///
///        bit      255      192      128       64        0
///        a         |        0 | word 2 |        0 | word 0 |        b likewise for words 3 and 1
///        w = a|b   | word 3   | word 2 | word 1   | word 0 |        32 weights, the first in the lowest byte
///        x         | 32 bytes of the row, the first in the highest byte            |
///
///      Every fourth byte of w and of x are eight lanes of 32 bits; the lanes of x run the other way. In the product, a polynomial
///      in 2^32, lane 7 is therefore Σ w_i * x_i: eight products in one multiplication. Lanes hold signed numbers as the integer
///      Σ lane_k * 2^(32k) mod 2^256; a bias of 2^31 keeps the sums of lanes 0 to 6 from borrowing from lane 7, where the sum is
///      exact mod 2^32: |Σ| <= 2^15 * 2^7 * 2^6 < 2^31.
library RowChain {
    bytes32 private constant WEIGHTS_TAG = keccak256("swarm.compute.weights.v1");
    bytes32 private constant INPUT_TAG = keccak256("swarm.compute.input.v1");

    uint256 private constant GAMMA = 0x9E3779B97F4A7C15;
    uint256 private constant MIX_1 = 0xBF58476D1CE4E5B9;
    uint256 private constant MIX_2 = 0x94D049BB133111EB;

    /// @dev Odd; scatters a product over 32 bits, of which the step keeps the highest byte.
    uint256 private constant MULTIPLIER = 0x9E3779B1;

    uint256 private constant WORD = 0xffffffffffffffff;
    uint256 private constant TWO_WORDS = 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff;
    uint256 private constant FOUR_TAILS = 0x00000001ffffffff00000001ffffffff00000001ffffffff00000001ffffffff;
    uint256 private constant TWO_GAMMAS = 0x00000000000000009E3779B97F4A7C1500000000000000009E3779B97F4A7C15;
    /// @dev 4 * GAMMA mod 2^64, twice.
    uint256 private constant TWO_STRIDES = 0x000000000000000078DDE6E5FD29F054000000000000000078DDE6E5FD29F054;

    uint256 private constant LANES_7F = 0x0000007f0000007f0000007f0000007f0000007f0000007f0000007f0000007f;
    uint256 private constant LANES_FF = 0x000000ff000000ff000000ff000000ff000000ff000000ff000000ff000000ff;
    uint256 private constant LANES_40 = 0x0000004000000040000000400000004000000040000000400000004000000040;
    uint256 private constant LANES_80 = 0x0000008000000080000000800000008000000080000000800000008000000080;
    uint256 private constant BYTES_80 = 0x8080808080808080808080808080808080808080808080808080808080808080;
    uint256 private constant BIAS = 0x0000000080000000800000008000000080000000800000008000000080000000;

    /// @notice Seed of W, shared by all devices of a window that run the same n.
    function seedW(address beacon, uint256 windowId, bytes32 windowSeed, uint256 n) internal view returns (uint64) {
        return _first(keccak256(abi.encode(WEIGHTS_TAG, block.chainid, beacon, windowId, windowSeed, n)));
    }

    /// @notice Seed of X0, private to one device of one node in one window.
    function seedX(address beacon, uint256 windowId, bytes32 windowSeed, address node, uint256 device)
        internal
        view
        returns (uint64)
    {
        return _first(keccak256(abi.encode(INPUT_TAG, block.chainid, beacon, windowId, windowSeed, node, device)));
    }

    /// @notice Byte `column` of row `row` of X0.
    /// @param n Width of the matrix; row < 2^32 and column < n <= 2^15 are the caller's care.
    function inputEntry(uint64 seed, uint256 row, uint256 column, uint256 n) internal pure returns (int8) {
        uint256 word = _splitmix64(seed, row * (n / 8) + column / 8);
        return _signed(word >> (8 * (column % 8)));
    }

    /// @notice Byte `column` of the row that follows `rowBefore`: the top byte of (row · column of W) * MULTIPLIER mod 2^32.
    /// @param rowBefore The n bytes of the row; n a multiple of 32, at most 2^15, is the caller's care.
    function stepEntry(uint64 seed, bytes calldata rowBefore, uint256 column) internal pure returns (int8) {
        uint256 sum = _dot(_stateOf(seed, column * (rowBefore.length / 8)), rowBefore);
        unchecked {
            return _signed((sum * MULTIPLIER) >> 24);
        }
    }

    /// @dev Σ row_k * weight_k mod 2^32, the weights being those of the run of splitmix64 that begins with `state`.
    function _dot(uint256 state, bytes calldata row) private pure returns (uint256 sum) {
        assembly ("memory-safe") {
            let states := or(state, shl(128, and(add(state, mul(2, GAMMA)), WORD)))
            sum := BIAS
            for {
                let at := row.offset
                let end := add(at, row.length)
            } lt(at, end) { at := add(at, 32) } {
                let w := and(states, TWO_WORDS)
                let b := and(add(w, TWO_GAMMAS), TWO_WORDS)
                states := add(w, TWO_STRIDES)
                w := and(mul(and(xor(w, shr(30, w)), TWO_WORDS), MIX_1), TWO_WORDS)
                b := and(mul(and(xor(b, shr(30, b)), TWO_WORDS), MIX_1), TWO_WORDS)
                w := and(mul(and(xor(w, shr(27, w)), TWO_WORDS), MIX_2), TWO_WORDS)
                b := and(mul(and(xor(b, shr(27, b)), TWO_WORDS), MIX_2), TWO_WORDS)
                w := or(w, shl(64, b))
                w := xor(w, and(shr(31, w), FOUR_TAILS))

                let x := xor(calldataload(at), BYTES_80)
                sum := add(sum, mul(sub(and(w, LANES_7F), LANES_40), sub(and(shr(24, x), LANES_FF), LANES_80)))
                sum := add(sum, mul(sub(and(shr(8, w), LANES_7F), LANES_40), sub(and(shr(16, x), LANES_FF), LANES_80)))
                sum := add(sum, mul(sub(and(shr(16, w), LANES_7F), LANES_40), sub(and(shr(8, x), LANES_FF), LANES_80)))
                sum := add(sum, mul(sub(and(shr(24, w), LANES_7F), LANES_40), sub(and(x, LANES_FF), LANES_80)))
            }
            sum := shr(224, sum)
        }
    }

    function _splitmix64(uint256 seed, uint256 index) private pure returns (uint256 z) {
        z = _stateOf(seed, index);
        unchecked {
            z = ((z ^ (z >> 30)) * MIX_1) & WORD;
            z = ((z ^ (z >> 27)) * MIX_2) & WORD;
        }
        return z ^ (z >> 31);
    }

    /// @dev State of splitmix64 before its mixing; index < 2^64.
    function _stateOf(uint256 seed, uint256 index) private pure returns (uint256) {
        return (seed + (index + 1) * GAMMA) & WORD;
    }

    /// @dev The lowest byte, two's complement.
    function _signed(uint256 word) private pure returns (int8) {
        // forge-lint: disable-next-line(unsafe-typecast) the cut to a byte is the meaning
        return int8(uint8(word));
    }

    function _first(bytes32 hash) private pure returns (uint64) {
        // forge-lint: disable-next-line(unsafe-typecast) the first eight bytes are the seed
        return uint64(bytes8(hash));
    }
}
