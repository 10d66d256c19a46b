// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title The row chain as compute-proof.md writes it, one entry after the other: the twin that RowChain is fuzzed against
library PlainRowChain {
    /// @dev X0[row] of n bytes.
    function inputRow(uint64 seed, uint256 row, uint256 n) internal pure returns (bytes memory bytes_) {
        bytes_ = new bytes(n);
        for (uint256 k = 0; k < n; ++k) {
            bytes_[k] = bytes1(uint8(_byteOf(seed, row, k, n)));
        }
    }

    /// @dev W[0 … n-1][column], each entry a byte in two's complement.
    function column(uint64 seed, uint256 column_, uint256 n) internal pure returns (bytes memory bytes_) {
        bytes_ = new bytes(n);
        for (uint256 k = 0; k < n; ++k) {
            int256 entry = int256(_byteOf(seed, column_, k, n) & 0x7f) - 64;
            bytes_[k] = bytes1(uint8(int8(entry)));
        }
    }

    /// @dev Entry `column_` of the row after `row`.
    function stepEntry(uint64 seed, bytes memory row, uint256 column_) internal pure returns (int8) {
        return product(row, column(seed, column_, row.length));
    }

    /// @dev Top byte of (row · weights) * 0x9E3779B1 mod 2^32.
    function product(bytes memory row, bytes memory weights) internal pure returns (int8) {
        int256 sum;
        for (uint256 k = 0; k < row.length; ++k) {
            sum += int256(int8(uint8(row[k]))) * int256(int8(uint8(weights[k])));
        }
        uint256 scattered = (uint256(sum + 2 ** 32) * 0x9E3779B1) % 2 ** 32;
        return int8(uint8(scattered >> 24));
    }

    /// @dev The whole row after `row`.
    function step(uint64 seed, bytes memory row) internal pure returns (bytes memory next) {
        next = new bytes(row.length);
        for (uint256 j = 0; j < row.length; ++j) {
            next[j] = bytes1(uint8(stepEntry(seed, row, j)));
        }
    }

    function _byteOf(uint64 seed, uint256 run, uint256 k, uint256 n) private pure returns (uint256) {
        return (splitmix64(seed, run * (n / 8) + k / 8) >> (8 * (k % 8))) & 0xff;
    }

    function splitmix64(uint256 seed, uint256 index) internal pure returns (uint256 z) {
        z = (seed + (index + 1) * 0x9E3779B97F4A7C15) % 2 ** 64;
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2 ** 64;
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2 ** 64;
        z = z ^ (z >> 31);
    }
}
