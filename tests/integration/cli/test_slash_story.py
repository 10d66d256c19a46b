"""A case against a provider, seen and answered through the command line."""

import pytest

from swarm_chain.adapters.keystore import KeySigner
from swarm_chain.core.encoding import case_id, keccak, to_hex
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import Violation
from swarm_chain.core.units import WEI_PER_SWM, EpochNumber, Hash32, ProviderId, Timestamp, Wei
from tests.chain_fixtures import ChainTools
from tests.integration.cli.conftest import CommandLine

BOND = 100 * WEI_PER_SWM  # minimal preset
VETO_FOR = 30


@pytest.fixture
def accused(connected: CommandLine, tools: ChainTools, alice: KeySigner) -> str:
    """Bob accuses alice's provider with a bond; gives the case's id."""
    tools.register(alice, stake_wei=1000 * WEI_PER_SWM)
    bob = KeySigner(keccak(b"bob"))
    tools.fund(bob.address)
    violation = Violation(
        provider_id=ProviderId(1),
        violation_class=ViolationClass.PERFORMANCE,
        severity=Severity.PENALTY,
        epoch=EpochNumber(0),
        offence_at=Timestamp(tools.reader.block("latest").timestamp),
        amount_wei=Wei(10 * WEI_PER_SWM),
        suspended_for=60,
        evidence_hash=keccak(b"evidence"),
    )
    tools.send(bob, "SwarmToken", "approve", tools.address("SlashingCourt"), BOND)
    tools.send(bob, "SlashingCourt", "openWithBond", _solidity(violation))
    return to_hex(case_id(violation))


def test_case_is_listed_shown_and_answered(connected: CommandLine, tools: ChainTools, accused: str) -> None:
    answer = connected.home / "answer.md"
    answer.write_text("the power was out, and here is the operator's letter", encoding="utf-8")

    listed = connected.ask("slash", "list", "--provider", 1)["cases"]
    shown = connected.ask("slash", "show", accused)
    answered = connected.ask("slash", "answer", accused, "--file", answer, "--uri", "https://alice.example/answer")
    after = connected.ask("slash", "show", accused)

    assert [(case["caseId"], case["state"]) for case in listed] == [(accused, "open")]
    assert (shown["class"], shown["severity"], shown["amountWei"]) == ("performance", "penalty", str(10 * WEI_PER_SWM))
    assert shown["evidenceHash"] == to_hex(keccak(b"evidence"))
    assert answered["answerHash"] == to_hex(keccak(answer.read_bytes()))
    assert after["state"] == "answered"


def test_answer_after_the_window_is_refused_with_the_deadline(
    connected: CommandLine, tools: ChainTools, accused: str
) -> None:
    (connected.home / "answer").write_text("too late", encoding="utf-8")
    tools.net.warp(VETO_FOR + 1)

    refused = connected.ask("slash", "answer", accused, "--file", connected.home / "answer", code=5)

    assert refused["error"] == "WindowClosed"
    assert "closedAt" in refused["values"]


def test_stranger_may_not_answer(connected: CommandLine, tools: ChainTools, accused: str) -> None:
    (connected.home / "answer").write_text("I was not there", encoding="utf-8")
    stranger = connected.add_key("mallory", keccak(b"mallory"))
    tools.fund(stranger.address)

    refused = connected.ask(
        "--account", "mallory", "slash", "answer", accused, "--file", connected.home / "answer", code=5
    )

    assert refused["error"] == "MayNotDefend"


def test_executed_case_shows_what_was_taken_back_in_status(
    connected: CommandLine, tools: ChainTools, accused: str
) -> None:
    tools.net.warp(VETO_FOR + 1)
    tools.send(tools.net.accounts[3], "SlashingCourt", "execute", Hash32(bytes.fromhex(accused[2:])))

    assert connected.ask("slash", "show", accused)["state"] == "executed"
    assert connected.ask("stake", "status", 1)["activeStakeWei"] == str(990 * WEI_PER_SWM)
    assert connected.ask("provider", "show", 1)["suspendedUntil"] > tools.reader.block("latest").timestamp


def test_nobody_is_accused_on_a_fresh_chain(connected: CommandLine) -> None:
    assert connected.ask("slash", "list") == {"cases": []}
    assert "cases: none" in connected("slash", "list").out


@pytest.mark.usefixtures("accused")
def test_answer_must_be_a_file_with_something_in_it(connected: CommandLine, accused: str) -> None:
    (connected.home / "empty").touch()

    assert connected("--yes", "slash", "answer", accused, "--file", connected.home / "empty").code == 2
    assert connected("--yes", "slash", "answer", accused, "--file", "/nowhere").code == 2


def _solidity(violation: Violation) -> dict[str, object]:
    return {
        "providerId": violation.provider_id,
        "class": violation.violation_class,
        "severity": violation.severity,
        "epoch": violation.epoch,
        "offenceAt": violation.offence_at,
        "amount": violation.amount_wei,
        "suspendedFor": violation.suspended_for,
        "evidenceHash": violation.evidence_hash,
    }
