"""Which rule was broken, how hard, what it costs, and what is never a violation."""

import json
from dataclasses import replace
from typing import Any

import pytest

from oracle.model import EpochFacts, ForgedWork, FoundViolation, JudgedJob, MemberEquivocation, PastViolation
from oracle.rewards.lines import RewardInputs, reward_epoch
from oracle.violations import ViolationInputs, find_violations, next_history
from swarm_chain.core.encoding import canonical_json, keccak, to_hex
from swarm_chain.core.kinds import Outcome, Severity, ViolationClass
from swarm_chain.core.model import ProviderRecord, Verdict
from swarm_chain.core.units import UINT64_MAX, WEI_PER_SWM, Address, Bps, EpochNumber, Hash32, JobId, ProviderId, Wei
from tests.oracle_world import NETWORK, PARAMS, address, opened, provider

EPOCH = EpochNumber(40)
WINDOW = opened(EPOCH, 0)
PERFORMANCE, PROTOCOL = ViolationClass.PERFORMANCE, ViolationClass.PROTOCOL


def _verdict(node: str, reason: str, outcome: Outcome = Outcome.FAILED) -> Verdict:
    return Verdict(window_id=WINDOW.window_id, node=address(node), device=0, outcome=outcome, reason=reason)


def _past(
    number: int, violation_class: ViolationClass, epoch: int, severity: Severity = Severity.PENALTY
) -> PastViolation:
    return PastViolation(
        provider_id=ProviderId(number), violation_class=violation_class, severity=severity, epoch=EpochNumber(epoch)
    )


def _find(
    providers: tuple[ProviderRecord, ...],
    verdicts: tuple[Verdict, ...] = (),
    availability: dict[Address, Bps] | None = None,
    history: tuple[PastViolation, ...] = (),
    **facts: Any,
) -> tuple[FoundViolation, ...]:
    known = EpochFacts(
        epoch=EPOCH, windows=(WINDOW.window_id,), verdicts=verdicts, availability=availability or {}, **facts
    )
    _, lines = reward_epoch(
        RewardInputs(
            network=NETWORK, providers=providers, facts=known, capacities={}, carry_wei=Wei(0), gross_wei={}, covered=1
        )
    )
    return find_violations(
        ViolationInputs(
            network=NETWORK,
            providers=providers,
            facts=known,
            lines=lines,
            history=history,
            ref_at=NETWORK.epoch_end(EPOCH),
        )
    )


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("no_commitment", Outcome.MISSING),
        ("no_proof", Outcome.MISSING),
        ("late", Outcome.MISSING),
        ("wrong_challenge", Outcome.FAILED),
        ("wrong_rows", Outcome.FAILED),
        ("malformed", Outcome.FAILED),
        ("not_planned", Outcome.FAILED),
        ("", Outcome.PASSED),
        # what a liar signs is ComputeCourt's to judge: no vote of members slashes for it
        ("false_row", Outcome.FAILED),
        ("wrong_path", Outcome.FAILED),
        ("equivocation", Outcome.FAILED),
    ],
)
def test_violation_when_a_proof_is_missing_or_fails_then_no_report_slashes_for_it(
    reason: str, outcome: Outcome
) -> None:
    before = (_past(1, PROTOCOL, 39), _past(1, PERFORMANCE, 39))

    for history in ((), before):
        assert _find((provider(1, "a"),), (_verdict("a", reason, outcome),), history=history) == ()


def test_violation_when_silent_most_of_the_epoch_then_first_a_warning_that_costs_nothing() -> None:
    (found,) = _find((provider(1, "carol"),), availability={address("carol"): Bps(4999)})

    violation = found.violation
    assert (violation.violation_class, violation.severity) == (PERFORMANCE, Severity.WARNING)
    assert (violation.amount_wei, violation.suspended_for) == (0, 0)


def test_violation_when_available_half_of_the_epoch_then_none() -> None:
    assert _find((provider(1, "carol"),), availability={address("carol"): Bps(5000)}) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"registered_at": NETWORK.epoch_start(EPOCH) + 1},
        {"suspended_until": UINT64_MAX},
        {"retired": True},
    ],
)
def test_violation_when_excused_then_absence_is_none(changes: dict[str, Any]) -> None:
    assert _find((provider(1, "a", **changes),), availability={address("a"): Bps(0)}) == ()


