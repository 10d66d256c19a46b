"""What a violation costs: columns, prices and suspensions of the slashing table."""

import pytest

from oracle.sanctions import escalated, slash_wei, suspension_for
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.units import UINT64_MAX, Wei
from tests.oracle_world import PARAMS

PERFORMANCE, PROTOCOL = ViolationClass.PERFORMANCE, ViolationClass.PROTOCOL


@pytest.mark.parametrize(
    ("least", "earlier", "expected"),
    [
        (Severity.WARNING, 0, Severity.WARNING),
        (Severity.WARNING, 1, Severity.PENALTY),
        (Severity.WARNING, 2, Severity.SEVERE),
        (Severity.WARNING, 9, Severity.SEVERE),
        (Severity.PENALTY, 0, Severity.PENALTY),
        (Severity.PENALTY, 1, Severity.SEVERE),
        (Severity.SEVERE, 5, Severity.SEVERE),
    ],
)
def test_escalation_when_repeated_then_one_column_right_each_time(
    least: Severity, earlier: int, expected: Severity
) -> None:
    assert escalated(least, earlier) is expected


@pytest.mark.parametrize("violation_class", list(ViolationClass))
@pytest.mark.parametrize("severity", list(Severity))
def test_price_when_read_from_the_table_then_rounded_up(violation_class: ViolationClass, severity: Severity) -> None:
    table = {
        PERFORMANCE: PARAMS.penalties.performance_bps,
        ViolationClass.SECURITY: PARAMS.penalties.security_bps,
        PROTOCOL: PARAMS.penalties.protocol_bps,
    }[violation_class]
    bps = {Severity.WARNING: 0, Severity.PENALTY: table.penalty, Severity.SEVERE: table.severe}[severity]

    assert slash_wei(Wei(10_001), violation_class, severity, PARAMS.penalties) == (10_001 * bps + 9999) // 10_000


def test_suspension_when_read_from_the_table_then_whole_epochs() -> None:
    assert suspension_for(PERFORMANCE, Severity.WARNING, PARAMS) == 0
    assert suspension_for(PERFORMANCE, Severity.SEVERE, PARAMS) == 7 * 60
    assert suspension_for(PERFORMANCE, Severity.PENALTY, PARAMS) == 60
    assert suspension_for(PERFORMANCE, Severity.SEVERE, PARAMS) == 7 * 60


def test_suspension_when_security_was_broken_then_until_a_review() -> None:
    security = ViolationClass.SECURITY

    assert suspension_for(security, Severity.WARNING, PARAMS) == 0
    assert suspension_for(security, Severity.PENALTY, PARAMS) == UINT64_MAX
    assert suspension_for(security, Severity.SEVERE, PARAMS) == UINT64_MAX
