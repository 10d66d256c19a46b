// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

import {SwarmToken} from "../../src/SwarmToken.sol";
import {ISwarmToken} from "../../src/interfaces/ISwarmToken.sol";
import {Deployment} from "../utils/Deployment.sol";
import {Permits} from "../utils/Permits.sol";

contract SwarmTokenTest is Deployment {
    address private immutable minter = makeAddr("minter");

    function setUp() public override {
        super.setUp();
        _grant(MINTER, minter);
    }

    function test_constructor_whenDeployed_thenHolderHasInitialSupply() public view {
        assertEq(token.balanceOf(treasury), INITIAL_SUPPLY);
        assertEq(token.totalSupply(), INITIAL_SUPPLY);
        assertEq(token.cap(), TOKEN_CAP);
        assertEq(token.symbol(), "SWM");
        assertEq(token.decimals(), 18);
    }

    function test_constructor_whenInitialSupplyPassesCap_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(ISwarmToken.CapExceeded.selector, 101, 100));
        new SwarmToken(address(manager), 100, treasury, 101);
    }

    function test_mint_whenCallerIsNoMinter_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, treasury));
        vm.prank(treasury);
        token.mint(treasury, 1);
    }

    function test_mint_whenSupplyWouldPassCap_thenItReverts() public {
        uint256 room = TOKEN_CAP - INITIAL_SUPPLY;
        vm.expectRevert(abi.encodeWithSelector(ISwarmToken.CapExceeded.selector, TOKEN_CAP + 1, TOKEN_CAP));
        vm.prank(minter);
        token.mint(minter, room + 1);
    }

    function testFuzz_mint_whenSupplyStaysWithinCap_thenItMints(uint256 amount) public {
        amount = bound(amount, 0, TOKEN_CAP - INITIAL_SUPPLY);

        vm.prank(minter);
        token.mint(minter, amount);

        assertEq(token.balanceOf(minter), amount);
        assertEq(token.totalSupply(), INITIAL_SUPPLY + amount);
    }

    function test_burn_whenCallerHoldsTooLittle_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, minter, 0, 1));
        vm.prank(minter);
        token.burn(1);
    }

    function testFuzz_burn_whenCallerHoldsEnough_thenOnlyItsTokensGo(uint256 amount) public {
        amount = bound(amount, 0, INITIAL_SUPPLY);

        vm.prank(treasury);
        token.burn(amount);

        assertEq(token.balanceOf(treasury), INITIAL_SUPPLY - amount);
        assertEq(token.totalSupply(), INITIAL_SUPPLY - amount);
    }

    function test_permit_whenOwnerSigned_thenAllowanceIsSetOnce() public {
        (address owner, uint256 key) = makeAddrAndKey("permit owner");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, Permits.digest(token, owner, minter, 5, block.timestamp));

        token.permit(owner, minter, 5, block.timestamp, v, r, s);
        assertEq(token.allowance(owner, minter), 5);
        assertEq(token.nonces(owner), 1);

        vm.expectPartialRevert(ERC20Permit.ERC2612InvalidSigner.selector);
        token.permit(owner, minter, 5, block.timestamp, v, r, s);
    }

    function test_permit_whenSomebodyElseSigned_thenItReverts() public {
        (address owner,) = makeAddrAndKey("permit owner");
        (address thief, uint256 key) = makeAddrAndKey("thief");
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, Permits.digest(token, owner, thief, 5, block.timestamp));

        vm.expectRevert(abi.encodeWithSelector(ERC20Permit.ERC2612InvalidSigner.selector, thief, owner));
        token.permit(owner, thief, 5, block.timestamp, v, r, s);
    }
}
