// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";

import {ProviderRegistry} from "../../src/ProviderRegistry.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {Admissions} from "../utils/Admissions.sol";
import {Deployment} from "../utils/Deployment.sol";

contract ProviderRegistryTest is Deployment {
    /// @dev Order of secp256k1; n - s is the twin of every signature.
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    address private immutable alice = makeAddr("alice");
    address private immutable bob = makeAddr("bob");
    address private immutable operator = makeAddr("operator");
    address private immutable payout = makeAddr("payout");
    address private immutable judge = makeAddr("judge");
    address private immutable stranger = makeAddr("stranger");

    uint256 private aliceId;
    address private node;
    uint256 private nodeKey;

    function setUp() public override {
        super.setUp();
        _grant(COURT, judge);
        vm.prank(alice);
        aliceId = registry.register(operator, payout, 2, "eu-west");
        (node, nodeKey) = makeAddrAndKey("node");
    }

    // ---- constructor, register ----

    function test_constructor_whenDelayIsOutOfRange_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.InvalidPayoutDelay.selector, 0));
        new ProviderRegistry(address(manager), 0);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.InvalidPayoutDelay.selector, 30 days + 1));
        new ProviderRegistry(address(manager), 30 days + 1);
    }

    function test_register_whenCallerOwnsAProvider_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.AlreadyRegistered.selector, alice, aliceId));
        _register(alice);
    }

    function test_register_whenOperatorOrPayoutIsZero_thenItReverts() public {
        vm.startPrank(bob);
        vm.expectRevert(IProviderRegistry.ZeroAddress.selector);
        registry.register(address(0), payout, 1, "eu-west");
        vm.expectRevert(IProviderRegistry.ZeroAddress.selector);
        registry.register(operator, address(0), 1, "eu-west");
    }

    function testFuzz_register_whenClassIsUnknown_thenItReverts(uint8 class) public {
        vm.assume(class == 0 || class > 3);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.InvalidClass.selector, class));
        vm.prank(bob);
        registry.register(operator, payout, class, "eu-west");
    }

    function test_register_whenValid_thenTheRecordIsComplete() public {
        vm.expectEmit(address(registry));
        emit IProviderRegistry.ProviderRegistered(2, bob, operator, payout, 3, "us-east1");
        vm.prank(bob);
        uint256 id = registry.register(operator, payout, 3, "us-east1");

        IProviderRegistry.Provider memory bobs = registry.provider(id);
        assertEq(id, 2);
        assertEq(bobs.owner, bob);
        assertEq(bobs.operator, operator);
        assertEq(bobs.payout, payout);
        assertEq(bobs.registeredAt, block.timestamp);
        assertEq(bobs.hardwareClass, 3);
        assertEq(bobs.region, "us-east1");
        assertEq(registry.providerIdOf(bob), id);
        assertFalse(bobs.retired);
    }

    function testFuzz_register_whenSpreadOverBlocks_thenIdsAreDenseAndCountsArePinned(uint8[8] memory gaps) public {
        uint256 id = aliceId;
        for (uint256 i = 0; i < gaps.length; ++i) {
            uint256 before = vm.getBlockNumber() + gaps[i];
            vm.roll(before + 1);
            assertEq(_register(vm.addr(i + 1)), ++id);
            assertEq(registry.providerCount(), id);
            assertEq(registry.providerCountAt(before), id - 1);
        }
        assertEq(registry.providerCountAt(0), 0);
        assertEq(registry.providerCountAt(vm.getBlockNumber()), id);
    }

    // ---- nodes ----

    function test_addNode_whenProviderIsUnknown_thenItReverts() public {
        bytes memory signature = _sign(nodeKey, 2, node, 0);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownProvider.selector, 2));
        vm.prank(alice);
        registry.addNode(2, node, block.timestamp, signature);
    }

    function test_addNode_whenCallerIsAStranger_thenItReverts() public {
        bytes memory signature = _sign(nodeKey, aliceId, node, 0);
        vm.expectRevert(
            abi.encodeWithSelector(IProviderRegistry.NotProviderOwnerOrOperator.selector, aliceId, stranger)
        );
        vm.prank(stranger);
        registry.addNode(aliceId, node, block.timestamp, signature);
    }

    function test_addNode_whenProviderRetired_thenItReverts() public {
        bytes memory signature = _sign(nodeKey, aliceId, node, 0);
        vm.startPrank(alice);
        registry.retire(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.ProviderIsRetired.selector, aliceId));
        registry.addNode(aliceId, node, block.timestamp, signature);
    }

    function test_addNode_whenDeadlinePassed_thenItReverts() public {
        uint256 deadline = block.timestamp;
        bytes memory signature = _sign(nodeKey, aliceId, node, 0);
        vm.warp(deadline + 1);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.SignatureExpired.selector, deadline, deadline + 1));
        vm.prank(alice);
        registry.addNode(aliceId, node, deadline, signature);
    }

    function test_addNode_whenKeyIsLive_thenItReverts() public {
        _addNode(operator, aliceId);
        uint256 bobId = _register(bob);

        _expectNodeAlreadyAdded(operator, aliceId, 0);
        _expectNodeAlreadyAdded(operator, aliceId, 1);
        _expectNodeAlreadyAdded(bob, bobId, 0);
        _expectNodeAlreadyAdded(bob, bobId, 1);
    }

    function test_addNode_whenKeyWasRemoved_thenItNeverReturns() public {
        _addNode(alice, aliceId);
        vm.prank(alice);
        registry.removeNode(aliceId, node);
        uint256 bobId = _register(bob);

        _expectNodeAlreadyAdded(alice, aliceId, 1);
        _expectNodeAlreadyAdded(bob, bobId, 1);
    }

    function test_addNode_whenProviderHasTheMost_thenItReverts() public {
        uint256 most = registry.MAX_NODES();
        vm.startPrank(operator);
        for (uint256 key = 1; key <= most; ++key) {
            registry.addNode(aliceId, vm.addr(key), block.timestamp, _sign(key, aliceId, vm.addr(key), 0));
        }
        bytes memory signature = _sign(nodeKey, aliceId, node, 0);

        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.TooManyNodes.selector, most, most));
        registry.addNode(aliceId, node, block.timestamp, signature);

        registry.removeNode(aliceId, vm.addr(1));
        registry.addNode(aliceId, node, block.timestamp, signature);
        assertEq(registry.nodeCount(aliceId), most);
    }

    function test_addNode_whenAnotherKeySigned_thenItReverts() public {
        (address thief, uint256 thiefKey) = makeAddrAndKey("thief");
        bytes memory signature = _sign(thiefKey, aliceId, node, 0);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.InvalidNodeSignature.selector, thief, node));
        vm.prank(alice);
        registry.addNode(aliceId, node, block.timestamp, signature);
    }

    function test_addNode_whenAnythingSignedDiffers_thenItReverts() public {
        _expectInvalidSignature(_sign(nodeKey, aliceId + 1, node, 0));
        _expectInvalidSignature(_sign(nodeKey, aliceId, alice, 0));
        _expectInvalidSignature(_sign(nodeKey, aliceId, node, 1));
        bytes32 later = Admissions.digest(block.chainid, address(registry), aliceId, node, 0, block.timestamp + 1);
        _expectInvalidSignature(_pack(nodeKey, later));
        bytes32 elsewhere = Admissions.digest(block.chainid + 1, address(registry), aliceId, node, 0, block.timestamp);
        _expectInvalidSignature(_pack(nodeKey, elsewhere));
        bytes32 another = Admissions.digest(block.chainid, address(vault), aliceId, node, 0, block.timestamp);
        _expectInvalidSignature(_pack(nodeKey, another));
    }

    function test_addNode_whenSignatureIsMalformed_thenItReverts() public {
        bytes32 digest = Admissions.digest(block.chainid, address(registry), aliceId, node, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(nodeKey, digest);

        _expectInvalidSignature("");
        _expectInvalidSignature(abi.encodePacked(r, s));
        _expectInvalidSignature(abi.encodePacked(r, s, uint8(v - 27)));
        _expectInvalidSignature(abi.encodePacked(r, CURVE_ORDER - uint256(s), v == 27 ? uint8(28) : uint8(27)));
    }

    function test_addNode_whenNodeIsZero_thenAnUnrecoverableSignatureDoesNotPass() public {
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.InvalidNodeSignature.selector, address(0), address(0)));
        vm.prank(alice);
        registry.addNode(aliceId, address(0), block.timestamp, "");
    }

    function test_addNode_whenForked_thenTheDomainFollowsTheChain() public {
        bytes memory signature = _sign(nodeKey, aliceId, node, 0);
        vm.chainId(block.chainid + 1);
        _expectInvalidSignature(signature);
        _addNode(alice, aliceId);
        assertEq(registry.providerIdOfNode(node), aliceId);
    }

    function testFuzz_addNode_whenNodeSigned_thenItIsLive(uint256 key) public {
        key = bound(key, 1, CURVE_ORDER - 1);
        address added = vm.addr(key);
        bytes memory signature = _sign(key, aliceId, added, 0);

        vm.expectEmit(address(registry));
        emit IProviderRegistry.NodeAdded(aliceId, added);
        vm.prank(operator);
        registry.addNode(aliceId, added, block.timestamp, signature);

        assertEq(registry.providerIdOfNode(added), aliceId);
        assertEq(registry.nodeCount(aliceId), 1);
        assertEq(registry.nodeNonce(added), 1);
        assertTrue(registry.mayDefend(aliceId, added));
    }

    function test_removeNode_whenCallerIsAStranger_thenItReverts() public {
        _addNode(alice, aliceId);
        vm.expectRevert(
            abi.encodeWithSelector(IProviderRegistry.NotProviderOwnerOrOperator.selector, aliceId, stranger)
        );
        vm.prank(stranger);
        registry.removeNode(aliceId, node);
    }

    function test_removeNode_whenNodeIsNotTheProviders_thenItReverts() public {
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, aliceId, node));
        registry.removeNode(aliceId, node);
        vm.stopPrank();

        _addNode(alice, aliceId);
        uint256 bobId = _register(bob);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, bobId, node));
        vm.prank(bob);
        registry.removeNode(bobId, node);

        vm.startPrank(alice);
        registry.removeNode(aliceId, node);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, aliceId, node));
        registry.removeNode(aliceId, node);
    }

    function test_removeNode_whenLive_thenItIsLiveNoMore() public {
        _addNode(alice, aliceId);

        vm.expectEmit(address(registry));
        emit IProviderRegistry.NodeRemoved(aliceId, node);
        vm.prank(operator);
        registry.removeNode(aliceId, node);

        assertEq(registry.providerIdOfNode(node), 0);
        assertEq(registry.nodeCount(aliceId), 0);
        assertFalse(registry.mayDefend(aliceId, node));
    }

    /// @dev Who signed with a key cannot get rid of it: a court finds its provider for ever, and the second it was given up.
    function testFuzz_nodeRecord_whenTheNodeLeftAndTheProviderRetired_thenItIsStillTheProvider(uint32 span) public {
        _assertKey(0, 0);
        _addNode(alice, aliceId);
        _assertKey(aliceId, 0);
        vm.warp(block.timestamp + span);
        uint256 removedAt = block.timestamp;
        vm.startPrank(alice);
        registry.removeNode(aliceId, node);
        _assertKey(aliceId, removedAt);
        vm.warp(removedAt + 1);
        registry.retire(aliceId);
        _assertKey(aliceId, removedAt);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, aliceId, node));
        registry.removeNode(aliceId, node);
        _assertKey(aliceId, removedAt);
    }

    /// @dev Retirement alone gives up no key: whoever holds one still signs for the provider until it is removed.
    function test_nodeRecord_whenTheProviderRetired_thenTheKeyIsStillToBeRemoved() public {
        _addNode(alice, aliceId);
        vm.startPrank(alice);
        registry.retire(aliceId);
        _assertKey(aliceId, 0);
        vm.warp(block.timestamp + 1 days);
        registry.removeNode(aliceId, node);
        _assertKey(aliceId, block.timestamp);
    }

    // ---- keys ----

    function test_ownerFunctions_whenCallerIsNotTheOwner_thenTheyRevert() public {
        bytes memory refused = abi.encodeWithSelector(IProviderRegistry.NotProviderOwner.selector, aliceId, operator);
        vm.startPrank(operator);
        vm.expectRevert(refused);
        registry.setOperator(aliceId, operator);
        vm.expectRevert(refused);
        registry.setPayout(aliceId, operator);
        vm.expectRevert(refused);
        registry.setDefender(aliceId, operator);
        vm.expectRevert(refused);
        registry.retire(aliceId);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownProvider.selector, 9));
        registry.retire(9);
    }

    function test_ownerFunctions_whenAddressIsZero_thenTheyRevert() public {
        vm.startPrank(alice);
        vm.expectRevert(IProviderRegistry.ZeroAddress.selector);
        registry.setOperator(aliceId, address(0));
        vm.expectRevert(IProviderRegistry.ZeroAddress.selector);
        registry.setPayout(aliceId, address(0));
    }

    function test_setOperator_whenChanged_thenTheOldKeyLosesItsRights() public {
        vm.expectEmit(address(registry));
        emit IProviderRegistry.OperatorChanged(aliceId, bob);
        vm.prank(alice);
        registry.setOperator(aliceId, bob);

        bytes memory signature = _sign(nodeKey, aliceId, node, 0);
        vm.expectRevert(
            abi.encodeWithSelector(IProviderRegistry.NotProviderOwnerOrOperator.selector, aliceId, operator)
        );
        vm.prank(operator);
        registry.addNode(aliceId, node, block.timestamp, signature);
        assertFalse(registry.mayDefend(aliceId, operator));
        _addNode(bob, aliceId);
    }

    function test_setPayout_whenDelayPassed_thenItIsInForceAndNotBefore() public {
        uint64 effectiveAt = uint64(block.timestamp) + PAYOUT_DELAY;
        vm.expectEmit(address(registry));
        emit IProviderRegistry.PayoutChangeQueued(aliceId, bob, effectiveAt);
        vm.prank(alice);
        registry.setPayout(aliceId, bob);

        vm.warp(effectiveAt - 1);
        assertEq(registry.payoutOf(aliceId), payout);
        assertEq(registry.provider(aliceId).payout, payout);
        assertEq(registry.provider(aliceId).pendingPayout, bob);
        assertEq(registry.provider(aliceId).pendingPayoutAt, effectiveAt);

        vm.warp(effectiveAt);
        assertEq(registry.payoutOf(aliceId), bob);
        assertEq(registry.provider(aliceId).payout, bob);
        assertEq(registry.provider(aliceId).pendingPayout, address(0));
        assertEq(registry.provider(aliceId).pendingPayoutAt, 0);
    }

    function test_setPayout_whenTheLastChangeIsInForce_thenItSurvivesTheNext() public {
        vm.startPrank(alice);
        registry.setPayout(aliceId, bob);
        vm.warp(block.timestamp + PAYOUT_DELAY);
        registry.setPayout(aliceId, stranger);

        assertEq(registry.payoutOf(aliceId), bob);
        vm.warp(block.timestamp + PAYOUT_DELAY);
        assertEq(registry.payoutOf(aliceId), stranger);
    }

    function test_setPayout_whenTheLastChangeIsPending_thenItIsReplaced() public {
        uint256 start = block.timestamp;
        vm.startPrank(alice);
        registry.setPayout(aliceId, bob);
        vm.warp(start + PAYOUT_DELAY - 1);
        registry.setPayout(aliceId, stranger);

        vm.warp(start + PAYOUT_DELAY);
        assertEq(registry.payoutOf(aliceId), payout);
        vm.warp(start + 2 * PAYOUT_DELAY - 1);
        assertEq(registry.payoutOf(aliceId), stranger);
    }

    function test_retire_whenOwnerRetires_thenThereAreNoNodes() public {
        _addNode(alice, aliceId);
        vm.expectEmit(address(registry));
        emit IProviderRegistry.ProviderRetired(aliceId);
        vm.startPrank(alice);
        registry.retire(aliceId);

        assertTrue(registry.isRetired(aliceId));
        assertTrue(registry.provider(aliceId).retired);
        assertEq(registry.nodeCount(aliceId), 0);
        assertEq(registry.providerIdOfNode(node), 0);
        assertTrue(registry.mayDefend(aliceId, node), "a case may still be open");
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.ProviderIsRetired.selector, aliceId));
        registry.retire(aliceId);
    }

    // ---- suspension ----

    function test_suspend_whenCallerIsNoCourt_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger));
        vm.prank(stranger);
        registry.suspend(aliceId, 1);
    }

    function test_suspend_whenProviderIsUnknown_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownProvider.selector, 7));
        vm.prank(judge);
        registry.suspend(7, 1);
    }

    function testFuzz_suspend_whenRepeated_thenItNeverShortens(uint64 first, uint64 second) public {
        vm.startPrank(judge);
        registry.suspend(aliceId, first);
        registry.suspend(aliceId, second);

        assertEq(registry.provider(aliceId).suspendedUntil, first > second ? first : second);
    }

    function test_reinstate_whenCallerIsNotTheTimelock_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, judge));
        vm.prank(judge);
        registry.reinstate(aliceId);
    }

    function test_reinstate_whenTimelockLifts_thenExclusionEnds() public {
        vm.prank(judge);
        registry.suspend(aliceId, type(uint64).max);

        vm.expectEmit(address(registry));
        emit IProviderRegistry.ProviderSuspended(aliceId, 0);
        vm.prank(address(timelock));
        registry.reinstate(aliceId);

        assertEq(registry.provider(aliceId).suspendedUntil, 0);
    }

    // ---- views ----

    function test_mayDefend_whenAsked_thenOnlyTheProvidersKeysMay() public {
        _addNode(alice, aliceId);
        vm.prank(alice);
        registry.setDefender(aliceId, bob);

        assertTrue(registry.mayDefend(aliceId, alice));
        assertTrue(registry.mayDefend(aliceId, operator));
        assertTrue(registry.mayDefend(aliceId, bob));
        assertTrue(registry.mayDefend(aliceId, node));
        assertFalse(registry.mayDefend(aliceId, stranger));
        assertFalse(registry.mayDefend(aliceId, payout));
        assertFalse(registry.mayDefend(aliceId + 1, node));

        vm.prank(alice);
        registry.setDefender(aliceId, address(0));
        assertFalse(registry.mayDefend(aliceId, bob));
        assertFalse(registry.mayDefend(aliceId, address(0)));
        assertFalse(registry.mayDefend(77, address(0)));
    }

    /// @dev Invariant 31. A revert fails the test; an unknown provider is all zeros.
    function testFuzz_getters_whenAskedAnything_thenTheyNeverRevert(uint256 id, address who, uint256 number)
        public
        view
    {
        vm.assume(id != aliceId && who != alice);
        assertEq(keccak256(abi.encode(registry.provider(id))), keccak256(new bytes(11 * 32)));
        assertEq(registry.ownerOf(id), address(0));
        assertEq(registry.payoutOf(id), address(0));
        assertEq(registry.nodeCount(id), 0);
        assertEq(registry.providerIdOf(who), 0);
        assertEq(registry.providerIdOfNode(who), 0);
        (uint256 providerId, uint64 removedAt) = registry.nodeRecord(who);
        assertEq(providerId, 0);
        assertEq(removedAt, 0);
        assertEq(registry.nodeNonce(who), 0);
        assertFalse(registry.isRetired(id));
        assertFalse(registry.mayDefend(id, who));
        assertLe(registry.providerCountAt(number), registry.providerCount());
    }

    function _assertKey(uint256 wantId, uint256 wantRemovedAt) private view {
        (uint256 providerId, uint64 removedAt) = registry.nodeRecord(node);
        assertEq(providerId, wantId);
        assertEq(removedAt, wantRemovedAt);
    }

    function _sign(uint256 key, uint256 providerId, address who, uint256 nonce) private view returns (bytes memory) {
        return _pack(key, Admissions.digest(block.chainid, address(registry), providerId, who, nonce, block.timestamp));
    }

    function _pack(uint256 key, bytes32 digest) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _addNode(address caller, uint256 providerId) private {
        bytes memory signature = _sign(nodeKey, providerId, node, 0);
        vm.prank(caller);
        registry.addNode(providerId, node, block.timestamp, signature);
    }

    function _expectNodeAlreadyAdded(address caller, uint256 providerId, uint256 nonce) private {
        bytes memory signature = _sign(nodeKey, providerId, node, nonce);
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.NodeAlreadyAdded.selector, node, aliceId));
        vm.prank(caller);
        registry.addNode(providerId, node, block.timestamp, signature);
    }

    function _expectInvalidSignature(bytes memory signature) private {
        vm.expectPartialRevert(IProviderRegistry.InvalidNodeSignature.selector);
        vm.prank(alice);
        registry.addNode(aliceId, node, block.timestamp, signature);
    }
}