def test_violation_when_in_maintenance_or_unmeasured_then_absence_is_none() -> None:
    away = {address("a"): Bps(10_000)}

    assert _find((provider(1, "a"),), availability={address("a"): Bps(0)}, maintenance=away) == ()
    assert _find((provider(1, "a"),)) == ()


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ((), Severity.WARNING),
        ((_past(1, PERFORMANCE, 39),), Severity.PENALTY),
        ((_past(1, PERFORMANCE, 11),), Severity.PENALTY),
        ((_past(1, PERFORMANCE, 10),), Severity.WARNING),  # 30 epochs ago
        ((_past(2, PERFORMANCE, 39),), Severity.WARNING),  # somebody else's
        ((_past(1, PROTOCOL, 39),), Severity.WARNING),  # another class
        ((_past(1, PERFORMANCE, 38), _past(1, PERFORMANCE, 39)), Severity.SEVERE),
    ],
)
def test_escalation_when_history_is_read_then_only_recent_ones_of_the_class(
    history: tuple[PastViolation, ...], expected: Severity
) -> None:
    (found,) = _find((provider(1, "a"),), availability={address("a"): Bps(0)}, history=history)

    assert found.violation.severity is expected


def test_stake_when_below_minimum_then_one_notice_that_costs_nothing_and_never_escalates() -> None:
    low = replace(provider(1, "a"), active_stake_wei=Wei(999 * WEI_PER_SWM))

    for lies in ((), (_verdict("a", "false_row"),)):
        (notice,) = _find((low,), lies)
        assert (notice.violation.violation_class, notice.violation.severity) == (PROTOCOL, Severity.WARNING)
        assert (notice.violation.amount_wei, notice.violation.suspended_for) == (0, 0)
        assert _find((low,), lies, history=(_past(1, PROTOCOL, 39, Severity.WARNING),)) == ()


def test_stake_when_low_but_without_nodes_then_no_notice() -> None:
    assert _find((replace(provider(1), active_stake_wei=Wei(0)),)) == ()


def _equivocation(owner: str, first: int = 1, second: int = 2, epoch: int = EPOCH) -> MemberEquivocation:
    return MemberEquivocation(
        member=address(owner),
        first=Hash32(bytes([first] * 32)),
        second=Hash32(bytes([second] * 32)),
        epoch=EpochNumber(epoch),
    )


def test_member_when_it_signed_two_observations_then_its_provider_pays_a_protocol_penalty() -> None:
    providers = (provider(1, "a"), provider(2, "b", stake_swm=2000))

    (found,) = _find(providers, member_equivocations=(_equivocation("owner 2"),))

    violation = found.violation
    assert (violation.provider_id, violation.violation_class, violation.severity) == (2, PROTOCOL, Severity.PENALTY)
    assert violation.amount_wei == 100 * WEI_PER_SWM
    assert violation.suspended_for == 60
    assert json.loads(found.evidence)["findings"] == [
        {
            "kind": "member_equivocation",
            "member": address("owner 2"),
            "first": "0x" + "01" * 32,
            "second": "0x" + "02" * 32,
        }
    ]


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [((), Severity.PENALTY), ((39,), Severity.SEVERE), ((38, 39), Severity.SEVERE), ((10,), Severity.PENALTY)],
)
def test_member_when_it_does_so_again_within_the_window_then_severe(
    earlier: tuple[int, ...], expected: Severity
) -> None:
    history = tuple(_past(1, PROTOCOL, epoch) for epoch in earlier)

    (found,) = _find((provider(1, "a"),), history=history, member_equivocations=(_equivocation("owner 1"),))

    assert found.violation.severity is expected


def test_member_when_its_stake_is_low_too_then_one_protocol_violation_the_graver() -> None:
    low = provider(1, "a", active_stake_wei=Wei(1))

    (found,) = _find((low,), member_equivocations=(_equivocation("owner 1"),))

    assert found.violation.severity is Severity.PENALTY


@pytest.mark.parametrize("changes", [{"suspended_until": UINT64_MAX}, {"retired": True}, {"nodes": ()}])
def test_member_when_its_provider_is_excused_from_service_then_charged_all_the_same(changes: dict[str, Any]) -> None:
    (found,) = _find((provider(1, "a", **changes),), member_equivocations=(_equivocation("owner 1"),))

    assert found.violation.violation_class is PROTOCOL


def test_member_when_it_owns_no_provider_then_no_violation() -> None:
    assert _find((provider(1, "a"),), member_equivocations=(_equivocation("member 1"),)) == ()


def test_member_when_pairs_come_twice_or_in_another_order_then_the_same_evidence() -> None:
    pairs = (_equivocation("owner 1", 1, 3), _equivocation("owner 1", 1, 2))

    found = _find((provider(1, "a"),), member_equivocations=pairs)

    assert len(json.loads(found[0].evidence)["findings"]) == 2
    assert _find((provider(1, "a"),), member_equivocations=(*pairs[::-1], pairs[0])) == found


def test_equivocation_when_hashes_are_equal_or_of_another_epoch_then_refused() -> None:
    with pytest.raises(ValueError, match="ascend"):
        _equivocation("owner 1", 2, 2)
    with pytest.raises(ValueError, match="another epoch"):
        EpochFacts(epoch=EPOCH, member_equivocations=(_equivocation("owner 1", epoch=39),))


