"""Every state has a reason and a next step."""

from typing import Any

import pytest

from swarm_chain.client.explain import explain_job
from swarm_chain.client.model import GatewayWord, JobStatus
from swarm_chain.core.kinds import JobState
from swarm_chain.core.units import Timestamp
from tests.unit.swarm_chain.client.conftest import make_job

WORD = GatewayWord(
    state="waiting", node=None, units=4, units_done=1, why="every node is busy", receipt=None, gateway_signature=None
)


def _status(state: JobState, word: GatewayWord | None = WORD, judgement: dict[str, Any] | None = None) -> JobStatus:
    return JobStatus(
        job=make_job(state),
        gateway=word,
        gateway_silent=None if word else "gateway does not answer",
        judgement=judgement,
        judgement_silent=None if judgement else "no oracle is named",
    )


@pytest.mark.parametrize(
    ("state", "now", "why", "fix"),
    [
        (JobState.POSTED, 40, "60 s more", "wait"),
        (JobState.POSTED, 100, "no node accepted it in time", "swarm job cancel 1"),
        (JobState.ACCEPTED, 150, "50 s more", "swarm job logs 1 -f"),
        (JobState.ACCEPTED, 200, "did not finish in time", "swarm job cancel 1"),
        (JobState.COMPLETED, 250, "50 s more", "swarm job results 1"),
        (JobState.COMPLETED, 310, "not judged in time: its deadline passed 10 s ago", "swarm job cancel 1"),
        (JobState.PAID, 900, "found right", "swarm job results 1"),
        (JobState.REFUNDED, 900, "went back", "swarm job logs 1"),
        (JobState.CANCELLED, 900, "taken back", "submit it again"),
    ],
)
def test_state_when_explained_then_chain_comes_first_and_a_step_follows(
    state: JobState, now: int, why: str, fix: str
) -> None:
    found = explain_job(_status(state), Timestamp(now))

    assert why in found.reasons[0]
    assert fix in found.fix


def test_gateways_reason_when_the_job_is_over_then_is_left_out() -> None:
    assert any("every node is busy" in reason for reason in explain_job(_status(JobState.POSTED), Timestamp(1)).reasons)
    assert not any("busy" in reason for reason in explain_job(_status(JobState.PAID), Timestamp(1)).reasons)


def test_gateway_when_silent_then_explanation_says_so() -> None:
    found = explain_job(_status(JobState.POSTED, None), Timestamp(1))

    assert any("gateway does not answer" in reason for reason in found.reasons)


def test_verdict_when_a_member_has_one_then_is_told_with_its_reason() -> None:
    judged = _status(JobState.REFUNDED, judgement={"verdict": "failed", "reason": "wrong_segment"})

    assert "a member says: failed (wrong_segment)" in explain_job(judged, Timestamp(1)).reasons
