// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {RowChain} from "../../src/libraries/RowChain.sol";
import {PlainRowChain} from "../utils/PlainRowChain.sol";

/// @dev Invariant 38, together with the golden columns in CourtGolden.t.sol.
contract RowChainTest is Test {
    function testFuzz_stepEntry_whenRowIsAny_thenItIsThePlainOne(
        uint64 seed,
        bytes32 content,
        uint256 log2n,
        uint256 column
    ) public view {
        uint256 n = 2 ** bound(log2n, 6, 10);
        column = bound(column, 0, n - 1);
        bytes memory row = _noise(content, n);
        assertEq(this.stepEntry(seed, row, column), PlainRowChain.stepEntry(seed, row, column));
    }

    /// forge-config: default.fuzz.runs = 8
    function testFuzz_stepEntry_whenRowIsLong_thenItIsThePlainOne(uint64 seed, bytes32 content, uint256 log2n)
        public
        view
    {
        uint256 n = 2 ** bound(log2n, 11, 13);
        bytes memory row = _noise(content, n);
        uint256 column = uint256(content) % n;
        assertEq(this.stepEntry(seed, row, column), PlainRowChain.stepEntry(seed, row, column));
    }

    /// @dev The largest sums of either sign, in every lane: no lane may run into another one.
    function test_stepEntry_whenEveryProductIsExtreme_thenNoLaneOverflows() public view {
        for (uint256 log2n = 6; log2n <= 15; log2n += 3) {
            uint256 n = 2 ** log2n;
            bytes memory weights = PlainRowChain.column(5, 3, n);
            bytes memory positive = new bytes(n);
            bytes memory negative = new bytes(n);
            for (uint256 k = 0; k < n; ++k) {
                bool below = int8(uint8(weights[k])) < 0;
                positive[k] = below ? bytes1(0x80) : bytes1(0x7f);
                negative[k] = below ? bytes1(0x7f) : bytes1(0x80);
            }
            assertEq(this.stepEntry(5, positive, 3), PlainRowChain.product(positive, weights));
            assertEq(this.stepEntry(5, negative, 3), PlainRowChain.product(negative, weights));
        }
    }

    /// @dev A row of zeros and a single one shows the weight behind it: 128 weights give 128 different bytes.
    function test_stepEntry_whenRowIsAUnit_thenItShowsEveryWeightOfTheColumn() public view {
        uint256 n = 256;
        bytes memory weights = PlainRowChain.column(77, 200, n);
        bytes memory unit = new bytes(n);
        for (uint256 k = 0; k < n; ++k) {
            unit[k] = 0x01;
            assertEq(this.stepEntry(77, unit, 200), _shown(weights[k]));
            unit[k] = 0x00;
        }
        for (int256 w = -64; w < 64; ++w) {
            for (int256 v = -64; v < w; ++v) {
                assertNotEq(_shown(bytes1(uint8(int8(v)))), _shown(bytes1(uint8(int8(w)))));
            }
        }
    }

    function testFuzz_inputEntry_whenPlaceIsAny_thenItIsThePlainOne(uint64 seed, uint32 row, uint256 column, uint256 n)
        public
        pure
    {
        n = 2 ** bound(n, 6, 8);
        column = bound(column, 0, n - 1);
        bytes memory plain = PlainRowChain.inputRow(seed, row, n);
        assertEq(RowChain.inputEntry(seed, row, column, n), int8(uint8(plain[column])));
    }

    /// @dev The last place of the largest matrix.
    function test_inputEntry_whenTheMatrixIsTheLargest_thenItsLastByteIsThePlainOne() public pure {
        uint256 word = PlainRowChain.splitmix64(type(uint64).max, 2 ** 31 * 2 ** 12 - 1);
        assertEq(RowChain.inputEntry(type(uint64).max, 2 ** 31 - 1, 2 ** 15 - 1, 2 ** 15), int8(uint8(word >> 56)));
    }

    function stepEntry(uint64 seed, bytes calldata row, uint256 column) external pure returns (int8) {
        return RowChain.stepEntry(seed, row, column);
    }

    function _shown(bytes1 weight) private pure returns (int8) {
        return PlainRowChain.product(hex"01", abi.encodePacked(weight));
    }

    function _noise(bytes32 content, uint256 n) private pure returns (bytes memory row) {
        row = new bytes(n);
        for (uint256 i = 0; i < n; i += 32) {
            bytes32 word = keccak256(abi.encode(content, i));
            for (uint256 k = 0; k < 32; ++k) {
                row[i + k] = word[k];
            }
        }
    }
}
