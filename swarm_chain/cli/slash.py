"""`swarm slash`: cases against providers, their evidence and deadlines, and the answer of the accused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.output import facts, swm, table
from swarm_chain.cli.shared import TransactionCommand
from swarm_chain.cli.tx import Intent, send
from swarm_chain.cli.views import chain_time, existing_provider, transaction_document, view, when
from swarm_chain.core.encoding import hash_from_hex, keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.kinds import Severity, ViolationClass
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Hash32

app = typer.Typer(help="Cases: accusations, answers, slashes.")
CASE_STATES = ("none", "open", "answered", "vetoed", "executed", "expired")
MAX_ANSWER_FILE_BYTES = 2**20
CaseId = Annotated[str, typer.Argument(help="0x and 64 hex digits; see: swarm slash list.")]


@app.command("list")
def list_cases(
    ctx: typer.Context,
    provider_id: Annotated[int | None, typer.Option("--provider", help="Only this provider.")] = None,
) -> None:
    """Lists every case there ever was, newest last."""
    session = session_of(ctx)
    wanted = None if provider_id is None else existing_provider(session, provider_id)
    head = session.reader.block("latest").number
    events = session.reader.events(session.deployment.block, head)
    opened = [event.args for event in events if event.name == "CaseOpened" and event.contract == "SlashingCourt"]
    # A report may open a case again that somebody opened with a bond: it is still one case.
    ids = dict.fromkeys(_case_id(args) for args in opened if wanted in {None, args["providerId"]})
    cases = [_document(session, case_id) for case_id in ids]
    columns = ("case", "provider", "class", "severity", "state", ">asks for", "decided from")
    session.output.show({"cases": cases}, table("cases", columns, [_row(case) for case in cases]))


@app.command()
def show(ctx: typer.Context, case_id: CaseId) -> None:
    """Shows one case: what is claimed, the evidence hash, and until when it can be answered."""
    session = session_of(ctx)
    case = _known(_document(session, hash_from_hex(case_id)))
    now = chain_time(session)
    summary = {
        "provider": case["providerId"],
        "rule": f"{case['class']}, {case['severity']}",
        "state": case["state"],
        "offence": when(case["offenceAt"]),
        "asks for": swm(case["amountWei"]),
        "evidence": to_hex(case["evidenceHash"]),
        "reporter": case["reporter"],
        "answer until": f"{when(case['executableAt'])} ({'open' if now < case['executableAt'] else 'over'})",
        "can be executed": f"{when(case['executableAt'])} to {when(case['expiresAt'])}",
    }
    session.output.show(case, facts(f"case {to_hex(case['caseId'])}", summary))


@app.command(cls=TransactionCommand)
def answer(
    ctx: typer.Context,
    case_id: CaseId,
    file: Annotated[Path, typer.Option("--file", help="Your answer; its hash goes on chain.")],
    uri: Annotated[str, typer.Option("--uri", help="Where others can read it.")] = "",
) -> None:
    """Puts your answer to an accusation on record before the veto window ends."""
    session = session_of(ctx)
    case = _known(_document(session, hash_from_hex(case_id)))
    digest = keccak(_content(file))
    call = ContractCall(contract="SlashingCourt", function="answer", args=(case["caseId"], digest, uri))
    effect = f"answer case {case_id} against provider {case['providerId']} with {to_hex(digest)}"
    outcome = send(session, Intent(call=call, effect=effect))
    session.output.show(
        {"caseId": case["caseId"], "answerHash": digest, "uri": uri, "transaction": transaction_document(outcome)},
        facts(
            "answered",
            {"case": case_id, "answer": to_hex(digest), "keep": f"{file}: the veto committee will ask for it"},
        ),
    )


def _case_id(args: Mapping[str, Any]) -> Hash32:
    return Hash32(args["caseId"])


def _document(session: Session, case_id: Hash32) -> dict[str, Any]:
    record: Mapping[str, Any] = view(session, "SlashingCourt", "caseAt", case_id)
    known = record["state"] != 0
    return {
        "caseId": case_id,
        "providerId": record["providerId"],
        "state": CASE_STATES[record["state"]],
        "class": ViolationClass(record["class"]).name.lower() if known else None,
        "severity": Severity(record["severity"]).name.lower() if known else None,
        "offenceAt": record["offenceAt"],
        "openedAt": record["openedAt"],
        "executableAt": record["executableAt"],
        "expiresAt": record["expiresAt"],
        "amountWei": record["amount"],
        "suspendedFor": record["suspendedFor"],
        "reporter": record["reporter"],
        "bondWei": record["bond"],
        "evidenceHash": record["evidenceHash"],
    }


def _known(case: dict[str, Any]) -> dict[str, Any]:
    if case["state"] == CASE_STATES[0]:
        raise InvalidInputError(
            f"unknown case {to_hex(case['caseId'])}", fix="see which there are: swarm slash list", code="unknown_case"
        )
    return case


def _row(case: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        to_hex(case["caseId"]),
        case["providerId"],
        case["class"],
        case["severity"],
        case["state"],
        swm(case["amountWei"]),
        when(case["executableAt"]),
    )


def _content(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot read {file}: {error.strerror}", fix="name a file that exists") from error
    if not 0 < len(content) <= MAX_ANSWER_FILE_BYTES:
        raise InvalidInputError(f"{file} has {len(content)} bytes", fix=f"use 1 to {MAX_ANSWER_FILE_BYTES} bytes")
    return content
