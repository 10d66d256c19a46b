"""Role holders: nobody missing, nobody zero, and no key on both sides of a check."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import ZERO_ADDRESS
from swarm_chain.deploy import Roles, check_separation
from swarm_chain.deploy.roles import check_roles
from swarm_chain.testing import FakeSigner
from tests.unit.swarm_chain.deploy.world import separate_roles

DEPLOYER = FakeSigner("deployer").address
ROLES = separate_roles(7)


def test_separate_keys_are_accepted() -> None:
    check_roles(ROLES)
    check_separation(ROLES, DEPLOYER)


@pytest.mark.parametrize(
    ("share", "pair"),
    [
        (lambda r: replace(r, guardian=r.veto), "guardian and veto"),
        (lambda r: replace(r, guardian=r.members[2]), "member 3 and guardian"),
        (lambda r: replace(r, veto=r.members[0]), "member 1 and veto"),
        (lambda r: replace(r, proposers=(r.guardian,)), "guardian and proposer 1"),
        (lambda r: replace(r, proposers=(r.members[6],)), "member 7 and proposer 1"),
        (lambda r: replace(r, owner=r.members[0]), "owner and member 1"),
        (lambda r: replace(r, owner=DEPLOYER), "owner and deployer"),
        (lambda r: replace(r, guardian=DEPLOYER), "guardian and deployer"),
        (lambda r: replace(r, proposers=(DEPLOYER,)), "proposer 1 and deployer"),
    ],
)
def test_shared_key_is_refused_and_the_pair_named(share: Callable[[Roles], Roles], pair: str) -> None:
    with pytest.raises(InvalidInputError, match=pair) as caught:
        check_separation(share(ROLES), DEPLOYER)

    assert caught.value.code == "shared_key"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda r: replace(r, owner=ZERO_ADDRESS), "zero address cannot be owner"),
        (lambda r: replace(r, guardian=ZERO_ADDRESS), "zero address cannot be guardian"),
        (lambda r: replace(r, members=(*r.members[:6], ZERO_ADDRESS)), "zero address cannot be member 7"),
        (lambda r: replace(r, proposers=()), "no proposer"),
        (lambda r: replace(r, proposers=r.proposers * 2), "proposer is named twice"),
        (lambda r: replace(r, members=(*r.members[:6], r.members[0])), "member is named twice"),
    ],
)
def test_roles_no_chain_can_work_with_are_refused(change: Callable[[Roles], Roles], complaint: str) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        check_roles(change(ROLES))
