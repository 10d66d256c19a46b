"""Events folded into roles: the last word counts, whatever came before."""

from swarm_chain.core.model import ChainEvent
from swarm_chain.core.units import BlockNumber, Timestamp
from swarm_chain.core.units import Hash32 as Hash
from swarm_chain.deploy.history import fold_history
from swarm_chain.testing import FakeSigner

ALICE, VAULT = FakeSigner("alice").address, FakeSigner("vault").address
SELECTOR = b"\x01\x02\x03\x04"


def _event(contract: str, name: str, **args: object) -> ChainEvent:
    return ChainEvent(
        contract=contract,
        name=name,
        args=args,
        block=BlockNumber(1),
        log_index=0,
        tx_hash=Hash(bytes(32)),
        timestamp=Timestamp(0),
    )


def _granted(role: int, delay: int = 0) -> ChainEvent:
    return _event("AccessManager", "RoleGranted", roleId=role, account=ALICE, delay=delay, since=0, newMember=True)


def _revoked(role: int) -> ChainEvent:
    return _event("AccessManager", "RoleRevoked", roleId=role, account=ALICE)


def test_revoked_role_is_gone_and_a_granted_one_stays_with_its_delay() -> None:
    history = fold_history([_granted(1), _granted(2), _revoked(1), _granted(2, delay=60)])

    assert history.members == {(2, ALICE, 60)}


def test_role_revoked_and_granted_again_is_there() -> None:
    assert fold_history([_granted(1), _revoked(1), _granted(1)]).members == {(1, ALICE, 0)}


def test_function_given_back_to_the_administrator_has_no_role() -> None:
    given = _event("AccessManager", "TargetFunctionRoleUpdated", target=VAULT, selector=SELECTOR, roleId=3)
    back = _event("AccessManager", "TargetFunctionRoleUpdated", target=VAULT, selector=SELECTOR, roleId=0)

    assert fold_history([given]).functions == {(VAULT, SELECTOR): 3}
    assert fold_history([given, back]).functions == {}


def test_roles_of_the_timelock_are_kept_apart() -> None:
    role = bytes(32)
    granted = _event("TimelockController", "RoleGranted", role=role, account=ALICE, sender=ALICE)
    revoked = _event("TimelockController", "RoleRevoked", role=role, account=ALICE, sender=ALICE)

    assert fold_history([granted]).timelock == {(role, ALICE)}
    assert fold_history([granted, revoked]).timelock == frozenset()
    assert fold_history([granted]).members == frozenset()


def test_last_event_of_a_kind_counts() -> None:
    events = [
        _event("EpochOracle", "LimitsChanged", limits=ALICE),
        _event("EpochOracle", "LimitsChanged", limits=VAULT),
    ]

    assert fold_history(events).last["EpochOracle", "LimitsChanged", "limits"] == VAULT
