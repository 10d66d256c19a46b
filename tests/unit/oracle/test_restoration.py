"""Restoration: what ends a penalty's shadow, by class."""

from typing import Any

import pytest

from oracle.model import EpochState, PastViolation
from oracle.restoration import outstanding, passes_compliance, restored, unrestored
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.units import UINT64_MAX, WEI_PER_SWM, EpochNumber, ProviderId, Timestamp, Wei
from tests.oracle_world import NETWORK, PARAMS, provider

AT = NETWORK.epoch_start(40)
PERFORMANCE, SECURITY, PROTOCOL = ViolationClass.PERFORMANCE, ViolationClass.SECURITY, ViolationClass.PROTOCOL


def _past(
    violation_class: ViolationClass, severity: Severity = Severity.PENALTY, number: int = 1, epoch: int = 38
) -> PastViolation:
    return PastViolation(
        provider_id=ProviderId(number), violation_class=violation_class, severity=severity, epoch=EpochNumber(epoch)
    )


@pytest.mark.parametrize(("clean", "expected"), [(0, False), (6, False), (7, True), (100, True)])
def test_performance_when_seven_epochs_are_clean_then_restored(clean: int, expected: bool) -> None:
    for severity in (Severity.PENALTY, Severity.SEVERE):
        assert restored(_past(PERFORMANCE, severity), provider(1, "a"), clean, PARAMS, AT) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"active_stake_wei": Wei(1000 * WEI_PER_SWM)}, True),
        ({"active_stake_wei": Wei(1000 * WEI_PER_SWM - 1)}, False),
        ({"suspended_until": AT}, True),
        ({"suspended_until": AT + 1}, False),
        ({"nodes": ()}, False),
    ],
)
def test_protocol_when_the_compliance_check_passes_then_restored(changes: dict[str, Any], expected: bool) -> None:
    record = provider(1, "a", **changes)

    assert passes_compliance(record, PARAMS, AT) is expected
    assert restored(_past(PROTOCOL), record, 0, PARAMS, AT) is expected


@pytest.mark.parametrize(("suspended_until", "expected"), [(UINT64_MAX, False), (0, True)])
def test_security_when_governance_reinstated_then_restored_and_clean_epochs_do_not_help(
    suspended_until: int, expected: bool
) -> None:
    record = provider(1, "a", suspended_until=Timestamp(suspended_until))

    assert restored(_past(SECURITY), record, 1000, PARAMS, AT) is expected


def test_warning_when_it_was_only_that_then_nothing_to_restore() -> None:
    poor = provider(1, active_stake_wei=Wei(0), suspended_until=Timestamp(UINT64_MAX))

    assert all(restored(_past(row, Severity.WARNING), poor, 0, PARAMS, AT) for row in ViolationClass)


def test_outstanding_when_history_is_read_then_each_by_its_own_provider() -> None:
    history = (_past(PERFORMANCE), _past(PERFORMANCE, number=2), _past(PROTOCOL, number=3), _past(PROTOCOL, number=4))
    state = EpochState(epoch=EpochNumber(39), carry_wei=Wei(0), violations=history, clean_epochs=((ProviderId(2), 7),))
    providers = (provider(1, "a"), provider(2, "b"), provider(3), provider(4, retired=True))

    waiting = outstanding(state, providers, NETWORK, AT)

    assert waiting == {history[0], history[2]}
    assert unrestored(waiting) == {1, 3}