def _forged_job(number: int = 1, job: int = 7) -> JudgedJob:
    forged = ForgedWork(
        provider_id=ProviderId(number),
        node=address("a"),
        receipt_digest=keccak(b"receipt"),
        content=3,
        committed=keccak(b"signed"),
        computed=keccak(b"computed"),
        referees=(address("member 1"), address("member 2")),
    )
    return JudgedJob(job_id=JobId(job), outcome=Outcome.FAILED, reason="wrong_unit", forged=forged)


def test_forged_work_when_referees_confirm_it_then_a_protocol_penalty_with_all_of_it_in_the_evidence() -> None:
    (found,) = _find((provider(1, "a"), provider(2, "b")), jobs=(_forged_job(),))

    violation = found.violation
    assert (violation.provider_id, violation.violation_class, violation.severity) == (1, PROTOCOL, Severity.PENALTY)
    assert violation.amount_wei == 100_000 * WEI_PER_SWM * PARAMS.penalties.protocol_bps.penalty // 10_000
    assert json.loads(found.evidence)["findings"] == [
        {
            "kind": "forged_work",
            "jobId": 7,
            "node": address("a"),
            "receiptDigest": to_hex(keccak(b"receipt")),
            "content": 3,
            "committed": to_hex(keccak(b"signed")),
            "computed": to_hex(keccak(b"computed")),
            "referees": [address("member 1"), address("member 2")],
        }
    ]


@pytest.mark.parametrize("changes", [{"suspended_until": UINT64_MAX}, {"retired": True}, {"nodes": ()}])
def test_forged_work_when_the_provider_is_excused_from_service_then_a_lie_all_the_same(
    changes: dict[str, Any],
) -> None:
    assert len(_find((provider(1, "a", **changes),), jobs=(_forged_job(),))) == 1


def test_forged_work_when_several_jobs_and_two_observations_then_one_violation_with_all_findings() -> None:
    jobs = (_forged_job(job=9), _forged_job(job=7))
    (found,) = _find((provider(1, "a"),), jobs=jobs, member_equivocations=(_equivocation("owner 1"),))

    findings = json.loads(found.evidence)["findings"]
    assert [(one["kind"], one.get("jobId")) for one in findings] == [
        ("member_equivocation", None),
        ("forged_work", 7),
        ("forged_work", 9),
    ]
    assert _find((provider(1, "a"),), jobs=jobs[::-1], member_equivocations=(_equivocation("owner 1"),)) == (found,)


@pytest.mark.parametrize("reason", ["wrong_unit", "wrong_start", "not_reproduced", "no_gateway", "wrong_units"])
def test_job_when_it_failed_without_referees_then_no_violation_ever(reason: str) -> None:
    judged = JudgedJob(job_id=JobId(1), outcome=Outcome.FAILED, reason=reason)
    before = (_past(1, PROTOCOL, 39), _past(1, PERFORMANCE, 39))

    assert _find((provider(1, "a"),), jobs=(judged,), history=before) == ()


def test_evidence_when_hashed_then_canonical_and_complete() -> None:
    (found,) = _find((provider(1, "m", "n"),), availability={address("m"): Bps(4000)})

    document = json.loads(found.evidence)
    assert canonical_json(document) == found.evidence
    assert keccak(found.evidence) == found.violation.evidence_hash
    assert found.violation.offence_at == NETWORK.epoch_end(EPOCH)
    finding = {
        "kind": "downtime",
        "availabilityBps": 4000,
        "limitBps": 5000,
        "nodes": [[address("m"), 4000]],
        "maintenance": [],
    }
    assert document == {
        "domain": "swarm/evidence/v1",
        "chainId": NETWORK.chain_id,
        "epoch": EPOCH,
        "providerId": 1,
        "class": 1,
        "findings": [finding],
    }


def test_violations_when_several_then_ordered_by_provider_class_and_evidence() -> None:
    absent = {address("a"): Bps(0), address("b"): Bps(0)}
    low = (provider(1, "a", active_stake_wei=Wei(1)), provider(2, "b", active_stake_wei=Wei(1)))

    found = _find(low, availability=absent)

    assert [(f.violation.provider_id, f.violation.violation_class) for f in found] == [(1, 1), (1, 3), (2, 1), (2, 3)]


def test_history_when_carried_on_then_forgets_after_the_escalation_window() -> None:
    old = tuple(_past(1, PERFORMANCE, epoch) for epoch in (10, 11, 12, 39))

    kept = next_history(old, (), EPOCH, PARAMS.penalties)

    assert [violation.epoch for violation in kept] == [12, 39]


def test_history_when_a_violation_is_found_then_added_in_order() -> None:
    found = _find((provider(1, "m"),), availability={address("m"): Bps(0)})

    kept = next_history((_past(2, PROTOCOL, 39),), found, EPOCH, PARAMS.penalties)

    assert kept == (_past(1, PERFORMANCE, 40, Severity.WARNING), _past(2, PROTOCOL, 39))
