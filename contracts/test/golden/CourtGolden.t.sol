// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Test} from "forge-std/Test.sol";

import {IndexedTree} from "../../src/libraries/IndexedTree.sol";
import {RowChain} from "../../src/libraries/RowChain.sol";
import {PlainRowChain} from "../utils/PlainRowChain.sol";

/// @title Columns of W, rows of X0, steps and trees are the same bytes in Python and here (invariant 38)
contract CourtGoldenTest is Test {
    string private _json;

    function setUp() public {
        _json = vm.readFile("tests/golden/court.json");
        vm.chainId(vm.parseJsonUint(_json, ".chainId"));
    }

    function test_seeds_whenPythonDerivedThem_thenTheyAreTheSame() public view {
        address beacon = vm.parseJsonAddress(_json, ".beacon");
        uint256 windowId = vm.parseJsonUint(_json, ".windowId");
        bytes32 windowSeed = vm.parseJsonBytes32(_json, ".windowSeed");
        uint256[] memory sizes = _uints(".columns.n");
        uint256[] memory seeds = _uints(".columns.seedW");
        for (uint256 i = 0; i < sizes.length; ++i) {
            assertEq(RowChain.seedW(beacon, windowId, windowSeed, sizes[i]), seeds[i]);
        }
        assertEq(sizes.length, 8);
    }

    function test_columns_whenPythonMadeThem_thenTheyAreTheSame() public view {
        uint256[] memory sizes = _uints(".columns.n");
        bytes32[] memory heads = vm.parseJsonBytes32Array(_json, ".columns.columnHead");
        for (uint256 i = 0; i < sizes.length; ++i) {
            bytes memory column = PlainRowChain.column(_seedW(i), _uints(".columns.column")[i], sizes[i]);
            assertEq(keccak256(column), vm.parseJsonBytes32Array(_json, ".columns.columnHash")[i]);
            assertEq(bytes32(column), heads[i]);
        }
    }

    function test_stepEntry_whenPythonDidTheStep_thenTheByteIsTheSame() public view {
        uint256[] memory sizes = _uints(".columns.n");
        int256[] memory entries = vm.parseJsonIntArray(_json, ".columns.stepEntry");
        for (uint256 i = 0; i < sizes.length; ++i) {
            uint256 row = _uints(".columns.row")[i];
            bytes memory bytes_ = PlainRowChain.inputRow(_seedX(), row, sizes[i]);
            assertEq(keccak256(bytes_), vm.parseJsonBytes32Array(_json, ".columns.rowHash")[i]);
            assertEq(this.stepEntry(_seedW(i), bytes_, _uints(".columns.column")[i]), entries[i]);
            assertEq(
                RowChain.inputEntry(_seedX(), row, row, sizes[i]), vm.parseJsonIntArray(_json, ".columns.inputEntry")[i]
            );
        }
    }

    function test_trees_whenPythonBuiltThem_thenRootsAreTheSame() public view {
        uint256[] memory counts = _uints(".trees.counts");
        bytes32[] memory roots = vm.parseJsonBytes32Array(_json, ".trees.roots");
        for (uint256 i = 0; i < counts.length; ++i) {
            bytes32[] memory values = new bytes32[](counts[i]);
            for (uint256 at = 0; at < counts[i]; ++at) {
                values[at] = keccak256(bytes(vm.toString(at)));
            }
            assertEq(this.rootOf(values), roots[i]);
            assertEq(this.rootOfWords(abi.encodePacked(values)), roots[i]);
        }
        assertEq(counts[counts.length - 1], 1025);
    }

    function stepEntry(uint64 seed, bytes calldata row, uint256 column) external pure returns (int8) {
        return RowChain.stepEntry(seed, row, column);
    }

    function rootOf(bytes32[] calldata values) external pure returns (bytes32) {
        return IndexedTree.rootOf(values);
    }

    function rootOfWords(bytes calldata row) external pure returns (bytes32) {
        return IndexedTree.rootOfWords(row);
    }

    function _seedX() private view returns (uint64) {
        return RowChain.seedX(
            vm.parseJsonAddress(_json, ".beacon"),
            vm.parseJsonUint(_json, ".windowId"),
            vm.parseJsonBytes32(_json, ".windowSeed"),
            vm.parseJsonAddress(_json, ".node"),
            vm.parseJsonUint(_json, ".device")
        );
    }

    function _seedW(uint256 i) private view returns (uint64) {
        return uint64(_uints(".columns.seedW")[i]);
    }

    function _uints(string memory key) private view returns (uint256[] memory) {
        return vm.parseJsonUintArray(_json, key);
    }
}
