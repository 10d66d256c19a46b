// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {INodeMaintenance} from "../../src/interfaces/INodeMaintenance.sol";
import {IProviderRegistry} from "../../src/interfaces/IProviderRegistry.sol";
import {Admissions} from "../utils/Admissions.sol";
import {Deployment} from "../utils/Deployment.sol";

contract NodeMaintenanceTest is Deployment {
    address private immutable owner = makeAddr("owner");
    address private immutable operator = makeAddr("operator");
    address private immutable stranger = makeAddr("stranger");

    uint256 private providerId;
    address private node;
    address private sibling;
    uint64 private startsAt;
    uint64 private endsAt;

    function setUp() public override {
        super.setUp();
        vm.prank(owner);
        providerId = registry.register(operator, owner, 2, "eu-west");
        node = _addNode("node");
        sibling = _addNode("sibling");
        startsAt = uint64(block.timestamp) + 1 hours;
        endsAt = startsAt + 2 hours;
    }

    // ---- announceMaintenance ----

    function test_announceMaintenance_whenProviderIsUnknown_thenItReverts() public {
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownProvider.selector, 2));
        vm.prank(node);
        registry.announceMaintenance(2, node, startsAt, endsAt);
    }

    function testFuzz_announceMaintenance_whenCallerMayNotSpeak_thenItReverts(address caller) public {
        vm.assume(caller != owner && caller != operator && caller != node);
        _assertRefused(caller);
    }

    function test_announceMaintenance_whenCallerIsAnotherNode_thenItReverts() public {
        _assertRefused(sibling);
    }

    function test_maintenance_whenNodeIsNotALiveOne_thenBothRevert() public {
        _assertUnknown(stranger);
        vm.prank(stranger);
        uint256 other = registry.register(stranger, stranger, 1, "eu-west");
        vm.expectRevert(abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, other, node));
        vm.prank(stranger);
        registry.announceMaintenance(other, node, startsAt, endsAt);

        vm.prank(owner);
        registry.removeNode(providerId, node);
        _assertUnknown(node);
        vm.prank(owner);
        registry.retire(providerId);
        _assertUnknown(sibling);
    }

    function testFuzz_announceMaintenance_whenTheLastIsNotOver_thenItReverts(uint64 passed) public {
        _announce(node);
        vm.warp(block.timestamp + passed % (3 hours));
        bytes4 stands = INodeMaintenance.MaintenanceStands.selector;
        vm.expectRevert(abi.encodeWithSelector(stands, node, startsAt, endsAt));
        vm.prank(owner);
        registry.announceMaintenance(providerId, node, endsAt + 1 days, endsAt + 2 days);
    }

    function test_announceMaintenance_whenTheLastIsOver_thenTheNextIsKept() public {
        _announce(node);
        vm.warp(endsAt);
        (startsAt, endsAt) = (endsAt + 1, endsAt + 2);
        _announce(node);
        _assertAnnounced(startsAt, endsAt);
    }

    function testFuzz_announceMaintenance_whenItIsNotAhead_thenItReverts(uint64 start) public {
        start = start % uint64(block.timestamp + 1);
        vm.expectRevert(abi.encodeWithSelector(INodeMaintenance.MaintenanceNotAhead.selector, start, block.timestamp));
        vm.prank(node);
        registry.announceMaintenance(providerId, node, start, endsAt);
    }

    function testFuzz_announceMaintenance_whenItIsTooFarAhead_thenItReverts(uint64 start) public {
        uint256 latestAt = block.timestamp + 30 days;
        start = uint64(bound(start, latestAt + 1, type(uint64).max - 1));
        vm.expectRevert(abi.encodeWithSelector(INodeMaintenance.MaintenanceTooFarAhead.selector, start, latestAt));
        vm.prank(node);
        registry.announceMaintenance(providerId, node, start, start + 1);
    }

    function testFuzz_announceMaintenance_whenItsLengthIsOutOfRange_thenItReverts(uint64 end) public {
        if (end > startsAt && end <= startsAt + 7 days) end = startsAt;
        bytes4 wrong = INodeMaintenance.InvalidMaintenanceLength.selector;
        vm.expectRevert(abi.encodeWithSelector(wrong, startsAt, end, 7 days));
        vm.prank(node);
        registry.announceMaintenance(providerId, node, startsAt, end);
    }

    function testFuzz_announceMaintenance_whenInBounds_thenItIsKeptAndTold(uint256 who, uint64 ahead, uint64 length)
        public
    {
        address[3] memory speakers = [owner, operator, node];
        startsAt = uint64(block.timestamp + bound(ahead, 1, 30 days));
        endsAt = startsAt + uint64(bound(length, 1, 7 days));

        vm.expectEmit(address(registry));
        emit INodeMaintenance.MaintenanceAnnounced(providerId, node, startsAt, endsAt);
        _announce(speakers[who % 3]);

        _assertAnnounced(startsAt, endsAt);
        (uint64 siblingStartsAt, uint64 siblingEndsAt) = registry.maintenanceOf(sibling);
        assertEq(siblingStartsAt + siblingEndsAt, 0, "of that node alone");
    }

    // ---- withdrawMaintenance ----

    function testFuzz_withdrawMaintenance_whenCallerMayNotSpeak_thenItReverts(address caller) public {
        vm.assume(caller != owner && caller != operator && caller != node);
        _announce(node);
        vm.expectRevert(abi.encodeWithSelector(INodeMaintenance.MayNotAnnounce.selector, node, caller));
        vm.prank(caller);
        registry.withdrawMaintenance(providerId, node);
    }

    function test_withdrawMaintenance_whenNothingWasAnnounced_thenItReverts() public {
        _assertNothingAhead();
    }

    function testFuzz_withdrawMaintenance_whenItHasBegun_thenItReverts(uint64 late) public {
        _announce(node);
        vm.warp(startsAt + late % 365 days);
        _assertNothingAhead();
        _assertAnnounced(startsAt, endsAt);
    }

    function testFuzz_withdrawMaintenance_whenItLiesAhead_thenItIsGoneAndAnotherMayCome(uint256 who, uint64 passed)
        public
    {
        address[3] memory speakers = [owner, operator, node];
        _announce(node);
        vm.warp(block.timestamp + passed % 1 hours);

        vm.expectEmit(address(registry));
        emit INodeMaintenance.MaintenanceWithdrawn(providerId, node);
        vm.prank(speakers[who % 3]);
        registry.withdrawMaintenance(providerId, node);

        _assertAnnounced(0, 0);
        _assertNothingAhead();
        _announce(node);
        _assertAnnounced(startsAt, endsAt);
    }

    function _announce(address speaker) private {
        vm.prank(speaker);
        registry.announceMaintenance(providerId, node, startsAt, endsAt);
    }

    function _assertAnnounced(uint64 wantStartsAt, uint64 wantEndsAt) private view {
        (uint64 haveStartsAt, uint64 haveEndsAt) = registry.maintenanceOf(node);
        assertEq(haveStartsAt, wantStartsAt, "start");
        assertEq(haveEndsAt, wantEndsAt, "end");
    }

    function _assertRefused(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(INodeMaintenance.MayNotAnnounce.selector, node, caller));
        _announce(caller);
    }

    function _assertUnknown(address who) private {
        bytes memory unknown = abi.encodeWithSelector(IProviderRegistry.UnknownNode.selector, providerId, who);
        vm.startPrank(owner);
        vm.expectRevert(unknown);
        registry.announceMaintenance(providerId, who, startsAt, endsAt);
        vm.expectRevert(unknown);
        registry.withdrawMaintenance(providerId, who);
        vm.stopPrank();
    }

    function _assertNothingAhead() private {
        vm.expectRevert(abi.encodeWithSelector(INodeMaintenance.NoMaintenanceAhead.selector, node));
        vm.prank(owner);
        registry.withdrawMaintenance(providerId, node);
    }

    function _addNode(string memory name) private returns (address added) {
        uint256 key;
        (added, key) = makeAddrAndKey(name);
        bytes32 digest = Admissions.digest(block.chainid, address(registry), providerId, added, 0, block.timestamp);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        vm.prank(owner);
        registry.addNode(providerId, added, block.timestamp, abi.encodePacked(r, s, v));
    }
}
