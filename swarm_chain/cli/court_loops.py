"""`swarm court defend` and `swarm court watch`: loops that send what is due, asked once when they start."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

import typer

from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.sender import send_and_wait
from swarm_chain.cli.amounts import parse_amount
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.court_evidence import EvidenceSource, open_desk, open_recomputer, open_salts, row_counter
from swarm_chain.cli.keys import own_address
from swarm_chain.cli.output import jsonable, swm, table
from swarm_chain.cli.tx import AskingSigner, announce
from swarm_chain.cli.views import existing_provider
from swarm_chain.core.errors import InvalidInputError, UnavailableError
from swarm_chain.core.kinds import WindowState
from swarm_chain.core.model import ContractCall
from swarm_chain.core.units import Address, EpochNumber, ProviderId, epoch_of
from swarm_chain.court.desk import CourtDesk
from swarm_chain.court.model import Accusation, CourtView, MoveKind, RowEvidence, Side
from swarm_chain.court.play import CourtEvent, EvidenceFor, Send, defenders_evidence, play
from swarm_chain.court.watch import Watcher, WatchLimits

Backend = Annotated[str, typer.Option("--backend", help="What recomputes: auto, numpy, or a device as torch names it.")]
Once = Annotated[bool, typer.Option("--once", help="One look and what is due now, then end.")]
Poll = Annotated[int, typer.Option("--poll", help="Seconds between two looks.", min=1)]
MaxFee = Annotated[str | None, typer.Option("--max-fee", help="Send no transaction that may cost more.", metavar="ETH")]
Look = Callable[[], Iterable[CourtEvent]]


def defend(
    ctx: typer.Context,
    provider_id: Annotated[
        int | None, typer.Option("--provider", help="Default: every one your key may defend.")
    ] = None,
    backend: Backend = "auto",
    once: Once = False,
    poll: Poll = 5,
    max_fee: MaxFee = None,
) -> None:
    """Answers and reveals for accused nodes in time. Works on any machine that has an owner, operator, defender or node key."""
    session = session_of(ctx)
    desk, who = open_desk(session), own_address(session)
    wanted = None if provider_id is None else existing_provider(session, provider_id)
    _require_defender(desk, who, wanted)
    evidence = defence(session, EvidenceSource(session), backend)
    session.output.confirm(f"Answer accusations with transactions from {who} until stopped?")
    send = loop_sender(session, max_fee)

    def look() -> Iterator[CourtEvent]:
        view = desk.look()
        return _defended(view, desk, who, wanted, evidence, send)

    run_loop(session, look, once=once, poll=poll)


def watch(
    ctx: typer.Context,
    max_bond: Annotated[str, typer.Option("--max-bond", help="Highest bond of one accusation, SWM.")] = "1000",
    rows: Annotated[
        int,
        typer.Option(
            "--rows",
            help="Recompute whole commitments too, and where the root is false accuse up to so many rows nobody opened: a bet.",
            min=0,
        ),
    ] = 0,
    backend: Backend = "auto",
    once: Once = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be accused, send nothing.")] = False,
    poll: Poll = 5,
    max_fee: MaxFee = None,
) -> None:
    """Recomputes what nodes opened in every published epoch and accuses what is false, up to the conviction."""
    session = session_of(ctx)
    desk, who, source = open_desk(session), own_address(session), EvidenceSource(session)
    limits = WatchLimits(max_bond_wei=parse_amount(max_bond), unopened_rows=rows)
    watcher = Watcher(who, desk, open_salts(session), open_recomputer(session, backend), limits)
    send: Send | None = None
    if not dry_run:
        bond = swm(limits.max_bond_wei)
        session.output.confirm(f"Accuse with transactions and bonds of at most {bond} each from {who} until stopped?")
        send = loop_sender(session, max_fee)
    examined: set[EpochNumber] = set()

    def look() -> Iterator[CourtEvent]:
        for epoch in _open_epochs(desk, source):
            if epoch not in examined:
                with session.output.steps(f"examining epoch {epoch}") as steps:
                    yield from watcher.examine(source.epoch(epoch), source.verdicts(epoch), row_counter(steps))
                examined.add(epoch)
        yield from _pressed(watcher, desk.look(), source, send)

    run_loop(session, look, once=once, poll=poll)


def loop_sender(session: Session, max_fee: str | None) -> Send:
    """Sends without asking again; the key is unlocked now, so that nobody is needed later."""
    key = session.signer
    cap = None if max_fee is None else parse_amount(max_fee)
    writer = session.chain.writer(AskingSigner(key.address, lambda: key, lambda _: None, cap))

    def send(call: ContractCall, effect: str) -> object:
        session.output.note(effect)
        return send_and_wait(writer, call, SystemClock(), store=lambda tx: announce(session, tx))

    return send


def run_loop(session: Session, look: Look, *, once: bool, poll: int) -> None:
    """Looks again and again, telling each event once; an endpoint that is away is waited for, unless `once`.

    Args:
        session: where events go: with --json one JSON object a line, with `once` one document.
        look: does what is due and gives what happened.
        once: one look only.
        poll: seconds between two looks.
    """
    if once:
        events = list(look())
        rows = [(event.name, event.text) for event in events]
        session.output.show({"events": list(map(_document, events))}, table("court", ("event", "what"), rows))
        return
    clock, told = SystemClock(), set[tuple[str, str]]()
    while True:
        with _patience(session):
            for event in look():
                if (event.name, event.text) not in told:
                    told.add((event.name, event.text))
                    _tell(session, event)
        clock.sleep(poll)


def defence(session: Session, source: EvidenceSource, backend: str) -> EvidenceFor:
    """An honest defence from public data, with a progress bar while a whole commitment is recomputed."""
    recomputer = open_recomputer(session, backend)

    def evidence(accusation: Accusation, kind: MoveKind) -> RowEvidence:
        with session.output.steps(f"recomputing row {accusation.row}") as steps:
            of = defenders_evidence(recomputer, session.deployment, source.openings, row_counter(steps))
            return of(accusation, kind)

    return evidence


def _defended(
    view: CourtView, desk: CourtDesk, who: Address, wanted: ProviderId | None, evidence: EvidenceFor, send: Send
) -> Iterator[CourtEvent]:
    open_ones = [found for found in view.accusations.values() if found.is_open and wanted in {None, found.provider_id}]
    accused = {found.provider_id for found in open_ones}
    mine = {provider_id for provider_id in accused if desk.may_defend(provider_id, who)}
    return play((found for found in open_ones if found.provider_id in mine), Side.ACCUSED, view, evidence, send)


def _pressed(watcher: Watcher, view: CourtView, source: EvidenceSource, send: Send | None) -> Iterator[CourtEvent]:
    if send is None:
        for charge in watcher.charges(view):
            yield CourtEvent(
                name="would_accuse", text=f"would accuse {charge.name}", values={"subject": charge.subject}
            )
        return
    yield from watcher.advance(view, send)
    yield from watcher.follow(view, source.openings, send)


def _open_epochs(desk: CourtDesk, source: EvidenceSource) -> Iterator[EpochNumber]:
    """Published epochs with a window whose commitments can still be accused."""
    view = desk.look()
    drawn = (window for window in view.chain.windows if window.state is WindowState.DRAWN)
    recent = {epoch_of(w.window_id) for w in drawn if view.now <= w.closed_at + desk.accuse_for}
    return (epoch for epoch in sorted(source.published()) if epoch in recent) if recent else iter(())


def _require_defender(desk: CourtDesk, who: Address, wanted: ProviderId | None) -> None:
    candidates = [provider.provider_id for provider in desk.look().chain.providers] if wanted is None else [wanted]
    if not any(desk.may_defend(provider_id, who) for provider_id in candidates):
        raise InvalidInputError(
            f"{who} may not defend {'any provider' if wanted is None else f'provider {wanted}'}",
            fix="use the key of its owner, operator, defender or node",
            code="may_not_defend",
            exit_code=3,
        )


@contextmanager
def _patience(session: Session) -> Iterator[None]:
    try:
        yield
    except UnavailableError as error:
        session.output.note(f"{error.message}; trying again")


def _tell(session: Session, event: CourtEvent) -> None:
    if session.output.as_json:
        print(json.dumps(jsonable(_document(event)), ensure_ascii=False), flush=True)
    else:
        session.output.note(f"{event.name}: {event.text}")


def _document(event: CourtEvent) -> Mapping[str, object]:
    return {"event": event.name, "text": event.text, **event.values}
