"""What `swarm oracle members`, `keys` and `check` do with a session."""

from collections.abc import Sequence

from oracle.committee import Answer, Committee, Seat, ask, committee_document, fold_committee, seats
from oracle.config import OracleSettings
from oracle.history import CHUNK
from oracle.main import read_network
from oracle.preflight import epochs_of_gas
from oracle.probes import (
    Ground,
    committee_of,
    gas_price,
    guarded,
    probe_chain,
    probe_key,
    probe_machine,
    probe_peers,
    probe_store,
)
from swarm_chain.adapters.clock import SystemClock
from swarm_chain.adapters.panel import Quorum
from swarm_chain.adapters.rpc import Web3Reader, redacted
from swarm_chain.cli.context import Session
from swarm_chain.cli.keys import key_choice, own_address
from swarm_chain.cli.oracle_client import OracleClient
from swarm_chain.cli.output import facts, table
from swarm_chain.core.checkup import BLOCKED, Line, blocks
from swarm_chain.core.errors import InvalidInputError, SwarmError
from swarm_chain.core.model import ContractCall, Deployment
from swarm_chain.core.units import Wei, format_swm
from swarm_chain.ports import ChainReader


def show_members(session: Session, settings: OracleSettings, last: int) -> None:
    """Shows the committee: from the chain who sits in it and how each voted, from their addresses whether they answer.

    Args:
        session: chain and addresses.
        settings: further addresses.
        last: how many of the latest epochs with a report to count missed votes in.

    Raises:
        UnavailableError: the chain does not answer.
    """
    reader, network = session.reader, read_network(session.reader, session.deployment)
    with session.output.progress("reading the committee from the chain"):
        committee = _committee(reader, session.deployment)
    finalized = reader.block("finalized").number
    want = {"chainId": network.chain_id, "paramsVersion": network.params.version}
    answers = [ask(client, finalized, want) for client in _clients(session, settings)]
    found = seats(committee, last, network.epoch_at)
    document = committee_document(committee.quorum, found, answers)
    rows = [_row(seat, next((one for one in answers if one.member == seat.member), None)) for seat in found]
    strangers = [_stranger(one) for one in answers if one.member not in committee.members]
    columns = ("member", "reporter", ">last vote", "agreed", ">missed", "answers", "version", ">lag")
    title = f"committee: quorum {committee.quorum} of {len(found)}"
    session.output.show(document, table(title, columns, [*rows, *strangers]))


def show_keys(session: Session) -> None:
    """Shows which key this member would sign with, and how long it can pay; nothing is unlocked unless it must be.

    Raises:
        InvalidInputError: no key is configured, or it cannot be read (exit 3).
        UnavailableError: the chain does not answer.
    """
    choice = key_choice(session.settings)
    if not choice.configured:
        raise InvalidInputError(
            "no key is configured: `swarm oracle run` would be a dry run",
            fix="make one with `swarm wallet create NAME`, or name one with --keystore or --account",
            code="no_account",
            exit_code=3,
        )
    own, ground = own_address(session), _ground(session)
    members, _ = committee_of(ground.reader)
    voices = ground.reader.call(ContractCall(contract="EpochOracle", function="isMember", args=(own,)))
    balance, price = ground.reader.balance(own), gas_price(ground)
    mode = choice.keystore.stat().st_mode & 0o777 if choice.keystore and choice.keystore.is_file() else None
    document = {
        "address": own,
        "keystore": choice.keystore,
        "remoteSigner": choice.remote,
        "mode": None if mode is None else f"{mode:03o}",
        "private": mode is not None and not mode & 0o077,
        "member": own in members,
        "reporter": bool(voices) and own not in members,
        "balanceWei": balance,
        "gasPriceWei": Wei(price),
        "epochsOfGas": epochs_of_gas(balance, price),
    }
    session.output.show(document, facts("key", document | {"balanceWei": f"{format_swm(balance)} native coins"}))


def run_check(session: Session, settings: OracleSettings) -> None:
    """Looks at everything a member needs, and changes nothing.

    Raises:
        SwarmError: something keeps it from running (exit 6).
    """
    lines = _lines(session, settings)
    document = {"ok": not blocks(lines), "lines": [line.as_dict() for line in lines]}
    rows = [(line.level.value, line.what, line.found, line.remedy) for line in lines]
    view = table("preflight", ("", "what", "found", "what to do"), rows)
    session.output.show(document, view)
    failed = [line.what for line in lines if line.level.value == "fail"]
    if failed:
        raise SwarmError(
            f"a member cannot run like this: {', '.join(failed)}",
            fix=next(line.remedy for line in lines if line.what == failed[0]),
            code="preflight",
            values=document,
            exit_code=BLOCKED,
        )


def _lines(session: Session, settings: OracleSettings) -> tuple[Line, ...]:
    clients = [OracleClient(url) for url in settings.peer_urls]
    choice = key_choice(session.settings)
    return (
        *guarded("chain", lambda: probe_chain(_ground(session), SystemClock())),
        *guarded("key", lambda: probe_key(_ground(session), choice, lambda: session.signer.address)),
        *guarded("database", lambda: probe_store(settings, session.settings.home)),
        *guarded("machine", lambda: probe_machine(settings)),
        *guarded("peers", lambda: probe_peers(clients, session.deployment)),
    )


def _ground(session: Session) -> Ground:
    urls, deployment = session.settings.endpoints, session.deployment
    names = [f"{redacted(url)}#{place}" if len(urls) > 1 else redacted(url) for place, url in enumerate(urls, 1)]
    return Ground(
        endpoints={name: Web3Reader(url, deployment) for name, url in zip(names, urls, strict=True)},
        agree=Quorum(agree=session.settings.rpc_agree).of(len(urls)),
        reader=session.reader,
        deployment=deployment,
    )


def _committee(reader: ChainReader, deployment: Deployment) -> Committee:
    committee, first, latest = Committee(), deployment.block, reader.block("latest").number
    while first <= latest:
        last = min(first + CHUNK - 1, latest)
        fold_committee(committee, reader.events(first, last))
        first = type(first)(last + 1)
    return committee


def _clients(session: Session, settings: OracleSettings) -> Sequence[OracleClient]:
    urls = dict.fromkeys((*session.settings.oracle_urls, *settings.peer_urls))
    return [OracleClient(url) for url in urls]


def _row(seat: Seat, answer: Answer | None) -> tuple[object, ...]:
    agreed = {True: "yes", False: "NO", None: "not known yet"}[seat.agreed]
    heard = "no address known" if answer is None else answer.problem or answer.url
    lag = "" if answer is None or answer.lag_blocks is None else answer.lag_blocks
    version = (answer.version if answer else None) or ""
    latest = "never" if seat.last_vote_epoch is None else seat.last_vote_epoch
    return seat.member, seat.reporter or "", latest, agreed, f"{seat.missed} of {seat.counted}", heard, version, lag


def _stranger(answer: Answer) -> tuple[object, ...]:
    heard = answer.problem or f"{answer.url}: no member's address ({answer.state})"
    return answer.member or answer.url, "", "", "", "", heard, answer.version or "", ""
