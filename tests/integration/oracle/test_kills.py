"""kill -9 around every transaction of a report: the epoch is completed once, by one vote and one submission."""

from collections.abc import Callable

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.devnet import Devnet
from tests.integration.oracle.conftest import Epochs
from tests.integration.oracle.gate import Fault, Gate, selector
from tests.integration.oracle.process import MemberProgram, wait_until

VOTE = selector("EpochOracle", "vote", 0, bytes(32))
SUBMIT = selector("EpochOracle", "submitReport", (0, 0, bytes(32), 0, bytes(32), 0, 0, 0, bytes(32), bytes(32)))
MEETS_WITHIN_S = 60

pytestmark = pytest.mark.usefixtures("nodes")


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        pytest.param(VOTE, Fault.LOST, id="vote-lost"),
        pytest.param(VOTE, Fault.UNANSWERED, id="vote-unanswered", marks=pytest.mark.long),
        pytest.param(SUBMIT, Fault.LOST, id="submission-lost", marks=pytest.mark.long),
        pytest.param(SUBMIT, Fault.UNANSWERED, id="submission-unanswered", marks=pytest.mark.long),
    ],
)
def test_kill_at_a_broadcast_when_restarted_then_the_epoch_is_completed_once(
    chain: Devnet,
    epochs: Epochs,
    gate: Gate,
    launch: Callable[[str], MemberProgram],
    call: bytes,
    fault: Fault,
) -> None:
    """Invariant 44."""
    member = launch(gate.url)
    epoch = epochs.begin()
    epochs.end(epoch)
    gate.faults[call] = fault
    member.start()
    wait_until(gate.met.is_set, chain.mine, MEETS_WITHIN_S)
    member.kill()
    votes = 1 if call == SUBMIT or fault is Fault.UNANSWERED else 0
    submissions = 1 if call == SUBMIT and fault is Fault.UNANSWERED else 0
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (votes, submissions)

    gate.faults.clear()
    member.start()
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    wait_until(lambda: any(e["epoch"] == epoch for e in member.get("/v1/epochs")["epochs"]), chain.mine)
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)


@pytest.mark.long
def test_kill_at_a_broadcast_when_another_transaction_takes_its_nonce_then_the_vote_is_signed_anew(
    chain: Devnet,
    epochs: Epochs,
    gate: Gate,
    launch: Callable[[str], MemberProgram],
    member: KeySigner,
) -> None:
    program = launch(gate.url)
    epoch = epochs.begin()
    epochs.end(epoch)
    gate.faults[VOTE] = Fault.LOST
    program.start()
    wait_until(gate.met.is_set, chain.mine, MEETS_WITHIN_S)
    program.kill()
    epochs.tools.send(member, "SwarmToken", "approve", member.address, 1)

    gate.faults.clear()
    program.start()
    wait_until(lambda: epochs.has_report(epoch), chain.mine)
    (superseded,) = program.said("tx_superseded")
    assert superseded["intent"].startswith(f"epoch:{epoch}:vote:")
    assert (epochs.events("Voted", epoch), epochs.events("ReportSubmitted", epoch)) == (1, 1)
