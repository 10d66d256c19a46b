// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {SymbolicNetwork} from "./SymbolicNetwork.sol";

/// @title False on purpose: `make audit` fails if Halmos does not refute each of these
contract ControlSymbolic is SymbolicNetwork {
    /// @dev A pause of exactly a week is allowed, so this bound is one second too tight.
    function check_pause_whenTheBoundIsOneTooTight_thenOneLengthRefutesIt(uint64 duration) public {
        vm.prank(guardian);
        try vault.pauseFor(duration) {
            assert(duration < 7 days);
        } catch {}
    }

    /// @dev A quorum of three of three is allowed, so this bound is one vote too tight.
    function check_setQuorum_whenTheBoundIsOneTooTight_thenOneQuorumRefutesIt(uint256 quorum) public {
        vm.prank(address(timelock));
        try oracle.setQuorum(quorum) {
            assert(quorum < MEMBERS);
        } catch {}
    }
}
