"""Who holds what in a deployment, and which keys must not be the same. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import ZERO_ADDRESS, Address

# Presets of chains that one person plays with alone.
TRIAL_PRESETS = ("minimal",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Who holds what: `owner` gets the initial supply, `proposers` may schedule operations of the timelock."""

    owner: Address
    members: tuple[Address, ...]
    guardian: Address
    veto: Address
    proposers: tuple[Address, ...]

    def holders(self) -> Iterator[tuple[str, Address]]:
        """Every (role in words, address), in the order of a roles file."""
        yield "owner", self.owner
        yield from ((f"member {number}", member) for number, member in enumerate(self.members, start=1))
        yield "guardian", self.guardian
        yield "veto", self.veto
        yield from ((f"proposer {number}", proposer) for number, proposer in enumerate(self.proposers, start=1))


def check_roles(roles: Roles) -> None:
    """Refuse roles no chain can work with.

    Raises:
        InvalidInputError: a zero address, no proposer, or a member or proposer named twice.
    """
    zeros = [name for name, address in roles.holders() if address == ZERO_ADDRESS]
    if zeros:
        raise InvalidInputError(f"the zero address cannot be {', '.join(zeros)}", fix="name an address that has a key")
    if not roles.proposers:
        raise InvalidInputError("there is no proposer, so nobody could ever change anything", fix="name a proposer")
    for kind, addresses in (("member", roles.members), ("proposer", roles.proposers)):
        if len(set(addresses)) != len(addresses):
            raise InvalidInputError(f"a {kind} is named twice", fix=f"name every {kind} once")


def check_separation(roles: Roles, deployer: Address) -> None:
    """Refuse a key that holds two roles of which one exists to stop the other.

    Args:
        roles: role holders.
        deployer: key that sends the deployment; it lies on the machine that deploys, so it may keep nothing.

    Raises:
        InvalidInputError: two roles have the same address (code "shared_key"); `values` lists all pairs.
    """
    holders = (*roles.holders(), ("deployer", deployer))
    shared = [
        f"{first} and {second} are both {address}"
        for (first, address), (second, other) in combinations(holders, 2)
        if address == other
    ]
    if shared:
        raise InvalidInputError(
            f"roles that must be held apart have one key: {shared[0]}",
            code="shared_key",
            fix="give every role an address of its own: guardian and veto exist to stop members, "
            "and the deployer's key must be worth nothing afterwards",
            values={"shared": shared},
        )
